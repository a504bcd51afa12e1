//! Replays the fuzz corpora, so that what fuzzing once found stays found without a fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use trilith_dialect::fuzzing::TARGETS;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

#[test]
fn every_corpus_file_passes_its_target() {
    for (name, target) in TARGETS {
        let folder = fuzz_folder().join("corpus").join(name);
        let mut files = 0;
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            // The test's output names the file when its target panics.
            println!("{}", path.display());
            target(&fs::read(&path).unwrap());
            files += 1;
        }
        assert!(files > 0, "{} is empty", folder.display());
    }
}

#[test]
fn every_target_has_its_binary() {
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| format!("{name}.rs")).collect();
    let files = fs::read_dir(fuzz_folder().join("fuzz_targets")).unwrap();
    let found: BTreeSet<String> =
        files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(found, known);
}
