//! Ids read off filters.

use query::expression;
use query::lexer::Lexer;

use super::ids;

#[track_caller]
fn check_ids(filter: &str, expected: Option<&[u64]>) {
    let filter = expression::parse(&mut Lexer::new(filter.as_bytes())).ok();
    assert_eq!(filter.as_ref().and_then(ids::of).as_deref(), expected);
}

#[test]
fn ids_are_read_off_the_filters_that_name_them() {
    check_ids("id = 5", Some(&[5]));
    check_ids("7 = id", Some(&[7]));
    check_ids("id IN (9, 3, 3, '4', NULL, -1)", Some(&[3, 4, 9]));
    check_ids("id = 1 OR id = 2 OR id IN (3, 4)", Some(&[1, 2, 3, 4]));
    check_ids("id IN (1, 2, 3) AND n > 4 AND id IN (2, 9)", Some(&[2, 9]));
    check_ids("(id = 1 OR id = 2) AND NOT n = 3", Some(&[1, 2]));
}

#[test]
fn other_filters_name_no_ids() {
    for filter in [
        "id > 5",
        "id <> 5",
        "NOT id = 5",
        "id NOT IN (5)",
        "id = 5 OR n = 1",
        "n = 5",
        "id = '5x'",
        "id = 5.5",
        "id = ''",
    ] {
        check_ids(filter, None);
    }
}
