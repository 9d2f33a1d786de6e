//! Tests of the compact form: against the tree of a JSON library.

use language::meter::{Budget, Meter, Unmetered};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::{Json, JsonEditError, JsonError, JsonStep};
use crate::value::Value;

fn tree() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        (-1e9..1e9f64).prop_map(Into::into),
        "[a-c\"\\\\\u{e9}\n]{0,6}".prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(serde_json::Value::Array),
            btree_map("[a-d]{0,2}", inner, 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A text whose members stand in any order, and some twice.
fn unordered() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        (0..9_u8).prop_map(|number| number.to_string()),
        Just("\"x\"".to_owned())
    ];
    leaf.prop_recursive(5, 60, 5, |inner| {
        let member =
            ("[a-d]{0,2}", inner.clone()).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        prop_oneof![
            vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

/// Keys and numbers that mostly exist.
fn path() -> impl Strategy<Value = Vec<JsonStep>> {
    let step = prop_oneof![
        "[a-d]{0,2}".prop_map(JsonStep::Key),
        (0..7u32).prop_map(JsonStep::Item),
    ];
    vec(step, 0..4)
}

/// A value of JSON, and what a statement gives for it.
fn tree_and_value() -> impl Strategy<Value = (serde_json::Value, Value)> {
    tree().prop_map(|tree| {
        let value = match &tree {
            serde_json::Value::Bool(_) => {
                Value::Json(Json::parse(tree.to_string().as_bytes()).expect("JSON"))
            }
            other => slow(&kept(other), &[]),
        };
        (tree, value)
    })
}

fn text_of(json: &Json) -> String {
    let mut text = Vec::new();
    json.write_text(&mut text);
    String::from_utf8(text).expect("UTF-8")
}

/// Numbers as the compact form keeps them.
fn kept(tree: &serde_json::Value) -> serde_json::Value {
    match tree {
        serde_json::Value::Number(number) if number.as_i128().is_none() => number.as_f64().into(),
        serde_json::Value::Array(items) => items.iter().map(kept).collect(),
        serde_json::Value::Object(members) => {
            let kept = members
                .iter()
                .map(|(key, value)| (key.clone(), kept(value)));
            serde_json::Value::Object(kept.collect())
        }
        other => other.clone(),
    }
}

fn slow(tree: &serde_json::Value, path: &[JsonStep]) -> Value {
    let mut node = tree;
    for step in path {
        let next = match step {
            JsonStep::Key(key) => node.get(key),
            JsonStep::Item(at) => node.get(*at as usize),
            JsonStep::Itself => Some(node),
        };
        match next {
            Some(next) => node = next,
            None => return Value::Null,
        }
    }
    match node {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(truth) => Value::Int((*truth).into()),
        serde_json::Value::Number(number) => match number.as_i128() {
            Some(whole) => Value::Int(whole),
            None => Value::Float(number.as_f64().expect("a number")),
        },
        serde_json::Value::String(text) => Value::Str(text.clone()),
        other => Value::Json(Json::parse(other.to_string().as_bytes()).expect("JSON")),
    }
}

/// As [`Json::with`], in a tree.
fn slow_with(
    tree: &mut serde_json::Value,
    path: &[JsonStep],
    at: usize,
    new: &serde_json::Value,
) -> Result<(), JsonEditError> {
    let Some(step) = path.get(at) else {
        *tree = new.clone();
        return Ok(());
    };
    let is_last = at + 1 == path.len();
    match (step, tree) {
        (JsonStep::Key(key), serde_json::Value::Object(members)) => match members.get_mut(key) {
            Some(member) => slow_with(member, path, at + 1, new),
            None if is_last => {
                members.insert(key.clone(), new.clone());
                Ok(())
            }
            None => Err(JsonEditError::Nothing(at + 1)),
        },
        (JsonStep::Item(item), serde_json::Value::Array(items)) => {
            let count = items.len();
            match items.get_mut(*item as usize) {
                Some(item) => slow_with(item, path, at + 1, new),
                None if is_last && *item as usize == count => {
                    items.push(new.clone());
                    Ok(())
                }
                None => Err(JsonEditError::Short(at)),
            }
        }
        (JsonStep::Key(_), _) => Err(JsonEditError::NoObject(at)),
        (JsonStep::Item(_) | JsonStep::Itself, _) => Err(JsonEditError::NoArray(at)),
    }
}

proptest! {
    #[test]
    fn a_value_is_set_as_in_a_tree(
        tree in tree(), edits in vec((path(), tree_and_value()), 1..4),
    ) {
        let mut json = Json::parse(tree.to_string().as_bytes()).expect("JSON");
        let mut slow = kept(&tree);
        for (path, (new, value)) in edits {
            let edited = json.with(&path, &value.to_json(), &Unmetered);
            let expected = slow_with(&mut slow, &path, 0, &kept(&new));
            prop_assert_eq!(edited.as_ref().err(), expected.as_ref().err());
            if let Ok(edited) = edited {
                json = edited;
            }
            let whole = Json::parse(slow.to_string().as_bytes()).expect("JSON");
            prop_assert_eq!(&json, &whole);
        }
    }

    #[test]
    fn a_value_set_in_a_damaged_document_is_no_panic(
        tree in tree(), at in any::<prop::sample::Index>(), byte in any::<u8>(), path in path(),
    ) {
        let json = Json::parse(tree.to_string().as_bytes()).expect("JSON");
        let mut bytes = json.bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let json = Json::of_bytes(&bytes);
        let _ = json.with(&path, &Value::Int(7).to_json(), &Unmetered);
        let _ = Json::parse(b"{}").expect("JSON").with(&path, &json, &Unmetered);
    }

    #[test]
    fn a_document_is_what_was_written(tree in tree()) {
        let json = Json::parse(tree.to_string().as_bytes()).expect("JSON");
        let read: serde_json::Value = serde_json::from_str(&text_of(&json)).expect("JSON");
        prop_assert_eq!(&read, &kept(&tree));
        let again = Json::parse(text_of(&json).as_bytes()).expect("JSON");
        prop_assert_eq!(again, json);
    }

    #[test]
    fn members_in_any_order_are_those_in_order(text in unordered()) {
        let json = Json::parse(text.as_bytes()).expect("JSON");
        let tree: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let in_order = Json::parse(tree.to_string().as_bytes()).expect("JSON");
        prop_assert_eq!(text_of(&json), tree.to_string());
        prop_assert_eq!(json, in_order);
    }

    #[test]
    fn a_path_finds_what_a_walk_of_the_tree_finds(tree in tree(), path in path()) {
        let json = Json::parse(tree.to_string().as_bytes()).expect("JSON");
        prop_assert_eq!(Value::Json(json.clone()).at_path(&path), slow(&kept(&tree), &path));
    }

    #[test]
    fn strangers_bytes_give_nothing_and_no_panic(bytes in vec(any::<u8>(), 0..60), path in path()) {
        let json = Json::of_bytes(&bytes);
        let _ = Value::Json(json.clone()).at_path(&path);
        let _ = text_of(&json);
    }

    #[test]
    fn a_damaged_document_is_read_without_a_panic(
        tree in tree(), at in any::<prop::sample::Index>(), byte in any::<u8>(), path in path(),
    ) {
        let json = Json::parse(tree.to_string().as_bytes()).expect("JSON");
        let mut bytes = json.bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let json = Json::of_bytes(&bytes);
        let _ = Value::Json(json.clone()).at_path(&path);
        let _ = text_of(&json);
    }
}

#[test]
fn the_example_has_the_bytes_of_the_example() {
    let json = Json::parse(br#"{"b": [true], "a": 7}"#).expect("JSON");
    let bytes = [
        7, 2, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 19, 0, 0, 0, 97, 98, 3, 7, 0, 0, 0, 0,
        0, 0, 0, 6, 1, 0, 0, 0, 1, 0, 0, 0, 2,
    ];
    assert_eq!(json.bytes(), bytes);
    assert_eq!(text_of(&json), r#"{"a":7,"b":[true]}"#);
}

#[test]
fn the_last_of_repeated_members_stays() {
    let json = Json::parse(br#"{"b": 1, "a": 2, "b": [3], "a": 4}"#).expect("JSON");
    assert_eq!(text_of(&json), r#"{"a":4,"b":[3]}"#);
}

#[test]
fn what_is_no_json_or_too_deep_is_refused() {
    let broken = [
        ("", 0),
        ("{", 1),
        ("{a: 1}", 1),
        ("[1,]", 3),
        ("1 2", 2),
        ("nul", 3),
        ("'a'", 0),
        ("{\"a\": 1,\n \"ü\": tru}", 19),
        ("[1\n", 3),
    ];
    for (text, at) in broken {
        let read = Json::parse(text.as_bytes());
        assert_eq!(read, Err(JsonError::Syntax { at }), "{text}");
    }
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Json::parse(nested(64).as_bytes()).is_ok());
    for depth in [65, 127, 200, 100_000] {
        assert_eq!(
            Json::parse(nested(depth).as_bytes()),
            Err(JsonError::Depth),
            "{depth}"
        );
    }
    let long = format!("\"{}\"", "a".repeat(4 << 20));
    assert_eq!(Json::parse(long.as_bytes()), Err(JsonError::Length));
}

#[test]
fn a_set_value_makes_no_document_that_insert_refuses() {
    let key = |key: &str| vec![JsonStep::Key(key.to_owned())];
    let nested = format!("{}1{}", "[".repeat(63), "]".repeat(63));
    let deep = Json::parse(nested.as_bytes()).expect("JSON");
    let object = Json::parse(b"{}").expect("JSON");
    let object = object.with(&key("a"), &deep, &Unmetered).expect("a value");
    let deeper = object.with(&[key("b"), key("c")].concat(), &object, &Unmetered);
    assert_eq!(deeper, Err(JsonEditError::Depth));
    assert_eq!(
        object.with(&key("b"), &object, &Unmetered),
        Err(JsonEditError::Depth)
    );

    let mut long = Json::parse(b"{}").expect("JSON");
    let text = Value::Str("\u{1}".repeat(300_000)).to_json();
    long = long
        .with(&key("a"), &text, &Unmetered)
        .expect("1.8 MB of text");
    long = long
        .with(&key("b"), &text, &Unmetered)
        .expect("3.6 MB of text");
    assert_eq!(
        long.with(&key("c"), &text, &Unmetered),
        Err(JsonEditError::Length)
    );
}

#[test]
fn a_set_of_numbers_becomes_an_array() {
    let json = Json::parse(br#"{"a": 1}"#).expect("JSON");
    let set = Value::Set([3, 1].into());
    let json = json.with(&[JsonStep::Key("a".to_owned())], &set.to_json(), &Unmetered);
    assert_eq!(text_of(&json.expect("a value")), r#"{"a":[3,1]}"#);
}

/// `count` numbers in arrays or objects of this depth; `is_moved`: each object's members stand in the wrong order.
fn numbers(count: usize, depth: usize, is_moved: bool) -> String {
    let (before, behind) = match is_moved {
        true => ("{\"b\":0,\"a\":", "}"),
        false => ("{\"a\":", "}"),
    };
    let items = vec!["7"; count].join(",");
    format!(
        "{}[{items}]{}",
        before.repeat(depth - 1),
        behind.repeat(depth - 1)
    )
}

fn units(work: impl FnOnce(&dyn Meter)) -> u64 {
    let budget = Budget::new(u64::MAX);
    work(&budget);
    u64::MAX - budget.left()
}

#[test]
fn a_deep_document_costs_a_copy_for_each_level() {
    let read = |text: String| {
        units(|meter| {
            Json::parse_within(text.as_bytes(), meter).expect("JSON");
        })
    };
    let flat = read(numbers(10_000, 1, false));
    let bytes = Json::parse(numbers(10_000, 1, false).as_bytes()).expect("JSON");
    let copies = 63 * bytes.bytes().len() as u64 / 4;
    for is_moved in [false, true] {
        let deep = read(numbers(10_000, 64, is_moved)) - flat;
        assert!(
            (copies..copies + copies / 10).contains(&deep),
            "{deep} units more, copies {copies}"
        );
    }
}

#[test]
fn a_meter_that_stops_ends_reading_and_setting() {
    let text = numbers(200_000, 63, false);
    let json = Json::parse(text.as_bytes()).expect("JSON");
    let (path, one) = ([JsonStep::Key("x".to_owned())], Value::Int(1).to_json());
    let parse = |meter: &dyn Meter| Json::parse_within(text.as_bytes(), meter).err();
    let with = |meter: &dyn Meter| json.with(&path, &one, meter).err();
    let (parse_units, with_units) = (
        units(|meter| assert_eq!(parse(meter), None)),
        units(|meter| assert_eq!(with(meter), None)),
    );
    assert!(parse_units > 8_000_000 && with_units > 8_000_000);
    for share in [1, 10, 50, 90] {
        let budget = |units| Budget::new(units / 100 * share);
        assert_eq!(parse(&budget(parse_units)), Some(JsonError::Stopped));
        assert_eq!(with(&budget(with_units)), Some(JsonEditError::Stopped));
    }
    assert_eq!((parse(&Unmetered), with(&Unmetered)), (None, None));
}
