//! Replays the fuzz corpora, so that what fuzzing once found stays found without a fuzzer.

use std::fs;
use std::path::Path;

use trilith_store::fuzzing::TARGETS;

#[test]
fn every_corpus_file_passes_its_target() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
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
