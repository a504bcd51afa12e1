//! Fields, lengths and the macros that define a stored type by its tags.

use std::{fmt, sync::Arc};

/// Stored bytes that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a stored value cannot be read")
    }
}

impl std::error::Error for Corrupt {}

/// A value with a stored form. `get` is handed exactly the bytes that `put` wrote.
pub(crate) trait Code: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn get(input: Input<'_>) -> Result<Self, Corrupt>;

    /// Whether a field of this value need not be written.
    fn is_absent(&self) -> bool {
        false
    }

    /// The value of a field that was not written.
    fn absent() -> Option<Self> {
        None
    }
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8 & 0x7f) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a length and the value; the length is patched in front once it is known.
fn put_delimited<T: Code>(out: &mut Vec<u8>, value: &T) {
    let start = out.len();
    out.push(0);
    value.put(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
        return;
    }
    let mut prefix = Vec::with_capacity(5);
    put_varint(&mut prefix, length as u64);
    out.splice(start..=start, prefix);
}

pub(crate) fn put_field<T: Code>(out: &mut Vec<u8>, tag: u64, value: &T) {
    if !value.is_absent() {
        put_varint(out, tag);
        put_delimited(out, value);
    }
}

/// How deep values may nest. The deepest that Trilith writes has fewer than 30 levels.
const DEEPEST: u8 = 64;

/// What is left to read, and how much deeper values may nest: a reader recurses, and its stack is finite.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    bytes: &'a [u8],
    deeper: u8,
}

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, deeper: DEEPEST }
    }

    pub(crate) fn varint(&mut self) -> Result<u64, Corrupt> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first().ok_or(Corrupt)?;
            self.bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Corrupt)
    }

    pub(crate) fn delimited(&mut self) -> Result<Self, Corrupt> {
        let length = usize::try_from(self.varint()?).map_err(|_| Corrupt)?;
        let (value, rest) = self.bytes.split_at_checked(length).ok_or(Corrupt)?;
        self.bytes = rest;
        Ok(Self { bytes: value, deeper: self.deeper.checked_sub(1).ok_or(Corrupt)? })
    }

    pub(crate) fn field(&mut self) -> Result<Option<(u64, Self)>, Corrupt> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        Ok(Some((self.varint()?, self.delimited()?)))
    }

    pub(crate) fn text(self) -> Result<&'a str, Corrupt> {
        std::str::from_utf8(self.bytes).map_err(|_| Corrupt)
    }
}

/// A struct: `record!(Type { tag field, … })`. Tags are for ever; a new field takes a new one.
macro_rules! record {
    ($type:ty { $($tag:literal $field:ident),* $(,)? }) => {
        impl $crate::codec::wire::Code for $type {
            fn put(&self, out: &mut Vec<u8>) {
                let Self { $($field),* } = self;
                $($crate::codec::wire::put_field(out, $tag, $field);)*
            }
            fn get(mut input: $crate::codec::wire::Input<'_>) -> Result<Self, $crate::codec::wire::Corrupt> {
                $(let mut $field = None;)*
                while let Some((tag, payload)) = input.field()? {
                    match tag {
                        $($tag => $field = Some($crate::codec::wire::Code::get(payload)?),)*
                        _ => {}
                    }
                }
                Ok(Self {
                    $($field: $field
                        .or_else($crate::codec::wire::Code::absent)
                        .ok_or($crate::codec::wire::Corrupt)?,)*
                })
            }
            /// A record whose fields may all be left out may be left out itself, so that a later version can
            /// add one to an older record.
            fn absent() -> Option<Self> {
                Self::get($crate::codec::wire::Input::new(&[])).ok()
            }
        }
    };
}

