//! Writing JSON objects into a byte buffer, member by member.

use crate::scan::write_string;

/// An object that is being written. [`Object::close`] must be called.
pub(super) struct Object<'o> {
    out: &'o mut Vec<u8>,
    empty: bool,
}

impl<'o> Object<'o> {
    pub(super) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Members that follow others which are already there, or that are joined to others later.
    pub(super) const fn resume(out: &'o mut Vec<u8>, empty: bool) -> Self {
        Self { out, empty }
    }

    /// Writes the key; the caller appends the value.
    pub(super) fn key(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(self.out, name);
        self.out.push(b':');
        self.out
    }

    pub(super) fn str(&mut self, name: &str, text: &str) {
        write_string(self.key(name), text);
    }

    /// Nothing when there is no text.
    pub(super) fn opt_str(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.str(name, text);
        }
    }

    /// Null when there is no text.
    pub(super) fn str_or_null(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => self.str(name, text),
            None => self.raw(name, "null"),
        }
    }

    pub(super) fn raw(&mut self, name: &str, json: &str) {
        self.key(name).extend_from_slice(json.as_bytes());
    }

    /// Members that are written already: the inside of an object.
    pub(super) fn members(&mut self, inner: &str) {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out.extend_from_slice(inner.as_bytes());
    }

    pub(super) fn int(&mut self, name: &str, number: impl itoa::Integer) {
        write_int(self.key(name), number);
    }

    pub(super) fn int_or_null(&mut self, name: &str, number: Option<impl itoa::Integer>) {
        match number {
            Some(number) => self.int(name, number),
            None => self.raw(name, "null"),
        }
    }

    pub(super) fn float(&mut self, name: &str, number: f64) {
        write_float(self.key(name), number);
    }

    pub(super) fn bool(&mut self, name: &str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    pub(super) fn close(self) {
        self.out.push(b'}');
    }
}

pub(super) fn write_int(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// The shortest text that reads back as the same number; JSON has none for the others.
pub(super) fn write_float(out: &mut Vec<u8>, number: f64) {
    if number.is_finite() {
        out.extend_from_slice(format!("{number:?}").as_bytes());
    } else {
        out.extend_from_slice(b"null");
    }
}

/// Writes an array whose elements `write` appends.
pub(super) fn write_list<T>(
    out: &mut Vec<u8>,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (n, element) in elements.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        write(out, element);
    }
    out.push(b']');
}
