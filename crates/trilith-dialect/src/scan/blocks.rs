//! Strings that are dense with escapes, 64 bytes at once. Files and arguments inside of JSON have an escape
//! every dozen bytes; which bytes are escaped is worked out for all of a block by a few steps on bit masks, as
//! in "Parsing Gigabytes of JSON per Second" (Langdale and Lemire 2019, §3.1.1).

use wide::u8x16;

const BLOCK: usize = 64;

/// How far the blocks led.
pub(super) enum Scanned {
    /// The place of the closing quote.
    Ended(usize),
    /// Less than a block is left from `at` on.
    Reached {
        /// The first byte that was not looked at.
        at: usize,
        /// It follows a backslash that escapes it.
        open: bool,
    },
    /// Something is wrong before the string's end, or may be.
    Doubtful,
}

/// One bit for each byte of a block.
struct Masks {
    quotes: u64,
    backslashes: u64,
    controls: u64,
}

/// Finds the end of the string that `at` is inside of; the byte there is not escaped.
pub(super) fn string_end(body: &[u8], mut at: usize) -> Scanned {
    let mut open = false;
    while let Some(block) = body.get(at..).and_then(<[u8]>::first_chunk::<BLOCK>) {
        let masks = masks(block);
        let escaped = escaped(masks.backslashes, &mut open);
        let ends = masks.quotes & !escaped;
        // Everything before the end, or all where there is none.
        let inside = ends.wrapping_sub(1) & !ends;
        if masks.controls & inside != 0 || !are_escapes(body, at, escaped & inside) {
            return Scanned::Doubtful;
        }
        if ends != 0 {
            return Scanned::Ended(at + ends.trailing_zeros() as usize);
        }
        at += BLOCK;
    }
    Scanned::Reached { at, open }
}

#[inline]
fn masks(block: &[u8; BLOCK]) -> Masks {
    let mut masks = Masks { quotes: 0, backslashes: 0, controls: 0 };
    for (place, part) in block.as_chunks::<16>().0.iter().enumerate() {
        let bytes = u8x16::new(*part);
        let bits = |hits: u8x16| u64::from(hits.to_bitmask()) << (place * 16);
        masks.quotes |= bits(bytes.simd_eq(u8x16::splat(b'"')));
        masks.backslashes |= bits(bytes.simd_eq(u8x16::splat(b'\\')));
        masks.controls |= bits(bytes.min(u8x16::splat(0x1F)).simd_eq(bytes));
    }
    masks
}

/// The bytes that a backslash escapes. `open` says whether the first byte is one of them, and afterwards
/// whether the first byte of the next block is.
#[inline]
const fn escaped(backslashes: u64, open: &mut bool) -> u64 {
    const EVEN: u64 = 0x5555_5555_5555_5555;
    let first = *open as u64;
    let starts = backslashes & !first;
    let follows = starts << 1 | first;
    // A run of backslashes that begins at an odd place ends the other way round: the addition carries
    // through such runs and no others.
    let odd_starts = starts & !EVEN & !follows;
    let (runs, over) = odd_starts.overflowing_add(starts);
    *open = over;
    (EVEN ^ (runs << 1)) & follows
}

/// Whether each of the escaped bytes of the block at `at` makes an escape.
#[inline]
fn are_escapes(body: &[u8], at: usize, mut escaped: u64) -> bool {
    while escaped != 0 {
        let place = at + escaped.trailing_zeros() as usize;
        escaped &= escaped - 1;
        match body.get(place) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {}
            Some(b'u') => {
                let digits = body.get(place + 1..).and_then(<[u8]>::first_chunk::<4>);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
