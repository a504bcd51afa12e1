//! What a translation could not carry, said aloud.

/// What was done about a field that the target dialect cannot carry as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// Dropped or approximated.
    Warn,
    /// The same observable effect is produced by Trilith itself; worth telling, never an error.
    Emulate,
    /// A hint whose absence changes cost only (cache marks): kept in the report, not in headers.
    Hint,
}

impl Disposition {
    /// The word used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Emulate => "emulate",
            Self::Hint => "hint",
        }
    }
}

/// One field that did not reach the other side as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Loss {
    /// Where the caller wrote it, in the caller's own spelling when known (`input[2].content[0].detail`).
    pub path: Box<str>,
    /// Why it was lost and what stands in its place; one clause, no caller content.
    pub why: Box<str>,
    /// What was done about it.
    pub disposition: Disposition,
}

impl Loss {
    /// A field that was dropped or approximated.
    pub fn warn(path: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Self {
        Self { path: path.into(), why: why.into(), disposition: Disposition::Warn }
    }

    /// A field whose effect Trilith produces itself.
    pub fn emulate(path: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Self {
        Self { path: path.into(), why: why.into(), disposition: Disposition::Emulate }
    }

    /// A cost hint that was dropped.
    pub fn hint(path: impl Into<Box<str>>, why: impl Into<Box<str>>) -> Self {
        Self { path: path.into(), why: why.into(), disposition: Disposition::Hint }
    }
}
