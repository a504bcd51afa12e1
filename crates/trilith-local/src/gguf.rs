//! The header of a GGUF file, read before native code reads the file.
//!
//! Format: <https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>, versions 2 and 3, little-endian.
//! The reader checks that every length lies inside the file, keeps only the few values this crate needs,
//! and computes how long the file has to be for the tensors it announces.

use std::io::{self, Read};

#[cfg(test)]
mod tests;

/// The longest text kept from a header; chat templates of current models stay below 20 kB.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// Arrays may hold arrays, by the format; no known file goes deeper than one level.
const MAX_ARRAY_DEPTH: u32 = 4;

/// What this crate needs to know of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    /// `general.architecture`, such as `llama`.
    pub(crate) architecture: String,
    /// `general.name`.
    pub(crate) name: Option<String>,
    /// `tokenizer.chat_template`.
    pub(crate) chat_template: Option<String>,
    /// `ARCHITECTURE.attention.causal` is false: an encoder, which writes no text.
    pub(crate) is_encoder: bool,
    /// The least length of the file, in bytes.
    pub(crate) needed_bytes: u64,
}

/// Why a file was refused.
#[derive(Debug)]
pub(crate) enum HeaderError {
    /// It is no GGUF file this crate reads, for this reason.
    Invalid(String),
    /// It ends too early.
    Truncated { needed_bytes: u64 },
    /// It could not be read.
    Io(io::Error),
}

/// Reads the header of a file of `length` bytes.
///
/// # Errors
/// [`HeaderError`] with the first fault found.
pub(crate) fn read_header(input: impl Read, length: u64) -> Result<Header, HeaderError> {
    let mut reader = Reader { input, length, position: 0 };
    reader.check_magic()?;
    let tensors = reader.u64()?;
    let entries = reader.u64()?;
    let mut metadata = Metadata::default();
    for _ in 0..entries {
        let key = reader.text()?;
        let kind = reader.u32()?;
        metadata.read_value(&mut reader, &key, kind)?;
    }
    let data_bytes = reader.tensor_bytes(tensors)?;
    let alignment = u64::from(metadata.alignment.unwrap_or(32));
    if alignment == 0 {
        return Err(invalid("its alignment is zero"));
    }
    let start = reader.position.checked_next_multiple_of(alignment);
    let needed_bytes = start
        .and_then(|start| start.checked_add(data_bytes))
        .ok_or_else(|| invalid("its tensors are larger than any file"))?;
    if needed_bytes > length && tensors > 0 {
        return Err(HeaderError::Truncated { needed_bytes });
    }
    metadata.into_header(needed_bytes)
}

fn invalid(reason: &str) -> HeaderError {
    HeaderError::Invalid(reason.to_owned())
}

/// The values kept while the entries are read; those named after the architecture are matched at the end,
/// since the architecture may come later.
#[derive(Default)]
struct Metadata {
    architecture: Option<String>,
    name: Option<String>,
    chat_template: Option<String>,
    alignment: Option<u32>,
    acausal_keys: Vec<String>,
}

impl Metadata {
    fn read_value<R: Read>(
        &mut self,
        reader: &mut Reader<R>,
        key: &str,
        kind: u32,
    ) -> Result<(), HeaderError> {
        match (key, kind) {
            ("general.architecture", kinds::STRING) => self.architecture = Some(reader.text()?),
            ("general.name", kinds::STRING) => self.name = Some(reader.text()?),
            ("tokenizer.chat_template", kinds::STRING) => self.chat_template = Some(reader.text()?),
            ("general.alignment", kinds::U32) => self.alignment = Some(reader.u32()?),
            (key, kinds::BOOL) if key.ends_with(".attention.causal") => {
                let [value] = reader.bytes::<1>()?;
                if value == 0 && self.acausal_keys.len() < 16 {
                    self.acausal_keys.push(key.to_owned());
                }
            }
            _ => reader.skip_value(kind, 0)?,
        }
        Ok(())
    }

    fn into_header(self, needed_bytes: u64) -> Result<Header, HeaderError> {
        let architecture = self.architecture.ok_or_else(|| invalid("it names no architecture"))?;
        let causal_key = format!("{architecture}.attention.causal");
        Ok(Header {
            is_encoder: self.acausal_keys.contains(&causal_key),
            architecture,
            name: self.name.filter(|name| !name.trim().is_empty()),
            chat_template: self.chat_template,
            needed_bytes,
        })
    }
}

/// The numbers of the value types of the format.
mod kinds {
    pub(super) const U32: u32 = 4;
    pub(super) const BOOL: u32 = 7;
    pub(super) const STRING: u32 = 8;
    pub(super) const ARRAY: u32 = 9;

