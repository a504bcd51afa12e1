//! JSON into types in one quick pass. It reads only what it is sure of: whatever it does not take is read again
//! by `serde_json`, which alone decides what is wrong and says so. What it takes, it takes as `serde_json` does.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor},
    forward_to_deserialize_any,
};

use crate::scan::{Text, find_text};

/// Arrays and objects within each other that the quick pass follows.
const MAX_DEPTH: u32 = 120;

/// The name under which `serde_json` asks for a value's own text. Were it to change, the slow pass would read
/// what holds such values.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Reads `body` as a `T`.
///
/// # Errors
/// What `serde_json` says about it.
pub(crate) fn from_slice<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Result<T, serde_json::Error> {
    match simdutf8::basic::from_utf8(body) {
        Ok(text) => from_str(text),
        Err(_) => serde_json::from_slice(body),
    }
}

/// Reads `text` as a `T`.
///
/// # Errors
/// What `serde_json` says about it.
pub(crate) fn from_str<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, serde_json::Error> {
    quick(text).or_else(|Unsure| serde_json::from_str(text))
}

/// Reads the value that `body` begins with as a `T`; what follows it is not looked at.
///
/// # Errors
/// What `serde_json` says about it.
pub(crate) fn front<'de, T: Deserialize<'de>>(body: &'de [u8]) -> Result<T, serde_json::Error> {
    if let Ok(text) = simdutf8::basic::from_utf8(body)
        && let Ok(value) = T::deserialize(&mut Input { text, at: 0, depth: 0 })
    {
        return Ok(value);
    }
    T::deserialize(&mut serde_json::Deserializer::from_slice(body))
}

fn quick<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Unsure> {
    let mut input = Input { text, at: 0, depth: 0 };
    let value = T::deserialize(&mut input)?;
    if input.next().is_none() { Ok(value) } else { Err(Unsure) }
}

/// The quick pass gave up; why does not matter.
#[derive(Debug)]
struct Unsure;

impl fmt::Display for Unsure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the quick pass gave up")
    }
}

impl std::error::Error for Unsure {}

impl de::Error for Unsure {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: de::Unexpected<'_>, _: &dyn de::Expected) -> Self {
        Self
    }
}

/// The text and how far it is read.
struct Input<'de> {
    text: &'de str,
    at: usize,
    depth: u32,
}

impl<'de> Input<'de> {
    /// The next byte that is no white space; it is not taken.
    #[inline]
    fn next(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    #[inline]
    fn take(&mut self, byte: u8) -> Result<(), Unsure> {
        if self.next() != Some(byte) {
            return Err(Unsure);
        }
        self.at += 1;
        Ok(())
    }

    /// Goes on behind a value of a list or an object: whether another one follows.
    #[inline]
    fn another(&mut self, close: u8) -> Result<bool, Unsure> {
        let next = self.next();
        self.at += 1;
        match next {
            Some(b',') => Ok(true),
            Some(byte) if byte == close => Ok(false),
            _ => Err(Unsure),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Unsure> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Unsure);
        }
        self.at += word.len();
        Ok(())
    }

