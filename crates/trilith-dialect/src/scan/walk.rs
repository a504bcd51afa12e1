//! The pass itself: a loop over tokens with the open arrays and objects on a stack of its own, so that a
//! hostile body cannot exhaust the thread's.

use super::{ENVELOPE_PREFIX, Fault, Kind, Limits, Member, string};

/// Members that most requests stay below; room for them is taken at once.
const USUAL_MEMBERS: usize = 32;

/// Why and where the pass stopped.
pub(super) struct Stop {
    pub(super) at: usize,
    pub(super) fault: Fault,
}

/// What the pass found.
pub(super) struct Found<'a> {
    pub(super) root: Kind,
    pub(super) members: Vec<Member<'a>>,
    pub(super) has_envelope: bool,
}

/// An open container.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Array,
    Object,
}

struct Walk<'a> {
    text: &'a str,
    body: &'a [u8],
    at: usize,
    open: Vec<Open>,
    limits: Limits,
    members: Vec<Member<'a>>,
    has_envelope: bool,
}

pub(super) fn walk<'a>(text: &'a str, limits: &Limits) -> Result<Found<'a>, Stop> {
    let mut walk = Walk {
        text,
        body: text.as_bytes(),
        at: 0,
        open: Vec::with_capacity(limits.depth.min(64)),
        limits: *limits,
        members: Vec::new(),
        has_envelope: false,
    };
    walk.skip_space();
    let root = Kind::of_first(walk.peek().unwrap_or_default());
    if root == Kind::Object {
        walk.members.reserve(USUAL_MEMBERS.min(limits.members));
    }
    walk.document()?;
    walk.skip_space();
    if walk.at < walk.body.len() {
        return Err(walk.unexpected("the end of the body"));
    }
    Ok(Found { root, members: walk.members, has_envelope: walk.has_envelope })
}

/// The stop at a byte that is not what had to come. `at` is a character boundary: all that comes before it
/// was read as whole characters.
#[cold]
pub(super) fn unexpected(body: &[u8], at: usize, expected: &'static str) -> Stop {
    let found = body.get(at..).and_then(|rest| {
        let head = rest.get(..4).unwrap_or(rest);
        head.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next())
    });
    let fault = match found {
        Some(found) => Fault::Unexpected { found, expected },
        None => Fault::UnexpectedEnd { expected },
    };
    Stop { at, fault }
}

