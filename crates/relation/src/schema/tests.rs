mod calendar;

use proptest::prelude::*;

use super::*;
use crate::value::Value;

fn text(value: &str) -> Value {
    Value::Str(value.to_owned())
}

#[track_caller]
fn check(kind: ColumnType, value: Value, want: Result<Value, ValueError>) {
    assert_eq!(kind.accept(value.clone()), want, "{kind:?} {value:?}");
}

const TINY: ColumnType = ColumnType::Integer {
    bytes: 1,
    unsigned: false,
};
const UNSIGNED: ColumnType = ColumnType::Integer {
    bytes: 8,
    unsigned: true,
};

#[test]
fn integers_take_their_exact_range() {
    for (kind, low, high) in [
        (ColumnType::Int, -(1 << 31), (1i128 << 32) - 1),
        (ColumnType::Bigint, i64::MIN.into(), i64::MAX.into()),
        (ColumnType::Timestamp, i64::MIN.into(), 253_402_300_799),
        (TINY, -128, 127),
        (
            ColumnType::Integer {
                bytes: 3,
                unsigned: true,
            },
            0,
            (1 << 24) - 1,
        ),
        (
            ColumnType::Integer {
                bytes: 4,
                unsigned: false,
            },
            i32::MIN.into(),
            i32::MAX.into(),
        ),
        (UNSIGNED, 0, u64::MAX.into()),
        (ColumnType::Bool, 0, 1),
    ] {
        for number in [low, high] {
            check(kind, Value::Int(number), Ok(Value::Int(number)));
            check(kind, text(&number.to_string()), Ok(Value::Int(number)));
        }
        for number in [low - 1, high + 1] {
            check(kind, Value::Int(number), Err(ValueError::OutOfRange));
            check(kind, text(&number.to_string()), Err(ValueError::OutOfRange));
        }
    }
}

#[test]
fn integers_read_text_and_round_reals() {
    check(ColumnType::Int, text(" 12 "), Ok(Value::Int(12)));
    check(ColumnType::Int, text("1.5"), Ok(Value::Int(2)));
    check(ColumnType::Int, Value::Float(-1.5), Ok(Value::Int(-2)));
    check(
        ColumnType::Int,
        Value::Float(1e300),
        Err(ValueError::OutOfRange),
    );
    check(ColumnType::Int, text("12x"), Err(ValueError::Incorrect));
    check(ColumnType::Int, text(""), Err(ValueError::Incorrect));
    check(ColumnType::Int, Value::Null, Err(ValueError::Null));
}

#[test]
fn bools_take_words() {
    check(ColumnType::Bool, text("TRUE"), Ok(Value::Int(1)));
    check(ColumnType::Bool, text("false"), Ok(Value::Int(0)));
    check(ColumnType::Bool, text("yes"), Err(ValueError::Incorrect));
}

#[test]
fn floats_are_rounded_to_their_width() {
    check(
        ColumnType::Float,
        text("1.1"),
        Ok(Value::Float(f64::from(1.1f32))),
    );
    check(ColumnType::Double, text("1.1"), Ok(Value::Float(1.1)));
    check(
        ColumnType::Float,
        Value::Float(1e39),
        Err(ValueError::OutOfRange),
    );
    check(
        ColumnType::Double,
        text("1e999"),
        Err(ValueError::OutOfRange),
    );
    check(ColumnType::Double, text("x"), Err(ValueError::Incorrect));
}

#[test]
fn timestamps_read_iso_8601_and_unix_seconds() {
    let second = 1_704_164_645; // 2024-01-02 03:04:05 UTC
    for (written, want) in [
        ("2024-01-02", second - 3 * 3600 - 4 * 60 - 5),
        ("2024-01-02T03:04:05Z", second),
        ("2024-01-02 03:04:05", second),
        ("2024-01-02T03:04", second - 5),
        ("2024-01-02T03:04:05.999Z", second),
        ("2024-01-02T05:04:05+02:00", second),
        ("2024-01-02T00:34:05.1-0230", second),
        ("2024-01-02T05:04:05+02", second),
        ("1704164645", second),
        ("1970-01-01", 0),
        ("1969-12-31T23:59:59.5Z", -1),
        ("0000-03-01", -719_468 * 86_400),
        ("2000-02-29", 951_782_400),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] {
        check(ColumnType::Timestamp, text(written), Ok(Value::Int(want)));
    }
    check(
        ColumnType::Timestamp,
        Value::Float(-0.5),
        Ok(Value::Int(-1)),
    );
    for written in [
        "",
        "2024-1-2",
        "2023-02-29",
        "2024-13-01",
        "2024-01-00",
        "2024-01-02T",
        "2024-01-02T25:00",
        "2024-01-02T03:04:05.",
        "2024-01-02T03:04:05 x",
        "2024-01-02T03:04:05+2",
        "2024-01-02Z",
        "1900-02-29",
    ] {
        check(
            ColumnType::Timestamp,
            text(written),
            Err(ValueError::Incorrect),
        );
    }
}

