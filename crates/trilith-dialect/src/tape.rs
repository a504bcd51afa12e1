//! A JSON text as a flat table of where its values lie: one strict pass, one allocation, and every value's
//! exact text at hand. Requests keep schemas and argument texts byte for byte, so that their readers need the
//! raw text of some values and the meaning of others.

use std::borrow::Cow;

use trilith_core::Json;

use crate::scan::{decode_string, string_end};

/// Arrays and objects within each other, at most (RFC 8259 allows a reader to set a limit).
const MAX_DEPTH: usize = 128;

/// One value: its place in the text, and where in the table its next sibling is.
#[derive(Clone, Copy, Debug)]
struct Entry {
    start: u32,
    end: u32,
    next: u32,
    /// A string with escapes in it.
    escaped: bool,
}

/// The table; its memory serves one text after another.
#[derive(Debug, Default)]
pub(crate) struct Tape {
    entries: Vec<Entry>,
    open: Vec<Open>,
}

/// A container that is open: its place in the table, and whether it is an object.
#[derive(Clone, Copy, Debug)]
struct Open {
    entry: usize,
    object: bool,
}

/// The most entries that room is made for at once.
const MOST_ROOM: usize = 4096;

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    /// With its article, for messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// The text is not one JSON value within the limits; the byte at which that shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) usize);

impl Tape {
    /// Reads `text` whole.
    pub(crate) fn read<'t>(&'t mut self, text: &'t str) -> Result<Value<'t>, Malformed> {
        self.entries.clear();
        if u32::try_from(text.len()).is_err() {
            return Err(Malformed(0));
        }
        self.open.clear();
        // Few texts have more values and keys than one in sixteen bytes.
        self.entries.reserve((text.len() / 16).min(MOST_ROOM));
        let mut walk =
            Walk { bytes: text.as_bytes(), at: 0, entries: &mut self.entries, open: &mut self.open };
        walk.document()?;
        Ok(Value { text, entries: &self.entries, at: 0 })
    }

    /// The same over bytes that may not be UTF-8.
    pub(crate) fn read_bytes<'t>(&'t mut self, bytes: &'t [u8]) -> Result<Value<'t>, Malformed> {
        let text = simdutf8::basic::from_utf8(bytes).map_err(|_| Malformed(0))?;
        self.read(text.strip_prefix('\u{feff}').unwrap_or(text))
    }
}

struct Walk<'t> {
    bytes: &'t [u8],
    at: usize,
    entries: &'t mut Vec<Entry>,
    open: &'t mut Vec<Open>,
}

impl Walk<'_> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    const fn fail<T>(&self) -> Result<T, Malformed> {
        Err(Malformed(self.at))
    }

    fn document(&mut self) -> Result<(), Malformed> {
        self.skip_space();
        let mut again = self.value()?;
        while again {
            again = self.value()?;
        }
        self.skip_space();
        if self.at == self.bytes.len() { Ok(()) } else { self.fail() }
    }

    /// Reads one value, or opens a container; says whether another value must follow.
    fn value(&mut self) -> Result<bool, Malformed> {
        let start = self.at;
        match self.peek() {
            Some(open @ (b'{' | b'[')) => return self.enter(open),
            Some(b'"') => return self.string(start).and_then(|()| self.after_value()),
            Some(b't') => self.literal(b"true")?,
            Some(b'f') => self.literal(b"false")?,
            Some(b'n') => self.literal(b"null")?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return self.fail(),
        }
        self.push(start, false);
        self.after_value()
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the text is shorter than 4 GiB, checked at the start"
    )]
    fn push(&mut self, start: usize, escaped: bool) {
        let next = self.entries.len() as u32 + 1;
        self.entries.push(Entry { start: start as u32, end: self.at as u32, next, escaped });
    }

    fn enter(&mut self, open: u8) -> Result<bool, Malformed> {
        if self.open.len() == MAX_DEPTH {
            return self.fail();
        }
        let start = self.at;
        self.at += 1;
        let object = open == b'{';
        self.open.push(Open { entry: self.entries.len(), object });
        self.push(start, false);
        self.skip_space();
        let close = open + 2;
        if self.peek() == Some(close) {
            return self.leave();
        }
        if object {
            self.key()?;
        }
        Ok(true)
    }

    #[inline]
    fn key(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return self.fail();
        }
        self.string(start)?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return self.fail();
        }
        self.at += 1;
        self.skip_space();
        Ok(())
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the text is shorter than 4 GiB, checked at the start"
    )]
    fn leave(&mut self) -> Result<bool, Malformed> {
        self.at += 1;
        let next = self.entries.len() as u32;
        if let Some(entry) = self.open.pop().and_then(|open| self.entries.get_mut(open.entry)) {
            entry.end = self.at as u32;
            entry.next = next;
        }
        self.after_value()
    }

    /// After a value: a comma and the next one, or the end of its container.
    fn after_value(&mut self) -> Result<bool, Malformed> {
        let Some(Open { object, .. }) = self.open.last().copied() else { return Ok(false) };
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                self.skip_space();
                if object {
                    self.key()?;
                }
                Ok(true)
            }
            Some(b'}') if object => self.leave(),
            Some(b']') if !object => self.leave(),
            _ => self.fail(),
        }
    }

    #[inline]
    fn string(&mut self, start: usize) -> Result<(), Malformed> {
        let escaped;
        (self.at, escaped) = string_end(self.bytes, start).map_err(Malformed)?;
        self.push(start, escaped);
        Ok(())
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Malformed> {
        if !self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return self.fail();
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Malformed> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Malformed> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { self.fail() } else { Ok(()) }
    }
}

