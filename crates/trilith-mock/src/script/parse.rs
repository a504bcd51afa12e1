//! From a file's lines to answers.

use super::{Answer, AtEnd, Script, When, content, value::Line, words};

/// Where a script is wrong and why.
type Fault = (usize, String);

/// Reads a whole script.
pub(super) fn script(text: &str) -> Result<Script, Fault> {
    let mut script = Script { answers: Vec::new(), at_end: AtEnd::default(), models: Vec::new() };
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    while let Some((number, raw)) = lines.next() {
        let at = |why| (number, why);
        let line = raw.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix("---") {
            script.answers.push(Answer { line: number, ..head_of_answer(head).map_err(at)? });
            continue;
        }
        let text = with_block(line, number, &mut lines)?;
        let text = text.as_deref().unwrap_or(line);
        match script.answers.last_mut() {
            Some(answer) => words::apply(text, answer).map_err(at)?,
            None => setting(text, &mut script).map_err(at)?,
        }
    }
    if script.answers.is_empty() {
        return Err((1, "there is no answer: begin one with `--- answer`".into()));
    }
    for answer in &script.answers {
        content::check(answer).map_err(|why| (answer.line, why))?;
    }
    Ok(script)
}

/// `--- answer [when "text"]… [path "text"] [once | times N]`
fn head_of_answer(head: &str) -> Result<Answer, String> {
    let mut answer = Answer::default();
    let mut line = Line::new(head);
    if line.need("the word `answer`")? != "answer" {
        return Err("a line with --- begins an answer: `--- answer`".into());
    }
    while let Some(word) = line.word() {
        match word {
            "when" => answer.when.push(When::Body(line.quoted()?)),
            "path" => answer.when.push(When::Path(line.quoted()?)),
            "once" => answer.times = Some(1),
            "times" => answer.times = Some(line.number("the number of times")?),
            other => {
                return Err(format!("`{other}` is none of: when \"…\", path \"…\", once, times N"));
            }
        }
    }
    Ok(answer)
}

/// Lines above the first answer.
fn setting(text: &str, script: &mut Script) -> Result<(), String> {
    let mut line = Line::new(text);
    match line.need("a word")? {
        "at-end" => {
            script.at_end = match line.need("what to do at the end")? {
                "repeat" => AtEnd::Repeat,
                "loop" => AtEnd::Loop,
                "refuse" => AtEnd::Refuse,
                other => return Err(format!("`{other}` is none of: repeat, loop, refuse")),
            };
            line.end()
        }
        "models" => {
            while let Some(name) = line.word() {
                script.models.push(name.to_owned());
            }
            Ok(())
        }
        other => Err(format!(
            "`{other}` stands above the first answer; only `at-end` and `models` do. Begin an answer with `--- answer`"
        )),
    }
}

/// A line that ends in `<<WORD` goes on until a line that is WORD alone; the lines between become one quoted
/// text at its end.
fn with_block<'a>(
    line: &str,
    number: usize,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<Option<String>, Fault> {
    let Some((start, marker)) = line.rsplit_once("<<") else { return Ok(None) };
    let is_marker = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase());
    if !is_marker(marker) || !start.ends_with(char::is_whitespace) {
        return Ok(None);
    }
    let mut block = Vec::new();
    loop {
        let Some((_, text)) = lines.next() else {
            return Err((number, format!("the block has no line `{marker}` that ends it")));
        };
        if text.trim() == marker {
            break;
        }
        block.push(text);
    }
    let quoted = serde_json::Value::String(block.join("\n")).to_string();
    Ok(Some(format!("{start}{quoted}")))
}
