//! Rows come back; strangers' bytes are no rows.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        (any::<i64>(), 0..64_u32)
            .prop_map(|(number, shift)| Value::Int(i128::from(number >> shift))),
        any::<i128>().prop_map(Value::Int),
        any::<i32>().prop_map(|number| Value::Float(f64::from(number) / 8.0)),
        ".{0,20}".prop_map(Value::Str),
        vec(any::<u8>(), 0..20).prop_map(Value::Bytes),
    ]
}

/// Any value that a table stores.
fn stored_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => value(),
        1 => (-2..3i128).prop_map(|far| Value::Int(far * i128::from(i64::MAX))),
        1 => vec(any::<i64>(), 0..5).prop_map(|numbers| Value::Set(numbers.into())),
        1 => vec(0..9u8, 0..5).prop_map(|list| {
            let json = Json::parse(format!("{list:?}").as_bytes());
            Value::Json(json.unwrap())
        }),
    ]
}

#[test]
fn an_integer_takes_the_fewest_bytes_that_hold_it() {
    let ends = |bits: u32| [-1 << (bits - 1), (1 << (bits - 1)) - 1];
    for (bytes, numbers) in [(1, ends(8)), (2, ends(16)), (4, ends(32)), (8, ends(64))] {
        for number in numbers {
            let row = encode(&[Value::Int(number), Value::Int(0)]);
            assert_eq!(row.len(), HEAD_BYTES + 2 * COLUMN_BYTES + bytes, "{number}");
            assert_eq!(decode(&row), Some(vec![Value::Int(number), Value::Int(0)]));
        }
    }
}

#[test]
fn an_integer_of_eight_bytes_as_older_builds_wrote_it_is_read() {
    let old = [&[1, 0, SHORT, 8, 0, 0, 0][..], &7i64.to_le_bytes()].concat();
    assert_eq!(decode_number(&old, 0), Some(Value::Int(7)));
    let mut records = [Vec::new(), Vec::new()];
    assert!(put_encoded(&mut records[0], &old));
    crate::codec::put_row(&mut records[1], &[Value::Int(7)]);
    assert_eq!(records[0], records[1]);
    let three = [&[1, 0, SHORT, 3, 0, 0, 0][..], &[7; 3]].concat();
    assert_eq!(decode(&three), None, "no integer has three bytes");
    assert!(!put_encoded(&mut Vec::new(), &three));
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
    fn an_encoded_row_goes_into_a_record_as_its_values_do(values in vec(stored_value(), 0..9)) {
        let encoded = encode(&values);
        let (mut of_values, mut of_row) = (vec![7], vec![7]);
        crate::codec::put_row(&mut of_values, &values);
        prop_assert!(put_encoded(&mut of_row, &encoded));
        prop_assert_eq!(of_row, of_values);
        prop_assert_eq!(counted_bytes_of(&encoded), counted_bytes(&values));
    }

    #[test]
    fn a_row_cut_short_goes_into_no_record(values in vec(stored_value(), 1..5)) {
        let encoded = encode(&values);
        for cut in 0..encoded.len() {
            prop_assert!(!put_encoded(&mut Vec::new(), &encoded[..cut]));
        }
    }

    #[test]
    fn strangers_bytes_are_no_row(bytes in vec(any::<u8>(), 0..60)) {
        let _ = decode(&bytes);
        let _ = decode_number(&bytes, 1);
        let _ = counted_bytes_of(&bytes);
        let _ = put_encoded(&mut Vec::new(), &bytes);
    }

    #[test]
    fn a_row_cut_short_is_none(values in vec(value(), 1..5)) {
        let encoded = encode(&values);
        for cut in 0..encoded.len() {
            prop_assert_eq!(decode(&encoded[..cut]), None);
        }
    }

    #[test]
    fn a_row_comes_back_from_what_is_kept_and_the_texts_left_out(
        values in vec(value(), 0..9),
        least in 0..12_usize,
    ) {
        let encoded = encode(&values);
        let (mut kept, mut texts, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let is_narrow = leave_out(&encoded, least, &mut kept, &mut texts, &mut lengths).unwrap();
        kept.push(7);
        let (kept, rest) = KeptRow::cut(&kept, is_narrow).unwrap();
        prop_assert_eq!((rest, kept.column_count()), (&[7][..], Some(values.len())));
        prop_assert_eq!(kept.left_out_count(), lengths.len());
        let mut ends = lengths.iter().scan(0, |end, length| { *end += length; Some((*end - length)..*end) });
        for (column, value) in values.iter().enumerate() {
            prop_assert_eq!(kept.number(column), decode_number(&encoded, column));
            match kept.left_out(column) {
                None => prop_assert_eq!(kept.column(column), Some(value.clone())),
                Some(_) => {
                    let text = std::str::from_utf8(&texts[ends.next().unwrap()]).unwrap();
                    prop_assert_eq!(&Value::Str(text.to_owned()), value);
                    prop_assert_eq!(kept.column(column), None);
                }
            }
        }
        prop_assert_eq!(kept.put_back(&texts, &lengths), Some(encoded.to_vec()));
    }

    #[test]
    fn strangers_bytes_are_no_row_to_be_put_together(
        kept in vec(0..9_u8, 0..60),
        texts in vec(any::<u8>(), 0..20),
        lengths in vec(0..20_usize, 0..4),
    ) {
        for is_narrow in [false, true] {
            let Some((kept, _)) = KeptRow::cut(&kept, is_narrow) else { continue };
            let _ = kept.put_back(&texts, &lengths);
            let _ = (kept.left_out_count(), kept.left_out(1), kept.column(1), kept.text(0));
        }
        let _ = leave_out(&kept, 1, &mut Vec::new(), &mut Vec::new(), &mut Vec::new());
    }
}
