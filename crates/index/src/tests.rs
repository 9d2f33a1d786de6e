//! Forms of rows and of the list of files; what may cross threads.

use proptest::collection::vec;
use proptest::prelude::*;
use query::value::Value;

use crate::{Answer, Files, SealJob, Sealed, SegmentFiles, Snapshot, Table, row};

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
        let encoded = row::encode(&values);
        let columns = 0..values.len();
        let single: Vec<_> = columns.filter_map(|column| row::decode_column(&encoded, column)).collect();
        prop_assert_eq!(row::decode(&encoded), Some(values.clone()));
        prop_assert_eq!(row::decode_column(&encoded, values.len()), None);
        prop_assert_eq!(single, values);
    }

    #[test]
    fn strangers_bytes_are_no_row_and_no_list_of_files(bytes in vec(any::<u8>(), 0..60)) {
        let _ = row::decode(&bytes);
        let _ = row::decode_number(&bytes, 1);
        let mut rest = &bytes[..];
        let _ = Files::decode(&mut rest);
    }

    #[test]
    fn a_row_cut_short_is_none(values in vec(value(), 1..5)) {
        let encoded = row::encode(&values);
        for cut in 0..encoded.len() {
            prop_assert_eq!(row::decode(&encoded[..cut]), None);
        }
    }
}

#[test]
fn the_list_of_files_ends_where_it_ends() {
    let segment = |deleted: Option<&str>| SegmentFiles {
        directory: "segment-00000001".to_owned(),
        rows: 7,
        deleted: deleted.map(str::to_owned),
    };
    let files = Files {
        position: 99,
        segments: vec![segment(None), segment(Some("deleted-00000002"))],
    };
    let mut bytes = Vec::new();
    files.encode(&mut bytes);
    bytes.extend(b"next");
    let mut rest = &bytes[..];
    assert_eq!(Files::decode(&mut rest), Some(files));
    assert_eq!(rest, b"next");
}

#[test]
fn jobs_snapshots_and_answers_cross_threads() {
    fn sent<T: Send>() {}
    fn shared<T: Send + Sync>() {}
    sent::<Table>();
    sent::<SealJob>();
    sent::<Sealed>();
    sent::<Answer>();
    shared::<Snapshot>();
}
