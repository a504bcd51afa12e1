//! The stored form of the vocabulary: tagged, length-delimited fields behind a version, compressed when that
//! helps. A reader skips fields it does not know, and a field that was not written has its empty value, so
//! rows of older versions stay readable.

mod records;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use records::StoredResponse;
pub(crate) use wire::Code;
pub use wire::Corrupt;
#[cfg(test)]
pub(crate) use wire::Listed;

use std::cell::RefCell;

use trilith_core::Item;
use wire::Input;

/// The first byte of every stored value: the version in the upper half, the compression in the lower.
const V1_PLAIN: u8 = 0x10;
const V1_ZSTD: u8 = 0x11;
/// Shorter values gain nothing from compression.
const COMPRESS_FROM: usize = 1024;
/// A fast level: rows are written on the way to a waiting client.
const LEVEL: i32 = 1;
/// Larger values are not compressed, so that a reader never makes room for more on a header's word.
const LARGEST: usize = 256 << 20;
/// A zstd block holds at most 128 KiB and takes at least four bytes: a header that promises more lies.
const BLOCK: usize = 128 << 10;
const BLOCK_COST: usize = 4;

thread_local! {
    /// Making a compressor anew costs more than compressing a usual item.
    static PACKER: RefCell<Option<zstd::bulk::Compressor<'static>>> =
        RefCell::new(zstd::bulk::Compressor::new(LEVEL).ok());
    static UNPACKER: RefCell<Option<zstd::bulk::Decompressor<'static>>> =
        RefCell::new(zstd::bulk::Decompressor::new().ok());
}

/// An item in its stored form.
pub fn encode_item(item: &Item) -> Vec<u8> {
    encode(item)
}

/// The item of a stored form.
///
/// # Errors
/// The bytes are not a stored item of this or an earlier version.
pub fn decode_item(bytes: &[u8]) -> Result<Item, Corrupt> {
    decode(bytes)
}

pub(crate) fn encode<T: Code>(value: &T) -> Vec<u8> {
    pack(encode_plain(value))
}

/// The stored form before compression: equal values have equal bytes, whatever the compressor's version.
pub(crate) fn encode_plain<T: Code>(value: &T) -> Vec<u8> {
    let mut out = vec![V1_PLAIN];
    value.put(&mut out);
    out
}

/// Compresses a stored form where that makes it shorter.
pub(crate) fn pack(plain: Vec<u8>) -> Vec<u8> {
    let size = plain.len() - 1;
    if plain.len() < COMPRESS_FROM || size > LARGEST {
        return plain;
    }
    // Compression in memory fails only for want of memory; the plain form is as good then.
    let packed = PACKER.with_borrow_mut(|packer| packer.as_mut()?.compress(&plain[1..]).ok());
    match packed {
        Some(packed) if packed.len() + 9 < plain.len() => {
            let mut small = Vec::with_capacity(packed.len() + 9);
            small.push(V1_ZSTD);
            small.extend_from_slice(&(size as u64).to_le_bytes());
            small.extend_from_slice(&packed);
            small
        }
        _ => plain,
    }
}

pub(crate) fn decode<T: Code>(bytes: &[u8]) -> Result<T, Corrupt> {
    match bytes.split_first() {
        Some((&V1_PLAIN, body)) => T::get(Input::new(body)),
        Some((&V1_ZSTD, body)) => T::get(Input::new(&unpack(body)?)),
        _ => Err(Corrupt),
    }
}

fn unpack(body: &[u8]) -> Result<Vec<u8>, Corrupt> {
    let (size, packed) = body.split_first_chunk::<8>().ok_or(Corrupt)?;
    let possible = LARGEST.min(packed.len().div_ceil(BLOCK_COST).saturating_mul(BLOCK));
    let size = usize::try_from(u64::from_le_bytes(*size)).ok().filter(|size| *size <= possible);
    let size = size.ok_or(Corrupt)?;
    let plain = UNPACKER.with_borrow_mut(|unpacker| unpacker.as_mut()?.decompress(packed, size).ok());
    plain.filter(|plain| plain.len() == size).ok_or(Corrupt)
}
