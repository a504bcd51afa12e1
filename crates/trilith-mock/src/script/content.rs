//! The words of an answer that the dialect spells.

use std::collections::HashSet;

use trilith_core::{CacheWrite, FinishReason, Logprob, Phase, TopLogprob, Usage};

use super::{
    Answer, CallWord, Content, Failure, Step,
    value::{Line, nearest, number},
};

/// Every word read here.
pub(super) const WORDS: &[&str] = &[
    "args",
    "audio",
    "call",
    "choice",
    "cite",
    "custom",
    "end",
    "error",
    "fail",
    "finish",
    "image",
    "message",
    "open",
    "open-custom",
    "part",
    "reasoning",
    "refuse",
    "sealed",
    "summary",
    "text",
    "think",
    "token",
    "usage",
];

/// Reads the rest of a content line; `None` for a word that is none of these.
pub(super) fn parse(word: &str, line: &mut Line<'_>) -> Result<Option<Content>, String> {
    Ok(Some(match word {
        "text" => Content::Text { delta: line.rest()?, logprobs: Vec::new() },
        "token" => token(line)?,
        "refuse" => Content::Refusal(line.rest()?),
        "think" => Content::Reasoning(line.rest()?),
        "summary" => Content::Summary(line.rest()?),
        "sealed" => Content::Sealed(line.rest()?),
        "message" => Content::NewMessage(phase(line)?),
        "reasoning" => Content::NewReasoning,
        "part" => Content::NewPart,
        "call" => Content::Call(call(line, false)?, line.rest()?),
        "custom" => Content::Call(call(line, true)?, line.rest()?),
        "open" => Content::Open(line.need("the label")?.into(), call(line, false)?),
        "open-custom" => Content::Open(line.need("the label")?.into(), call(line, true)?),
        "args" => Content::Arguments(line.need("the label")?.into(), line.rest()?),
        "end" => Content::Close(line.need("the label")?.into()),
        "cite" => cite(line)?,
        "audio" => Content::Audio { data: line.need("the base64")?.into(), transcript: line.rest()? },
        "image" => Content::Image(line.rest()?),
        "choice" => {
            let choice: u16 = line.number("the answer's number")?;
            if choice > 127 {
                return Err("answers are numbered from 0 to 127".into());
            }
            Content::Choice(choice)
        }
        "usage" => usage(line)?,
        "finish" => finish(line)?,
        "error" => Content::Error(Failure {
            status: error_status(line)?,
            code: line.need("the error's code")?.into(),
            message: line.rest()?,
        }),
        "fail" => Content::Fail(Failure {
            status: 500,
            code: line.need("the error's code")?.into(),
            message: line.rest()?,
        }),
        _ => return Ok(None),
    }))
    .and_then(|content| line.end().map(|()| content))
}

fn error_status(line: &mut Line<'_>) -> Result<u16, String> {
    let status = line.number("the status")?;
    if (400..=599).contains(&status) { Ok(status) } else { Err("an error's status is 400 to 599".into()) }
}

fn phase(line: &mut Line<'_>) -> Result<Option<Phase>, String> {
    match line.word() {
        None => Ok(None),
        Some("commentary") => Ok(Some(Phase::Commentary)),
        Some("final") => Ok(Some(Phase::FinalAnswer)),
        Some(other) => Err(format!("`{other}` is none of: commentary, final")),
    }
}

/// `NAME [id=ID] [in=NAMESPACE]`
fn call(line: &mut Line<'_>, custom: bool) -> Result<CallWord, String> {
    let name = line.need("the tool's name")?.to_owned();
    let mut call = CallWord { custom, name, namespace: None, id: None };
    loop {
        if let Some(id) = line.option("id") {
            call.id = Some(id.to_owned());
        } else if let Some(namespace) = line.option("in") {
            call.namespace = Some(namespace.to_owned());
        } else {
            return Ok(call);
        }
    }
}

