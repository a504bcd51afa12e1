//! Python's `strftime` for days: the directives that templates use.

use crate::CalendarDate;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The day in the given format. Directives for times of day give midnight; unknown ones stay as they are.
pub(super) fn format(day: CalendarDate, format: &str) -> String {
    let month = MONTHS.get(usize::from(day.month).wrapping_sub(1)).copied().unwrap_or("");
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some('Y') => text.push_str(&day.year.to_string()),
            Some('y') => text.push_str(&format!("{:02}", day.year.rem_euclid(100))),
            Some('m') => text.push_str(&format!("{:02}", day.month)),
            Some('d') => text.push_str(&format!("{:02}", day.day)),
            Some('B') => text.push_str(month),
            Some('b') => text.push_str(month.get(..3).unwrap_or(month)),
            Some('H' | 'M' | 'S') => text.push_str("00"),
            Some('%') => text.push('%'),
            Some(other) => text.extend(['%', other]),
            None => text.push('%'),
        }
    }
    text
}
