//! Parts in blocks.

use trilith_core::{
    Annotation, AnnotationKind, CacheMark, Error, Item, ItemBody, Json, Loss, Part, PartKind, ResultOutput,
    Text, Tool,
};

use super::{CACHE_CONTROL, SOURCE, decode::OWN, encode::Encoder, wire::Kind, write_messages::Spoken};
use crate::deferred::REFERENCE;
use crate::json::{List, Object};
use crate::scan::write_string;

/// The most cache marks a request may have; of more, the first and the last ones are kept.
const MAX_MARKS: usize = 4;

/// Where cache marks are in a request, in the order of what is cached: tools, platform, conversation.
#[derive(Debug, Default)]
pub(super) struct Marks {
    total: usize,
    most: usize,
    /// How many were met so far in the tools.
    tools: usize,
    /// How many were met so far in all the rest, the tools' included.
    seen: usize,
}

impl Marks {
    /// Counts the marks of a request. `whole`: it has one for all of its content, which takes a place.
    pub(super) fn of(tools: &[Tool], items: &[&Item], whole: bool) -> Self {
        let on = |extra: &trilith_core::Extra| usize::from(extra.get(OWN, CACHE_CONTROL).is_some());
        let parts = |parts: &[Part]| parts.iter().filter(|part| part.cache_mark.is_some()).count();
        let tools = tools.iter().filter(|tool| tool.cache_mark.is_some()).count();
        let inside = items.iter().map(|item| match &item.body {
            ItemBody::Message(message) => parts(&message.parts),
            ItemBody::Result(result) => {
                on(&item.extra)
                    + match &result.output {
                        ResultOutput::Parts(list) => parts(list),
                        ResultOutput::Text(_) => 0,
                    }
            }
            _ => on(&item.extra),
        });
        let total = tools + inside.sum::<usize>();
        Self { total, most: MAX_MARKS - usize::from(whole), tools: 0, seen: tools }
    }

    const fn keeps(&self, place: usize) -> bool {
        self.total <= self.most || place == 0 || place + self.most > self.total
    }

    /// Whether the next mark of the tools is kept.
    pub(super) const fn next_of_tools(&mut self) -> bool {
        self.tools += 1;
        self.keeps(self.tools - 1)
    }

    /// Whether the next mark of the rest is kept.
    pub(super) const fn next(&mut self) -> bool {
        self.seen += 1;
        self.keeps(self.seen - 1)
    }
}

/// The blocks of a message, or one plain text while there is nothing else.
#[derive(Default)]
pub(super) struct Blocks<'t> {
    out: Vec<u8>,
    count: usize,
    plain: Option<&'t str>,
}

impl<'t> Blocks<'t> {
    pub(super) const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The place for the next block; the caller appends it.
    pub(super) fn place(&mut self) -> &mut Vec<u8> {
        if self.count > 0 {
            self.out.push(b',');
        }
        self.plain = None;
        self.count += 1;
        &mut self.out
    }

    /// A block that is JSON already.
    pub(super) fn raw(&mut self, json: &str) {
        self.place().extend_from_slice(json.as_bytes());
    }

    /// A text with no more to it, which need not live as long as the request.
    pub(super) fn text(&mut self, text: &str) {
        let mut object = Object::new(self.place());
        text_block(text, &mut object);
        object.end();
    }

    /// A text with nothing beside it.
    pub(super) fn plain(&mut self, text: &'t str) {
        self.text(text);
        if self.count == 1 {
            self.plain = Some(text);
        }
    }

    /// Appends the content: one string where it is nothing but one plain text and `short` allows it.
    pub(super) fn finish(self, out: &mut Vec<u8>, short: bool) {
        if let (Some(text), true) = (self.plain, short) {
            write_string(out, text);
            return;
        }
        out.push(b'[');
        out.extend_from_slice(&self.out);
        out.push(b']');
    }
}

pub(super) fn text_block(text: &str, out: &mut Object<'_>) {
    out.string("type", "text");
    out.string("text", text);
}

