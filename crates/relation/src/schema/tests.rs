mod calendar;

use proptest::prelude::*;

use super::samples::SAMPLES;
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

#[track_caller]
fn type_named(name: &str, system: TypeSystem) -> ColumnType {
    parsed(name, system).unwrap_or_else(|error| panic!("ColumnType::parse: {name}: {error:?}"))
}

/// The types of all samples, in the names of both systems.
fn types() -> Vec<ColumnType> {
    let names = SAMPLES
        .iter()
        .flat_map(|sample| [&[sample.name], sample.others].concat());
    let systems = [TypeSystem::Search, TypeSystem::Queue];
    names
        .flat_map(|name| systems.map(|system| type_named(name, system)))
        .collect()
}

#[test]
fn every_type_reads_its_own_name_back() {
    for kind in types() {
        let name = kind.sql_name();
        let read = [TypeSystem::Search, TypeSystem::Queue].map(|system| parsed(&name, system));
        assert!(read.contains(&Ok(kind)), "{kind:?}: {name}: {read:?}");
    }
}

#[test]
fn every_tag_has_a_type_and_a_sample_and_every_type_reads_its_code_back() {
    for (tag, (kind, sample)) in TYPES.into_iter().zip(SAMPLES).enumerate() {
        let sample = type_named(sample.name, TypeSystem::Search);
        let tags = [kind, sample].map(|kind| usize::from(kind.code().0));
        assert_eq!(tags, [tag; 2], "{kind:?}, {sample:?}");
    }
    for kind in types() {
        let (tag, size) = kind.code();
        assert_eq!(ColumnType::of_code(tag, size), Some(kind));
    }
    assert_eq!(ColumnType::of_code(TAGS as u8, 0), None);
}

#[test]
fn the_documents_have_every_type() {
    let of_users = include_str!("../../../../docs/sql.md");
    let of_bytes = include_str!("../../../../docs/formats/records.md");
    let (_, of_bytes) = of_bytes.split_once("| type byte | type | size |").unwrap();
    let (of_bytes, _) = of_bytes.split_once("\n\n").unwrap();
    let number = |written: &str| written.trim().parse::<usize>().unwrap();
    let rows = of_bytes.lines().skip(2).flat_map(|row| {
        let numbers = row.split('|').nth(1).unwrap();
        match numbers.split_once(" to ") {
            Some((first, last)) => (number(first)..=number(last)).collect(),
            None => numbers.split(',').map(number).collect::<Vec<_>>(),
        }
    });
    let mut tags: Vec<usize> = rows.collect();
    tags.sort_unstable();
    assert_eq!(
        tags,
        (0..TAGS).collect::<Vec<_>>(),
        "docs/formats/records.md"
    );
    for sample in SAMPLES {
        let name = sample.name.split(['(', ' ']).next().unwrap();
        assert!(
            of_users.contains(&format!("`{name}")),
            "docs/sql.md: {name}"
        );
    }
}

/// The stored value of each sample, and the constants that equal it.
fn constants() -> impl Iterator<Item = (ColumnType, Value, Vec<Value>)> {
    let constant = |written: &str| match written.strip_prefix('\'') {
        Some(rest) => text(rest.trim_end_matches('\'')),
        None => match (written.parse(), written.parse()) {
            (Ok(whole), _) => Value::Int(whole),
            (_, Ok(real)) => Value::Float(real),
            _ => text(written), // TRUE, a set
        },
    };
    SAMPLES.into_iter().map(move |sample| {
        let kind = type_named(sample.name, TypeSystem::Search);
        let stored = kind.accept(constant(sample.value)).unwrap();
        let equal = sample.equal.iter().map(|of| constant(of)).collect();
        (kind, stored, equal)
    })
}

#[test]
fn bits_are_whole_numbers_beside_others() {
    let bits = ColumnType::Bit { bits: 64 };
    let union = crate::expression::type_of_union;
    assert_eq!(union(bits, ColumnType::Bigint), None); // whole numbers as they come
    assert_eq!(union(bits, ColumnType::Float), Some(ColumnType::Double));
    let decimal = |digits| ColumnType::Decimal { digits, scale: 2 };
    assert_eq!(union(bits, decimal(4)), Some(decimal(22)));
}

#[test]
fn a_key_finds_each_constant_that_equals_a_value() {
    for (kind, stored, equal) in constants().filter(|(kind, ..)| kind.takes_key()) {
        let code = crate::key::code(&stored).unwrap();
        for constant in equal {
            let read = kind.constant(&constant).unwrap();
            let codes = crate::key::codes_of(kind, &[read].into_iter().collect());
            assert_eq!(codes, Some(vec![code]), "{kind:?} {constant:?}");
        }
    }
}

#[test]
fn a_type_of_long_values_says_so() {
    for kind in types() {
        let texts = ["a".repeat(99), "1,2,3".to_owned(), "{}".to_owned()];
        let takes_long = |written: &String| match kind.accept(text(written)) {
            Ok(Value::Set(_) | Value::Json(_)) => true,
            Ok(taken) => taken.text_bytes().is_some_and(|taken| taken.len() == 99),
            Err(_) => false,
        };
        if texts.iter().any(takes_long) {
            assert!(kind.family().may_be_long(), "{kind:?}");
        }
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
        for kind in types() {
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
