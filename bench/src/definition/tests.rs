use super::{Definition, INSERT, PERCOLATE, read};

#[test]
fn every_definition_can_be_read_and_is_named_once() {
    for text in [PERCOLATE, INSERT] {
        let definitions = read(text).unwrap();
        let mut names: Vec<&str> = definitions.iter().map(|each| each.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), definitions.len());
        assert!(
            definitions
                .iter()
                .all(|each| each.matches > 0 && each.body_bytes > 0)
        );
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_known_ones() {
    let error = Definition::percolate("common-100").unwrap_err().to_string();
    assert!(
        error.contains("common-100k") && error.contains("selective-1m"),
        "{error}"
    );
}
