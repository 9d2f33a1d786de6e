//! Rows come back; strangers' bytes are no rows.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(|number| Value::Int(number.into())),
        any::<i128>().prop_map(Value::Int),
        any::<i32>().prop_map(|number| Value::Float(f64::from(number) / 8.0)),
        ".{0,20}".prop_map(Value::Str),
        vec(any::<u8>(), 0..20).prop_map(Value::Bytes),
    ]
}

proptest! {
    #[test]
    fn a_row_comes_back_whole_and_column_by_column(values in vec(value(), 0..9)) {
        let encoded = encode(&values);
        let columns = 0..values.len();
        let single: Vec<_> = columns.filter_map(|column| decode_column(&encoded, column)).collect();
        prop_assert_eq!(decode(&encoded), Some(values.clone()));
        prop_assert_eq!(decode_column(&encoded, values.len()), None);
        prop_assert_eq!(single, values);
    }

    #[test]
    fn strangers_bytes_are_no_row(bytes in vec(any::<u8>(), 0..60)) {
        let _ = decode(&bytes);
        let _ = decode_number(&bytes, 1);
    }

    #[test]
    fn a_row_cut_short_is_none(values in vec(value(), 1..5)) {
        let encoded = encode(&values);
        for cut in 0..encoded.len() {
            prop_assert_eq!(decode(&encoded[..cut]), None);
        }
    }
}
