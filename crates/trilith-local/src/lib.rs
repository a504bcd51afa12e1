//! The embedded model behind the same port as every other upstream.
