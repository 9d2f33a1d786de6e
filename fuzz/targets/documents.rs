//! JSON documents and encoded rows of damaged files: the readers never panic. A text that is a document reads back as itself.
#![no_main]

use language::meter::Unmetered;
use libfuzzer_sys::fuzz_target;
use relation::json::{Json, JsonStep, each_member};
use relation::row;

/// Paths that a document of few bytes may have.
fn paths() -> Vec<Vec<JsonStep>> {
    let key = |key: &str| JsonStep::Key(key.to_owned());
    vec![
        vec![],
        vec![key("a")],
        vec![key("")],
        vec![JsonStep::Item(0)],
        vec![key("a"), JsonStep::Item(1), key("b")],
    ]
}

fuzz_target!(|bytes: &[u8]| {
    let strange = Json::of_bytes(bytes);
    let value = Json::of_numbers(&[1]);
    for path in paths() {
        let _ = strange.node_at(&path);
        let _ = strange.with(&path, &value, &Unmetered);
    }
    each_member(bytes, 8, &mut Vec::new(), &mut |_, _| {});
    strange.write_text(&mut Vec::new());
    for column in 0..3 {
        let _ = row::decode_column(bytes, column);
        let _ = row::decode_path(bytes, column, &paths()[1]);
    }
    if let Ok(document) = Json::parse(bytes) {
        let mut text = Vec::new();
        document.write_text(&mut text);
        assert_eq!(Json::parse(&text).ok(), Some(document));
    }
});
