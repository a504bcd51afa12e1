//! JSON written by hand: bytes are appended in order and no tree is built.

use trilith_core::Json;

use crate::scan::write_string;

/// An object being written. [`Object::end`] closes it.
pub(super) struct Object<'w> {
    out: &'w mut Vec<u8>,
    empty: bool,
}

impl<'w> Object<'w> {
    pub(super) fn new(out: &'w mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Writes the key; the caller appends the value. Keys are plain words or come from well-formed JSON.
    pub(super) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(self.out, key);
        self.out.push(b':');
        self.out
    }

    pub(super) fn string(&mut self, key: &str, value: &str) {
        write_string(self.key(key), value);
    }

    pub(super) fn optional_string(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.string(key, value);
        }
    }

    /// Text that is JSON already.
    pub(super) fn raw(&mut self, key: &str, json: &str) {
        self.key(key).extend_from_slice(json.as_bytes());
    }

    pub(super) fn json(&mut self, key: &str, json: &Json) {
        self.raw(key, json.as_str());
    }

    pub(super) fn int(&mut self, key: &str, value: impl itoa::Integer) {
        let out = self.key(key);
        int(out, value);
    }

    pub(super) fn float(&mut self, key: &str, value: f64) {
        float(self.key(key), value);
    }

    pub(super) fn bool(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    pub(super) fn null(&mut self, key: &str) {
        self.raw(key, "null");
    }

    pub(super) fn object(&mut self, key: &str) -> Object<'_> {
        Object::new(self.key(key))
    }

    pub(super) fn list(&mut self, key: &str) -> List<'_> {
        List::new(self.key(key))
    }

    pub(super) fn end(self) {
        self.out.push(b'}');
    }
}

/// An array being written. [`List::end`] closes it.
pub(super) struct List<'w> {
    out: &'w mut Vec<u8>,
    empty: bool,
}

impl<'w> List<'w> {
    pub(super) fn new(out: &'w mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, empty: true }
    }

    /// The place for the next value; the caller appends it.
    pub(super) fn item(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out
    }

    pub(super) fn object(&mut self) -> Object<'_> {
        Object::new(self.item())
    }

    /// Whether nothing was written yet.
    pub(super) const fn is_empty(&self) -> bool {
        self.empty
    }

    pub(super) fn end(self) {
        self.out.push(b']');
    }
}

pub(super) fn int(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// A number JSON has no word for (infinite, not a number) becomes `null`.
pub(super) fn float(out: &mut Vec<u8>, value: f64) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, &value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}
