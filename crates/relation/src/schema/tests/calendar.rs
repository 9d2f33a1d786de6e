//! Dates, times and decimals of queues, at the ends of their ranges.

use std::cmp::Ordering;

use language::meter::Unmetered;
use proptest::prelude::*;

use super::{ColumnType, TypeError, TypeSystem, ValueError, check, text};
use crate::expression::{Metered, Prepared, parse};
use crate::lexer::Lexer;
use crate::value::Value;

const fn datetime(fraction_digits: u8) -> ColumnType {
    ColumnType::DateTime { fraction_digits }
}

const fn time(fraction_digits: u8) -> ColumnType {
    ColumnType::Time { fraction_digits }
}

const fn decimal(digits: u8, scale: u8) -> ColumnType {
    ColumnType::Decimal { digits, scale }
}

#[track_caller]
fn stores(kind: ColumnType, cases: &[(&str, &str)]) {
    for (given, want) in cases {
        check(kind, text(given), Ok(text(want)));
    }
}

#[track_caller]
fn refuses(kind: ColumnType, why: ValueError, cases: &[&str]) {
    for given in cases {
        check(kind, text(given), Err(why));
    }
}

#[test]
fn dates_are_read_in_mysqls_forms_and_kept_in_one() {
    stores(
        ColumnType::Date,
        &[
            ("2024-01-02", "2024-01-02"),
            (" 2024-1-2 ", "2024-01-02"),
            ("2024/01/02", "2024-01-02"),
            ("69-12-31", "2069-12-31"),
            ("70-1-1", "1970-01-01"),
            ("20240102", "2024-01-02"),
            ("240102", "2024-01-02"),
            ("0000-01-01", "0000-01-01"),
            ("9999-12-31", "9999-12-31"),
            ("2024-02-29 23:59:59.4", "2024-02-29"),
            ("2024-02-29 23:59:59.5", "2024-03-01"),
        ],
    );
    check(
        ColumnType::Date,
        Value::Int(20_240_102),
        Ok(text("2024-01-02")),
    );
    check(ColumnType::Date, Value::Int(101), Ok(text("2000-01-01")));
    let wrong = [
        "",
        "x",
        "2024",
        "2024-01",
        "2023-02-29",
        "2024-13-01",
        "2024-00-10",
        "0000-00-00",
        "2024-01-32",
        "2024-01-02x",
        "2024-01-02 24:00:00",
        "10000-01-01",
    ];
    refuses(ColumnType::Date, ValueError::Incorrect, &wrong);
    refuses(
        ColumnType::Date,
        ValueError::OutOfRange,
        &["9999-12-31 23:59:59.5"],
    );
}

#[test]
fn datetimes_round_the_second_to_their_digits() {
    stores(
        datetime(0),
        &[
            ("2024-01-02", "2024-01-02 00:00:00"),
            ("2024-01-02T03:04", "2024-01-02 03:04:00"),
            ("2024-01-02 03:04:05.499999", "2024-01-02 03:04:05"),
            ("2024-12-31 23:59:59.5", "2025-01-01 00:00:00"),
            ("20240102030405", "2024-01-02 03:04:05"),
            ("2024-01-01 01:00:00+02:00", "2023-12-31 23:00:00"),
            ("2024-12-31 23:00:00-01:30", "2025-01-01 00:30:00"),
            ("2024-01-02T03:04:05Z", "2024-01-02 03:04:05"),
        ],
    );
    stores(
        datetime(3),
        &[("2024-01-02 03:04:05.6785", "2024-01-02 03:04:05.679")],
    );
    stores(
        datetime(6),
        &[("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999")],
    );
    refuses(
        datetime(5),
        ValueError::OutOfRange,
        &["9999-12-31 23:59:59.999999"],
    );
    let wrong = ["2024-01-02 03:60", "2024-01-02 03:04:60", "x"];
    refuses(datetime(0), ValueError::Incorrect, &wrong);
    check(
        datetime(0),
        Value::Int(20_240_102_030_405),
        Ok(text("2024-01-02 03:04:05")),
    );
    check(datetime(0), Value::Int(-1), Err(ValueError::Incorrect));
}

