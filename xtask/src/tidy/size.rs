//! Files and functions stay short enough to be read in one go.

use super::Breach;
use crate::scan::{Source, item_end};

/// Lines of a production file, tests left out only when they have a file of their own.
const FILE_LIMIT: usize = 800;
/// Lines of a function that hold code, from its `fn` to its closing brace.
const FUNCTION_LIMIT: usize = 80;

/// A file of `length` lines and the functions in it.
pub(crate) fn check(source: &Source, length: usize) -> Vec<Breach> {
    let mut found = Vec::new();
    if length > FILE_LIMIT {
        found.push(Breach::new(1, format!("{length} lines; a file has at most {FILE_LIMIT}")));
    }
    for start in source.find_word("fn") {
        let end = item_end(source.code.as_bytes(), start);
        let body = source.code.get(start..end).unwrap_or_default();
        let lines = body.lines().filter(|line| !line.trim().is_empty()).count();
        if lines > FUNCTION_LIMIT {
            let text = format!(
                "`{}` has {lines} lines of code; a function has at most {FUNCTION_LIMIT}",
                name(body)
            );
            found.push(Breach::new(source.line(start), text));
        }
    }
    found
}

/// The function's name: the identifier after `fn`.
fn name(body: &str) -> &str {
    let rest = body.trim_start_matches("fn").trim_start();
    rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
}

/// Median and ninetieth percentile of the production files' lengths, as one line.
pub(crate) fn summary(lengths: &mut [usize]) -> String {
    lengths.sort_unstable();
    let at = |percent: usize| lengths.get((lengths.len().saturating_sub(1) * percent).div_ceil(100));
    let (median, high, longest) = (at(50), at(90), at(100));
    format!(
        "tidy: {} production files; lines: median {}, p90 {}, longest {}",
        lengths.len(),
        median.unwrap_or(&0),
        high.unwrap_or(&0),
        longest.unwrap_or(&0)
    )
}