/// Whether the part is a text and nothing else.
fn is_plain(part: &Part, text: &Text) -> bool {
    part.cache_mark.is_none() && part.extra.is_empty() && text.annotations.is_empty()
}

impl Encoder<'_> {
    /// A block of the platform's words: text only.
    pub(super) fn system_block<'t>(
        &mut self,
        at: &str,
        part: &'t Part,
        blocks: &mut Blocks<'t>,
    ) -> Result<(), Error> {
        match &part.kind {
            PartKind::Text(_) => self.block(at, part, blocks),
            PartKind::Opaque { dialect, .. } if *dialect == OWN => self.block(at, part, blocks),
            kind => Err(unsayable(at, &format!("{} in the platform's words", kind.name()))),
        }
    }

    /// A block of the user's or of a tool's result. Empty texts are left out: the wire refuses them.
    pub(super) fn block<'t>(
        &mut self,
        at: &str,
        part: &'t Part,
        blocks: &mut Blocks<'t>,
    ) -> Result<(), Error> {
        if let PartKind::Text(text) = &part.kind
            && !text.text.is_empty()
            && is_plain(part, text)
        {
            blocks.plain(&text.text);
            return Ok(());
        }
        self.owned_block(at, part, blocks)
    }

    /// The same for a part that does not live as long as the request.
    pub(super) fn owned_block(
        &mut self,
        at: &str,
        part: &Part,
        blocks: &mut Blocks<'_>,
    ) -> Result<(), Error> {
        self.foreign(at, &part.extra);
        match &part.kind {
            PartKind::Text(text) if text.text.is_empty() && part.extra.get(OWN, SOURCE).is_none() => {
                if part.cache_mark.is_some() {
                    self.marks.next();
                    self.losses.push(Loss::hint(at, "an empty text is left out, and its cache mark with it"));
                }
                return Ok(());
            }
            PartKind::Opaque { dialect, json } if *dialect == OWN => {
                self.verbatim(part, json, blocks);
                return Ok(());
            }
            PartKind::SearchResult(json) if is_search_result(json) => {
                self.verbatim(part, json, blocks);
                return Ok(());
            }
            _ => {}
        }
        let mut object = Object::new(blocks.place());
        match &part.kind {
            PartKind::Text(text) => match (part.extra.get(OWN, SOURCE), part.extra.get(OWN, REFERENCE)) {
                (Some(source), _) => {
                    object.string("type", "document");
                    object.json("source", source);
                }
                (None, Some(tool)) => {
                    object.string("type", "tool_reference");
                    object.json("tool_name", tool);
                }
                (None, None) => {
                    text_block(&text.text, &mut object);
                    if !text.annotations.is_empty() {
                        let why = "citations are the assistant's: they are left out of what others say";
                        self.losses.push(Loss::hint(format!("{at}.annotations"), why));
                    }
                }
            },
            PartKind::Refusal(text) => text_block(text, &mut object),
            PartKind::Image(image) => self.image(at, part, image, &mut object)?,
            PartKind::File(file) => self.file(at, part, file, &mut object)?,
            PartKind::SearchResult(json) | PartKind::Json(json) => {
                self.losses.push(Loss::emulate(at, "sent as the text of its JSON"));
                text_block(json.as_str(), &mut object);
            }
            PartKind::Audio(_) => return Err(unsayable(at, "audio")),
            PartKind::Video(_) => return Err(unsayable(at, "video")),
            PartKind::Opaque { .. } => return Err(unsayable(at, "a part of another dialect")),
        }
        self.finish_block(at, part, object);
        Ok(())
    }

    /// A block as it came, its mark included.
    fn verbatim(&mut self, part: &Part, json: &Json, blocks: &mut Blocks<'_>) {
        if part.cache_mark.is_some() {
            self.marks.next();
        }
        blocks.raw(json.as_str());
    }

    /// Adds the cache mark and this wire's own fields, and closes the block.
    fn finish_block(&mut self, at: &str, part: &Part, mut object: Object<'_>) {
        for field in part.extra.of(OWN) {
            if ![SOURCE, REFERENCE, CACHE_CONTROL].contains(&&*field.name) {
                object.json(&field.name, &field.value);
            }
        }
        if let Some(mark) = part.cache_mark {
            if self.marks.next() {
                write_mark(mark, part.extra.get(OWN, CACHE_CONTROL), &mut object);
            } else {
                self.losses.push(Loss::hint(at, "the cache mark is left out"));
            }
        }
        object.end();
    }

    /// A block of what the assistant said.
    pub(super) fn said<'t>(&mut self, at: &str, part: &'t Part, turn: &mut Spoken<'t>) -> Result<(), Error> {
        match &part.kind {
            PartKind::Text(text) if !text.annotations.is_empty() && !text.text.is_empty() => {
                self.foreign(at, &part.extra);
                let mut object = Object::new(turn.blocks.place());
                text_block(&text.text, &mut object);
                self.citations(at, &text.annotations, &mut object);
                self.finish_block(at, part, object);
            }
            PartKind::Text(text) if text.text.is_empty() => return self.block(at, part, &mut turn.blocks),
            PartKind::Refusal(text) if text.is_empty() => return Ok(()),
            PartKind::Text(_) | PartKind::Refusal(_) => self.block(at, part, &mut turn.blocks)?,
            PartKind::Opaque { dialect, .. } if *dialect == OWN => {
                self.block(at, part, &mut turn.blocks)?;
                (turn.said, turn.ends_in_text) = (true, false);
                return Ok(());
            }
            PartKind::Audio(audio) if audio.transcript.as_ref().is_some_and(|text| !text.is_empty()) => {
                turn.blocks.text(audio.transcript.as_deref().unwrap_or_default());
                self.losses.push(Loss::emulate(at, "sent as the words that were spoken"));
            }
            kind => {
                let why = format!("an assistant's {} part, which Messages cannot show", kind.name());
                self.losses.push(Loss::warn(at, why));
                return Ok(());
            }
        }
        (turn.said, turn.ends_in_text) = (true, true);
        Ok(())
    }

    /// The citations that this wire made; others have no form here.
    fn citations(&mut self, at: &str, annotations: &[Annotation], object: &mut Object<'_>) {
        let own: Vec<&Json> = annotations
            .iter()
            .filter_map(|annotation| match &annotation.kind {
                AnnotationKind::Opaque { dialect, json } if *dialect == OWN => Some(json),
                // A page's citation came in this wire's own form too; only that form can be replayed.
                _ => annotation.extra.get(OWN, "citation"),
            })
            .collect();
        if own.len() < annotations.len() {
            let why = "a citation of another dialect has no form in Messages";
            self.losses.push(Loss::hint(format!("{at}.annotations"), why));
        }
        if own.is_empty() {
            return;
        }
        let mut list = List::new(object.key("citations"));
        for json in own {
            list.item().extend_from_slice(json.as_str().as_bytes());
        }
        list.end();
    }
}

/// Writes a cache mark: as it came, or in the nearest time that this wire knows.
pub(super) fn write_mark(mark: CacheMark, own: Option<&Json>, object: &mut Object<'_>) {
    if let Some(own) = own {
        object.json(CACHE_CONTROL, own);
        return;
    }
    let mut inner = object.object(CACHE_CONTROL);
    inner.string("type", "ephemeral");
    match mark {
        CacheMark::M5 | CacheMark::M30 => {}
        CacheMark::H1 | CacheMark::H12 => inner.string("ttl", "1h"),
    }
    inner.end();
}

fn is_search_result(json: &Json) -> bool {
    crate::typed::from_str::<Kind<'_>>(json.as_str())
        .is_ok_and(|block| block.kind.as_deref() == Some("search_result"))
}

/// 400: what stands at `at` has no form here.
pub(super) fn unsayable(at: &str, what: &str) -> Error {
    let text = format!(
        "'{at}' is {what}, which a Messages upstream cannot take. Send it in another form or choose a model \
         whose provider takes it."
    );
    Error::bad_request(at, text).with_code("unsupported_parameter")
}
