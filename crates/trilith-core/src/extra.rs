//! Fields that only one dialect understands.

use crate::{DialectId, Json};

/// One field that rides along for the dialect it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtraField {
    /// The only dialect that may write the field back.
    pub dialect: DialectId,
    /// The field's name on that wire.
    pub name: Box<str>,
    /// The field's value, untouched.
    pub value: Json,
}

/// Vendor-only and unknown fields of a turn, item, part or tool, in their order of arrival.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extra(Vec<ExtraField>);

impl Extra {
    /// No field at all; costs no allocation.
    pub const EMPTY: Self = Self(Vec::new());

    /// Remembers a field for its own dialect.
    pub fn push(&mut self, dialect: DialectId, name: impl Into<Box<str>>, value: Json) {
        self.0.push(ExtraField { dialect, name: name.into(), value });
    }

    /// The fields that `dialect` may write back.
    pub fn of(&self, dialect: DialectId) -> impl Iterator<Item = &ExtraField> {
        self.0.iter().filter(move |field| field.dialect == dialect)
    }

    /// The fields that `dialect` cannot carry: each of them is a loss toward it.
    pub fn foreign_to(&self, dialect: DialectId) -> impl Iterator<Item = &ExtraField> {
        self.0.iter().filter(move |field| field.dialect != dialect)
    }

    /// The value of one field of one dialect.
    pub fn get(&self, dialect: DialectId, name: &str) -> Option<&Json> {
        self.of(dialect).find(|field| &*field.name == name).map(|field| &field.value)
    }

    /// Every field.
    pub fn iter(&self) -> impl Iterator<Item = &ExtraField> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<ExtraField> for Extra {
    fn from_iter<T: IntoIterator<Item = ExtraField>>(fields: T) -> Self {
        Self(fields.into_iter().collect())
    }
}
