use super::*;

const ISSUER: Issuer = Issuer {
    incarnation: 0x00ff_0000_0000_0001,
    table: 7,
};

fn text(group: Option<&str>) -> String {
    let row = TakenRow {
        row: RowNumber(u64::MAX),
        delivery: 7,
        values: Vec::new(),
    };
    receipt_text(&row, ISSUER, group)
}

#[test]
fn a_receipt_comes_back_as_it_went() {
    let token_as_group = "00ff00000000000100000007";
    for group in [None, Some("mail-and-more"), Some(token_as_group)] {
        let read = receipt("q", &text(group)).unwrap();
        assert_eq!((read.row, read.delivery), (RowNumber(u64::MAX), 7));
        assert_eq!(read.issuer, ISSUER);
        assert_eq!(read.group.as_deref(), group);
    }
    assert_eq!(text(None), format!("{}-7-{token_as_group}", u64::MAX));
}

#[test]
fn a_receipt_without_a_token_is_of_no_server() {
    for text in [
        "1-2",
        "1-2-mail",
        "1-2-mail-and-more",
        "1-2-00ff00000000000100000007x",
    ] {
        let read = receipt("q", text).unwrap();
        assert_eq!((read.row, read.delivery), (RowNumber(1), 2));
        assert_eq!(read.issuer, Issuer::default());
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
    assert_eq!(time("0s"), Ok(Duration::ZERO));
    assert!(time("1M").unwrap_err().contains("m (minutes)"));
    assert_eq!(time("1.5"), Ok(Duration::from_millis(1500)));
    assert!(time("-1").is_err());
    assert!(time("soon").is_err());
    assert!(time("inf").is_err());
}
