use proptest::prelude::*;

use super::*;

fn text(value: &str) -> Vec<u8> {
    [&(value.len() as u64).to_le_bytes()[..], value.as_bytes()].concat()
}

fn entry(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [text(key), kind.to_le_bytes().to_vec(), value.to_vec()].concat()
}

fn file(version: u32, entries: &[Vec<u8>], tensors: &[Vec<u8>], data_bytes: usize) -> Vec<u8> {
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend((tensors.len() as u64).to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries.concat());
    bytes.extend(tensors.concat());
    bytes.resize(bytes.len().next_multiple_of(32) + data_bytes, 0);
    bytes
}

fn tensor(dimensions: &[u64], kind: u32, offset: u64) -> Vec<u8> {
    let mut bytes = text("weight");
    bytes.extend((dimensions.len() as u32).to_le_bytes());
    bytes.extend(dimensions.iter().flat_map(|size| size.to_le_bytes()));
    bytes.extend(kind.to_le_bytes());
    bytes.extend(offset.to_le_bytes());
    bytes
}

fn read(bytes: &[u8]) -> Result<Header, HeaderError> {
    read_header(bytes, bytes.len() as u64)
}

fn sample() -> Vec<u8> {
    let names = [8_u32.to_le_bytes().to_vec(), 2_u64.to_le_bytes().to_vec(), text("a"), text("b")].concat();
    let entries = [
        entry("bert.attention.causal", 7, &[0]),
        entry("general.architecture", 8, &text("bert")),
        entry("general.name", 8, &text("Sample")),
        entry("tokenizer.ggml.tokens", 9, &names),
        entry("tokenizer.chat_template", 8, &text("{{ messages }}")),
    ];
    file(3, &entries, &[tensor(&[32, 2], 8, 0), tensor(&[4], 0, 96)], 112)
}

#[test]
fn the_values_of_a_header_are_read() {
    let bytes = sample();
    let header = read(&bytes).unwrap();
    assert_eq!(
        header,
        Header {
            architecture: "bert".into(),
            name: Some("Sample".into()),
            chat_template: Some("{{ messages }}".into()),
            is_encoder: true,
            needed_bytes: bytes.len() as u64,
        }
    );
}

#[test]
fn every_shorter_file_is_refused() {
    let bytes = sample();
    for length in 0..bytes.len() {
        assert!(read(&bytes[..length]).is_err(), "{length} bytes were accepted");
    }
    assert!(matches!(
        read(&bytes[..bytes.len() - 1]),
        Err(HeaderError::Truncated { needed_bytes }) if needed_bytes == bytes.len() as u64
    ));
}

#[test]
fn other_files_and_versions_are_refused_by_name() {
    let reason = |bytes: &[u8]| match read(bytes) {
        Err(HeaderError::Invalid(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert!(reason(b"PK\x03\x04 and so on").contains("letters GGUF"));
    assert!(reason(b"").contains("letters GGUF"));
    assert!(reason(&file(1, &[], &[], 0)).contains("version 1"));
    assert!(reason(&file(3_u32.swap_bytes(), &[], &[], 0)).contains("big-endian"));
    assert!(reason(&file(3, &[], &[], 0)).contains("no architecture"));
}

#[test]
fn absurd_numbers_are_refused_without_the_memory_for_them() {
    let array = [9_u32.to_le_bytes().to_vec(), u64::MAX.to_le_bytes().to_vec()].concat();
    for entry in [
        entry("general.name", 8, &u64::MAX.to_le_bytes()),
        entry("general.name", 8, &(1_u64 << 19).to_le_bytes()),
        entry("x", 9, &array),
        entry("x", 99, &[]),
    ] {
        assert!(read(&file(3, &[entry], &[], 0)).is_err());
    }
    assert!(read(&file(3, &[], &[tensor(&[u64::MAX, 2], 0, 0)], 0)).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_damaged_header_never_panics(position in 0_usize..200, byte in any::<u8>()) {
        let mut bytes = sample();
        let position = position % bytes.len();
        bytes[position] = byte;
        let _ = read(&bytes);
    }
}
