//! JSON text that is carried, not read.

use std::{fmt, sync::Arc};

/// One complete JSON value as the text it arrived in.
///
/// Tool schemas and vendor-only fields stay in this form end to end: writing them anew would change key
/// order or number spelling and with it the upstream's prompt cache. Whoever builds one has checked that the
/// text is well-formed; the dialect crate's scanner is the usual way.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

impl Json {
    /// Wraps text that is known to be one well-formed JSON value.
    pub fn from_checked(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text as it arrived.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Its length only: a tool's declaration may hold a credential.
impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({} bytes)", self.0.len())
    }
}