    /// The size of a value of fixed size, in bytes.
    pub(super) fn size(kind: u32) -> Option<u64> {
        match kind {
            0 | 1 | BOOL => Some(1),
            2 | 3 => Some(2),
            U32 | 5 | 6 => Some(4),
            10..=12 => Some(8),
            _ => None,
        }
    }
}

/// Elements and bytes of one block of a tensor type, by the numbers of `enum ggml_type`. Types that are not
/// listed count as empty, which can only make the computed length too short.
fn block_size(kind: u32) -> (u64, u64) {
    match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        16 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        24 => (1, 1),
        27 | 28 => (1, 8),
        29 => (256, 56),
        39 => (32, 17),
        _ => (1, 0),
    }
}

struct Reader<R> {
    input: R,
    length: u64,
    position: u64,
}

impl<R: Read> Reader<R> {
    fn check_magic(&mut self) -> Result<(), HeaderError> {
        if self.length < 4 || &self.bytes::<4>()? != b"GGUF" {
            return Err(invalid("it does not begin with the letters GGUF"));
        }
        match self.u32()? {
            2 | 3 => Ok(()),
            version if version & 0xffff == 0 => Err(invalid("it is written for big-endian machines")),
            version => Err(HeaderError::Invalid(format!("version {version} of the format is not supported"))),
        }
    }

    /// The end of the tensor data, counted from its beginning.
    fn tensor_bytes(&mut self, tensors: u64) -> Result<u64, HeaderError> {
        let too_large = || invalid("a tensor is larger than any file");
        let mut end = 0;
        for _ in 0..tensors {
            let name_bytes = self.u64()?;
            self.skip(name_bytes)?;
            let dimensions = self.u32()?;
            if dimensions > 4 {
                return Err(invalid("a tensor has more than four dimensions"));
            }
            let mut elements: u64 = 1;
            for _ in 0..dimensions {
                elements = elements.checked_mul(self.u64()?).ok_or_else(too_large)?;
            }
            let (block, bytes) = block_size(self.u32()?);
            let size = elements.div_ceil(block).checked_mul(bytes).ok_or_else(too_large)?;
            let tensor_end = self.u64()?.checked_add(size).ok_or_else(too_large)?;
            end = tensor_end.max(end);
        }
        Ok(end)
    }

    fn skip_value(&mut self, kind: u32, depth: u32) -> Result<(), HeaderError> {
        if let Some(size) = kinds::size(kind) {
            return self.skip(size);
        }
        match kind {
            kinds::STRING => {
                let length = self.u64()?;
                self.skip(length)
            }
            kinds::ARRAY if depth < MAX_ARRAY_DEPTH => {
                let element = self.u32()?;
                let count = self.u64()?;
                if let Some(size) = kinds::size(element) {
                    let bytes = count.checked_mul(size).ok_or_else(|| invalid("an array is too long"))?;
                    return self.skip(bytes);
                }
                for _ in 0..count {
                    self.skip_value(element, depth + 1)?;
                }
                Ok(())
            }
            _ => Err(HeaderError::Invalid(format!("its header has a value of unknown type {kind}"))),
        }
    }

    fn text(&mut self) -> Result<String, HeaderError> {
        let length = self.u64()?;
        if length > MAX_TEXT_BYTES {
            return Err(invalid("its header has a text that is too long"));
        }
        self.reserve(length)?;
        let mut bytes = Vec::new();
        self.input.by_ref().take(length).read_to_end(&mut bytes).map_err(HeaderError::Io)?;
        if bytes.len() as u64 != length {
            return Err(HeaderError::Truncated { needed_bytes: self.position });
        }
        String::from_utf8(bytes).map_err(|_| invalid("its header has a text that is not UTF-8"))
    }

    fn u32(&mut self) -> Result<u32, HeaderError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, HeaderError> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], HeaderError> {
        self.reserve(N as u64)?;
        let mut bytes = [0; N];
        self.input.read_exact(&mut bytes).map_err(HeaderError::Io)?;
        Ok(bytes)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), HeaderError> {
        self.reserve(bytes)?;
        let skipped =
            io::copy(&mut self.input.by_ref().take(bytes), &mut io::sink()).map_err(HeaderError::Io)?;
        if skipped == bytes { Ok(()) } else { Err(HeaderError::Truncated { needed_bytes: self.position }) }
    }

    /// Moves the position past `bytes` that are about to be read, if the file has them.
    fn reserve(&mut self, bytes: u64) -> Result<(), HeaderError> {
        let end = self.position.checked_add(bytes).ok_or_else(|| invalid("a length is too large"))?;
        if end > self.length {
            return Err(HeaderError::Truncated { needed_bytes: end });
        }
        self.position = end;
        Ok(())
    }
}
