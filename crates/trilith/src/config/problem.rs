//! What is wrong with a configuration, where, and what to do about it.

use std::fmt;

/// The text of a file with its name, to turn byte offsets into lines and columns.
pub(super) struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text }
    }

    /// Line and column of a byte offset, both from 1, the column in characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = self.text.get(..end).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    }

    fn place(&self, at: At) -> String {
        match at {
            At::Offset(offset) => {
                let (line, column) = self.position(offset);
                format!("{}:{line}:{column}", self.name)
            }
            At::Flag(flag) => flag.to_owned(),
        }
    }
}

/// Where a value was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum At {
    /// On the command line, by this flag.
    Flag(&'static str),
    /// At this byte of the file.
    Offset(usize),
}

/// One thing that stops the start, before its place is turned into a line.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) at: At,
    /// Dotted path with indices from 0; empty for a syntax error.
    pub(super) key: String,
    pub(super) message: String,
    /// What to do; empty when the message says it.
    pub(super) help: String,
}

/// A complaint about a value, before it has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    pub(super) message: String,
    pub(super) help: String,
}

impl Complaint {
    pub(super) fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    pub(super) fn at(self, at: At, key: impl Into<String>) -> Problem {
        Problem { at, key: key.into(), message: self.message, help: self.help }
    }
}

/// Everything that stops the start; `Display` gives one entry a paragraph: place, key, fault, what to do.
#[derive(Debug)]
pub(crate) struct Problems(Vec<String>);

impl Problems {
    pub(super) fn new(source: &Source<'_>, mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.at);
        Self(problems.iter().map(|problem| render(source, problem)).collect())
    }

    pub(super) fn of_syntax(source: &Source<'_>, faults: &[toml::de::Error]) -> Self {
        let problems = faults.iter().map(|fault| Problem {
            at: At::Offset(fault.span().map_or(0, |span| span.start)),
            key: String::new(),
            message: fault.message().to_owned(),
            help: "the file is TOML 1.1; text goes in double quotes".to_owned(),
        });
        Self::new(source, problems.collect())
    }

    #[cfg(test)]
    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

fn render(source: &Source<'_>, problem: &Problem) -> String {
    let mut text = source.place(problem.at);
    for part in [&problem.key, &problem.message] {
        if !part.is_empty() {
            text.push_str(": ");
            text.push_str(part);
        }
    }
    if !problem.help.is_empty() {
        text.push_str("\n  ");
        text.push_str(&problem.help);
    }
    text
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            f.write_str(problem)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Something that works but should be changed; `Display` has the form of a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning(String);

impl Warning {
    pub(super) fn new(source: &Source<'_>, problem: &Problem) -> Self {
        Self(render(source, problem))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
