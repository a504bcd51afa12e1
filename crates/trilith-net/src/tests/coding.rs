//! Compressed bodies: whole, streamed, damaged, and grown beyond the caps.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;

use super::*;
use crate::decode::Decoder;
use crate::{DecodeCaps, ErrorKind};

const CODINGS: [&str; 5] = ["gzip", "deflate", "raw", "br", "zstd"];

fn encode(coding: &str, data: &[u8]) -> Vec<u8> {
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "raw" => {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(data).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut out = Vec::new();
            let mut writer = brotli::CompressorWriter::new(&mut out, 4096, 5, 20);
            writer.write_all(data).unwrap();
            drop(writer);
            out
        }
        "zstd" => ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest),
        _ => panic!("unknown coding"),
    }
}

/// The header value; `raw` is what some servers mean by deflate.
fn named(coding: &str) -> &str {
    if coding == "raw" { "deflate" } else { coding }
}

fn decoder(coding: &str, caps: DecodeCaps) -> Decoder {
    let mut headers = HeaderMap::new();
    headers.insert("content-encoding", named(coding).parse().unwrap());
    headers.insert("content-length", "5".parse().unwrap());
    let decoder = Decoder::for_headers(&mut headers, caps).unwrap().unwrap();
    assert!(headers.is_empty());
    decoder
}

fn decode(mut decoder: Decoder, pieces: &[&[u8]]) -> Result<Vec<u8>, NetError> {
    let mut out = Vec::new();
    for piece in pieces {
        decoder.push(Bytes::copy_from_slice(piece));
        while let Some(bytes) = decoder.pull()? {
            out.extend_from_slice(&bytes);
        }
    }
    decoder.finish()?;
    Ok(out)
}

fn sample(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut out = Vec::new();
    while out.len() < length {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        write!(out, "data: {{\"token\":\"{}\",\"i\":{}}}\n\n", state >> 20, out.len()).unwrap();
    }
    out
}

#[tokio::test]
async fn every_coding_is_decoded_over_the_wire() {
    let expected = sample(300_000);
    for coding in CODINGS {
        let packed = encode(coding, &expected);
        let name = named(coding).to_owned();
        let address = serve(move |_, stream| {
            answer_all(stream, plain(&packed, &format!("content-encoding: {name}\r\n")))
        })
        .await;
        let client = client();
        let response = soon(client.send(get(&format!("http://{address}/")))).await.unwrap();
        assert!(response.headers().is_empty(), "{coding}");
        let body = soon(response.into_body().collect(1 << 20)).await.unwrap();
        assert!(body == expected, "{coding}");
        let mut streamed = Vec::new();
        let mut body = soon(client.send(get(&format!("http://{address}/")))).await.unwrap().into_body();
        while let Some(piece) = soon(body.chunk()).await {
            streamed.extend_from_slice(&piece.unwrap());
        }
        assert!(streamed == expected, "{coding}");
        assert_eq!(client.stats().opened, 1);
    }
}

/// What the server flushed must reach the reader before the next event is made.
#[test]
fn flushed_events_are_not_held_back() {
    let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let mut out = decoder("gzip", DecodeCaps::default());
    let mut brotli = brotli::CompressorWriter::new(Vec::new(), 4096, 5, 20);
    let mut out_brotli = decoder("br", DecodeCaps::default());
    for _ in 0..50 {
        gzip.write_all(event).unwrap();
        gzip.flush().unwrap();
        out.push(std::mem::take(gzip.get_mut()).into());
        assert_eq!(out.pull().unwrap().unwrap(), event.as_slice());
        assert!(out.pull().unwrap().is_none());

        brotli.write_all(event).unwrap();
        brotli.flush().unwrap();
        out_brotli.push(std::mem::take(brotli.get_mut()).into());
        assert_eq!(out_brotli.pull().unwrap().unwrap(), event.as_slice());
        assert!(out_brotli.pull().unwrap().is_none());
    }
}

/// Splits a zstd stream into its frame header and its blocks.
fn zstd_parts(packed: &[u8]) -> Vec<&[u8]> {
    let descriptor = packed[4];
    let single = descriptor & 0x20 != 0;
    let sizes = [usize::from(single), 2, 4, 8];
    let mut at = 5 + usize::from(!single) + sizes[usize::from(descriptor >> 6)];
    let mut parts = vec![&packed[..at]];
    loop {
        let header = u32::from_le_bytes([packed[at], packed[at + 1], packed[at + 2], 0]);
        let content = if (header >> 1) & 3 == 1 { 1 } else { header >> 3 };
        let end = at + 3 + content as usize;
        parts.push(&packed[at..end]);
        at = end;
        if header & 1 == 1 {
            break;
        }
    }
    parts.push(&packed[at..]);
    parts
}

/// Each block's bytes come out with the block, and the blocks after them, which refer back
/// to earlier ones, still decode.
#[test]
fn zstd_blocks_are_not_held_back() {
    let expected = sample(900_000);
    let packed = encode("zstd", &expected);
    let parts = zstd_parts(&packed);
    assert!(parts.len() > 5);
    let mut decoder = decoder("zstd", DecodeCaps::default());
    let mut out = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        decoder.push(Bytes::copy_from_slice(part));
        let before = out.len();
        while let Some(bytes) = decoder.pull().unwrap() {
            out.extend_from_slice(&bytes);
        }
        let is_block = number > 0 && number + 1 < parts.len();
        assert_eq!(out.len() > before, is_block, "part {number}");
    }
    decoder.finish().unwrap();
    assert!(out == expected);
}

