//! Streaming decompression of response bodies, with caps.

use std::io::{self, Write};

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::{Buf, Bytes};
use flate2::write::{DeflateDecoder, GzDecoder, ZlibDecoder};
use http::header::{self, HeaderMap};

use crate::config::DecodeCaps;
use crate::error::{ErrorKind, NetError};
use crate::zstd::Zstd;

/// Output after which a pull returns, so that a small input that unfolds into a lot is
/// unfolded only as fast as it is read.
const PIECE: usize = 64 << 10;

/// Output of one brotli step.
const BROTLI_STEP: usize = 16 << 10;

/// The decompression of one body.
pub(crate) struct Decoder {
    codec: Codec,
    pending: Bytes,
    flush: bool,
    total_in: u64,
    total_out: u64,
    caps: DecodeCaps,
}

impl Decoder {
    /// The decoder for a response, none if it is not compressed. Removes the headers that
    /// describe the compressed form.
    ///
    /// # Errors
    /// [`ErrorKind::Decode`] for an unknown coding and for more than one.
    pub(crate) fn for_headers(headers: &mut HeaderMap, caps: DecodeCaps) -> Result<Option<Self>, NetError> {
        let mut codec = None;
        for value in headers.get_all(header::CONTENT_ENCODING) {
            let value = value.to_str().map_err(|_| unknown_coding())?;
            for token in value.split(',').map(str::trim) {
                if token.is_empty() || token.eq_ignore_ascii_case("identity") {
                    continue;
                }
                if codec.is_some() {
                    return Err(unknown_coding());
                }
                codec = Some(Codec::named(token).ok_or_else(unknown_coding)?);
            }
        }
        let Some(codec) = codec else {
            return Ok(None);
        };
        headers.remove(header::CONTENT_ENCODING);
        headers.remove(header::CONTENT_LENGTH);
        Ok(Some(Self { codec, pending: Bytes::new(), flush: true, total_in: 0, total_out: 0, caps }))
    }

    /// Says that nobody reads before the end, which spares some work.
    pub(crate) fn expect_whole(&mut self) {
        self.flush = false;
    }

    /// Takes compressed bytes. Call only after [`Decoder::pull`] returned none.
    pub(crate) fn push(&mut self, bytes: Bytes) {
        self.total_in += bytes.len() as u64;
        self.pending = bytes;
    }

    /// The next decompressed bytes, none when more input is needed.
    pub(crate) fn pull(&mut self) -> Result<Option<Bytes>, NetError> {
        let mut out = Vec::new();
        loop {
            let moved = self
                .codec
                .step(&mut self.pending, &mut out, self.flush)
                .map_err(|error| damaged().caused_by(error))?;
            self.check_caps(out.len())?;
            if !moved || out.len() >= PIECE {
                break;
            }
        }
        self.total_out += out.len() as u64;
        Ok((!out.is_empty()).then(|| Bytes::from(out)))
    }

    fn check_caps(&self, more: usize) -> Result<(), NetError> {
        let total = self.total_out.saturating_add(more as u64);
        let by_ratio = self.total_in.saturating_mul(self.caps.max_ratio);
        if total > self.caps.max_bytes || (total > self.caps.ratio_from && total > by_ratio) {
            return Err(NetError::new(
                ErrorKind::TooLarge,
                "a compressed response body unfolds to more than the limit",
            ));
        }
        Ok(())
    }

    /// Checks at the end of the input that the compressed body was complete.
    pub(crate) fn finish(mut self) -> Result<(), NetError> {
        if self.total_in == 0 {
            return Ok(());
        }
        self.codec.finish().map_err(|error| damaged().caused_by(error))
    }
}

fn unknown_coding() -> NetError {
    NetError::new(ErrorKind::Decode, "a response body has a content-encoding that cannot be decoded")
}

fn damaged() -> NetError {
    NetError::new(ErrorKind::Decode, "a compressed response body is damaged")
}

