//! Calls that a stranger may write to make the server panic, run out of memory or compute for hours.

use language::meter::{Budget, Meter, Unmetered};
use proptest::prelude::*;

use super::parsed;
use crate::expression::call::Known;
use crate::expression::{Expression, Function, Metered, Prepared, Unprepared, evaluate, parse};
use crate::json::Json;
use crate::lexer::{Lexer, OUT_OF_ROOM};
use crate::limits::COMPUTED_TEXT_BYTES_MAX;
use crate::schema::ColumnType;
use crate::value::Value;

/// Numbers at the ends of their types, texts of every kind that functions read, and lists.
fn hostile() -> impl Strategy<Value = Value> {
    let ends = [
        i128::MIN,
        i128::MAX,
        i64::MIN.into(),
        i64::MAX.into(),
        i32::MIN.into(),
        u32::MAX.into(),
    ];
    let reals = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        f64::MAX,
        -0.0,
        0.5,
    ];
    let texts = [
        "9999-12-31 23:59:59.999999999",
        "-9999-01-01",
        "2024-02-30",
        "2024-03-31T02:30:00[Europe/Berlin]",
        "-377705116800",
        "0,0,1e308,-1e308,inf,nan",
        "%Y-%m-%d %255A %:::::z %",
        "\u{0}ß\u{130}\u{10FFFF}é",
        r"%\_%%\",
    ];
    let documents = ["[]", "[null,1,\"a\",[2],{\"a\":1}]", "{}", "[1e308,-1e308]"];
    prop_oneof![
        Just(Value::Null),
        prop::sample::select(ends.to_vec()).prop_map(Value::Int),
        (-40..40_i128).prop_map(Value::Int),
        any::<i128>().prop_map(Value::Int),
        prop::sample::select(reals.to_vec()).prop_map(Value::Float),
        any::<f64>().prop_map(Value::Float),
        prop::sample::select(texts.to_vec()).prop_map(|text| Value::Str(text.to_owned())),
        r"(\PC|[0-9:, -]|%[a-zA-Z]){0,12}".prop_map(Value::Str),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Value::Bytes),
        prop::collection::vec(any::<i64>(), 0..4).prop_map(|numbers| Value::Set(numbers.into())),
        prop::sample::select(documents.to_vec())
            .prop_map(|text| Value::Json(Json::parse(text.as_bytes()).unwrap())),
    ]
}

/// Texts that stand where functions want constants of a form of their own.
fn constant() -> impl Strategy<Value = Value> {
    let forms = [
        r#"{"hist_interval":0.1,"hist_offset":-3}"#,
        r#"{"hist_interval":170141183460469231731687303715884105727}"#,
        r#"{"calendar_interval":"week","time_zone":"Africa/Casablanca"}"#,
        r#"{"fixed_interval":"4294967295d"}"#,
        r#"{"range_from":-1,"range_to":5}"#,
        r#"{"range_to":"2024-01-31||+9999999999999M-1d/w"}"#,
        r#"{"in":"deg","method":"haversine"}"#,
        r#"{"normalize":1,"length_delta":1}"#,
        "Pacific/Apia",
        "-14:59",
        "year",
        "second",
        "(a|b*)*$",
    ];
    prop::sample::select(forms.to_vec()).prop_map(|text| Value::Str(text.to_owned()))
}

/// Whether the parser refuses the call for a constant. Only what it takes has one meaning.
fn is_refused(function: Function, call: &Expression) -> bool {
    let arguments = call.parts();
    let constants: Vec<_> = arguments.iter().map(|it| it.constant()).collect();
    Known::of(function, &constants).is_err()
}

proptest! {
    /// Each function with each number of arguments that it takes, once over columns and once over constants.
    #[test]
    fn no_value_makes_a_function_panic(
        values in prop::collection::vec(hostile(), 5),
        forms in prop::collection::vec(prop::option::of(constant()), 4),
    ) {
        let values: Vec<Value> = values.into_iter().enumerate().map(|(at, value)| {
            let form = at.checked_sub(1).and_then(|at| forms[at].clone());
            form.unwrap_or(value)
        }).collect();
        for function in Function::all().filter(|it| !it.is_of_the_moment()) {
            let (least, most) = function.arity();
            for count in least..=most.min(values.len()) {
                for columns in 0..=1 {
                    let argument = |at: usize| match at < columns {
                        true => Expression::Column("a".to_owned()),
                        false => Expression::Literal(values[at].clone()),
                    };
                    let tree = Expression::Call(function, (0..count).map(argument).collect());
                    let slow = evaluate(&tree, &|_| Some(values[0].clone()));
                    let prepared = match Prepared::new(&tree, &|_| Some(0)) {
                        Err(Unprepared::Constant(_)) => continue, // 'abc' + INTERVAL 1 DAY
                        Err(_) if function == Function::UnixTimestamp && count == 0 => continue,
                        prepared => prepared.unwrap(),
                    };
                    let fast = prepared.evaluate(&Metered::new(&Unmetered, |_: usize| values[0].clone()));
                    if !is_refused(function, &tree) {
                        prop_assert_eq!(format!("{fast:?}"), format!("{slow:?}"), "{}", tree);
                    }
                    prop_assert!(fast.text_bytes().is_none_or(|text| text.len() <= COMPUTED_TEXT_BYTES_MAX));
                }
            }
        }
    }
}

