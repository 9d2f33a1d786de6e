use proptest::prelude::*;

use super::*;
use crate::limits::NUMBER_BYTES_MAX;

fn text(value: &str) -> Value {
    Value::Str(value.to_owned())
}

#[track_caller]
fn check(a: &Value, b: &Value, want: Option<Ordering>) {
    assert_eq!(a.cmp_sql(b), want, "{a} {b}");
    assert_eq!(b.cmp_sql(a), want.map(Ordering::reverse), "{b} {a}");
}

#[test]
fn numbers_compare_by_exact_worth() {
    check(&Value::Int(1), &Value::Float(1.0), Some(Ordering::Equal));
    check(&Value::Int(1), &Value::Float(1.5), Some(Ordering::Less));
    check(
        &Value::Int(-1),
        &Value::Float(-1.5),
        Some(Ordering::Greater),
    );
    check(
        &Value::Int((1 << 53) + 1),
        &Value::Float(9_007_199_254_740_992.0),
        Some(Ordering::Greater),
    );
    check(
        &Value::Int(i128::MAX),
        &Value::Float(f64::INFINITY),
        Some(Ordering::Less),
    );
    check(
        &Value::Int(i128::MIN),
        &Value::Float(-(2f64.powi(127))),
        Some(Ordering::Equal),
    );
    check(
        &Value::Int(i128::MAX),
        &Value::Float(2f64.powi(127)),
        Some(Ordering::Less),
    );
    check(&Value::Int(0), &Value::Float(-0.0), Some(Ordering::Equal));
    check(&Value::Int(0), &Value::Float(f64::NAN), None);
}

#[test]
fn texts_compare_without_the_case_of_ascii_letters_and_bytes_with_it() {
    let equal = Some(Ordering::Equal);
    check(&text("Gaming"), &text("gaming"), equal);
    check(
        &text("É"),
        &text("é"),
        "É".as_bytes().partial_cmp("é".as_bytes()),
    );
    check(&text("b"), &text("A"), Some(Ordering::Greater));
    check(
        &Value::Bytes(b"A".to_vec()),
        &text("a"),
        Some(Ordering::Less),
    );
}

#[test]
fn null_compares_with_nothing() {
    check(&Value::Null, &Value::Null, None);
    check(&Value::Null, &Value::Int(0), None);
}

#[test]
fn a_text_beside_a_number_is_the_number_that_it_is_from_end_to_end() {
    check(&text(" 12 "), &Value::Int(12), Some(Ordering::Equal));
    check(&text("-1.5e1"), &Value::Float(-15.0), Some(Ordering::Equal));
    for unlike in ["12abc", "abc", "", ".", "1e", "-1.5e1x"] {
        for number in [
            Value::Int(0),
            Value::Int(1),
            Value::Int(12),
            Value::Float(-15.0),
        ] {
            assert_eq!(text(unlike).compare(&number), Compared::Unlike, "{unlike}");
            assert_eq!(number.compare(&text(unlike)), Compared::Unlike, "{unlike}");
        }
    }
    check(
        &text("9007199254740993"),
        &Value::Int(9_007_199_254_740_993),
        Some(Ordering::Equal),
    );
    check(&text("b"), &text("a"), Some(Ordering::Greater));
    check(
        &text("a"),
        &Value::Bytes(b"a".to_vec()),
        Some(Ordering::Equal),
    );
}

#[test]
fn truth_is_a_number_other_than_nought() {
    assert_eq!(Value::Null.as_bool(), None);
    assert_eq!(Value::Int(-1).as_bool(), Some(true));
    assert_eq!(Value::Float(0.0).as_bool(), Some(false));
    assert_eq!(text("0.5").as_bool(), Some(true));
    assert_eq!(text("true").as_bool(), Some(false));
}

