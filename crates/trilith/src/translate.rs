//! `trilith translate`: one dialect's bytes from another's, offline.

use std::{fs, io::Read, path::Path, sync::Arc};

use trilith_core::{
    Created, Disposition, End, Event, ItemBody, Loss, Response, Settings, Status, StreamOptions, call_id,
    item_id,
};
use trilith_dialect::{
    ALL_CAPABILITIES, Dialect, NameMap, Quirks, Target, dialect,
    scan::{Limits, scan},
};

use crate::{
    cli::{DialectName, TranslateOptions},
    say::{self, Failure},
};

/// The largest input that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Translates a request, a whole answer or a stream, and tells the losses beside it.
pub(crate) fn run(options: &TranslateOptions) -> Result<(), Failure> {
    let find = |name: DialectName| dialect(name.into()).ok_or("this dialect is not part of this build");
    let (from, to) = (find(options.from)?, find(options.to)?);
    let input = read(&options.file)?;
    let translated = if options.stream {
        stream(from, to, &input)
    } else if options.response {
        answer(from, to, &input)
    } else {
        request(from, to, &input)
    };
    let (out, losses) = translated.map_err(|failure| {
        let hint = hint(options, &input).map(|hint| format!("\n  {hint}")).unwrap_or_default();
        format!("{}: {failure}{hint}", options.file.display())
    })?;
    say::bytes(&out);
    if !out.ends_with(b"\n") {
        say::out("");
    }
    for loss in &losses {
        say::note(&format!("{}: {}: {}", loss.disposition.name(), loss.path, loss.why));
    }
    if losses.iter().all(|loss| loss.disposition != Disposition::Warn) {
        say::note("nothing is lost");
    }
    Ok(())
}

/// What was probably meant, where the input looks like something else than the options say.
fn hint(options: &TranslateOptions, input: &[u8]) -> Option<&'static str> {
    let scan = scan(input, &Limits::default()).ok();
    let has = |names: &[&str]| {
        scan.as_ref().is_some_and(|scan| names.iter().any(|name| scan.member(name).is_some()))
    };
    let seems_chat = has(&["messages", "choices"]);
    let seems_responses = has(&["input", "output"]);
    match options.from {
        DialectName::Chat if seems_responses => return Some("it looks like Responses: try --from responses"),
        DialectName::Responses if seems_chat => {
            return Some("it looks like Chat Completions: try --from chat");
        }
        DialectName::Messages if seems_responses => {
            return Some("it looks like Responses: try --from responses");
        }
        DialectName::Messages if has(&["choices"]) => {
            return Some("it looks like Chat Completions: try --from chat");
        }
        DialectName::Completions if has(&["messages"]) => {
            return Some("it looks like Chat Completions: try --from chat");
        }
        DialectName::Completions if seems_responses => {
            return Some("it looks like Responses: try --from responses");
        }
        DialectName::Chat | DialectName::Responses | DialectName::Messages | DialectName::Completions => {}
    }
    let text = input.trim_ascii_start();
    if !options.stream && [b"data:".as_slice(), b"event:", b":"].iter().any(|start| text.starts_with(start)) {
        return Some("it looks like an event stream: add --stream");
    }
    if !options.stream && !options.response && has(&["choices", "output"]) {
        return Some("it looks like an answer: add --response");
    }
    let answer = options.stream || options.response;
    (answer && has(&["messages", "input", "prompt"]))
        .then_some("it looks like a request: leave out --response and --stream")
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let wrong = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    if path == Path::new("-") {
        std::io::stdin().lock().take(LARGEST).read_to_end(&mut bytes).map_err(wrong)?;
    } else {
        fs::File::open(path).map_err(wrong)?.take(LARGEST).read_to_end(&mut bytes).map_err(wrong)?;
    }
    Ok(bytes)
}

type Translated = Result<(Vec<u8>, Vec<Loss>), Failure>;

fn request(from: &dyn Dialect, to: &dyn Dialect, input: &[u8]) -> Translated {
    let mut turn = from.decode_request(input)?;
    let mut losses = std::mem::take(&mut turn.losses);
    let model = turn.settings.model.clone();
    let target = Target {
        model: &model,
        stream: turn.stream.stream,
        quirks: &Quirks::default(),
        can: &ALL_CAPABILITIES,
    };
    let encoded = to.encode_request(&turn, &target)?;
    losses.extend(encoded.losses);
    Ok((encoded.body, losses))
}

fn answer(from: &dyn Dialect, to: &dyn Dialect, input: &[u8]) -> Translated {
    let mut events = Vec::new();
    from.decode_response(input, &NameMap::default(), &mut events)?;
    let mut fold = Fold::new();
    fold.take(events, &mut |_, _| {})?;
    fold.end(&mut |_, _| {})?;
    let mut out = Vec::new();
    to.encode_response(&fold.response, &mut out);
    fold.losses.extend(to.response_losses(&fold.response));
    Ok((out, fold.losses))
}

fn stream(from: &dyn Dialect, to: &dyn Dialect, input: &[u8]) -> Translated {
    let mut reader = from.reader(NameMap::default());
    let options = StreamOptions { stream: true, include_usage: true, include_obfuscation: Some(false) };
    let mut writer = to.writer(options);
    let mut out = Vec::new();
    let mut fold = Fold::new();
    writer.write(&Event::Created(Box::new(fold.created.clone())), &fold.response, &mut out);
    let mut events = vec![Event::Status(Status::InProgress)];
    reader.push(input, &mut events)?;
    reader.finish(&mut events)?;
    fold.take(events, &mut |event, response| writer.write(event, response, &mut out))?;
    fold.end(&mut |event, response| writer.write(event, response, &mut out))?;
    Ok((out, fold.losses))
}

/// A response folded outside a server: its id and times are fixed, so that equal input gives equal output.
struct Fold {
    created: Created,
    response: Response,
    losses: Vec<Loss>,
}

impl Fold {
    fn new() -> Self {
        let created = Created {
            id: "resp_00000000000000000000000000000000".into(),
            created_at: 0,
            settings: Arc::new(Settings::default()),
            store: false,
            background: false,
            previous_response_id: None,
            conversation: None,
        };
        Self { response: Response::new(&created), created, losses: Vec::new() }
    }

    fn take(&mut self, events: Vec<Event>, watch: &mut dyn FnMut(&Event, &Response)) -> Result<(), Failure> {
        for mut event in events {
            if let Event::ItemAdded { index, item, .. } = &mut event {
                item.id = item.id.take().or_else(|| Some(item_id(&self.created.id, &item.body, *index)));
                if let ItemBody::Call(call) = &mut item.body {
                    call.call_id = call.call_id.take().or_else(|| Some(call_id(&self.created.id, *index)));
                }
            }
            if let Event::Loss(loss) = &event {
                self.losses.push(loss.clone());
            }
            self.response.apply(&event)?;
            watch(&event, &self.response);
        }
        Ok(())
    }

    fn end(&mut self, watch: &mut dyn FnMut(&Event, &Response)) -> Result<(), Failure> {
        let end: End = trilith_runtime::end_of(&self.response, None, 0);
        self.take(vec![Event::End(Box::new(end))], watch)
    }
}
