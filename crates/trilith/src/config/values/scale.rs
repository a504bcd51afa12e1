//! Numbers with a unit: sizes in bytes, durations in milliseconds.

/// A family of units.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Scale {
    /// Bytes.
    Size,
    /// Milliseconds.
    Duration,
}

impl Scale {
    /// Unit names, each with how many of the base it holds, the smallest first.
    fn table(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Size => &[
                ("B", 1),
                ("KB", 1000),
                ("KiB", 1 << 10),
                ("MB", 1_000_000),
                ("MiB", 1 << 20),
                ("GB", 1_000_000_000),
                ("GiB", 1 << 30),
            ],
            Self::Duration => &[("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)],
        }
    }

    /// The units in words.
    pub(super) fn units(self) -> &'static str {
        match self {
            Self::Size => "units are B, KB, KiB, MB, MiB, GB and GiB",
            Self::Duration => "units are ms, s, m, h and d",
        }
    }

    /// Reads `32MiB`, `10s` or, without a unit, bytes or seconds; `None` when it is none of these or too large.
    pub(super) fn parse(self, text: &str) -> Option<u64> {
        let text = text.trim();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(digits)?;
        let unit = match (unit.trim_start(), self) {
            ("", Self::Size) => "B",
            ("", Self::Duration) => "s",
            (unit, _) => unit,
        };
        let (_, factor) = self.table().iter().find(|(name, _)| *name == unit)?;
        number.parse::<u64>().ok()?.checked_mul(*factor)
    }

    /// Writes a number in the largest unit that keeps it whole.
    pub(crate) fn show(self, number: u64) -> String {
        let binary = |name: &str| matches!(self, Self::Duration) || name == "B" || name.contains('i');
        let unit = self.table().iter().rev().find(|(name, factor)| {
            binary(name) && number.is_multiple_of(*factor) && (number > 0 || *factor == 1)
        });
        let (name, factor) = unit.copied().unwrap_or(("", 1));
        format!("{}{name}", number / factor)
    }
}