#[test]
fn times_reach_838_hours_either_way() {
    stores(
        time(0),
        &[
            ("10:11:12", "10:11:12"),
            ("1:2", "01:02:00"),
            ("-838:59:59", "-838:59:59"),
            ("838:59:59", "838:59:59"),
            ("101112", "10:11:12"),
            ("1112", "00:11:12"),
            ("12", "00:00:12"),
            ("1 2:03:04", "26:03:04"),
            ("34 22", "838:00:00"),
            ("-0:00:00.4", "00:00:00"),
            ("2024-01-02 10:11:12", "10:11:12"),
        ],
    );
    stores(time(2), &[("-10:11:12.345", "-10:11:12.35")]);
    check(time(0), Value::Int(-101_112), Ok(text("-10:11:12")));
    check(time(1), Value::Float(12.25), Ok(text("00:00:12.3")));
    refuses(
        time(0),
        ValueError::OutOfRange,
        &["839:00:00", "-838:59:59.5", "9995959"],
    );
    refuses(
        time(0),
        ValueError::Incorrect,
        &["", "x", "10:60:00", "10:00:60", "1:2:3:4"],
    );
}

#[test]
fn years_are_0_or_1901_to_2155() {
    for (given, want) in [
        ("1901", 1901),
        ("2155", 2155),
        ("0", 2000),
        ("0000", 0),
        ("69", 2069),
        ("70", 1970),
    ] {
        check(ColumnType::Year, text(given), Ok(Value::Int(want)));
    }
    check(ColumnType::Year, Value::Int(0), Ok(Value::Int(0)));
    check(ColumnType::Year, Value::Int(7), Ok(Value::Int(2007)));
    refuses(
        ColumnType::Year,
        ValueError::OutOfRange,
        &["100", "1900", "2156", "-1"],
    );
    refuses(ColumnType::Year, ValueError::Incorrect, &["", "x"]);
    let mut shown = Vec::new();
    Value::Int(0).write_text(Some(ColumnType::Year), &mut shown);
    assert_eq!(shown, b"0000");
}

#[test]
fn decimals_are_rounded_half_up_and_keep_every_digit() {
    stores(
        decimal(5, 2),
        &[
            ("12.5", "12.50"),
            ("1.005", "1.01"),
            ("-1.005", "-1.01"),
            ("1.0049999999999999999999", "1.00"),
            ("999.994", "999.99"),
            ("-0.004", "0.00"),
            (".5", "0.50"),
            ("+0007.", "7.00"),
            ("1.5e1", "15.00"),
            ("1500e-3", "1.50"),
            ("1e-999999999999999999999", "0.00"),
            ("0e99999999999", "0.00"),
        ],
    );
    refuses(
        decimal(5, 2),
        ValueError::OutOfRange,
        &["999.995", "1000", "-1e3", "1e999999999999999999999"],
    );
    refuses(
        decimal(5, 2),
        ValueError::Incorrect,
        &["", ".", "x", "1x", "1e", "- 1", "NaN"],
    );
    check(decimal(5, 2), Value::Float(1.005), Ok(text("1.01")));
    check(decimal(10, 0), Value::Int(-7), Ok(text("-7")));
    check(decimal(2, 2), text("0.99"), Ok(text("0.99")));
    check(decimal(2, 2), text("0.995"), Err(ValueError::OutOfRange));
    let nines = "9".repeat(65);
    check(decimal(65, 0), text(&nines), Ok(text(&nines)));
    check(
        decimal(65, 0),
        text(&format!("{nines}.5")),
        Err(ValueError::OutOfRange),
    );
    check(
        decimal(65, 0),
        Value::Float(f64::INFINITY),
        Err(ValueError::OutOfRange),
    );
}

#[test]
fn arguments_have_mysqls_limits_and_defaults() {
    let queue = |name, args: &[u64]| ColumnType::parse(name, args, false, TypeSystem::Queue);
    assert_eq!(queue("DEC", &[]), Ok(decimal(10, 0)));
    assert_eq!(queue("numeric", &[5]), Ok(decimal(5, 0)));
    assert_eq!(queue("decimal", &[65, 30]), Ok(decimal(65, 30)));
    assert_eq!(queue("datetime", &[6]), Ok(datetime(6)));
    assert_eq!(queue("year", &[4]), Ok(ColumnType::Year));
    for (name, args) in [
        ("decimal", &[66, 0][..]),
        ("decimal", &[65, 31]),
        ("decimal", &[2, 3]),
        ("decimal", &[3, 2, 1]),
        ("datetime", &[7]),
        ("time", &[7]),
        ("date", &[1]),
        ("year", &[2]),
    ] {
        assert_eq!(
            queue(name, args),
            Err(TypeError::BadModifier),
            "{name} {args:?}"
        );
    }
    assert_eq!(
        ColumnType::parse("decimal", &[], true, TypeSystem::Queue),
        Err(TypeError::BadModifier)
    );
    assert_eq!(
        ColumnType::parse("date", &[], false, TypeSystem::Search),
        Ok(ColumnType::Date)
    );
}

