//! The stored form of the vocabulary: tagged, length-delimited fields behind a version, compressed when that
//! helps. A reader skips fields it does not know, and a field that was not written has its empty value, so
//! rows of older versions stay readable.

mod records;
mod wire;

#[cfg(test)]
mod tests;

pub(crate) use records::{StoredResponse, StoredSettings};
pub use wire::Corrupt;
pub(crate) use wire::Code;

use trilith_core::Item;

/// The first byte of every stored value: the version in the upper half, the compression in the lower.
const V1_PLAIN: u8 = 0x10;
const V1_ZSTD: u8 = 0x11;
/// Shorter values gain nothing from compression.
const COMPRESS_FROM: usize = 1024;
/// A fast level: rows are written on the way to a waiting client.
const LEVEL: i32 = 1;
/// No stored value is larger than this when unpacked; a larger one is corrupt.
const LARGEST: usize = 1 << 30;

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
    let mut out = vec![V1_PLAIN];
    value.put(&mut out);
    if out.len() < COMPRESS_FROM {
        return out;
    }
    // Compression in memory fails only for want of memory; the plain form is as good then.
    match zstd::bulk::compress(&out[1..], LEVEL) {
        Ok(packed) if packed.len() + 9 < out.len() => {
            let mut small = Vec::with_capacity(packed.len() + 9);
            small.push(V1_ZSTD);
            small.extend_from_slice(&(out.len() as u64 - 1).to_le_bytes());
            small.extend_from_slice(&packed);
            small
        }
        _ => out,
    }
}

pub(crate) fn decode<T: Code>(bytes: &[u8]) -> Result<T, Corrupt> {
    match bytes.split_first() {
        Some((&V1_PLAIN, body)) => T::get(body),
        Some((&V1_ZSTD, body)) => {
            let (size, packed) = body.split_first_chunk::<8>().ok_or(Corrupt)?;
            let size = usize::try_from(u64::from_le_bytes(*size)).ok().filter(|size| *size <= LARGEST);
            let plain = zstd::bulk::decompress(packed, size.ok_or(Corrupt)?).map_err(|_| Corrupt)?;
            T::get(&plain)
        }
        _ => Err(Corrupt),
    }
}
