use proptest::prelude::*;

use super::*;

const NOW_MS: i64 = 1_719_652_700_000;

fn read(body: &str) -> Result<Beacon, String> {
    beacon(body.as_bytes(), NOW_MS)
}

fn touch(rest: &str) -> Result<Beacon, String> {
    read(&format!(
        r#"{{"id":"3f0c000000000001","time":1719652001,{rest}}}"#
    ))
}

fn value(text: &str) -> Result<i64, String> {
    let read = touch(&format!(r#""order":"1","value":{text}"#))?;
    match read.told {
        Told::Order(order) => Ok(order.value.0),
        Told::Touch(_) => panic!("an order"),
    }
}

#[test]
fn a_touch_and_an_order_are_read() {
    let read = touch(r#""source":"google","medium":"cpc","subcat":"""#).unwrap();
    assert_eq!(
        (read.id, read.time_s),
        (0x3f0c_0000_0000_0001, 1_719_652_001)
    );
    let wanted = Touch {
        source: "google".to_owned(),
        medium: "cpc".to_owned(),
        subcat: String::new(),
    };
    assert_eq!(read.told, Told::Touch(wanted));
    let read = touch(r#""order":"1042","value":"129.90","currency":"EUR""#).unwrap();
    let wanted = Order {
        id: "1042".to_owned(),
        value: Amount(129_900_000),
        currency: "EUR".to_owned(),
    };
    assert_eq!(read.told, Told::Order(wanted));
}

#[test]
fn money_is_kept_digit_by_digit() {
    assert_eq!(value("129.9"), Ok(129_900_000));
    assert_eq!(value("\"-20.00\""), Ok(-20_000_000));
    assert_eq!(value("9223372036854.775807"), Ok(i64::MAX));
    assert_eq!(value("0.000001"), Ok(1));
    for bad in [
        "1e3",
        "\"12,50\"",
        "\"\"",
        "null",
        "true",
        "[1]",
        "0.0000001",
        "9223372036855",
    ] {
        assert!(value(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_neither_touch_nor_order_is_refused() {
    for rest in [
        r#""medium":"cpc""#,
        r#""source":"a","order":"1","value":1"#,
        r#""source":"a","currency":"EUR""#,
        r#""order":"1""#,
        r#""order":"1","value":1,"subcat":"x""#,
        r#""source":"a","source":"b""#,
        r#""source":"a","ip":"192.0.2.1""#,
        r#""source":1"#,
        r#""source":"""#,
        r#""source":"a!b""#,
        r#""source":"a*b""#,
        r#""source":"a\nb""#,
        r#""order":"","value":1"#,
        r#""order":"1","value":1,"currency":"€""#,
    ] {
        assert!(touch(rest).is_err(), "{rest}");
    }
    let long = format!(r#""source":"{}""#, "x".repeat(CHANNEL_BYTES_MAX - 2));
    assert!(touch(&long).is_ok());
    let longer = format!(r#""source":"{}""#, "x".repeat(CHANNEL_BYTES_MAX - 1));
    assert!(touch(&longer).unwrap_err().contains("254 bytes"));
}

#[test]
fn an_id_has_63_bits_and_is_not_0() {
    for (id, is_taken) in [
        ("0000000000000001", true),
        ("7fffffffffffffff", true),
        ("8000000000000000", false),
        ("0000000000000000", false),
        ("+000000000000001", false),
        ("1", false),
        ("", false),
    ] {
        let read = read(&format!(
            r#"{{"id":"{id}","time":1719652001,"source":"a"}}"#
        ));
        assert_eq!(read.is_ok(), is_taken, "{id}");
    }
}

#[test]
fn times_far_from_now_are_refused() {
    let now_s = NOW_MS / 1_000;
    for (time_s, is_taken) in [
        (now_s - RECORDED_AGE_S_MAX, true),
        (now_s - RECORDED_AGE_S_MAX - 1, false),
        (now_s + 86_400, true),
        (now_s + 86_401, false),
        (NOW_MS, false),
    ] {
        let read = read(&format!(
            r#"{{"id":"0000000000000001","time":{time_s},"source":"a"}}"#
        ));
        assert_eq!(read.is_ok(), is_taken, "{time_s}");
    }
}

#[test]
fn an_order_of_a_back_end_names_its_visitor_or_an_order() {
    let read = |body: &str| back_end_order(body.as_bytes(), NOW_MS);
    let order = read(r#"{"order":"7","value":5,"visitor":"v"}"#).unwrap();
    assert_eq!((order.visitor.as_deref(), &*order.of), (Some("v"), "7"));
    let refund = read(r#"{"order":"7-r1","of":"7","value":-5,"time":1719652001}"#).unwrap();
    assert_eq!((refund.visitor, &*refund.of), (None, "7"));
    assert_eq!(refund.time_s, Some(1_719_652_001));
    for bad in [
        r#"{"value":5}"#,
        r#"{"order":"7"}"#,
        r#"{"order":"7","value":5,"visitor":"v","of":"6"}"#,
        r#"{"order":"7","value":5,"visitor":""}"#,
        r#"{"order":7,"value":5}"#,
        "",
        "[]",
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

proptest! {
    /// Neither a cut nor a changed byte makes a reader panic, and what is read is within its limits.
    #[test]
    fn strangers_bytes_are_read_or_refused(at in 0_usize..90, byte: u8, cut in 0_usize..90) {
        let mut body = br#"{"id":"3f0c000000000001","time":1719652001,"order":"1042","value":"129.90","currency":"EUR"}"#.to_vec();
        let at = at.min(body.len() - 1);
        body[at] = byte;
        body.truncate(body.len() - cut);
        let _ = back_end_order(&body, NOW_MS);
        if let Ok(read) = beacon(&body, NOW_MS) {
            prop_assert!(read.id >= 1);
            prop_assert!(read.time_s <= NOW_MS / 1_000 + 86_400);
        }
    }
}
