//! The repository names no machine: no home folders, no registry hosts, in any text file.

use super::Breach;

/// Home folders that begin an absolute path. Written in two halves, so that this file passes its own rule.
const FOLDERS: &[&str] = &[concat!("/", "work"), concat!("/", "root"), concat!("/", "home/")];
const HOSTS: &[&str] = &[
    concat!("registry.", "npmjs.org"),
    concat!("registry.", "yarnpkg.com"),
    concat!("pypi.", "org"),
    concat!("files.", "pythonhosted.org"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
    concat!("deb.", "debian.org"),
];

/// Machine paths and registry hosts in a file of any kind. A path written with `~`, a variable or a relative
/// start is nobody's machine.
pub(crate) fn check(text: &str) -> Vec<Breach> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let paths = FOLDERS
            .iter()
            .filter(|folder| line.match_indices(**folder).any(|(at, _)| is_path(line, at, folder)));
        let hosts = HOSTS.iter().filter(|host| line.contains(**host));
        found.extend(
            paths
                .chain(hosts)
                .map(|word| Breach::of_word(index + 1, word, format!("names a machine: {word:?}"))),
        );
    }
    found
}

/// Whether `folder` at `at` starts an absolute path and is a whole part of it.
fn is_path(line: &str, at: usize, folder: &str) -> bool {
    let before = line.get(..at).and_then(|text| text.chars().next_back());
    let after = line.get(at + folder.len()..).and_then(|text| text.chars().next());
    let starts = before.is_none_or(|letter| !letter.is_alphanumeric() && !"._-~})/<*".contains(letter));
    let whole = if folder.ends_with('/') {
        after.is_some_and(|letter| letter.is_ascii_lowercase())
    } else {
        after == Some('/')
    };
    starts && whole
}
