//! Text to tokens and back, with the model's own vocabulary.

mod guard;

use std::collections::HashSet;
use std::sync::Arc;

use llama_cpp_2::model::{LlamaModel, VocabType};
use llama_cpp_2::token::LlamaToken;

use crate::output::TAGS;
use guard::ControlTexts;

/// The vocabulary of a loaded model. Any thread may use it while the engine decodes.
#[derive(Debug)]
pub(crate) struct Vocabulary {
    model: Arc<LlamaModel>,
    controls: ControlTexts,
    /// Control tokens that this crate reads as tags and that therefore have to appear in the text.
    shown_controls: HashSet<LlamaToken>,
    longest_token: usize,
    begin: Option<LlamaToken>,
}

impl Vocabulary {
    /// Reads the vocabulary; `None` when the file carries no tokenizer.
    pub(crate) fn new(model: Arc<LlamaModel>) -> Option<Self> {
        let vocab = model.vocab();
        if vocab.vocab_type() == VocabType::NONE || vocab.n_tokens() <= 0 {
            return None;
        }
        let mut controls = ControlTexts::default();
        let mut shown_controls = HashSet::new();
        let mut longest_token = 1;
        for token in vocab.tokens() {
            let Some(text) = vocab.text(token) else { continue };
            longest_token = longest_token.max(text.to_bytes().len());
            if vocab.is_control(token) {
                let text = text.to_string_lossy();
                if TAGS.contains(&&*text) {
                    shown_controls.insert(token);
                }
                controls.insert(&text);
            }
        }
        let begin = Some(vocab.bos()).filter(|token| token.0 >= 0);
        Some(Self { controls, shown_controls, longest_token, begin, model })
    }

    /// The text of the token that begins a sequence, empty without one.
    pub(crate) fn begin_text(&self) -> String {
        self.token_text(self.begin)
    }

    /// The text of the token that ends a sequence, empty without one.
    pub(crate) fn end_text(&self) -> String {
        self.token_text(Some(self.model.vocab().eos()).filter(|token| token.0 >= 0))
    }

    fn token_text(&self, token: Option<LlamaToken>) -> String {
        let vocab = self.model.vocab();
        token
            .and_then(|token| vocab.text(token))
            .map_or_else(String::new, |text| text.to_string_lossy().into())
    }

    /// The same text, marked so that [`Self::tokenize`] reads control tokens spelled out in it as text.
    pub(crate) fn guard(&self, text: &str) -> String {
        self.controls.guard(text)
    }

    /// The least number of tokens that `bytes` of text can have.
    pub(crate) fn least_tokens(&self, bytes: usize) -> usize {
        bytes / self.longest_token
    }

    /// The tokens of a prompt, with the beginning token where the model wants one and `text` has none.
    /// The text has to be far below 2 GiB, which a check of [`Self::least_tokens`] ensures.
    pub(crate) fn tokenize(&self, text: &str) -> Vec<LlamaToken> {
        let vocab = self.model.vocab();
        let mut tokens = Vec::new();
        for piece in text.split(guard::MARK).filter(|piece| !piece.is_empty()) {
            tokens.extend(vocab.tokenize(piece.as_bytes(), false, true));
        }
        if let Some(begin) = self.begin
            && (vocab.should_add_bos() || tokens.is_empty())
            && tokens.first() != Some(&begin)
        {
            tokens.insert(0, begin);
        }
        tokens
    }

    /// The bytes a token adds to the answer; none for control tokens.
    pub(crate) fn bytes(&self, token: LlamaToken) -> Vec<u8> {
        self.model.vocab().token_to_piece(token, self.shown_controls.contains(&token), None)
    }

    /// Whether the model ends its answer with this token.
    pub(crate) fn ends_answer(&self, token: LlamaToken) -> bool {
        self.model.vocab().is_eog(token)
    }

    /// The number of tokens in the vocabulary.
    pub(crate) fn size(&self) -> i32 {
        self.model.vocab().n_tokens()
    }
}
