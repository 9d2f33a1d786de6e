use engine::PqDocument;
use wire::sql::PqOptions;

use super::{Batch, Labels, read};
use crate::errors::Failure;

fn call(documents: &[&str], options: &PqOptions) -> Result<Batch, Failure> {
    let written: Vec<Vec<u8>> = documents
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    read(&written, options)
}

fn names(names: &[&str]) -> Labels {
    Labels::Named(names.iter().map(|name| (*name).to_owned()).collect())
}

#[test]
fn documents_are_numbered_from_one_and_shifted() {
    let options = PqOptions {
        docs_json: false,
        ..PqOptions::default()
    };
    let batch = call(&["a", "b"], &options).unwrap();
    assert_eq!(
        batch.documents,
        [
            PqDocument::Text("a".to_owned()),
            PqDocument::Text("b".to_owned())
        ]
    );
    assert_eq!(batch.labels, Labels::From(1));
    let shifted = PqOptions {
        shift: 10,
        ..options.clone()
    };
    assert_eq!(call(&["a"], &shifted).unwrap().labels, Labels::From(11));
    let below = PqOptions {
        shift: -2,
        ..options
    };
    assert_eq!(
        call(&["a", "b"], &below).unwrap().labels,
        names(&["-1", "0"])
    );
}

#[test]
fn one_string_may_hold_several_documents() {
    let batch = call(
        &[r#"[{"body":"a"},{"body":"b"}]"#, r#"{"body":"c"}"#],
        &PqOptions::default(),
    )
    .unwrap();
    assert_eq!(batch.documents.len(), 3);
    assert_eq!(batch.labels, Labels::From(1));
}

#[test]
fn bad_json_is_an_error_or_a_warning_with_the_numbers_of_its_strings() {
    let documents = [r#"{"body":"a"}"#, "bad", r#"{"body":"c"}"#, "[1]", ""];
    let failure = call(&documents, &PqOptions::default()).unwrap_err();
    assert_eq!(failure.message, "Bad JSON objects in strings: 2,4,5");
    let skipping = PqOptions {
        skip_bad_json: true,
        skip_empty: true,
        ..PqOptions::default()
    };
    let batch = call(&documents, &skipping).unwrap();
    assert_eq!(batch.documents.len(), 2);
    assert_eq!(batch.warnings, ["Bad JSON objects in strings: 2,4"]);
}

#[test]
fn documents_with_ids_are_in_the_order_of_their_ids_each_with_its_own() {
    let options = PqOptions {
        docs_id: Some("id".to_owned()),
        ..PqOptions::default()
    };
    let documents = [
        r#"{"id":10,"body":"ten"}"#,
        r#"{"id":"b","body":"b"}"#,
        r#"{"id":9,"body":"nine"}"#,
        r#"{"id":-1,"body":"less"}"#,
    ];
    let batch = call(&documents, &options).unwrap();
    assert_eq!(batch.labels, names(&["-1", "9", "10", "b"]));
    let body = |document: &PqDocument| match document {
        PqDocument::Fields(fields) => fields[1].1.to_string(),
        other => panic!("{other:?}"),
    };
    let bodies: Vec<String> = batch.documents.iter().map(body).collect();
    assert_eq!(bodies, ["less", "nine", "ten", "b"]);
}

#[test]
fn documents_are_named_by_their_own_ids_and_left_out_without_one() {
    let options = PqOptions {
        docs_id: Some("id".to_owned()),
        shift: 5,
        ..PqOptions::default()
    };
    let documents = [
        r#"{"id":7,"body":"a"}"#,
        r#"{"body":"b"}"#,
        r#"{"ID":"x9","body":"c"}"#,
    ];
    let batch = call(&documents, &options).unwrap();
    assert_eq!(batch.labels, names(&["7", "x9"]));
    assert_eq!(batch.documents.len(), 2);
    assert_eq!(batch.warnings.len(), 2, "{:?}", batch.warnings);
    assert!(
        batch.warnings[1].contains("skipped 1 document"),
        "{:?}",
        batch.warnings
    );
}
