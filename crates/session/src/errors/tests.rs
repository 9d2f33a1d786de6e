use super::{KINDS, Kind};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors.md");

fn row(kind: &Kind) -> String {
    format!(
        "| `{}` | {} | {} | {} | {} |",
        kind.code, kind.errno, kind.sqlstate, kind.status, kind.when
    )
}

#[test]
fn the_document_holds_the_table_and_nothing_else() {
    let text = std::fs::read_to_string(DOCUMENT).unwrap();
    let written: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let wanted: Vec<String> = KINDS.iter().map(row).collect();
    assert_eq!(
        written,
        wanted,
        "docs/errors.md should hold:\n{}",
        wanted.join("\n")
    );
}

#[test]
fn a_code_names_one_kind() {
    let mut codes: Vec<&str> = KINDS.iter().map(|kind| kind.code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), KINDS.len());
}

#[test]
fn every_sqlstate_has_five_characters() {
    assert!(KINDS.iter().all(|kind| kind.sqlstate.len() == 5));
}
