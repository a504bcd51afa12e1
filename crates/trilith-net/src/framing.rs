//! Where the body of a response ends, and its payload among the bytes of the wire.

use bytes::{Buf, BytesMut};

use crate::error::Fault;

/// Bytes of all chunk extensions of one body. They carry nothing for us.
const MAX_EXTENSIONS: usize = 16 << 10;

/// Hexadecimal digits of a chunk size; so many always fit into 64 bits.
const MAX_DIGITS: u8 = 16;

/// Trailer lines of one body.
const MAX_TRAILERS: usize = 100;

/// The end of a body by RFC 9112 §6.3.
#[derive(Debug)]
pub(crate) enum Framing {
    /// So many bytes are still to come.
    Length(u64),
    Chunked(Chunked),
    /// Up to the end of the connection.
    Close,
}

impl Framing {
    /// Whether the whole body was decoded.
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunked(chunked) => chunked.state == State::End,
            Self::Close => false,
        }
    }

    /// Decodes all of `bytes`, whose first `have` are payload already, in place: afterwards
    /// they are payload only, `have` bytes of it. Tells whether bytes followed the end of
    /// the body; these are gone.
    ///
    /// # Errors
    /// [`Fault`] in the chunk framing; the payload before it is kept.
    pub(crate) fn decode(&mut self, bytes: &mut BytesMut, have: &mut usize) -> Result<bool, Fault> {
        match self {
            Self::Length(left) => {
                let there = bytes.len() - *have;
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(there);
                *left -= taken as u64;
                *have += taken;
                bytes.truncate(*have);
                Ok(taken < there)
            }
            Self::Chunked(chunked) => chunked.decode(bytes, have),
            Self::Close => {
                *have = bytes.len();
                Ok(false)
            }
        }
    }
}

/// The chunked coding of RFC 9112 §7.1. It holds no bytes: every cut of the wire is a
/// state.
#[derive(Debug)]
pub(crate) struct Chunked {
    state: State,
    /// The size being read, then what is left of the chunk.
    left: u64,
    digits: u8,
    extensions: usize,
    /// Bytes and lines of trailers that may still come.
    trailers: (usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size,
    /// White space between a size and its extensions or line end.
    AfterSize,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    End,
}

const SIZE: Fault = Fault::Malformed("a malformed chunk size");
const CHUNK_END: Fault = Fault::Malformed("a chunk of another size than it says");
const TRAILER: Fault = Fault::Malformed("a malformed trailer");

impl Chunked {
    pub(crate) fn new(max_trailers: usize) -> Self {
        Self {
            state: State::Size,
            left: 0,
            digits: 0,
            extensions: MAX_EXTENSIONS,
            trailers: (max_trailers, MAX_TRAILERS),
        }
    }

    fn decode(&mut self, bytes: &mut BytesMut, have: &mut usize) -> Result<bool, Fault> {
        let mut done = Done { from: 0, to: *have, at: *have };
        let outcome = self.run(bytes, &mut done);
        let leftover = done.at < bytes.len();
        bytes.truncate(done.to);
        bytes.advance(done.from);
        *have = bytes.len();
        outcome.map(|()| leftover)
    }

    fn run(&mut self, bytes: &mut [u8], done: &mut Done) -> Result<(), Fault> {
        while self.state != State::End {
            if self.state == State::Data {
                let there = bytes.len() - done.at;
                let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(there);
                if done.to == 0 {
                    // The first payload stays where it is.
                    (done.from, done.to) = (done.at, done.at);
                } else {
                    bytes.copy_within(done.at..done.at + taken, done.to);
                }
                done.at += taken;
                done.to += taken;
                self.left -= taken as u64;
                if self.left > 0 {
                    return Ok(());
                }
                self.state = State::DataCr;
                if let Some((length, size)) = plain_size(bytes.get(done.at..).unwrap_or_default()) {
                    done.at += length;
                    self.left = size;
                    self.state = State::Data;
                    continue;
                }
            }
            let Some(byte) = bytes.get(done.at) else {
                return Ok(());
            };
            done.at += 1;
            self.state = self.step(*byte)?;
        }
        Ok(())
    }

