//! The HTTP surface: listening, admission, one file per API, streams to the client.
