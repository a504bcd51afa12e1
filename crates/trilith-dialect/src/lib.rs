//! Bytes to vocabulary and back, one folder per dialect, and the framing below them. Pure functions.

pub mod frame;
#[doc(hidden)]
pub mod fuzzing;
pub mod scan;
