mod answers;
mod prompts;

use super::today;
use crate::CalendarDate;

#[test]
fn days_follow_the_calendar() {
    let day =
        |unix_ms| today::of_unix_ms(unix_ms).map(|CalendarDate { year, month, day }| (year, month, day));
    assert_eq!(day(0), Some((1970, 1, 1)));
    assert_eq!(day(86_399_999), Some((1970, 1, 1)));
    assert_eq!(day(86_400_000), Some((1970, 1, 2)));
    assert_eq!(day(951_782_400_000), Some((2000, 2, 29)));
    assert_eq!(day(951_868_800_000), Some((2000, 3, 1)));
    assert_eq!(day(1_735_603_200_000), Some((2024, 12, 31)));
    assert_eq!(day(4_107_542_400_000), Some((2100, 3, 1)));
    assert!(day(u64::MAX).is_some());
}
