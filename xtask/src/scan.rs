//! Reads Rust source far enough to tell code from comments and literals, and production code from tests.
//! It is not a parser: rules that need types belong to clippy.

/// A piece of text found in a source file.
#[derive(Debug, PartialEq)]
pub(crate) struct Span {
    /// Byte offset of its first byte.
    pub(crate) start: usize,
    /// The text between the delimiters, as written (escapes are not resolved).
    pub(crate) text: String,
}

/// One file, split by kind. All offsets are into the original text.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The text with comments blanked and every byte of a literal turned into `"`; line breaks are kept.
    pub(crate) code: String,
    /// String literals of every sort (plain, raw, byte, C).
    pub(crate) strings: Vec<Span>,
    /// Comments, doc comments included.
    pub(crate) comments: Vec<Span>,
}

impl Source {
    /// Splits `text`. Never fails: an unfinished literal or comment reaches to the end.
    pub(crate) fn parse(text: &str) -> Source {
        let bytes = text.as_bytes();
        let mut code = bytes.to_vec();
        let mut source = Source::default();
        let mut at = 0;
        while at < bytes.len() {
            let Some((kind, open, close, end)) = token_at(bytes, at) else {
                at += 1;
                continue;
            };
            let span = Span { start: at, text: text.get(open..close).unwrap_or_default().to_owned() };
            let mask = match kind {
                Kind::Comment => {
                    source.comments.push(span);
                    b' '
                }
                Kind::Str => {
                    source.strings.push(span);
                    b'"'
                }
                Kind::Char => b'"',
            };
            for byte in &mut code[at..end] {
                if *byte != b'\n' {
                    *byte = mask;
                }
            }
            at = end;
        }
        source.code = String::from_utf8_lossy(&code).into_owned();
        source
    }

    /// The same file without what `#[cfg(test)]` guards, and the names of the test modules it declares
    /// (`#[cfg(test)] mod tests;` puts a whole file on the test side).
    pub(crate) fn production(mut self) -> (Source, Vec<String>) {
        const GUARD: &str = "#[cfg(test)]";
        let mut modules = Vec::new();
        let mut cuts = Vec::new();
        let mut from = 0;
        while let Some(found) = self.code.get(from..).and_then(|rest| rest.find(GUARD)) {
            let start = from + found;
            let item = skip_attributes(self.code.as_bytes(), start + GUARD.len());
            let end = item_end(self.code.as_bytes(), item);
            let text = self.code.get(item..end).unwrap_or_default();
            if let Some(name) = text.trim().strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                modules.push(name.trim().to_owned());
            }
            cuts.push(start..end);
            from = end.max(start + GUARD.len());
        }
        let kept = |span: &Span| !cuts.iter().any(|cut| cut.contains(&span.start));
        self.strings.retain(kept);
        self.comments.retain(kept);
        let mut code = self.code.into_bytes();
        for cut in &cuts {
            for byte in &mut code[cut.clone()] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        self.code = String::from_utf8_lossy(&code).into_owned();
        (self, modules)
    }

    /// 1-based line of a byte offset.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.code.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }

    /// Offsets where `word` stands in code with no identifier character on either side.
    pub(crate) fn find_word(&self, word: &str) -> Vec<usize> {
        let bytes = self.code.as_bytes();
        self.code
            .match_indices(word)
            .map(|(at, _)| at)
            .filter(|at| {
                let before = at.checked_sub(1).and_then(|index| bytes.get(index));
                let after = bytes.get(at + word.len());
                !before.is_some_and(|byte| is_ident(*byte)) && !after.is_some_and(|byte| is_ident(*byte))
            })
            .collect()
    }
}

enum Kind {
    Comment,
    Str,
    Char,
}

/// The literal or comment that begins at `at`: kind, start and end of its inner text, and its end.
fn token_at(bytes: &[u8], at: usize) -> Option<(Kind, usize, usize, usize)> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        return Some((Kind::Comment, at + 2, at + length, at + length));
    }
    if rest.starts_with(b"/*") {
        let end = block_comment_end(bytes, at);
        return Some((Kind::Comment, at + 2, end.saturating_sub(2).max(at + 2), end));
    }
    match rest.first()? {
        b'\'' => char_end(bytes, at).map(|end| (Kind::Char, at, end, end)),
        b'"' => Some(quoted(bytes, at)),
        b'b' | b'c' | b'r' if at == 0 || !is_ident(bytes[at - 1]) => prefixed(bytes, at),
        _ => None,
    }
}

/// A literal with a prefix: `b".."`, `c".."`, `r".."`, `br#".."#` and their kin; `b'x'` is left to the quote.
fn prefixed(bytes: &[u8], at: usize) -> Option<(Kind, usize, usize, usize)> {
    let mut quote = at;
    let mut raw = false;
    while let Some(byte @ (b'b' | b'c' | b'r')) = bytes.get(quote) {
        raw |= *byte == b'r';
        quote += 1;
    }
    let letters = quote;
    while raw && bytes.get(quote) == Some(&b'#') {
        quote += 1;
    }
    if letters - at > 2 || bytes.get(quote) != Some(&b'"') {
        return None;
    }
    if !raw {
        return Some(quoted(bytes, quote));
    }
    let mut closing = vec![b'"'];
    closing.resize(1 + quote - letters, b'#');
    let open = quote + 1;
    let length = bytes[open..].windows(closing.len()).position(|window| window == closing);
    let close = length.map_or(bytes.len(), |length| open + length);
    Some((Kind::Str, open, close, (close + closing.len()).min(bytes.len())))
}

fn quoted(bytes: &[u8], quote: usize) -> (Kind, usize, usize, usize) {
    let mut at = quote + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return (Kind::Str, quote + 1, at, at + 1),
            _ => at += 1,
        }
    }
    (Kind::Str, quote + 1, bytes.len(), bytes.len())
}

/// The end of a character literal; `None` when the quote starts a lifetime or a label.
fn char_end(bytes: &[u8], at: usize) -> Option<usize> {
    let inner = bytes.get(at + 1)?;
    let close = if *inner == b'\\' {
        let from = at + 3;
        from + bytes.get(from..)?.iter().take(10).position(|byte| *byte == b'\'')?
    } else {
        let width = match inner {
            0..=0x7f => 1,
            0x80..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        at + 1 + width
    };
    (bytes.get(close) == Some(&b'\'')).then_some(close + 1)
}

fn block_comment_end(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = start;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// Past white space and further attributes.
fn skip_attributes(code: &[u8], mut at: usize) -> usize {
    loop {
        while code.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        if code.get(at) != Some(&b'#') {
            return at.min(code.len());
        }
        while at < code.len() && code[at] != b'[' {
            at += 1;
        }
        at = group_end(code, at);
    }
}

/// Just past the item that begins at `from`: its `;`, or the brace that closes its body.
pub(crate) fn item_end(code: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(byte) = code.get(at) {
        match byte {
            b'(' | b'[' => at = group_end(code, at),
            b'{' => return group_end(code, at),
            b';' => return at + 1,
            _ => at += 1,
        }
    }
    code.len()
}

/// Just past the bracket that closes the one at `open`.
fn group_end(code: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// Whether a byte can stand in an identifier.
pub(crate) fn is_ident(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests;
