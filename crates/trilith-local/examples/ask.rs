//! Asks an embedded model one question: `ask MODEL.gguf QUESTION [TOOL-DEFINITION]`.
//!
//! The answer goes to standard output as it is written, and figures to standard error at the end.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use trilith_local::{Chat, ChatMessage, LoadOptions, Model, Prompt, Request, Sampling, Step};

#[expect(clippy::disallowed_methods, reason = "a program of its own that measures itself")]
fn now() -> Instant {
    Instant::now()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, question, tools @ ..] = arguments.as_slice() else {
        return Err("usage: ask MODEL.gguf QUESTION [TOOL-DEFINITION]".into());
    };
    let begin = now();
    let model = Model::load(Path::new(path), LoadOptions::default())?;
    let loaded = begin.elapsed();
    let mut answer = model.generate(Request {
        prompt: Prompt::Chat(Chat {
            messages: vec![ChatMessage::User(question.clone())],
            tools: tools.to_vec(),
            ..Chat::default()
        }),
        sampling: Sampling { temperature: 0.0, ..Sampling::default() },
        max_tokens: Some(256),
        stop: Vec::new(),
    })?;
    let asked = now();
    let mut first = None;
    let mut output = io::stdout().lock();
    let mut figures = io::stderr().lock();
    while let Some(step) = answer.next_blocking() {
        first.get_or_insert_with(|| asked.elapsed());
        match step {
            Step::Text(text) | Step::Reasoning(text) => write!(output, "{text}")?,
            Step::ToolCall { name, arguments } => writeln!(output, "[calls {name} with {arguments}]")?,
            Step::Done { reason, prompt_tokens, output_tokens, .. } => {
                let first = first.unwrap_or_default();
                let rest = asked.elapsed().saturating_sub(first).as_secs_f64();
                let speed = f64::from(output_tokens.saturating_sub(1)) / rest;
                writeln!(output)?;
                writeln!(
                    figures,
                    "{}: loaded in {loaded:.2?}, {} threads; first text after {first:.2?} for {prompt_tokens} \
                     tokens; {output_tokens} tokens, {speed:.1} a second; {reason:?}",
                    model.info().name,
                    model.info().threads,
                )?;
            }
            Step::Failed(error) => return Err(error.into()),
        }
        output.flush()?;
    }
    Ok(())
}
