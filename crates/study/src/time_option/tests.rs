use super::parse_time;

/// 2007-06-29 00:00 by the clock of a log.
const DAY_MS: i64 = 1_183_075_200_000;

#[test]
fn a_time_may_leave_out_its_end() {
    for (text, ms) in [
        ("2007-06-29", DAY_MS),
        ("2007-06-29T00:01", DAY_MS + 60_000),
        ("2007-06-29 00:01", DAY_MS + 60_000),
        ("2007-06-29 00:01:02", DAY_MS + 62_000),
        ("2007-06-29T00:01:02.5", DAY_MS + 62_500),
    ] {
        assert_eq!(parse_time(text), Ok(ms), "{text}");
    }
}

#[test]
fn a_zone_and_what_is_no_time_are_refused() {
    for (text, why) in [
        ("2007-06-29T00:01:02Z", "leave the zone out"),
        ("2007-06-29T00:01:02+02:00", "leave the zone out"),
        ("2007-06-31", "a time is"),
        ("2007-06-29x", "a time is"),
        ("2007-06-29 7", "a time is"),
        ("", "a time is"),
        ("yesterday", "a time is"),
    ] {
        let refused = parse_time(text).unwrap_err();
        assert!(refused.starts_with(why), "{text}: {refused}");
    }
}
