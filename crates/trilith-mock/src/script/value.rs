//! Values on a script's line: words, quoted text, the rest of the line.

use std::time::Duration;

/// Why a line is wrong.
pub(super) type Wrong = String;

/// What is left of a line.
pub(super) struct Line<'a>(&'a str);

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.trim())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next word, up to white space.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest.trim_start();
        (!word.is_empty()).then_some(word)
    }

    /// The next word, which must be there.
    pub(super) fn need(&mut self, what: &str) -> Result<&'a str, Wrong> {
        self.word().ok_or_else(|| format!("{what} is missing"))
    }

    /// The value of a leading `name=value`, if the line goes on with one.
    pub(super) fn option(&mut self, name: &str) -> Option<&'a str> {
        let rest = self.0.strip_prefix(name)?.strip_prefix('=')?;
        self.0 = rest;
        Some(self.word().unwrap_or_default())
    }

    /// A quoted text at the start of what is left.
    pub(super) fn quoted(&mut self) -> Result<String, Wrong> {
        if !self.0.starts_with('"') {
            return Err(format!("a quoted text is expected, not `{}`", self.0));
        }
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter::<String>();
        let text = match values.next() {
            Some(Ok(text)) => text,
            _ => return Err("the quoted text does not end, or has a wrong escape".into()),
        };
        let used = values.byte_offset();
        self.0 = self.0.get(used..).unwrap_or_default().trim_start();
        Ok(text)
    }

    /// Everything that is left: quoted text, or the line as it stands.
    pub(super) fn rest(&mut self) -> Result<String, Wrong> {
        if self.0.starts_with('"') {
            let text = self.quoted()?;
            self.end()?;
            return Ok(text);
        }
        Ok(std::mem::take(&mut self.0).to_owned())
    }

    /// Nothing may be left.
    pub(super) fn end(&self) -> Result<(), Wrong> {
        if self.is_empty() { Ok(()) } else { Err(format!("`{}` is too much", self.0)) }
    }

    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, Wrong> {
        number(self.need(what)?, what)
    }
}

pub(super) fn number<T: std::str::FromStr>(word: &str, what: &str) -> Result<T, Wrong> {
    word.parse().map_err(|_| format!("{what} must be a number in its range, not `{word}`"))
}

/// The longest silence that a script may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// A time like `20ms` or `1.5s`, at most an hour.
pub(super) fn duration(word: &str) -> Result<Duration, Wrong> {
    let parse = |number: &str, unit: f64| {
        let number: f64 = number.parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok().filter(|time| *time <= LONGEST_WAIT)
    };
    let time = match (word.strip_suffix("ms"), word.strip_suffix('s')) {
        (Some(number), _) => parse(number, 0.001),
        (None, Some(number)) => parse(number, 1.0),
        (None, None) => None,
    };
    time.ok_or_else(|| format!("a time is written like 20ms or 1.5s, not `{word}`; an hour at most"))
}

/// Bytes written as pairs of hexadecimal digits.
pub(super) fn hex(text: &str) -> Result<Vec<u8>, Wrong> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0);
    let digits = digits.ok_or("bytes are written as pairs of hexadecimal digits")?;
    Ok(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// The known word that `word` was probably meant to be.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let best = known.into_iter().map(|name| (distance(word, name), name)).min()?;
    (best.0 <= 2).then_some(best.1)
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(32).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row.last().copied().unwrap_or_default()
}