fn bad(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

enum Codec {
    Gzip(Flushed<GzDecoder<Vec<u8>>>),
    Zlib(Flushed<ZlibDecoder<Vec<u8>>>),
    Raw(Flushed<DeflateDecoder<Vec<u8>>>),
    /// `deflate` before its first byte: zlib by RFC 9110, raw by some servers.
    Deflate,
    Brotli(Box<Brotli>),
    Zstd(Box<Zstd>),
}

impl Codec {
    fn named(token: &str) -> Option<Self> {
        Some(match token.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => Self::Gzip(Flushed::new(GzDecoder::new(Vec::new()))),
            "deflate" => Self::Deflate,
            "br" => Self::Brotli(Box::default()),
            "zstd" => Self::Zstd(Box::default()),
            _ => return None,
        })
    }

    /// Moves some input on; false when nothing moves without more input.
    fn step(&mut self, input: &mut Bytes, out: &mut Vec<u8>, flush: bool) -> io::Result<bool> {
        match self {
            Self::Gzip(codec) => codec.step(input, out, GzDecoder::get_mut),
            Self::Zlib(codec) => codec.step(input, out, ZlibDecoder::get_mut),
            Self::Raw(codec) => codec.step(input, out, DeflateDecoder::get_mut),
            Self::Deflate => {
                let Some(first) = input.first() else {
                    return Ok(false);
                };
                // RFC 1950: method 8 with a window of at most 32 KiB.
                *self = if first & 0x0f == 8 && first >> 4 <= 7 {
                    Self::Zlib(Flushed::new(ZlibDecoder::new(Vec::new())))
                } else {
                    Self::Raw(Flushed::new(DeflateDecoder::new(Vec::new())))
                };
                Ok(true)
            }
            Self::Brotli(codec) => codec.step(input, out),
            Self::Zstd(codec) => codec.step(input, out, flush),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        match self {
            Self::Gzip(codec) => codec.writer.try_finish(),
            Self::Zlib(codec) => codec.writer.try_finish(),
            Self::Raw(codec) => codec.writer.try_finish(),
            Self::Deflate => Ok(()),
            Self::Brotli(codec) if codec.ended => Ok(()),
            Self::Zstd(codec) if codec.is_complete() => Ok(()),
            Self::Brotli(_) | Self::Zstd(_) => Err(bad("incomplete stream")),
        }
    }
}

/// A decoder in writer form: one write unfolds at most its 32 KiB buffer.
struct Flushed<W> {
    writer: W,
    dirty: bool,
}

impl<W: Write> Flushed<W> {
    fn new(writer: W) -> Self {
        Self { writer, dirty: false }
    }

    fn step(
        &mut self,
        input: &mut Bytes,
        out: &mut Vec<u8>,
        inner: fn(&mut W) -> &mut Vec<u8>,
    ) -> io::Result<bool> {
        if !input.is_empty() {
            let used = self.writer.write(input)?;
            if used == 0 {
                return Err(bad("bytes after the end of the stream"));
            }
            input.advance(used);
            self.dirty = true;
        } else if self.dirty {
            self.writer.flush()?;
            self.dirty = false;
        } else {
            return Ok(false);
        }
        out.append(inner(&mut self.writer));
        Ok(true)
    }
}

struct Brotli {
    state: BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>,
    total: usize,
    ended: bool,
}

impl Default for Brotli {
    fn default() -> Self {
        Self {
            state: BrotliState::new(
                StandardAlloc::default(),
                StandardAlloc::default(),
                StandardAlloc::default(),
            ),
            total: 0,
            ended: false,
        }
    }
}

impl Brotli {
    fn step(&mut self, input: &mut Bytes, out: &mut Vec<u8>) -> io::Result<bool> {
        if self.ended {
            return if input.is_empty() { Ok(false) } else { Err(bad("bytes after the end of the stream")) };
        }
        let start = out.len();
        out.resize(start + BROTLI_STEP, 0);
        let (mut left, mut used) = (input.len(), 0);
        let (mut room, mut end) = (BROTLI_STEP, start);
        let result = BrotliDecompressStream(
            &mut left,
            &mut used,
            input,
            &mut room,
            &mut end,
            out,
            &mut self.total,
            &mut self.state,
        );
        out.truncate(end);
        input.advance(used);
        match result {
            BrotliResult::ResultFailure => return Err(bad("not a brotli stream")),
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        Ok(used > 0 || end > start || self.ended)
    }
}
