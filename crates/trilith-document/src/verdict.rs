//! How a worker ends, in its exit code.

/// What a worker found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The text was written to its end.
    Read,
    /// A password is needed.
    Locked,
    /// It is no PDF, or a broken one.
    Unreadable,
    /// It holds more text than is taken.
    TooMuchText,
}

impl Verdict {
    const ALL: [Self; 4] = [Self::Read, Self::Locked, Self::Unreadable, Self::TooMuchText];

    /// The exit code; none is used by a process that failed for another reason.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Locked => 40,
            Self::Unreadable => 41,
            Self::TooMuchText => 42,
        }
    }

    /// The verdict of an exit code.
    pub(crate) fn of(code: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| i32::from(verdict.code()) == code)
    }
}
