//! Bytes to vocabulary and back, one folder per dialect, and the framing below them. Pure functions.
