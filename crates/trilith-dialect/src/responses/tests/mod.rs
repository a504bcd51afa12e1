//! What users of the dialect see.

mod golden;
mod hostile;
mod order;
mod properties;
mod request;
mod support;
mod upstream;