#[test]
fn a_statement_pays_for_the_texts_that_its_calls_may_make() {
    let within = |text: String| {
        let mut lexer = Lexer::within(text.as_bytes(), 64 << 20);
        parse(&mut lexer).map(|_| ()).map_err(|error| error.message)
    };
    let sum = |call: &str| within(format!("length({call})") + &format!(" and {call}").repeat(999));
    for call in [
        "lpad(a, 3, '0')",
        "repeat('ab', 9)",
        "space(9)",
        "replace(a, ', ', ',')",
    ] {
        assert_eq!(sum(call), Ok(()), "{call}");
    }
    for call in [
        "lpad(a, b, '0')",
        "repeat(a, 9)",
        "repeat('a', 4000000)",
        "space(4000000)",
        "replace(a, ',', ', ')",
        "a regexp 'b'",
    ] {
        assert_eq!(sum(call), Err(OUT_OF_ROOM.to_owned()), "{call}");
    }
}

#[test]
fn what_would_take_too_much_memory_is_null() {
    let long = Value::Str("a".repeat(COMPUTED_TEXT_BYTES_MAX));
    for text in [
        "concat(a, 'b')",
        "least(a, a, a, a, a)",
        "replace(a, 'a', 'bb')",
        "hex(a)",
        "repeat(a, 2) like 'b'", // the text is not made, so it is empty
        "levenshtein(a, 'b')",
        "date_format(0, repeat('%A', 1000))",
        "date_format(0, left(a, 2000))",
    ] {
        let prepared = Prepared::new(&parsed(text).unwrap(), &|_| Some(0)).unwrap();
        let value = prepared.evaluate(&Metered::new(&Unmetered, |_: usize| long.clone()));
        let wanted = match text.starts_with("repeat") {
            true => Value::Int(0),
            false => Value::Null,
        };
        assert_eq!(value, wanted, "{text}");
    }
    let refused = parsed(&format!("date_format(a, '{}')", "%A".repeat(1000))).unwrap_err();
    assert_eq!(refused.message, "a date format has at most 1024 bytes");
}

#[test]
fn an_expression_of_hours_ends_when_its_meter_stops() {
    let numbers = Value::Set((0..100_000).collect());
    let long = Value::Str("a".repeat(COMPUTED_TEXT_BYTES_MAX));
    for (text, value) in [
        ("any(any(x + y < 0 for y in a) for x in a)", numbers),
        ("a like concat('%', left(a, 2000000), 'b')", long),
    ] {
        let tree = parsed(text).unwrap();
        let prepared = Prepared::new(&tree, &|_| Some(0)).unwrap();
        let budget = Budget::new(100_000_000);
        let _ = prepared.evaluate(&Metered::new(&budget, |_| value.clone()));
        assert!(budget.is_stopped(), "{text}");
    }
}

/// Functions that compare values of several kinds are prepared for each kind: no nesting of them multiplies their nodes.
#[test]
fn calls_over_several_kinds_in_each_other_grow_by_their_length() {
    let typed = |name: &str| match name {
        "tm" => Some((0, ColumnType::Time { fraction_digits: 0 })),
        "dt" => Some((1, ColumnType::DateTime { fraction_digits: 0 })),
        "i" => Some((2, ColumnType::Int)),
        _ => None,
    };
    for (begin, end) in [
        ("GREATEST(IF(i > 0, tm, ", "), '9:0:0')"),
        ("GREATEST(COALESCE(tm, ", "), '9:0:0') = '10:11:12'"),
        ("GREATEST(dt + INTERVAL 1 DAY, IF(i > 0, dt, ", "))"),
        ("INTERVAL(IF(i > 0, dt, ", "), '2024-01-02')"),
        ("IF(LEAST(IFNULL(tm, 'x'), '9:0:0') = 'x', tm, ", ")"),
        ("IF(i > 0, dt, ", ") + 0"),
    ] {
        let size = |levels: usize| {
            let text = begin.repeat(levels) + "NULL" + &end.repeat(levels);
            let prepared = Prepared::typed(&parsed(&text).unwrap(), &typed).unwrap();
            format!("{prepared:?}").len()
        };
        assert!(size(20) < 5 * size(5), "{begin}");
    }
}
