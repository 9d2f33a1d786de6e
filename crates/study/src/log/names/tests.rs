use super::{IndexNames, NO_INDEX, OTHER_INDEXES};
use crate::log::limits::INDEXES_MAX;

#[test]
fn lists_are_one_name_however_they_are_written() {
    let mut names = IndexNames::default();
    let number = names.number_of_text(b"main, delta");
    for text in [&b"`main`,`delta`"[..], b"main delta", b" main ;delta"] {
        assert_eq!(names.number_of_text(text), number);
    }
    assert_eq!(names.name(number), "main,delta");
    let none = names.number_of_text(b"");
    assert_eq!(names.name(none), NO_INDEX);
}

#[test]
fn names_above_the_bound_share_one() {
    let mut names = IndexNames::default();
    for number in 0..INDEXES_MAX + 10 {
        names.number_of_text(format!("i{number}").as_bytes());
    }
    let last = names.number_of_text(b"one_more");
    assert_eq!(names.name(last), OTHER_INDEXES);
    assert!((last as usize) < INDEXES_MAX);
}
