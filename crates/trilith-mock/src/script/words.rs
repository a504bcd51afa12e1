//! The words of an answer that say how it travels; the others are content.

use super::{
    Answer, Coding, Framing, Halt, LineEnd, Shape, Step, content,
    value::{Line, duration, hex, nearest, number},
};

/// The longest answer that a repeated step may make, in steps.
const MOST_REPEATS: u32 = 10_000_000;

const WORDS: &[&str] = &[
    "body",
    "br",
    "burst",
    "bytes",
    "chunk",
    "close",
    "fingerprint",
    "gzip",
    "hang",
    "header",
    "id",
    "line",
    "lines",
    "model",
    "no-done",
    "no-finish",
    "raw",
    "repeat",
    "reset",
    "status",
    "stream",
    "tier",
    "until-close",
    "wait",
    "whole",
    "zstd",
];

/// Reads one line into an answer.
pub(super) fn apply(text: &str, answer: &mut Answer) -> Result<(), String> {
    let mut line = Line::new(text);
    let word = line.need("a word")?;
    if !travel(word, &mut line, answer)? {
        let step = step(word, &mut line)?;
        answer.steps.push(step);
    }
    Ok(())
}

/// One step; what the answer as a whole says is not a step.
fn step(word: &str, line: &mut Line<'_>) -> Result<Step, String> {
    match word {
        "wait" => {
            let time = duration(line.need("the time")?)?;
            line.end()?;
            Ok(Step::Wait(time))
        }
        "raw" => Ok(Step::Bytes(line.rest()?.into_bytes())),
        "line" => Ok(Step::Bytes(format!("{}\n", line.rest()?).into_bytes())),
        "bytes" => Ok(Step::Bytes(hex(&line.rest()?)?)),
        "close" | "reset" | "hang" => {
            line.end()?;
            Ok(Step::Halt(halt(word)))
        }
        "repeat" => {
            let times: u32 = line.number("the number of times")?;
            if times > MOST_REPEATS {
                return Err(format!("a step is repeated at most {MOST_REPEATS} times"));
            }
            let inner = line.need("the word to repeat")?;
            if inner == "repeat" {
                return Err("a repeated step is not repeated again".into());
            }
            Ok(Step::Repeat(times, Box::new(step(inner, line)?)))
        }
        _ => match content::parse(word, line)? {
            Some(content) => Ok(Step::Content(content)),
            None => Err(unknown(word)),
        },
    }
}

fn halt(word: &str) -> Halt {
    match word {
        "reset" => Halt::Reset,
        "hang" => Halt::Hang,
        _ => Halt::Close,
    }
}

/// Takes a word about the answer as a whole; `false` when it is none.
fn travel(word: &str, line: &mut Line<'_>, answer: &mut Answer) -> Result<bool, String> {
    let wire = &mut answer.wire;
    match word {
        "status" => {
            let status: u16 = line.number("the status")?;
            if !(200..=599).contains(&status) {
                return Err("a status is between 200 and 599".into());
            }
            wire.status = Some(status);
        }
        "header" => {
            let text = line.rest()?;
            let (name, value) = text.split_once(':').ok_or("a header is written `name: value`")?;
            let (name, value) = (name.trim(), value.trim());
            let bad = |c: char| c.is_control() || c == ' ';
            if name.is_empty() || name.contains(bad) || value.contains(char::is_control) {
                return Err("a header's name has no spaces, and neither part has control characters".into());
            }
            wire.headers.push((name.to_lowercase(), value.to_owned()));
        }
        "stream" => wire.shape = Shape::Stream,
        "whole" => wire.shape = Shape::Whole,
        "body" => {
            wire.shape = Shape::Whole;
            answer.steps.push(Step::Bytes(line.rest()?.into_bytes()));
        }
        "until-close" => wire.framing = Framing::UntilClose,
        "gzip" => wire.coding = Coding::Gzip,
        "br" => wire.coding = Coding::Brotli,
        "zstd" => wire.coding = Coding::Zstd,
        "lines" => {
            wire.line_end = match line.need("the line end")? {
                "lf" => LineEnd::Lf,
                "crlf" => LineEnd::CrLf,
                "cr" => LineEnd::Cr,
                other => return Err(format!("`{other}` is none of: lf, crlf, cr")),
            }
        }
        "chunk" => {
            let size: usize = line.number("the number of bytes")?;
            wire.chunk = Some(size.max(1));
        }
        "burst" => wire.burst = true,
        "no-done" => wire.no_sentinel = true,
        "no-finish" => wire.no_finish = true,
        "model" => wire.model = Some(line.rest()?),
        "id" => wire.id = Some(line.rest()?),
        "fingerprint" => wire.fingerprint = Some(line.rest()?),
        "tier" => wire.tier = Some(line.rest()?),
        "close" | "reset" | "hang" if !line.is_empty() => {
            let after = line.need("`after`")?;
            let bytes = line.need("the number of bytes")?;
            if after != "after" {
                return Err(format!("write `{word}` alone, or `{word} after N`"));
            }
            wire.halt = Some((number(bytes, "the number of bytes")?, halt(word)));
        }
        _ => return Ok(false),
    }
    line.end()?;
    Ok(true)
}

fn unknown(word: &str) -> String {
    match nearest(word, WORDS.iter().chain(content::WORDS).copied()) {
        Some(meant) => format!("`{word}` is no word of a script; did you mean `{meant}`?"),
        None => format!("`{word}` is no word of a script"),
    }
}