/// Whether a row of one column `c` satisfies a condition.
fn holds(kind: ColumnType, value: &str, condition: &str) -> bool {
    let expression = parse(&mut Lexer::new(condition.as_bytes())).unwrap();
    let stored = kind.accept(text(value)).unwrap();
    Prepared::typed(&expression, &|name| (name == "c").then_some((0, kind)))
        .unwrap()
        .accepts(&Metered::new(&Unmetered, |_| stored.clone()))
}

#[test]
fn conditions_read_constants_as_the_column_does() {
    for (kind, value, condition) in [
        (
            decimal(5, 2),
            "9.5",
            "c < '12.50' AND c < 12.5 AND c > -1 AND c = 9.5 AND c = '9.5'",
        ),
        (
            decimal(5, 2),
            "9.5",
            "c IN (9.5) AND c IN ('9.500', 1) AND c + 1 = 10.5",
        ),
        (
            time(0),
            "99:00:00",
            "c < '100:00:00' AND c = 990000 AND '98:0' < c",
        ),
        (time(0), "-2:00:00", "c < '-1:00:00' AND c < 0"),
        (
            time(3),
            "1:00:00.5",
            "c IN ('01:00:00.5') AND c BETWEEN '1:0' AND '1:0:1'",
        ),
        (
            ColumnType::Date,
            "2024-01-02",
            "c = '2024-1-2' AND c = 20240102 AND c IN ('240102')",
        ),
        (
            ColumnType::Date,
            "2024-01-02",
            "c < '2024-01-02 00:00:01' AND c = '2024-01-02 00:00:00'",
        ),
        (
            datetime(0),
            "2024-01-02",
            "c = '2024-01-02' AND c > '2024-01-01 23:59:59.999'",
        ),
        (
            datetime(3),
            "2024-01-02 03:04:05.5",
            "c = '2024-01-02 03:04:05.5' AND c < '2024-01-02 03:04:05.5001'",
        ),
        (ColumnType::Year, "24", "c = 2024 AND c < '2025'"),
    ] {
        assert!(
            holds(kind, value, condition),
            "{kind:?} {value}: {condition}"
        );
    }
    let soon = parse(&mut Lexer::new(b"c = 'soon'")).unwrap();
    let refused = Prepared::typed(&soon, &|_| Some((0, ColumnType::Date))).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "'soon' is no value of column 'c', which is date"
    );
}

proptest! {
    #[test]
    fn times_compare_as_their_seconds(a in -3_020_399i64..=3_020_399, b in -3_020_399i64..=3_020_399) {
        let stored = |seconds: i64| {
            let sign = if seconds < 0 { "-" } else { "" };
            let left = seconds.abs();
            let written = format!("{sign}{}:{}:{}", left / 3600, left / 60 % 60, left % 60);
            time(0).comparable(time(0).accept(Value::Str(written)).unwrap())
        };
        prop_assert_eq!(stored(a).cmp_sql(&stored(b)), Some(a.cmp(&b)));
    }

    #[test]
    fn decimals_hold_what_they_were_given(number in -99_999i128..=99_999) {
        let sign = if number < 0 { "-" } else { "" };
        let (whole, fraction) = (number.abs() / 100, number.abs() % 100);
        let written = format!("{sign}{whole}.{fraction:02}");
        let stored = decimal(5, 2).accept(Value::Str(written.clone())).unwrap();
        prop_assert_eq!(&stored, &Value::Str(written));
        let order = decimal(5, 2).comparable(stored).cmp_sql(&Value::Float(number as f64 / 100.0));
        prop_assert_eq!(order, Some(Ordering::Equal));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in r"[-+0-9:. TZe/]{0,30}") {
        for kind in [ColumnType::Date, datetime(3), time(3), ColumnType::Year, decimal(9, 3)] {
            if let Ok(taken) = kind.accept(Value::Str(text.clone())) {
                prop_assert_eq!(kind.accept(taken.clone()), Ok(taken));
            }
        }
    }
}
