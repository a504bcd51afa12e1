//! Values of answers that servers spell as they please: what has another type counts as absent.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// A string; anything else counts as absent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Text(pub(crate) Option<String>);

impl Text {
    /// The text, unless it is absent or empty.
    pub(crate) fn filled(self) -> Option<String> {
        self.0.filter(|text| !text.is_empty())
    }
}

/// A whole number, however it is written; anything else counts as absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) Option<i64>);

struct Loose;

/// What a scalar was.
enum Scalar {
    Text(String),
    Number(i64),
    Other,
}

impl<'de> Visitor<'de> for Loose {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar::Text(text.to_owned()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar::Number(number))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Scalar, E> {
        Ok(i64::try_from(number).map_or(Scalar::Other, Scalar::Number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Scalar, E> {
        // Within this range every whole number has an exact float.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.is_finite() && number.abs() <= EXACT {
            return Ok(format!("{number:.0}").parse().map_or(Scalar::Other, Scalar::Number));
        }
        Ok(Scalar::Other)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_unit<E>(self) -> Result<Scalar, E> {
        Ok(Scalar::Other)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Scalar::Other)
    }
}

impl<'de> DeserializeSeed<'de> for Loose {
    type Value = Scalar;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Scalar, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Loose.deserialize(deserializer)? {
            Scalar::Text(text) => Self(Some(text)),
            Scalar::Number(_) | Scalar::Other => Self(None),
        })
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Loose.deserialize(deserializer)? {
            Scalar::Number(number) => Self(Some(number)),
            Scalar::Text(text) => Self(text.parse().ok()),
            Scalar::Other => Self(None),
        })
    }
}
