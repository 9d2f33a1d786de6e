use super::*;

#[test]
fn a_receipt_comes_back_as_it_went() {
    for group in [None, Some("mail-and-more")] {
        let text = receipt_text(u64::MAX, 7, group);
        let read = receipt("q", &text).unwrap();
        assert_eq!((read.row, read.delivery), (u64::MAX, 7));
        assert_eq!(read.group.as_deref(), group);
    }
}

#[test]
fn what_is_no_receipt_is_none() {
    for text in ["", "1", "-1-1", "1-x", "x-1", "1-99999999999"] {
        assert_eq!(receipt("q", text), None, "{text}");
    }
}

#[test]
fn times_have_a_unit_or_are_seconds() {
    assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
    assert_eq!(time("0"), Ok(Duration::ZERO));
    assert_eq!(time("1.5"), Ok(Duration::from_millis(1500)));
    assert!(time("-1").is_err());
    assert!(time("soon").is_err());
    assert!(time("inf").is_err());
}
