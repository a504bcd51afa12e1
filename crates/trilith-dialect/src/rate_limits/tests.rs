use proptest::prelude::*;
use trilith_core::{DialectId, Headers};

use super::{
    respell,
    time::{read_date, read_duration, write_date, write_duration},
};

/// 2026-12-01T06:30:00Z.
const NOW: u64 = 1_796_106_600_000;

fn headers(list: &[(&str, &str)]) -> Headers {
    list.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[test]
fn what_anthropic_says_reaches_clients_of_openai() {
    let told = headers(&[
        ("retry-after", "3"),
        ("anthropic-ratelimit-requests-limit", "50"),
        ("anthropic-ratelimit-requests-remaining", "49"),
        ("anthropic-ratelimit-requests-reset", "2026-12-01T06:31:30Z"),
        ("anthropic-ratelimit-tokens-remaining", "900"),
        ("anthropic-ratelimit-input-tokens-remaining", "500"),
        ("anthropic-ratelimit-tokens-reset", "2026-12-01T06:29:00Z"),
        ("x-trilith-upstream-request-id", "req_1"),
    ]);
    let wanted = headers(&[
        ("retry-after", "3"),
        ("x-trilith-upstream-request-id", "req_1"),
        ("x-ratelimit-limit-requests", "50"),
        ("x-ratelimit-remaining-requests", "49"),
        ("x-ratelimit-reset-requests", "1m30s"),
        ("x-ratelimit-remaining-tokens", "900"),
        ("x-ratelimit-reset-tokens", "0s"),
    ]);
    for client in [DialectId::Chat, DialectId::Responses] {
        assert_eq!(*respell(&told, client, NOW), wanted);
    }
    assert_eq!(*respell(&told, DialectId::Messages, NOW), told);
}

#[test]
fn the_tighter_of_two_limits_on_tokens_is_the_limit() {
    let told = headers(&[
        ("anthropic-ratelimit-input-tokens-limit", "1000"),
        ("anthropic-ratelimit-input-tokens-remaining", "900"),
        ("anthropic-ratelimit-output-tokens-limit", "100"),
        ("anthropic-ratelimit-output-tokens-remaining", "7"),
    ]);
    let wanted = headers(&[("x-ratelimit-limit-tokens", "100"), ("x-ratelimit-remaining-tokens", "7")]);
    assert_eq!(*respell(&told, DialectId::Chat, NOW), wanted);
}

#[test]
fn what_openai_says_reaches_clients_of_anthropic() {
    let told = headers(&[
        ("x-ratelimit-limit-requests", "50"),
        ("x-ratelimit-remaining-tokens", "7"),
        ("x-ratelimit-reset-requests", "1h0m0.5s"),
        ("x-ratelimit-reset-tokens", "20ms"),
    ]);
    let wanted = headers(&[
        ("anthropic-ratelimit-requests-limit", "50"),
        ("anthropic-ratelimit-requests-reset", "2026-12-01T07:30:01Z"),
        ("anthropic-ratelimit-tokens-remaining", "7"),
        ("anthropic-ratelimit-tokens-reset", "2026-12-01T06:30:01Z"),
    ]);
    assert_eq!(*respell(&told, DialectId::Messages, NOW), wanted);
    assert_eq!(*respell(&told, DialectId::Responses, NOW), told);
}

#[test]
fn what_cannot_be_read_and_what_was_told_in_both_families() {
    let told = headers(&[
        ("anthropic-ratelimit-requests-limit", "many"),
        ("anthropic-ratelimit-requests-remaining", "-1"),
        ("anthropic-ratelimit-requests-reset", "soon"),
        ("anthropic-ratelimit-tokens-limit", "5"),
        ("x-ratelimit-limit-tokens", "6"),
    ]);
    assert_eq!(*respell(&told, DialectId::Chat, NOW), headers(&[("x-ratelimit-limit-tokens", "6")]));
}

#[test]
fn dates() {
    for (text, ms) in [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-12-01T06:30:00Z", NOW),
        ("2026-12-01 06:30:00.25z", NOW + 250),
        ("2026-12-01T07:30:00+01:00", NOW),
        ("2026-12-01T01:00:00.1234567-05:30", NOW + 123),
        ("2000-02-29T12:00:00Z", 951_825_600_000),
        ("9999-12-31T23:59:59Z", 253_402_300_799_000),
    ] {
        assert_eq!(read_date(text), Some(ms), "{text}");
    }
    for wrong in [
        "",
        "soon",
        "2026-12-01",
        "2026-12-01T06:30:00",
        "2026-13-01T06:30:00Z",
        "2026-12-01T24:30:00Z",
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "2026-12-01T06:30:00.Z",
        "2026-12-01T06:30:00+1",
        "2026-12-01T06:30:00Zulu",
        "２０２６-12-01T06:30:00Z",
        "+026-12-01T06:30:00Z",
    ] {
        assert_eq!(read_date(wrong), None, "{wrong}");
    }
    assert_eq!(write_date(u64::MAX), "9999-12-31T23:59:59Z");
}

#[test]
fn durations() {
    for (text, ms, back) in [
        ("0s", 0, "0s"),
        ("1s", 1000, "1s"),
        ("20ms", 20, "20ms"),
        ("1.5s", 1500, "1.5s"),
        ("6m0s", 360_000, "6m0s"),
        ("2m59.56s", 179_560, "2m59.56s"),
        ("1h", 3_600_000, "1h0m0s"),
        ("1d2h", 93_600_000, "26h0m0s"),
        ("7", 7000, "7s"),
        ("7.66", 7660, "7.66s"),
        ("1796106603", 3000, "3s"),
        ("1000000000", 0, "0s"),
    ] {
        assert_eq!(read_duration(text, NOW), Some(ms), "{text}");
        assert_eq!(write_duration(ms), back, "{text}");
    }
    for wrong in
        ["", "s", "1x", "-1s", "1.s", ".5s", "1h5", "99999999999999999999h", "9999999999999999h", "1 s"]
    {
        assert_eq!(read_duration(wrong, NOW), None, "{wrong}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_comes_is_read_without_harm(text in "\\PC{0,40}", ms in any::<u64>()) {
        read_date(&text);
        read_duration(&text, ms);
        let name = "x-ratelimit-reset-tokens";
        respell(&headers(&[(name, &text)]), DialectId::Messages, ms);
    }

    #[test]
    fn what_is_written_is_read_again(seconds in 0_u64..=253_402_300_799, ms in 0_u64..1_000_000_000_000) {
        prop_assert_eq!(read_date(&write_date(seconds * 1000)), Some(seconds * 1000));
        prop_assert_eq!(read_duration(&write_duration(ms), NOW), Some(ms));
    }
}
