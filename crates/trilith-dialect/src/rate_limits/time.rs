//! Times on the wire, in milliseconds: dates of RFC 3339, and durations as Go writes them (`1m30s`, `250ms`).

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;
/// Days from the first of March of the year 0 to the first of January 1970.
const DAYS_TO_EPOCH: u64 = 719_468;
/// The last day that a date of four digits can name, in days since 1970.
const LAST_DAY: u64 = 2_932_896;

/// Milliseconds since the Unix epoch at a date (`2026-12-01T06:30:00.25Z`); `None` for what is none, or before 1970.
pub(super) fn read_date(text: &str) -> Option<u64> {
    const WHOLE_SECONDS: usize = "2026-12-01T06:30:00".len();
    let (head, rest) = text.split_at_checked(WHOLE_SECONDS)?;
    let between = [4, 7, 10, 13, 16].map(|at| head.as_bytes().get(at).copied().unwrap_or_default());
    if !matches!(between, [b'-', b'-', b'T' | b't' | b' ', b':', b':']) {
        return None;
    }
    let part = |from: usize, to: usize| digits(head.get(from..to)?);
    let days = days(part(0, 4)?, part(5, 7)?, part(8, 10)?)?;
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    // A minute may have a second more than sixty.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit())?;
            let (fraction, zone) = rest.split_at_checked(end)?;
            (thousandths(fraction)?, zone)
        }
    };
    let here = days * DAY + hour * HOUR + minute * MINUTE + second * SECOND + fraction;
    let offset = |rest: &str| {
        let (hours, minutes) = rest.split_once(':')?;
        Some(
            digits(hours).filter(|hours| *hours < 24)? * HOUR + digits(minutes).filter(|m| *m < 60)? * MINUTE,
        )
    };
    match zone.split_at_checked(1)? {
        ("Z" | "z", "") => Some(here),
        ("+", rest) => here.checked_sub(offset(rest)?),
        ("-", rest) => Some(here + offset(rest)?),
        _ => None,
    }
}

/// Days from 1970 to a day; <https://howardhinnant.github.io/date_algorithms.html#days_from_civil>.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = year - u64::from(month <= 2);
    let (era, year_of_era) = (year / 400, year % 400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    (era * DAYS_PER_ERA + day_of_era).checked_sub(DAYS_TO_EPOCH)
}

/// The date in whole seconds, rounded up: a limit is not whole before its time.
pub(super) fn write_date(unix_ms: u64) -> String {
    let seconds = unix_ms.div_ceil(SECOND).min((LAST_DAY + 1) * (DAY / SECOND) - 1);
    let (days, seconds) = (seconds / 86_400 + DAYS_TO_EPOCH, seconds % 86_400);
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// A duration, or a number: seconds, or the second of the Unix epoch at which it is over. `unix_ms` is the time now.
pub(super) fn read_duration(text: &str, unix_ms: u64) -> Option<u64> {
    /// No duration is as long as the epoch is old.
    const EPOCH_BEGINS: u64 = 1_000_000_000 * SECOND;
    if let Some(alone) = decimal(text, SECOND) {
        return Some(if alone >= EPOCH_BEGINS { alone.saturating_sub(unix_ms) } else { alone });
    }
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (amount, tail) = rest.split_at_checked(end)?;
        let units = [("ms", 1), ("h", HOUR), ("m", MINUTE), ("s", SECOND), ("d", DAY)];
        let (tail, unit) =
            units.into_iter().find_map(|(name, unit)| Some((tail.strip_prefix(name)?, unit)))?;
        total = total.checked_add(decimal(amount, unit)?)?;
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

/// Hours, minutes and seconds, from the largest that is not none; less than a second in milliseconds.
pub(super) fn write_duration(ms: u64) -> String {
    if ms > 0 && ms < SECOND {
        return format!("{ms}ms");
    }
    let (hours, minutes, rest) = (ms / HOUR, ms / MINUTE % 60, ms % MINUTE);
    let mut out = String::new();
    if hours > 0 {
        out.push_str(&format!("{hours}h"));
    }
    if hours > 0 || minutes > 0 {
        out.push_str(&format!("{minutes}m"));
    }
    let fraction = format!("{:03}", rest % SECOND);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    out.push_str(&format!("{}{point}{fraction}s", rest / SECOND));
    out
}

/// A number without sign or point.
fn digits(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The first three digits behind a point.
fn thousandths(text: &str) -> Option<u64> {
    let shown = text.get(..3).unwrap_or(text);
    digits(text)?;
    digits(&format!("{shown:0<3}"))
}

/// A number that may have a point, in so many thousandths of `unit` milliseconds as it has.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = match text.split_once('.') {
        None => (digits(text)?, 0),
        Some((whole, fraction)) => (digits(whole)?, thousandths(fraction)?),
    };
    whole.checked_mul(unit)?.checked_add(fraction * unit / 1000)
}