#[test]
fn texts_are_measured_in_characters_or_bytes() {
    let varchar = ColumnType::Char {
        variable: true,
        chars_max: 2,
    };
    check(varchar, text("éé"), Ok(text("éé")));
    check(varchar, text("ééé"), Err(ValueError::TooLong));
    check(
        ColumnType::LongText { bytes_max: 2 },
        text("éé"),
        Err(ValueError::TooLong),
    );
    check(ColumnType::Text, Value::Int(12), Ok(text("12")));
    check(
        ColumnType::Text,
        Value::Bytes(vec![255]),
        Err(ValueError::Incorrect),
    );
    check(ColumnType::Text, Value::Bytes(b"a".to_vec()), Ok(text("a")));
    let blob = ColumnType::Blob { bytes_max: 1 };
    check(blob, text("a"), Ok(Value::Bytes(b"a".to_vec())));
    check(blob, text("ab"), Err(ValueError::TooLong));
}

#[test]
fn null_is_empty_in_search_tables_and_itself_in_queues() {
    let accept = |kind, nullable, value, system| {
        Column {
            name: "c".into(),
            kind,
            nullable,
            default: None,
            keyed: false,
        }
        .accept(value, system)
    };
    let (search, queue) = (TypeSystem::Search, TypeSystem::Queue);
    assert_eq!(
        accept(ColumnType::Int, true, Value::Null, search),
        Ok(Value::Int(0))
    );
    assert_eq!(
        accept(ColumnType::Text, true, Value::Null, search),
        Ok(text(""))
    );
    assert_eq!(
        accept(ColumnType::Text, false, Value::Null, search),
        Err(ValueError::Null)
    );
    assert_eq!(
        accept(ColumnType::Text, true, Value::Null, queue),
        Ok(Value::Null)
    );
    assert_eq!(
        accept(TINY, false, Value::Null, queue),
        Err(ValueError::Null)
    );
    assert_eq!(accept(TINY, false, text("7"), queue), Ok(Value::Int(7)));
}

#[test]
fn type_names_are_read_in_both_systems() {
    let search = |name| ColumnType::parse(name, &[], false, TypeSystem::Search);
    assert_eq!(search("TEXT"), Ok(ColumnType::Text));
    assert_eq!(search("uint"), Ok(ColumnType::Int));
    assert_eq!(search("varchar"), Err(TypeError::BadModifier));
    assert_eq!(search("json"), Ok(ColumnType::Json));
    assert_eq!(
        ColumnType::parse("int", &[], true, TypeSystem::Search),
        Ok(ColumnType::Integer {
            bytes: 4,
            unsigned: true
        })
    );
    let queue =
        |name, args: &[u64], unsigned| ColumnType::parse(name, args, unsigned, TypeSystem::Queue);
    assert_eq!(queue("BIGINT", &[20], true), Ok(UNSIGNED));
    assert_eq!(queue("bool", &[], false), Ok(TINY));
    assert_eq!(
        queue("char", &[], false),
        Ok(ColumnType::Char {
            variable: false,
            chars_max: 1
        })
    );
    assert_eq!(queue("varchar", &[], false), Err(TypeError::BadModifier));
    assert_eq!(
        queue("varchar", &[65_536], false),
        Err(TypeError::BadModifier)
    );
    assert_eq!(queue("text", &[], false), Ok(ColumnType::Text));
    assert_eq!(queue("text", &[], true), Err(TypeError::BadModifier));
    assert_eq!(queue("uuid", &[], false), Err(TypeError::Unknown));
}

