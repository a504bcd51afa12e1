//! Zstandard frames (RFC 8878), unfolded as they arrive.
//!
//! The decoder underneath gives its output back only once it is a whole window behind,
//! which would hold an event stream back until its end. So at a pause its frame is ended
//! by an empty last block, which makes it hand everything over; then the window is put
//! back as uncompressed blocks. Blocks are independent of that: entropy tables and repeat
//! offsets stay in the decoder.

use std::io::{self, ErrorKind};

use bytes::Bytes;
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Largest window a client must support for HTTP, and the largest a sender may use
/// (RFC 9659).
const MAX_WINDOW: u64 = 8 << 20;

/// Largest block content, before and after decompression (RFC 8878 §3.1.1.2.4).
const MAX_BLOCK: usize = 128 << 10;

/// Blocks after which the output is handed over even if nobody asks for it.
const MIN_BATCH: usize = 8;

const FRAME_MAGIC: u32 = 0xFD2F_B528;
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;

/// An empty uncompressed block that is its frame's last.
const END_BLOCK: [u8; 3] = [1, 0, 0];

/// Decompression of one body, which may hold several frames.
pub(crate) struct Zstd {
    decoder: FrameDecoder,
    input: Vec<u8>,
    state: State,
}

enum State {
    Between,
    /// Passing over bytes: of a skippable frame, or a checksum. (TLS and TCP guard the
    /// bytes; the checksum would also cover the window that is put back.)
    Skip(u64),
    Frame(Frame),
}

struct Frame {
    window: usize,
    checksum: bool,
    /// Whether the decoder was already told that the frame has ended.
    ended: bool,
    /// Bytes at the front of the decoder's output that were handed over before.
    put_back: usize,
    /// Blocks since the last hand-over.
    blocks: usize,
}

impl Default for Zstd {
    fn default() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Self { decoder, input: Vec::new(), state: State::Between }
    }
}

fn bad(text: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, text)
}

impl Zstd {
    /// Unfolds one block or passes one header; false when that needs more input.
    /// `flush` asks for all output that the input so far allows.
    pub(crate) fn step(&mut self, input: &mut Bytes, out: &mut Vec<u8>, flush: bool) -> io::Result<bool> {
        self.input.extend_from_slice(&std::mem::take(input));
        let used = match &mut self.state {
            State::Between => self.header()?,
            State::Skip(left) => {
                let step = (*left).min(self.input.len() as u64);
                *left -= step;
                if *left == 0 {
                    self.state = State::Between;
                }
                usize::try_from(step).unwrap_or(self.input.len())
            }
            State::Frame(frame) => {
                let used = frame.block(&mut self.decoder, &self.input)?;
                let last = used > 0 && self.input.first().is_some_and(|byte| byte & 1 == 1);
                let batch = (frame.window / MAX_BLOCK).max(MIN_BATCH);
                if last || frame.blocks >= batch || (used == 0 && flush && frame.blocks > 0) {
                    frame.hand_over(&mut self.decoder, out, last)?;
                }
                if last {
                    self.state = if frame.checksum { State::Skip(4) } else { State::Between };
                }
                used
            }
        };
        self.input.drain(..used);
        Ok(used > 0)
    }

    /// Whether the input so far ends with a frame's end.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.state, State::Between) && self.input.is_empty()
    }

    /// Reads a frame header (RFC 8878 §3.1.1.1) if it is there; returns its length.
    fn header(&mut self) -> io::Result<usize> {
        let input = &self.input;
        let Some(magic) = number(input, 0, 4) else {
            return Ok(0);
        };
        if magic & !0xf == u64::from(SKIPPABLE_MAGIC) {
            return Ok(number(input, 4, 4).map_or(0, |length| {
                if length > 0 {
                    self.state = State::Skip(length);
                }
                8
            }));
        }
        if magic != u64::from(FRAME_MAGIC) {
            return Err(bad("not a zstd frame"));
        }
        let Some(&descriptor) = input.get(4) else {
            return Ok(0);
        };
        let single = descriptor & 0x20 != 0;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let size_bytes = [usize::from(single), 2, 4, 8][usize::from(descriptor >> 6)];
        let size_at = 5 + usize::from(!single) + dictionary;
        let length = size_at + size_bytes;
        if input.len() < length {
            return Ok(0);
        }
        let window = if single {
            let base = if size_bytes == 2 { 256 } else { 0 };
            number(input, size_at, size_bytes).unwrap_or(0) + base
        } else {
            let byte = input.get(5).copied().unwrap_or(0);
            let base = 1_u64 << (10 + (byte >> 3));
            base + base / 8 * u64::from(byte & 7)
        };
        if window > MAX_WINDOW {
            return Err(bad("the zstd window is over 8 MiB"));
        }
        let mut header = input[..length].to_vec();
        // The checksum is passed over here, so the decoder must not look for it.
        header[4] &= !0x04;
        self.decoder.reset(header.as_slice()).map_err(io::Error::other)?;
        self.state = State::Frame(Frame {
            window: usize::try_from(window).unwrap_or(usize::MAX),
            checksum: descriptor & 0x04 != 0,
            ended: false,
            put_back: 0,
            blocks: 0,
        });
        Ok(length)
    }
}

impl Frame {
    /// Decodes the block at the front of `input` if it is there as a whole; returns its
    /// length with the header.
    fn block(&mut self, decoder: &mut FrameDecoder, input: &[u8]) -> io::Result<usize> {
        let Some(header) = number(input, 0, 3) else {
            return Ok(0);
        };
        let size = usize::try_from(header >> 3).unwrap_or(usize::MAX);
        let content = match (header >> 1) & 3 {
            1 => 1,
            3 => return Err(bad("a zstd block of the reserved type")),
            _ => size,
        };
        if size > MAX_BLOCK {
            return Err(bad("a zstd block over 128 KiB"));
        }
        let Some(block) = input.get(..3 + content) else {
            return Ok(0);
        };
        feed(decoder, block)?;
        self.blocks += 1;
        Ok(block.len())
    }

    fn hand_over(&mut self, decoder: &mut FrameDecoder, out: &mut Vec<u8>, last: bool) -> io::Result<()> {
        if !last && !self.ended {
            feed(decoder, &END_BLOCK)?;
            self.ended = true;
        }
        let all = decoder.collect().unwrap_or_default();
        out.extend_from_slice(all.get(self.put_back..).unwrap_or_default());
        self.blocks = 0;
        if last {
            return Ok(());
        }
        let window = &all[all.len().saturating_sub(self.window)..];
        for part in window.chunks(MAX_BLOCK) {
            let mut block = Vec::with_capacity(3 + part.len());
            let header = u32::try_from(part.len() << 3).unwrap_or(0).to_le_bytes();
            block.extend_from_slice(&header[..3]);
            block.extend_from_slice(part);
            feed(decoder, &block)?;
        }
        self.put_back = window.len();
        Ok(())
    }
}

fn feed(decoder: &mut FrameDecoder, block: &[u8]) -> io::Result<()> {
    decoder.decode_blocks(block, BlockDecodingStrategy::UptoBlocks(1)).map(drop).map_err(io::Error::other)
}

/// A little-endian number of up to eight bytes, none if it is not there yet.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + length)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
