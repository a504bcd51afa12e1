//! Every case of the golden matrix.

use std::path::Path;

use trilith_testkit::golden;

#[test]
fn every_case_says_the_same_in_every_dialect() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden");
    let update = std::env::var_os("TRILITH_GOLDEN").is_some_and(|value| value == "update");
    match golden::run(&root, update) {
        Ok(cases) => assert!(cases >= 25, "only {cases} cases"),
        Err(faults) => {
            panic!("{faults}\n\nTRILITH_GOLDEN=update writes the files anew; review the difference")
        }
    }
}
