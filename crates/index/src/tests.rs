//! Tests of the list of files, and of the types that may cross threads.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Answer, Files, SealJob, Sealed, SegmentFiles, Snapshot, Table};

proptest! {
    #[test]
    fn strangers_bytes_are_no_list_of_files(bytes in vec(any::<u8>(), 0..60)) {
        let mut rest = &bytes[..];
        let _ = Files::decode(&mut rest, true);
    }
}

#[test]
fn the_list_of_files_ends_where_it_ends() {
    let segment = |deleted: Option<&str>| SegmentFiles {
        directory: "segment-00000001".to_owned(),
        rows: 7,
        deleted: deleted.map(str::to_owned),
        changed: None,
    };
    let files = Files {
        position: 99,
        segments: vec![
            segment(None),
            SegmentFiles {
                changed: Some("changed-00000002".to_owned()),
                ..segment(Some("deleted-00000002"))
            },
        ],
    };
    let mut bytes = Vec::new();
    files.encode(&mut bytes);
    bytes.extend(b"next");
    let mut rest = &bytes[..];
    assert_eq!(Files::decode(&mut rest, true), Some(files));
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