/// Made by the reference encoder (level 19, window 4 KiB, checksum): blocks that
/// refer to earlier blocks, repeat entropy tables and repeat offsets.
#[test]
fn zstd_of_the_reference_encoder() {
    let packed = include_bytes!("reference.zst");
    let expected = sample(40_000);
    for step in [1, 7, 100, 5_000, packed.len()] {
        let pieces: Vec<&[u8]> = packed.chunks(step).collect();
        let out = decode(decoder("zstd", DecodeCaps::default()), &pieces).unwrap();
        assert!(out == expected, "steps of {step}");
    }
    let mut whole = decoder("zstd", DecodeCaps::default());
    whole.expect_whole();
    assert!(decode(whole, &[packed]).unwrap() == expected);
    let twice = [packed.as_slice(), packed.as_slice()].concat();
    let out = decode(decoder("zstd", DecodeCaps::default()), &[&twice]).unwrap();
    assert_eq!(out.len(), 2 * expected.len());
}

#[tokio::test]
async fn bombs_are_refused_whole_and_streamed() {
    let zeros = vec![0_u8; 4 << 20];
    for coding in ["gzip", "br", "zstd", "deflate"] {
        let packed = encode(coding, &zeros);
        assert!(packed.len() < 6 << 10, "{coding}: {}", packed.len());
        let address = serve(move |_, stream| {
            answer_all(stream, plain(&packed, &format!("content-encoding: {coding}\r\n")))
        })
        .await;
        let response = soon(client().send(get(&format!("http://{address}/")))).await.unwrap();
        let error = soon(response.into_body().collect(1 << 30)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{coding}");
        let mut body = soon(client().send(get(&format!("http://{address}/")))).await.unwrap().into_body();
        let (mut read, mut largest) = (0, 0);
        let error = loop {
            match soon(body.chunk()).await.unwrap() {
                Ok(bytes) => {
                    read += bytes.len();
                    largest = largest.max(bytes.len());
                }
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{coding}");
        assert!(read < 3 << 20, "{coding}: {read}");
        assert!(largest < 3 << 20, "{coding}: {largest}");
    }
}

#[test]
fn the_byte_cap_holds_without_the_ratio() {
    let data = sample(100_000);
    let caps = DecodeCaps { max_bytes: 50_000, ..DecodeCaps::default() };
    for coding in CODINGS {
        let packed = encode(coding, &data);
        let error = decode(decoder(coding, caps), &[&packed]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TooLarge, "{coding}");
    }
}

#[test]
fn damaged_and_incomplete_bodies_are_decode_errors() {
    let data = sample(20_000);
    for coding in CODINGS {
        let packed = encode(coding, &data);
        let cut = &packed[..packed.len() - 5];
        let error = decode(decoder(coding, DecodeCaps::default()), &[cut]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{coding} cut");
        let mut longer = packed.clone();
        longer.extend(b"trailing bytes");
        let error = decode(decoder(coding, DecodeCaps::default()), &[&longer]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode, "{coding} longer");
        let whole = decode(decoder(coding, DecodeCaps::default()), &[&packed, b""]);
        assert!(whole.unwrap() == data, "{coding}");
        assert!(decode(decoder(coding, DecodeCaps::default()), &[]).is_ok());
    }
    for value in ["snappy", "gzip, br"] {
        let mut headers = HeaderMap::new();
        headers.insert("content-encoding", value.parse().unwrap());
        let error = Decoder::for_headers(&mut headers, DecodeCaps::default());
        assert_eq!(error.err().map(|e| e.kind()), Some(ErrorKind::Decode));
    }
}

#[test]
fn a_zstd_window_over_eight_mebibytes_is_refused() {
    // Magic, descriptor 0, window exponent 20 (1 GiB), an empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 20 << 3, 1, 0, 0];
    let error = decode(decoder("zstd", DecodeCaps::default()), &[&frame]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cutting_gives_the_same_bytes(
        length in 0_usize..60_000,
        cuts in prop::collection::vec(0_usize..10_000, 0..12),
        coding in prop::sample::select(CODINGS.to_vec()),
    ) {
        let data = sample(length);
        let packed = encode(coding, &data);
        let mut rest = packed.as_slice();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (front, back) = rest.split_at(cut.min(rest.len()));
            pieces.push(front);
            rest = back;
        }
        pieces.push(rest);
        prop_assert_eq!(decode(decoder(coding, DecodeCaps::default()), &pieces).unwrap(), data);
    }

    #[test]
    fn garbage_never_panics(
        mut bytes in prop::collection::vec(any::<u8>(), 0..600),
        magic in any::<bool>(),
        coding in prop::sample::select(CODINGS.to_vec()),
    ) {
        if magic && coding == "zstd" {
            bytes.splice(0..0, [0x28, 0xb5, 0x2f, 0xfd]);
        }
        if magic && coding == "gzip" {
            bytes.splice(0..0, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0]);
        }
        drop(decode(decoder(coding, DecodeCaps::default()), &[&bytes]));
    }

    #[test]
    fn damage_never_panics(
        at in 0_usize..4_000,
        with in any::<u8>(),
        coding in prop::sample::select(CODINGS.to_vec()),
    ) {
        let mut packed = encode(coding, &sample(20_000));
        let at = at % packed.len();
        packed[at] ^= with;
        let pieces: Vec<&[u8]> = packed.chunks(997).collect();
        drop(decode(decoder(coding, DecodeCaps::default()), &pieces));
    }
}
