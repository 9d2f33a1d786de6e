//! Lists beside plain vectors.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::{List, ListWriter, code};

proptest! {
    #[test]
    fn a_list_gives_what_was_written(
        rows in btree_map(0..2_000u32, (0..32u8, vec((0..3u32, 0..5_000u32), 1..12)), 1..400),
        many_fields in any::<bool>(),
    ) {
        let (mut postings, mut positions) = (vec![7; 3], vec![9; 5]);
        let mut writer = ListWriter::new(2_000, many_fields, &mut postings, &mut positions);
        let mut expected = Vec::new();
        for (doc, (class, places)) in &rows {
            let mut places: Vec<u32> = places.iter()
                .map(|(field, place)| if many_fields { field << 24 | place } else { *place }).collect();
            places.sort_unstable();
            places.dedup();
            writer.push(*doc, *class, &places);
            expected.push((*doc, *class, places));
        }
        let entry = writer.finish();
        prop_assert_eq!(entry.documents as usize, rows.len());
        prop_assert_eq!(entry.hits, expected.iter().map(|row| row.2.len() as u64).sum::<u64>());
        prop_assert_eq!((entry.postings_bytes + 3, entry.positions_bytes + 5), (postings.len() as u64, positions.len() as u64));
        let list = List::open(2_000, many_fields, &postings[3..], &positions[5..]).unwrap();
        let mut walk = list.walk();
        let mut found = Vec::new();
        for (doc, class, places) in expected {
            let posting = walk.next().unwrap();
            walk.positions(&mut found);
            let fields = places.iter().fold(0u64, |fields, place| fields | 1 << (place >> 24));
            prop_assert_eq!((posting.doc, posting.code, posting.fields), (doc, code(places.len() as u32, class), fields));
            prop_assert_eq!(posting.hits as usize, places.len());
            prop_assert_eq!(&found, &places);
        }
        prop_assert!(walk.next().is_none());
    }
}
