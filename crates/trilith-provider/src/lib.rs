//! Places that speak a dialect: URL shapes, credentials, retry-after, quirks as data.
//!
//! A place joins a dialect (what the bytes mean) to an address (where they go) and a credential. It never
//! decides whether something is tried again; it only says what happened.

mod answer;
mod failure;
mod headers;
mod place;

pub use place::{Place, PlaceError, Settings};

#[cfg(test)]
mod tests;
