//! "Did you mean": the nearest of a few names.

/// The candidate nearest to `given` when it is near enough to be a slip of the hand.
pub(super) fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given: Vec<char> = given.chars().take(MAX_CHARS).flat_map(char::to_lowercase).collect();
    let near = (given.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (distance(&given, candidate), candidate))
        .filter(|(distance, _)| *distance <= near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// No key or name is longer; a longer one is not worth the quadratic comparison.
const MAX_CHARS: usize = 64;

/// Edits (insert, delete, replace, swap of neighbours) between two names; `-` and `_` are one letter.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().take(MAX_CHARS).collect();
    let same = |x: char, y: char| x == y || (matches!(x, '-' | '_') && matches!(y, '-' | '_'));
    let cell = |row: &[usize], at: usize| row.get(at).copied().unwrap_or(usize::MAX / 2);
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, &x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &y) in b.iter().enumerate() {
            let replaced = cell(&last, j) + usize::from(!same(x, y));
            let mut best = replaced.min(cell(&last, j + 1) + 1).min(cell(&row, j) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(&y) && b.get(j - 1) == Some(&x);
            if swapped {
                best = best.min(cell(&before, j - 1) + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    cell(&last, b.len())
}
