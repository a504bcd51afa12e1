//! The filter `tojson` as transformers defines it: Python's `json.dumps` with `ensure_ascii=False`.
//! The template engine's own filter writes no spaces and escapes for HTML, which models have not seen.

use std::io::{self, Write};

use minijinja::value::Kwargs;
use minijinja::{Error, ErrorKind, Value};
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};

/// The widest indentation accepted, in spaces.
const MAX_INDENT: usize = 16;

/// The value as JSON text; `indent` puts every member on a line of its own.
pub(super) fn to_json(value: Value, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    match indent {
        Some(indent) => {
            let spaces = " ".repeat(indent.min(MAX_INDENT));
            write(&value, PrettyFormatter::with_indent(spaces.as_bytes()))
        }
        None => write(&value, PythonFormatter),
    }
}

fn write(value: &Value, formatter: impl Formatter) -> Result<String, Error> {
    let mut bytes = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
        .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))
}

/// One line, with a space after every comma and colon.
struct PythonFormatter;

impl Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}
