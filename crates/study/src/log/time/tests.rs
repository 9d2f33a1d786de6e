use proptest::prelude::*;

use super::{LogTime, weekday};

fn ctime(text: &str) -> Option<LogTime> {
    let (time, rest) = LogTime::read_ctime(text.as_bytes())?;
    rest.is_empty().then_some(time)
}

#[test]
fn written_dates_have_their_known_distance_from_1970() {
    let times = [
        ("Thu Jan  1 00:00:00 1970", 0),
        ("Fri Jun 29 21:17:58.609 2007", 1_183_151_878_609),
        ("Sun Apr 28 12:38:02.808 2024", 1_714_307_882_808),
        ("Thu Feb 29 23:59:59.9 2024", 1_709_251_199_900),
    ];
    for (text, local_ms) in times {
        assert_eq!(
            ctime(text).map(|time| time.local_ms),
            Some(local_ms),
            "{text}"
        );
    }
}

#[test]
fn other_languages_and_impossible_dates_are_no_times() {
    for text in [
        "Ven Jui 29 21:17:58 2007",
        "Fri Jun 31 21:17:58 2007",
        "Fri Feb 29 21:17:58 2007",
        "Fri Jun 29 24:17:58 2007",
        "Fri Jun 29 21:17:58. 2007",
        "Fri Jun 29 21:17:58 07",
        "",
    ] {
        assert_eq!(ctime(text), None, "{text}");
    }
}

#[test]
fn an_offset_does_not_move_the_local_time() {
    let (here, _) = LogTime::read_rfc3339(b"2024-04-28T12:38:02.808+02:00").unwrap();
    let (utc, _) = LogTime::read_rfc3339(b"2024-04-28 12:38:02.808Z").unwrap();
    assert_eq!(here.local_ms, utc.local_ms);
    assert_eq!(
        (here.offset_minutes, utc.offset_minutes),
        (Some(120), Some(0))
    );
}

#[test]
fn a_known_day_has_its_weekday() {
    let sunday = ctime("Sun Apr 28 12:38:02 2024").unwrap();
    assert_eq!(weekday(sunday.local_ms), 6);
}

proptest! {
    #[test]
    fn every_time_is_read_back_from_both_forms(local_ms in -62_135_596_800_000_i64..253_402_300_799_999, offset in -1439_i16..1440) {
        let time = LogTime { local_ms, offset_minutes: Some(offset) };
        let mut text = Vec::new();
        time.write_rfc3339(&mut text);
        prop_assert_eq!(LogTime::read_rfc3339(&text), Some((time, &b""[..])));
        text.clear();
        time.write_ctime(&mut text);
        prop_assert_eq!(LogTime::read_ctime(&text).map(|(time, rest)| (time.local_ms, rest)), Some((local_ms, &b""[..])));
    }
}