/// `varchar(20)` into its name and arguments.
fn parsed(written: &str, system: TypeSystem) -> Result<ColumnType, TypeError> {
    let (written, unsigned) = match written.strip_suffix(" unsigned") {
        Some(rest) => (rest, true),
        None => (written, false),
    };
    match written.trim_end_matches(')').split_once('(') {
        Some((name, args)) => {
            let args: Vec<u64> = args.split(',').map(|arg| arg.parse().unwrap()).collect();
            ColumnType::parse(name, &args, unsigned, system)
        }
        None => ColumnType::parse(written, &[], unsigned, system),
    }
}

#[test]
fn every_type_reads_its_own_name_back() {
    for name in [
        "text",
        "string",
        "int",
        "bigint",
        "float",
        "bool",
        "timestamp",
    ] {
        assert_eq!(parsed(name, TypeSystem::Search).unwrap().sql_name(), name);
    }
    for name in [
        "tinyint",
        "smallint unsigned",
        "mediumint",
        "int unsigned",
        "bigint",
        "double",
        "char(3)",
        "varchar(20)",
        "tinytext",
        "mediumtext",
        "longtext",
        "tinyblob",
        "blob",
        "mediumblob",
        "longblob",
        "varbinary(20)",
        "date",
        "datetime",
        "datetime(3)",
        "time",
        "time(6)",
        "year",
        "decimal(12,2)",
        "decimal(65,30)",
        "text",
        "string",
        "float",
        "timestamp",
    ] {
        assert_eq!(parsed(name, TypeSystem::Queue).unwrap().sql_name(), name);
    }
}

proptest! {
    /// A TIME, and a DECIMAL of up to fifteen digits, comes back from the number by which it compares.
    #[test]
    fn times_and_decimals_come_back_from_their_numbers(
        is_negative: bool,
        hours in 0_u32..839,
        minutes in 0_u32..60,
        seconds in 0_u32..60,
        micros in prop_oneof![Just(0_u32), 0..1_000_000_u32],
        cents in -999_999_999_999_999_i64..=999_999_999_999_999,
    ) {
        let sign = if is_negative { "-" } else { "" };
        let time = ColumnType::Time { fraction_digits: 6 };
        let text = format!("{sign}{:02}:{minutes:02}:{seconds:02}.{micros:06}", hours.min(837));
        let decimal = ColumnType::Decimal { digits: 15, scale: 2 };
        for (kind, text) in [(time, text), (decimal, format!("{}e-2", cents))] {
            let stored = kind.accept(Value::Str(text)).unwrap();
            prop_assert_eq!(kind.of_comparable(kind.comparable(stored.clone())), stored);
        }
    }

    #[test]
    fn what_a_type_took_it_takes_unchanged(value in crate::value::tests::value()) {
        for kind in [
            ColumnType::Text, ColumnType::Int, ColumnType::Bigint, ColumnType::Float, ColumnType::Bool,
            ColumnType::Timestamp, ColumnType::Double, TINY, UNSIGNED, ColumnType::Blob { bytes_max: 3 },
            ColumnType::Date, ColumnType::DateTime { fraction_digits: 2 }, ColumnType::Time { fraction_digits: 0 },
            ColumnType::Decimal { digits: 9, scale: 2 },
        ] {
            if let Ok(taken) = kind.accept(value.clone()) {
                prop_assert_eq!(kind.accept(taken.clone()), Ok(taken));
            }
        }
    }

    #[test]
    fn days_follow_each_other(days in -719_468i64..2_932_896) {
        // Walk a day from any date by the text form of both.
        let seconds = |written: &str| timestamp::parse(written.as_bytes());
        let (year, month, day) = civil(days);
        let written = format!("{year:04}-{month:02}-{day:02}");
        prop_assert_eq!(seconds(&written), Some(days * 86_400), "{}", written);
    }

    #[test]
    fn no_text_makes_the_timestamp_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        timestamp::parse(&bytes);
    }
}

/// The date `days` days after 1970-01-01, found by counting years and months.
fn civil(days: i64) -> (i64, i64, i64) {
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let mut rest = days + 719_468 + 60; // since 0000-01-01, a leap year
    let mut year = 400 * (rest / 146_097);
    rest %= 146_097;
    while rest >= 365 + i64::from(leap(year)) {
        rest -= 365 + i64::from(leap(year));
        year += 1;
    }
    let months = [
        31,
        28 + i64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let mut month = 1;
    for days in months {
        if rest < days {
            break;
        }
        rest -= days;
        month += 1;
    }
    (year, month, rest + 1)
}
