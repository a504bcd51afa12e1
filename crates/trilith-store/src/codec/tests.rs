//! The stored form.