#[test]
fn text_form_is_that_of_the_column() {
    let written = |value: &Value, kind| {
        let mut out = Vec::new();
        value.write_text(kind, &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(
        written(&Value::Float(1.5), Some(ColumnType::Float)),
        "1.500000"
    );
    assert_eq!(written(&Value::Float(1.5), Some(ColumnType::Double)), "1.5");
    assert_eq!(written(&Value::Float(2.0), Some(ColumnType::Double)), "2");
    assert_eq!(
        written(&Value::Int(u64::MAX.into()), None),
        "18446744073709551615"
    );
    assert_eq!(written(&Value::Null, None), "");
    assert_eq!(Value::Null.to_string(), "NULL");
}

/// Values near each other, so that they are often equal.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        (-3..4i128).prop_map(Value::Int),
        (-6..7i32).prop_map(|half| Value::Float(f64::from(half) / 2.0)),
        prop::sample::select(vec!["", "a", "b", "1", "1.0", "-2x", "0.5", " 3"]).prop_map(text),
        prop::sample::select(vec![&b"a"[..], b"\xff"])
            .prop_map(|bytes| Value::Bytes(bytes.to_vec())),
        Just(Value::Int(u64::MAX.into())),
        Just(Value::Float(f64::INFINITY)),
    ]
}

proptest! {
    #[test]
    fn numbers_are_in_one_order(a in value(), b in value(), c in value()) {
        prop_assert_eq!(a.cmp_order(&b), b.cmp_order(&a).reverse());
        let numbers = [&a, &b, &c].iter().all(|value| value.text_bytes().is_none());
        if numbers && a.cmp_order(&b).is_le() && b.cmp_order(&c).is_le() {
            prop_assert!(a.cmp_order(&c).is_le());
        }
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let documents = [r#"{"z":1}"#, "[1,2]", "[]"];
    let document = prop::sample::select(documents.to_vec());
    prop_oneof![
        1 => Just(Value::Null),
        3 => (-3..4i128).prop_map(Value::Int),
        3 => prop::sample::select(vec![-1.5, -0.0, 2.0, f64::NAN, 1e300]).prop_map(Value::Float),
        3 => prop::sample::select(vec!["", "2", "02", "a", "A", "-1"]).prop_map(text),
        1 => prop::sample::select(vec![b"a".to_vec(), b"2".to_vec()]).prop_map(Value::Bytes),
        1 => prop::collection::vec(-1..3i64, 0..3).prop_map(|set| Value::Set(set.into())),
        1 => document.prop_map(|text| Value::Json(crate::json::Json::parse(text.as_bytes()).unwrap())),
    ]
}

proptest! {
    #[test]
    fn the_order_of_any_values_is_total(a in any_value(), b in any_value(), c in any_value()) {
        prop_assert_eq!(a.cmp_order(&b), b.cmp_order(&a).reverse());
        if a.cmp_order(&b).is_le() && b.cmp_order(&c).is_le() {
            prop_assert!(a.cmp_order(&c).is_le(), "{} {} {}", a, b, c);
        }
    }
}

proptest! {
    #[test]
    fn long_texts_compare_as_byte_by_byte(
        start in "[abAB]{0,3}", tail in "[abABé]{0,70}", other in "[abABé]{0,70}", times in 0_usize..60,
    ) {
        let (a, b) = (start.repeat(times) + &tail, start.to_uppercase().repeat(times) + &other);
        let slow = without_case(&a).cmp(without_case(&b));
        prop_assert_eq!(compare_texts(&a, &b), slow);
        prop_assert_eq!(compare_texts(&b, &a), slow.reverse());
        prop_assert_eq!(compare_texts(&a, &a), Ordering::Equal);
    }
}

#[test]
fn a_number_is_read_as_far_as_the_longest() {
    let long = |digits: usize| text(&("0".repeat(digits - 1) + "7"));
    let known = [NUMBER_BYTES_MAX, NUMBER_BYTES_MAX + 1].map(|digits| long(digits).number());
    assert_eq!(known, [Some(Number::Whole(7)), Some(Number::Whole(0))]);
    let spelled = |value: Value| Number::spelled(value.text_bytes().unwrap());
    assert_eq!(spelled(long(NUMBER_BYTES_MAX)), Some(Number::Whole(7)));
    assert_eq!(spelled(long(NUMBER_BYTES_MAX + 1)), None);
}
