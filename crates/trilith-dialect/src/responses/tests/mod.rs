//! What users of the dialect see.