    /// The state after one byte outside the payload.
    #[inline]
    fn step(&mut self, byte: u8) -> Result<State, Fault> {
        Ok(match (self.state, byte) {
            (State::Size, b'0'..=b'9') => self.add_digit(byte - b'0')?,
            (State::Size, b'a'..=b'f') => self.add_digit(byte - b'a' + 10)?,
            (State::Size, b'A'..=b'F') => self.add_digit(byte - b'A' + 10)?,
            (State::Size, _) if self.digits == 0 => return Err(SIZE),
            (State::Size | State::AfterSize | State::Extension, b'\r') => State::SizeLf,
            (State::SizeLf, b'\n') => {
                self.digits = 0;
                if self.left == 0 { State::TrailerStart } else { State::Data }
            }
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size,
            (State::DataCr | State::DataLf, _) => return Err(CHUNK_END),
            (State::TrailerStart, b'\r') => State::EndLf,
            (State::EndLf, b'\n') => State::End,
            (State::Size | State::AfterSize | State::Extension, _) => self.step_extension(byte)?,
            (State::TrailerStart | State::TrailerName | State::TrailerValue | State::TrailerLf, _) => {
                self.step_trailer(byte)?
            }
            (State::SizeLf | State::EndLf | State::Data | State::End, _) => return Err(SIZE),
        })
    }

    fn add_digit(&mut self, digit: u8) -> Result<State, Fault> {
        if self.digits == MAX_DIGITS {
            return Err(SIZE);
        }
        self.digits += 1;
        self.left = self.left << 4 | u64::from(digit);
        Ok(State::Size)
    }

    #[cold]
    fn step_extension(&mut self, byte: u8) -> Result<State, Fault> {
        self.extensions = self.extensions.checked_sub(1).ok_or(Fault::ChunksTooLarge)?;
        match (self.state, byte) {
            (State::Extension, _) if !is_control(byte) => Ok(State::Extension),
            (State::Size | State::AfterSize, b';') => Ok(State::Extension),
            (State::Size | State::AfterSize, b' ' | b'\t') => Ok(State::AfterSize),
            _ => Err(SIZE),
        }
    }

    #[cold]
    fn step_trailer(&mut self, byte: u8) -> Result<State, Fault> {
        let (bytes, lines) = &mut self.trailers;
        *bytes = bytes.checked_sub(1).ok_or(Fault::ChunksTooLarge)?;
        match (self.state, byte) {
            (State::TrailerStart, _) if is_token(byte) => {
                *lines = lines.checked_sub(1).ok_or(Fault::ChunksTooLarge)?;
                Ok(State::TrailerName)
            }
            (State::TrailerName, _) if is_token(byte) => Ok(State::TrailerName),
            (State::TrailerName, b':') => Ok(State::TrailerValue),
            (State::TrailerValue, b'\r') => Ok(State::TrailerLf),
            (State::TrailerValue, _) if !is_control(byte) => Ok(State::TrailerValue),
            (State::TrailerLf, b'\n') => Ok(State::TrailerStart),
            _ => Err(TRAILER),
        }
    }
}

/// The end of a chunk and the whole size line of a next one in their plainest form, which
/// spares the steps byte by byte: their length, and the size.
#[inline]
fn plain_size(bytes: &[u8]) -> Option<(usize, u64)> {
    let line = bytes.strip_prefix(b"\r\n")?;
    let mut size = 0_u64;
    for (at, byte) in line.iter().take(8).enumerate() {
        match byte {
            b'0'..=b'9' => size = size << 4 | u64::from(byte - b'0'),
            b'a'..=b'f' => size = size << 4 | u64::from(byte - b'a' + 10),
            b'\r' if size > 0 && line.get(at + 1) == Some(&b'\n') => return Some((at + 4, size)),
            _ => return None,
        }
    }
    None
}

/// How far a decoding came: the payload lies in `from..to`, the wire goes on at `at`.
struct Done {
    from: usize,
    to: usize,
    at: usize,
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && byte != b'\t'
}

/// RFC 9110 §5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