/// One value of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Value<'t> {
    text: &'t str,
    entries: &'t [Entry],
    at: usize,
}

impl<'t> Value<'t> {
    fn entry(self) -> Entry {
        // Places come from the table itself.
        self.entries.get(self.at).copied().unwrap_or(Entry { start: 0, end: 0, next: 0, escaped: false })
    }

    /// The value as it stands in the text.
    pub(crate) fn raw(self) -> &'t str {
        let entry = self.entry();
        self.text.get(entry.start as usize..entry.end as usize).unwrap_or_default()
    }

    /// Where it stands in the text.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        let entry = self.entry();
        entry.start as usize..entry.end as usize
    }

    /// The value as it stands, owned.
    pub(crate) fn json(self) -> Json {
        Json::from_checked(self.raw())
    }

    pub(crate) fn kind(self) -> Kind {
        match self.raw().as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') | None => Kind::Null,
            Some(_) => Kind::Number,
        }
    }

    pub(crate) fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The string's meaning.
    pub(crate) fn string(self) -> Option<Cow<'t, str>> {
        decode_string(self.raw())
    }

    pub(crate) fn bool(self) -> Option<bool> {
        match self.raw() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A number that is finite.
    pub(crate) fn f64(self) -> Option<f64> {
        (self.kind() == Kind::Number)
            .then(|| self.raw().parse().ok())
            .flatten()
            .filter(|n: &f64| n.is_finite())
    }

    /// A whole number that is not negative; `1.0` and `1e3` count.
    pub(crate) fn u64(self) -> Option<u64> {
        if let Ok(number) = self.raw().parse() {
            return Some(number);
        }
        let number = self.f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range and whole")]
        let whole = number as u64;
        Some(whole)
    }

    /// The number, cut to whole, for clocks that give fractions.
    pub(crate) fn seconds(self) -> Option<i64> {
        #[expect(clippy::cast_possible_truncation, reason = "a cast from float saturates")]
        self.f64().map(|n| n as i64)
    }

    /// The values of an array; nothing for other kinds.
    pub(crate) fn elements(self) -> impl Iterator<Item = Value<'t>> {
        let entry = self.entry();
        let (mut at, end) = match self.kind() {
            Kind::Array => (self.at + 1, entry.next as usize),
            _ => (0, 0),
        };
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let value = Value { at, ..self };
                at = (value.entry().next as usize).max(at + 1);
                value
            })
        })
    }

    /// The keys of an object, each followed by its value; nothing for other kinds.
    fn keys(self) -> impl Iterator<Item = Value<'t>> {
        let entry = self.entry();
        let (mut at, end) = match self.kind() {
            Kind::Object => (self.at + 1, entry.next as usize),
            _ => (0, 0),
        };
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let key = Value { at, ..self };
                at = (key.behind().entry().next as usize).max(at + 2);
                key
            })
        })
    }

    /// What stands behind a key.
    const fn behind(self) -> Self {
        Value { at: self.at + 1, ..self }
    }

    /// The members of an object as key (with quotes) and value; nothing for other kinds.
    pub(crate) fn raw_members(self) -> impl Iterator<Item = (&'t str, Value<'t>)> {
        self.keys().map(|key| (key.raw(), key.behind()))
    }

    /// The members of an object; nothing for other kinds.
    pub(crate) fn members(self) -> impl Iterator<Item = (Cow<'t, str>, Value<'t>)> {
        self.raw_members().map(|(key, value)| (decode_string(key).unwrap_or_default(), value))
    }

    /// The member of that name, whatever it holds.
    pub(crate) fn member(self, name: &str) -> Option<Value<'t>> {
        let named = self.keys().find(|key| {
            let Entry { start, end, escaped, .. } = key.entry();
            if escaped {
                return key.string().is_some_and(|key| key == name);
            }
            // Between its quotes, a key without escapes is its own meaning.
            (end - start) as usize == name.len() + 2
                && self.text.as_bytes().get(start as usize + 1..end as usize - 1) == Some(name.as_bytes())
        });
        named.map(Value::behind)
    }

    /// The member of that name; null counts as absent.
    pub(crate) fn get(self, name: &str) -> Option<Value<'t>> {
        self.member(name).filter(|value| !value.is_null())
    }

    /// The string member of that name.
    pub(crate) fn str(self, name: &str) -> Option<Cow<'t, str>> {
        self.get(name)?.string()
    }
}
