//! Envelopes come back only whole, and only to whom they belong.

use super::*;

#[test]
fn an_envelope_opens_for_its_tenant_and_purpose_only() {
    let sealer = EnvelopeSealer::ephemeral().unwrap();
    let envelope = sealer.seal("a", "carrier", b"secret").unwrap();
    assert!(envelope.starts_with("tl1."));
    assert_eq!(sealer.open("a", "carrier", &envelope).unwrap(), b"secret");
    assert!(sealer.open("b", "carrier", &envelope).is_err());
    assert!(sealer.open("a", "cursor", &envelope).is_err());
    assert!(EnvelopeSealer::ephemeral().unwrap().open("a", "carrier", &envelope).is_err());
}

#[test]
fn every_changed_or_missing_byte_is_refused_alike() {
    let sealer = EnvelopeSealer::ephemeral().unwrap();
    let envelope = sealer.seal("a", "carrier", b"secret").unwrap();
    let refusal = sealer.open("a", "carrier", "tl1.").unwrap_err();
    for place in 4..envelope.len() - 1 {
        let mut bytes = envelope.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        assert_eq!(sealer.open("a", "carrier", &changed).unwrap_err(), refusal, "byte {place}");
        assert_eq!(sealer.open("a", "carrier", &envelope[..place]).unwrap_err(), refusal, "cut at {place}");
    }
}

#[test]
fn the_key_file_is_private_survives_and_rotates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seal.key");
    let envelope = EnvelopeSealer::from_file(&path).unwrap().seal("a", "p", b"x").unwrap();
    assert_eq!(EnvelopeSealer::from_file(&path).unwrap().open("a", "p", &envelope).unwrap(), b"x");
    let old = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{}\n{old}", "0f".repeat(32))).unwrap();
    assert_eq!(EnvelopeSealer::from_file(&path).unwrap().open("a", "p", &envelope).unwrap(), b"x");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(EnvelopeSealer::from_file(&path), Err(SealError::Exposed(_))));
    }
}

#[test]
fn of_many_first_starts_at_once_one_makes_the_key_and_all_have_it() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("seal.key");
        let sealers: Vec<EnvelopeSealer> = std::thread::scope(|scope| {
            let start = || EnvelopeSealer::from_file(&path).unwrap();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let envelope = sealers[0].seal("a", "p", b"x").unwrap();
        assert!(sealers.iter().all(|sealer| sealer.open("a", "p", &envelope).is_ok()));
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["seal.key"]);
    }
}

#[test]
fn a_folder_in_the_place_of_the_key_is_said_to_be_one() {
    let folder = tempfile::tempdir().unwrap();
    let refused = EnvelopeSealer::from_file(folder.path()).unwrap_err();
    assert!(matches!(refused, SealError::NoFile(_)), "{refused}");
    assert!(refused.to_string().contains("seal.key_file"));
}
