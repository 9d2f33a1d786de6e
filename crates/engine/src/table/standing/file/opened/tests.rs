use proptest::collection::vec;
use proptest::prelude::*;

use super::{Head, read_old, read_table};

proptest! {
    #[test]
    fn strangers_bytes_are_no_table_or_one_whose_blocks_are_in_the_file(bytes in vec(any::<u8>(), 0..80)) {
        if let Ok(contents) = read_table(&bytes, 9_000) {
            for block in &contents.blocks {
                prop_assert!(block.bytes.start <= block.bytes.end && block.bytes.end <= 9_000);
                prop_assert_eq!(contents.ids_of(block).len(), block.ids.len());
            }
            prop_assert!(contents.ids.is_sorted());
        }
        for version in 1..=3 {
            let _ = read_old(&bytes, version);
        }
    }

    #[test]
    fn a_head_that_lies_about_places_gives_no_table(at in any::<u64>(), length in any::<u64>()) {
        let head = Head {
            version: 4,
            table_sum: 0,
            file_bytes: 9_000,
            table_at: at,
            table_bytes: length,
        };
        let (first, second) = head.tables();
        for at in [first, second] {
            let table = head.table(&[7; 9_000], at);
            prop_assert!(table.is_none_or(<[u8]>::is_empty));
        }
    }
}