impl<'a> Walk<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    #[cold]
    fn unexpected(&self, expected: &'static str) -> Stop {
        unexpected(self.body, self.at, expected)
    }

    #[inline]
    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
            // Indented bodies come in runs of spaces.
            while self.body.get(self.at..).is_some_and(|rest| rest.starts_with(b"        ")) {
                self.at += 8;
            }
        }
    }

    /// One value with everything in it.
    fn document(&mut self) -> Result<(), Stop> {
        loop {
            let ended = self.value()?;
            if ended && self.after_value()? {
                return Ok(());
            }
        }
    }

    /// Reads a scalar, or opens an array or object up to its first value. Whether a value ended.
    #[inline]
    fn value(&mut self) -> Result<bool, Stop> {
        self.skip_space();
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                let span = string::find_end(self.body, start + 1)?;
                self.at = span.end + 1;
                self.note_envelope(start + 1, &span);
            }
            Some(b'{') => return self.enter(Open::Object),
            Some(b'[') => return self.enter(Open::Array),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.literal("true")?,
            Some(b'f') => self.literal("false")?,
            Some(b'n') => self.literal("null")?,
            _ => return Err(self.unexpected("a value")),
        }
        Ok(true)
    }

    #[inline]
    fn enter(&mut self, open: Open) -> Result<bool, Stop> {
        if self.open.len() >= self.limits.depth {
            return Err(Stop { at: self.at, fault: Fault::TooDeep { limit: self.limits.depth } });
        }
        self.at += 1;
        self.skip_space();
        match (open, self.peek()) {
            (Open::Array, Some(b']')) | (Open::Object, Some(b'}')) => {
                self.at += 1;
                return Ok(true);
            }
            _ => self.open.push(open),
        }
        if open == Open::Object {
            self.key("a key or '}'")?;
        }
        Ok(false)
    }

    /// Closes what ends here and goes on to the next value. Whether the document is complete.
    #[inline]
    fn after_value(&mut self) -> Result<bool, Stop> {
        loop {
            let Some(top) = self.open.last().copied() else { return Ok(true) };
            if self.open.len() == 1 {
                self.end_member();
            }
            self.skip_space();
            match (top, self.peek()) {
                (_, Some(b',')) => {
                    self.at += 1;
                    if top == Open::Object {
                        self.skip_space();
                        self.key("a key")?;
                    }
                    return Ok(false);
                }
                (Open::Object, Some(b'}')) | (Open::Array, Some(b']')) => {
                    self.at += 1;
                    self.open.pop();
                }
                (Open::Object, _) => return Err(self.unexpected("',' or '}'")),
                (Open::Array, _) => return Err(self.unexpected("',' or ']'")),
            }
        }
    }

    /// Reads a key and its colon.
    #[inline]
    fn key(&mut self, expected: &'static str) -> Result<(), Stop> {
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let end = string::find_end(self.body, start + 1)?.end;
        self.at = end + 1;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("':'"));
        }
        self.at += 1;
        if self.open.len() == 1 {
            self.skip_space();
            self.begin_member(start, end)?;
        }
        Ok(())
    }

    /// Notes a top-level member whose value starts here; the value's end follows with [`Self::end_member`].
    fn begin_member(&mut self, start: usize, end: usize) -> Result<(), Stop> {
        if self.members.len() >= self.limits.members {
            return Err(Stop { at: start, fault: Fault::TooManyMembers { limit: self.limits.members } });
        }
        self.members.push(Member {
            key: string::decode(self.text.get(start + 1..end).unwrap_or_default()),
            key_range: start..end + 1,
            value_range: self.at..self.at,
            kind: Kind::of_first(self.peek().unwrap_or_default()),
        });
        Ok(())
    }

    fn end_member(&mut self) {
        if let Some(member) = self.members.last_mut() {
            member.value_range.end = self.at;
        }
    }

    #[inline]
    fn note_envelope(&mut self, start: usize, span: &string::Span) {
        if let Some(b't' | b'\\') = self.body.get(start)
            && !self.has_envelope
        {
            let inner = self.text.get(start..span.end).unwrap_or_default();
            self.has_envelope = inner.starts_with(ENVELOPE_PREFIX) || (span.escaped && starts_sealed(inner));
        }
    }

    fn literal(&mut self, word: &'static str) -> Result<(), Stop> {
        if self.body.get(self.at..).is_some_and(|rest| rest.starts_with(word.as_bytes())) {
            self.at += word.len();
            return Ok(());
        }
        let matching = self.body.iter().skip(self.at).zip(word.bytes()).take_while(|(a, b)| *a == b).count();
        self.at += matching;
        Err(self.unexpected(word))
    }

    #[inline]
    fn number(&mut self) -> Result<(), Stop> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if let Some(b'0'..=b'9') = self.peek() {
                return Err(Stop { at: self.at - 1, fault: Fault::LeadingZero });
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    /// One digit or more.
    #[inline]
    fn digits(&mut self) -> Result<(), Stop> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.unexpected("a digit")) } else { Ok(()) }
    }
}

/// Whether an escaped string stands for one that is sealed. Each character of the prefix takes at most the
/// six bytes of a `\u` escape, so no more than that is resolved.
fn starts_sealed(inner: &str) -> bool {
    let end = inner.floor_char_boundary(ENVELOPE_PREFIX.len() * 6);
    string::decode(inner.get(..end).unwrap_or(inner)).starts_with(ENVELOPE_PREFIX)
}
