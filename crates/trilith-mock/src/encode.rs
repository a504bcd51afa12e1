//! Compresses a body piece by piece, so that every piece can be read when it arrives.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::script::Coding;

/// A running compression.
pub(crate) enum Encoder {
    Plain,
    Gzip(GzEncoder<Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    /// One frame for each piece.
    Zstd,
}

impl Encoder {
    pub(crate) fn new(coding: Coding) -> Self {
        match coding {
            Coding::Plain => Self::Plain,
            Coding::Gzip => Self::Gzip(GzEncoder::new(Vec::new(), Compression::fast())),
            Coding::Brotli => Self::Brotli(Box::new(brotli::CompressorWriter::new(Vec::new(), 4096, 4, 20))),
            Coding::Zstd => Self::Zstd,
        }
    }

    /// The name of the coding in `content-encoding`.
    pub(crate) const fn name(&self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip(_) => Some("gzip"),
            Self::Brotli(_) => Some("br"),
            Self::Zstd => Some("zstd"),
        }
    }

    /// What to send for one piece.
    pub(crate) fn piece(&mut self, bytes: Vec<u8>) -> Vec<u8> {
        // Writing into memory does not fail.
        match self {
            Self::Plain => bytes,
            Self::Gzip(encoder) => {
                encoder.write_all(&bytes).and_then(|()| encoder.flush()).ok();
                std::mem::take(encoder.get_mut())
            }
            Self::Brotli(encoder) => {
                encoder.write_all(&bytes).and_then(|()| encoder.flush()).ok();
                std::mem::take(encoder.get_mut())
            }
            Self::Zstd => compress_to_vec(bytes.as_slice(), CompressionLevel::Fastest),
        }
    }

    /// What to send after the last piece.
    pub(crate) fn end(self) -> Vec<u8> {
        match self {
            Self::Plain | Self::Zstd => Vec::new(),
            Self::Gzip(encoder) => encoder.finish().unwrap_or_default(),
            Self::Brotli(encoder) => encoder.into_inner(),
        }
    }
}