/// `LOGPROB "token" [LOGPROB "alternative"]…`
fn token(line: &mut Line<'_>) -> Result<Content, String> {
    let chosen = top_logprob(line)?;
    let mut top = vec![chosen.clone()];
    while !line.is_empty() {
        top.push(top_logprob(line)?);
    }
    Ok(Content::Text { delta: chosen.token.to_string(), logprobs: vec![Logprob { chosen, top }] })
}

fn top_logprob(line: &mut Line<'_>) -> Result<TopLogprob, String> {
    let logprob: f64 = line.number("the log-probability")?;
    let token = line.quoted()?;
    let bytes = Some(token.clone().into_bytes());
    Ok(TopLogprob { token: token.into(), logprob, bytes })
}

/// `URL [START-END] [TITLE]`
fn cite(line: &mut Line<'_>) -> Result<Content, String> {
    let url = line.need("the address")?.to_owned();
    let title = line.rest()?;
    let (first, others) = title.split_once(' ').unwrap_or((&title, ""));
    let range = first.split_once('-').and_then(|(start, end)| Some((start.parse().ok()?, end.parse().ok()?)));
    let title = if range.is_some() { others.trim().to_owned() } else { title };
    Ok(Content::Cite { url, range, title })
}

/// `[input=N] [cached=N] [written=N] [output=N] [reasoning=N]`
fn usage(line: &mut Line<'_>) -> Result<Content, String> {
    const NAMES: [&str; 5] = ["input", "cached", "written", "output", "reasoning"];
    let mut usage = Usage::default();
    while let Some(word) = line.word() {
        let (name, count) = word.split_once('=').ok_or("counts are written name=number")?;
        let count = number(count, name)?;
        match name {
            "input" => usage.input_total = count,
            "cached" => usage.cache_read = count,
            "written" => usage.cache_write = CacheWrite { m30: count, ..CacheWrite::default() },
            "output" => usage.output_total = count,
            "reasoning" => usage.reasoning = count,
            _ => {
                let meant = nearest(name, NAMES).unwrap_or("input");
                return Err(format!("`{name}` is no count; did you mean `{meant}`?"));
            }
        }
    }
    Ok(Content::Usage(usage))
}

fn finish(line: &mut Line<'_>) -> Result<Content, String> {
    Ok(Content::Finish(match line.need("the reason")? {
        "stop" => FinishReason::Stop,
        "tools" => FinishReason::ToolCalls,
        "length" => FinishReason::Length,
        "filter" => FinishReason::ContentFilter,
        other => return Err(format!("`{other}` is none of: stop, tools, length, filter")),
    }))
}

/// What only the whole answer shows: labels are opened before they are used, and an error stands alone.
pub(super) fn check(answer: &Answer) -> Result<(), String> {
    let mut labels = HashSet::new();
    let mut contents = 0;
    let mut errors = 0;
    for step in &answer.steps {
        let Some((content, repeated)) = content_of(step) else { continue };
        contents += 1;
        match content {
            Content::Open(label, _) if repeated => {
                return Err(format!("`open {label}` cannot be repeated: its label would not be unique"));
            }
            Content::Open(label, _) if !labels.insert(label) => {
                return Err(format!("the label `{label}` is opened twice in one answer"));
            }
            Content::Arguments(label, _) if !labels.contains(label) => {
                return Err(format!("no `open {label} …` stands before `args {label}`"));
            }
            Content::Close(label) if !labels.contains(label) => {
                return Err(format!("no `open {label} …` stands before `end {label}`"));
            }
            Content::Error(_) => errors += 1,
            _ => {}
        }
    }
    if errors > 0 && contents > 1 {
        return Err(
            "an answer with `error` has no other content; use `fail` for an error in the stream".into()
        );
    }
    Ok(())
}

/// The content of a step, and whether it is repeated.
fn content_of(step: &Step) -> Option<(&Content, bool)> {
    match step {
        Step::Content(content) => Some((content, false)),
        Step::Repeat(_, inner) => content_of(inner).map(|(content, _)| (content, true)),
        Step::Bytes(_) | Step::Wait(_) | Step::Halt(_) => None,
    }
}