/// An enum: `choice!(Type { tag Variant { tag member name, … }, … })`, where a member is a field's name or
/// the place in a tuple.
macro_rules! choice {
    ($type:ty { $($tag:literal $variant:ident { $($ftag:literal $member:tt $bind:ident),* }),* $(,)? }) => {
        impl $crate::codec::wire::Code for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($member: $bind),* } => {
                        $crate::codec::wire::put_varint(out, $tag);
                        $($crate::codec::wire::put_field(out, $ftag, $bind);)*
                    })*
                }
            }
            fn get(mut input: $crate::codec::wire::Input<'_>) -> Result<Self, $crate::codec::wire::Corrupt> {
                match input.varint()? {
                    $($tag => {
                        $(let mut $bind = None;)*
                        while let Some((tag, _payload)) = input.field()? {
                            match tag {
                                $($ftag => $bind = Some($crate::codec::wire::Code::get(_payload)?),)*
                                _ => {}
                            }
                        }
                        Ok(Self::$variant {
                            $($member: $bind
                                .or_else($crate::codec::wire::Code::absent)
                                .ok_or($crate::codec::wire::Corrupt)?),*
                        })
                    })*
                    _ => Err($crate::codec::wire::Corrupt),
                }
            }
        }
    };
}

pub(crate) use {choice, record};

macro_rules! unsigned {
    ($($type:ty),*) => {$(
        impl Code for $type {
            fn put(&self, out: &mut Vec<u8>) {
                put_varint(out, u64::from(*self));
            }
            fn get(mut input: Input<'_>) -> Result<Self, Corrupt> {
                Self::try_from(input.varint()?).map_err(|_| Corrupt)
            }
            fn is_absent(&self) -> bool {
                *self == 0
            }
            fn absent() -> Option<Self> {
                Some(0)
            }
        }
    )*};
}
unsigned!(u16, u32, u64);

impl Code for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        Ok(Self::from_le_bytes(input.bytes.try_into().map_err(|_| Corrupt)?))
    }
}

impl Code for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        Ok(Self::from_le_bytes(input.bytes.try_into().map_err(|_| Corrupt)?))
    }
}

impl Code for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        match input.bytes {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(Corrupt),
        }
    }
    fn is_absent(&self) -> bool {
        !*self
    }
    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl Code for String {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        input.text().map(str::to_owned)
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl Code for Box<str> {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.as_bytes());
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        input.text().map(Into::into)
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
    fn absent() -> Option<Self> {
        Some("".into())
    }
}

impl<T: Code> Code for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        T::get(input).map(Some)
    }
    fn is_absent(&self) -> bool {
        self.is_none()
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// An option inside a list cannot be left out: there it is a list of none or one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed<T>(pub(crate) Option<T>);

impl<T: Code> Code for Listed<T> {
    fn put(&self, out: &mut Vec<u8>) {
        if let Some(value) = &self.0 {
            out.push(1);
            value.put(out);
        } else {
            out.push(0);
        }
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        match input.bytes.split_first().ok_or(Corrupt)? {
            (0, _) => Ok(Self(None)),
            (_, bytes) => T::get(Input { bytes, ..input }).map(|value| Self(Some(value))),
        }
    }
}

/// Bytes are one run; a number inside a list would cost two bytes or three.
impl Code for Vec<u8> {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        Ok(input.bytes.to_vec())
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T: Code> Code for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| put_delimited(out, value));
    }
    fn get(mut input: Input<'_>) -> Result<Self, Corrupt> {
        let mut values = Self::new();
        while !input.bytes.is_empty() {
            values.push(T::get(input.delimited()?)?);
        }
        Ok(values)
    }
    fn is_absent(&self) -> bool {
        self.is_empty()
    }
    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

impl<T: Code> Code for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        T::get(input).map(Self::new)
    }
}

impl<T: Code> Code for Arc<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (**self).put(out);
    }
    fn get(input: Input<'_>) -> Result<Self, Corrupt> {
        T::get(input).map(Self::new)
    }
}

impl<A: Code, B: Code> Code for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        put_delimited(out, &self.0);
        put_delimited(out, &self.1);
    }
    fn get(mut input: Input<'_>) -> Result<Self, Corrupt> {
        Ok((A::get(input.delimited()?)?, B::get(input.delimited()?)?))
    }
}
