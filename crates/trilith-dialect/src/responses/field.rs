//! A value together with where the caller wrote it, so that every complaint names the field.

use std::{borrow::Cow, fmt};

use trilith_core::{Error, ErrorKind, ErrorOrigin};

use crate::tape::{Kind, Value};

/// Whose JSON is read: a client's is judged, an upstream's is taken as far as it makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Upstream,
}

/// One step of a path.
#[derive(Clone, Copy, Debug)]
enum Step<'p> {
    Root,
    Key(&'p str),
    Index(usize),
}

/// A path, as a chain of steps on the stack; it becomes text only when something is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            Step::Root => Ok(()),
            Step::Key(key) if self.parent.is_some_and(|parent| !matches!(parent.step, Step::Root)) => {
                write!(f, ".{key}")
            }
            Step::Key(key) => f.write_str(key),
            Step::Index(index) => write!(f, "[{index}]"),
        }
    }
}

/// A value and its path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'t, 'p> {
    pub(super) value: Value<'t>,
    pub(super) path: Path<'p>,
    pub(super) side: Side,
}

impl<'t> Field<'t, 'static> {
    pub(super) const fn root(value: Value<'t>, side: Side) -> Self {
        Self { value, path: Path { parent: None, step: Step::Root }, side }
    }
}

impl<'t> Field<'t, '_> {
    /// The member of that name; null counts as absent.
    pub(super) fn get<'q>(&'q self, name: &'q str) -> Option<Field<'t, 'q>> {
        let value = self.value.get(name)?;
        Some(Field { value, path: Path { parent: Some(&self.path), step: Step::Key(name) }, side: self.side })
    }

    /// A member that must be there.
    pub(super) fn need<'q>(&'q self, name: &'q str) -> Result<Field<'t, 'q>, Error> {
        self.get(name).ok_or_else(|| self.missing(name))
    }

    /// The elements; the value must be an array.
    pub(super) fn list<'q>(&'q self) -> Result<impl Iterator<Item = Field<'t, 'q>>, Error> {
        if self.value.kind() != Kind::Array {
            return Err(self.expected("an array"));
        }
        let side = self.side;
        Ok(self.value.elements().enumerate().map(move |(index, value)| Field {
            value,
            path: Path { parent: Some(&self.path), step: Step::Index(index) },
            side,
        }))
    }

    /// Checks that the value is an object.
    pub(super) fn object(&self) -> Result<(), Error> {
        if self.value.kind() == Kind::Object { Ok(()) } else { Err(self.expected("an object")) }
    }

    pub(super) fn text(&self) -> Result<Cow<'t, str>, Error> {
        self.value.string().ok_or_else(|| self.expected("a string"))
    }

    /// The member as text; null counts as absent.
    pub(super) fn opt_text(&self, name: &str) -> Result<Option<Cow<'t, str>>, Error> {
        self.get(name).map(|field| field.text()).transpose()
    }

    pub(super) fn opt_box(&self, name: &str) -> Result<Option<Box<str>>, Error> {
        Ok(self.opt_text(name)?.map(Into::into))
    }

    pub(super) fn need_box(&self, name: &str) -> Result<Box<str>, Error> {
        Ok(self.need(name)?.text()?.into())
    }

    pub(super) fn opt_bool(&self, name: &str) -> Result<Option<bool>, Error> {
        self.get(name).map(|field| field.value.bool().ok_or_else(|| field.expected("a boolean"))).transpose()
    }

    /// A number of the range, both ends included.
    pub(super) fn opt_f64(&self, name: &str, low: f64, high: f64) -> Result<Option<f64>, Error> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let number = match field.value.f64() {
            Some(number) => number,
            // `1e999` is a number, but in no range.
            None if field.value.kind() == Kind::Number => f64::NAN,
            None => return Err(field.expected("a number")),
        };
        if (low..=high).contains(&number) {
            return Ok(Some(number));
        }
        let why = format!("expected a number from {low} to {high}, but got {}", field.value.raw());
        Err(field.wrong(&why, "number_out_of_range"))
    }

    /// A whole number of the range, both ends included.
    pub(super) fn opt_u64(&self, name: &str, low: u64, high: u64) -> Result<Option<u64>, Error> {
        let Some(field) = self.get(name) else { return Ok(None) };
        let number = match field.value.u64() {
            Some(number) => number,
            None if field.value.kind() == Kind::Number => u64::MAX,
            None => return Err(field.expected("an integer")),
        };
        if (low..=high).contains(&number) && field.value.u64().is_some() {
            return Ok(Some(number));
        }
        let upper = if high == u64::MAX { String::new() } else { format!(" and at most {high}") };
        let why = format!("expected an integer of at least {low}{upper}, but got {}", field.value.raw());
        Err(field.wrong(&why, "integer_out_of_range"))
    }

    /// The value is of another kind than `what`.
    pub(super) fn expected(&self, what: &str) -> Error {
        let found = self.value.kind().name();
        self.complain(
            format!("Invalid type for '{}': expected {what}, but got {found} instead.", self.name()),
            "invalid_type",
        )
    }

    /// The value is right in kind and wrong in what it says.
    pub(super) fn wrong(&self, why: &str, code: &'static str) -> Error {
        self.complain(format!("Invalid value for '{}': {why}.", self.name()), code)
    }

    /// The value is none of a closed set.
    pub(super) fn unsupported(&self, found: &str, known: &[&str]) -> Error {
        let found: String = found.chars().take(64).collect();
        let mut text = format!("Invalid value: '{found}'. Supported values are: ");
        for (n, word) in known.iter().enumerate() {
            text.push_str(if n == 0 { "'" } else { ", '" });
            text.push_str(word);
            text.push('\'');
        }
        text.push('.');
        self.complain(text, "invalid_value")
    }

    /// A member is missing.
    pub(super) fn missing(&self, name: &str) -> Error {
        let path = Path { parent: Some(&self.path), step: Step::Key(name) };
        let text = format!("Missing required parameter: '{path}'.");
        Field { value: self.value, path, side: self.side }.complain(text, "missing_required_parameter")
    }

    fn name(&self) -> String {
        let name = self.path.to_string();
        if name.is_empty() { "body".to_owned() } else { name }
    }

    fn complain(&self, text: String, code: &'static str) -> Error {
        match self.side {
            Side::Client => Error::bad_request(self.path.to_string(), text).with_code(code),
            // The upstream's field is no business of the caller.
            Side::Upstream => Error::new(
                ErrorKind::UpstreamBroken,
                ErrorOrigin::Upstream,
                "The upstream's answer could not be read.",
            )
            .with_source(std::io::Error::other(text)),
        }
    }
}
