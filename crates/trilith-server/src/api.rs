//! The handlers, one file for each API.

pub(crate) mod health;
pub(crate) mod losses;
pub(crate) mod model_call;
pub(crate) mod models;
pub(crate) mod responses;