    /// The string that starts here.
    #[inline]
    fn string(&mut self) -> Result<Text<'de>, Unsure> {
        let found = find_text(self.text, self.at).ok_or(Unsure)?;
        self.at = found.end;
        Ok(found)
    }

    /// The number that starts here, by the grammar of RFC 8259.
    fn number(&mut self) -> Result<&'de str, Unsure> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let digits = |mut at: usize| {
            let first = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            if at > first { Ok(at) } else { Err(Unsure) }
        };
        let mut at = start + usize::from(bytes.get(start) == Some(&b'-'));
        at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
        if bytes.get(at) == Some(&b'.') {
            at = digits(at + 1)?;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            let sign = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
            at = digits(at + 1 + usize::from(sign))?;
        }
        self.at = at;
        self.text.get(start..at).ok_or(Unsure)
    }

    /// Passes over one value and gives its text.
    fn skip(&mut self) -> Result<&'de str, Unsure> {
        // One bit for each open container: whether it is an object.
        let (mut open, mut depth) = (0_u128, 0_u32);
        let first = self.next();
        let start = self.at;
        let mut next = first;
        loop {
            match next.ok_or(Unsure)? {
                b'"' => drop(self.string()?),
                byte @ (b'{' | b'[') => {
                    let object = byte == b'{';
                    self.at += 1;
                    if self.next() == Some(byte + 2) {
                        self.at += 1;
                    } else {
                        if depth == MAX_DEPTH {
                            return Err(Unsure);
                        }
                        (open, depth) = (open << 1 | u128::from(object), depth + 1);
                        if object {
                            self.key()?;
                        }
                        next = self.next();
                        continue;
                    }
                }
                b't' => self.word("true")?,
                b'f' => self.word("false")?,
                b'n' => self.word("null")?,
                _ => drop(self.number()?),
            }
            loop {
                if depth == 0 {
                    return self.text.get(start..self.at).ok_or(Unsure);
                }
                let object = open & 1 == 1;
                if self.another(if object { b'}' } else { b']' })? {
                    if object {
                        self.key()?;
                    }
                    next = self.next();
                    break;
                }
                (open, depth) = (open >> 1, depth - 1);
            }
        }
    }

    /// A key and its colon.
    #[inline]
    fn key(&mut self) -> Result<Text<'de>, Unsure> {
        if self.next() != Some(b'"') {
            return Err(Unsure);
        }
        let key = self.string()?;
        self.take(b':')?;
        Ok(key)
    }

    fn visit_number<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Unsure> {
        let number = self.number()?;
        // Twenty digits may be too large.
        if number.len() < 20
            && let Ok(whole) = number.parse()
        {
            return visitor.visit_u64(whole);
        }
        let mut exact = serde_json::Deserializer::from_str(number);
        exact.deserialize_any(visitor).map_err(|_| Unsure)
    }

    /// Reads what is inside of a container.
    fn inside<T>(
        &mut self,
        close: u8,
        visit: impl FnOnce(&mut Inside<'_, 'de>) -> Result<T, Unsure>,
    ) -> Result<T, Unsure> {
        if self.depth == MAX_DEPTH {
            return Err(Unsure);
        }
        self.at += 1;
        self.depth += 1;
        let mut inside = Inside { input: self, close, state: State::First };
        let value = visit(&mut inside)?;
        // A reader that stops before the end has its own opinion of what follows.
        if inside.state != State::Ended && inside.more()? {
            return Err(Unsure);
        }
        self.depth -= 1;
        Ok(value)
    }
}

#[inline]
fn visit_text<'de, V: Visitor<'de>>(text: &Text<'de>, visitor: V) -> Result<V::Value, Unsure> {
    match text.meaning().ok_or(Unsure)? {
        Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
        Cow::Owned(text) => visitor.visit_string(text),
    }
}

impl<'de> Deserializer<'de> for &mut Input<'de> {
    type Error = Unsure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        match self.next().ok_or(Unsure)? {
            b'"' => visit_text(&self.string()?, visitor),
            b'{' => self.inside(b'}', |inside| visitor.visit_map(inside)),
            b'[' => self.inside(b']', |inside| visitor.visit_seq(inside)),
            b't' => self.word("true").and_then(|()| visitor.visit_bool(true)),
            b'f' => self.word("false").and_then(|()| visitor.visit_bool(false)),
            b'n' => self.word("null").and_then(|()| visitor.visit_unit()),
            _ => self.visit_number(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        if self.next() == Some(b'n') {
            self.word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Unsure> {
        if name == RAW_VALUE {
            return visitor.visit_map(Raw(Some(self.skip()?)));
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        self.skip()?;
        visitor.visit_unit()
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Unsure> {
        Err(Unsure)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unsure> {
        Err(Unsure)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unsure> {
        Err(Unsure)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    First,
    Further,
    Ended,
}

/// The inside of a list or an object.
struct Inside<'i, 'de> {
    input: &'i mut Input<'de>,
    close: u8,
    state: State,
}

impl Inside<'_, '_> {
    /// Whether another value follows; after the last one the container is closed.
    #[inline]
    fn more(&mut self) -> Result<bool, Unsure> {
        let more = match self.state {
            State::First if self.input.next() == Some(self.close) => {
                self.input.at += 1;
                false
            }
            State::First => true,
            State::Further => self.input.another(self.close)?,
            State::Ended => false,
        };
        self.state = if more { State::Further } else { State::Ended };
        Ok(more)
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Unsure;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Unsure> {
        if self.more()? { seed.deserialize(&mut *self.input).map(Some) } else { Ok(None) }
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Unsure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unsure> {
        if self.more()? { seed.deserialize(Key(self.input.key()?)).map(Some) } else { Ok(None) }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unsure> {
        seed.deserialize(&mut *self.input)
    }
}

/// A key, or any string that is there already.
struct Key<'de>(Text<'de>);

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Unsure;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unsure> {
        visit_text(&self.0, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A value's own text, in the form in which `serde_json` takes it.
struct Raw<'de>(Option<&'de str>);

impl<'de> MapAccess<'de> for Raw<'de> {
    type Error = Unsure;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unsure> {
        seed.deserialize(de::value::BorrowedStrDeserializer::new(RAW_VALUE)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unsure> {
        seed.deserialize(de::value::BorrowedStrDeserializer::new(self.0.take().ok_or(Unsure)?))
    }
}

#[cfg(test)]
mod tests;
