//! JSON written by hand: bytes are appended in order and no tree is built.

use trilith_core::Json;

use crate::scan::write_string;

/// An object being written. [`Object::end`] closes it.
pub(crate) struct Object<'w> {
    out: &'w mut Vec<u8>,
    empty: bool,
}

impl<'w> Object<'w> {
    pub(crate) fn new(out: &'w mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Writes the key; the caller appends the value. Keys are plain words or come from well-formed JSON.
    pub(crate) fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(self.out, key);
        self.out.push(b':');
        self.out
    }

    pub(crate) fn string(&mut self, key: &str, value: &str) {
        write_string(self.key(key), value);
    }

    pub(crate) fn optional_string(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.string(key, value);
        }
    }

    /// Text that is JSON already.
    pub(crate) fn raw(&mut self, key: &str, json: &str) {
        self.key(key).extend_from_slice(json.as_bytes());
    }

    pub(crate) fn json(&mut self, key: &str, json: &Json) {
        self.raw(key, json.as_str());
    }

    pub(crate) fn int(&mut self, key: &str, value: impl itoa::Integer) {
        let out = self.key(key);
        int(out, value);
    }

    pub(crate) fn float(&mut self, key: &str, value: f64) {
        float(self.key(key), value);
    }

    pub(crate) fn bool(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    pub(crate) fn null(&mut self, key: &str) {
        self.raw(key, "null");
    }

    pub(crate) fn object(&mut self, key: &str) -> Object<'_> {
        Object::new(self.key(key))
    }

    pub(crate) fn list(&mut self, key: &str) -> List<'_> {
        List::new(self.key(key))
    }

    pub(crate) fn end(self) {
        self.out.push(b'}');
    }
}

/// An array being written. [`List::end`] closes it.
pub(crate) struct List<'w> {
    out: &'w mut Vec<u8>,
    empty: bool,
}

impl<'w> List<'w> {
    pub(crate) fn new(out: &'w mut Vec<u8>) -> Self {
        out.push(b'[');
        Self { out, empty: true }
    }

    /// The place for the next value; the caller appends it.
    pub(crate) fn item(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out
    }

    pub(crate) fn object(&mut self) -> Object<'_> {
        Object::new(self.item())
    }

    /// Whether nothing was written yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.empty
    }

    pub(crate) fn end(self) {
        self.out.push(b']');
    }
}

pub(crate) fn int(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// A number JSON has no word for (infinite, not a number) becomes `null`.
pub(crate) fn float(out: &mut Vec<u8>, value: f64) {
    let start = out.len();
    if serde_json::to_writer(&mut *out, &value).is_err() {
        out.truncate(start);
        out.extend_from_slice(b"null");
    }
}

/// A text as a JSON string.
pub(crate) fn text_json(text: &str) -> Json {
    let mut out = Vec::with_capacity(text.len() + 2);
    write_string(&mut out, text);
    Json::from_checked(String::from_utf8_lossy(&out).into_owned())
}

/// Puts what stands in `out` from `start` on one line: JSON that came from outside may be written over several lines; an event's data is one. Where there is a
/// line break, all space between tokens goes.
pub(crate) fn on_one_line(out: &mut Vec<u8>, start: usize) {
    let tail = out.get(start..).unwrap_or_default();
    if memchr::memchr2(b'\n', b'\r', tail).is_none() {
        return;
    }
    let (mut inside, mut escaped) = (false, false);
    let mut line = Vec::with_capacity(tail.len());
    for byte in tail.iter().copied() {
        if inside || !byte.is_ascii_whitespace() {
            line.push(byte);
        }
        inside ^= byte == b'"' && !escaped;
        escaped = inside && byte == b'\\' && !escaped;
    }
    out.truncate(start);
    out.extend_from_slice(&line);
}
