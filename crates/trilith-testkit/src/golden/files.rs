//! A case's folder: what is given, what is expected, what came out instead.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// The files of one case.
pub struct Files {
    folder: PathBuf,
    update: bool,
    /// Every file of the folder that is an expectation and was not met yet.
    expected: BTreeMap<String, Vec<u8>>,
    given: BTreeMap<String, Vec<u8>>,
    faults: Vec<String>,
}

/// The folders inside `folder`, by name.
pub(super) fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let at = |why| format!("{}: {why}", folder.display());
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).map_err(at)? {
        let path = entry.map_err(at)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

impl Files {
    /// Reads a case's folder.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn open(folder: &Path, update: bool) -> Result<Self, String> {
        let (mut expected, mut given) = (BTreeMap::new(), BTreeMap::new());
        let at = |why| format!("{}: {why}", folder.display());
        for entry in fs::read_dir(folder).map_err(at)? {
            let path = entry.map_err(at)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            let place = if name.contains("-to-") { &mut expected } else { &mut given };
            place.insert(name, bytes);
        }
        Ok(Self { folder: folder.to_owned(), update, expected, given, faults: Vec::new() })
    }

    /// The case's name.
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A given file.
    pub fn given(&self, name: &str) -> Option<Vec<u8>> {
        self.given.get(name).cloned()
    }

    /// Compares JSON; layout does not count, the order of keys does.
    ///
    /// # Errors
    /// `actual` is not JSON, or a file cannot be written.
    pub fn expect_json(&mut self, name: &str, actual: &[u8]) -> Result<(), String> {
        let value: Value = serde_json::from_slice(actual)
            .map_err(|why| format!("{name}: not JSON ({why}): {}", String::from_utf8_lossy(actual)))?;
        let text = serde_json::to_string_pretty(&value).map_err(|why| why.to_string())?;
        self.expect(name, format!("{text}\n").as_bytes())
    }

    /// Compares bytes.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn expect(&mut self, name: &str, actual: &[u8]) -> Result<(), String> {
        let expected = self.expected.remove(name);
        if expected.as_deref() == Some(actual) {
            return Ok(());
        }
        if self.update {
            let path = self.folder.join(name);
            return fs::write(&path, actual).map_err(|why| format!("{}: {why}", path.display()));
        }
        let expected = expected.unwrap_or_default();
        self.faults.push(format!("{}/{name}\n{}", self.name(), difference(&expected, actual)));
        Ok(())
    }

    /// Notes a fault that no file shows.
    pub fn fault(&mut self, why: impl Into<String>) {
        let why = why.into();
        self.faults.push(format!("{}: {why}", self.name()));
    }

    /// The faults found; expectations that nothing came out for are among them, or removed when updating.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn close(self) -> Result<Vec<String>, String> {
        let mut faults = self.faults;
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for left in self.expected.keys() {
            if self.update {
                let path = self.folder.join(left);
                fs::remove_file(&path).map_err(|why| format!("{}: {why}", path.display()))?;
            } else {
                faults.push(format!("{name}/{left}: expected, but nothing came out"));
            }
        }
        Ok(faults)
    }
}

/// The first line in which two texts differ, from both sides.
fn difference(expected: &[u8], actual: &[u8]) -> String {
    let (expected, actual) = (String::from_utf8_lossy(expected), String::from_utf8_lossy(actual));
    let (mut left, mut right) = (expected.lines(), actual.lines());
    let mut line = 1;
    loop {
        match (left.next(), right.next()) {
            (Some(a), Some(b)) if a == b => line += 1,
            (None, None) => return "  they differ in line ends only".into(),
            (a, b) => {
                let end = "(end)";
                return format!(
                    "  line {line}\n  expected: {}\n  actual:   {}",
                    a.unwrap_or(end),
                    b.unwrap_or(end)
                );
            }
        }
    }
}
