//! The day of a clock's time, by the proleptic Gregorian calendar in UTC.

use crate::CalendarDate;

const MS_PER_DAY: u64 = 86_400_000;

/// Days in 400 years, after which the calendar repeats.
const DAYS_PER_ERA: u64 = 146_097;

/// Days from the first of March of the year 0 to the first of January 1970.
const DAYS_TO_EPOCH: u64 = 719_468;

/// The day at a time in unix milliseconds; `None` for one beyond the years that a date can hold.
///
/// Years are counted from March, so that the leap day is a year's last:
/// <https://howardhinnant.github.io/date_algorithms.html#civil_from_days>.
pub(super) fn of_unix_ms(unix_ms: u64) -> Option<CalendarDate> {
    let days = unix_ms / MS_PER_DAY + DAYS_TO_EPOCH;
    let (era, day_of_era) = (days / DAYS_PER_ERA, days % DAYS_PER_ERA);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    Some(CalendarDate {
        year: i32::try_from(year).ok()?,
        month: u8::try_from(month).ok()?,
        day: u8::try_from(day).ok()?,
    })
}
