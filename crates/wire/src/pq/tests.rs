use proptest::prelude::*;

use super::*;

type Row = (u64, Vec<u32>, Vec<u64>);

fn encoded(head: &Head, rows: &[Row]) -> Vec<u8> {
    let mut encoder = Encoder::new(head);
    for (id, documents, weights) in rows {
        encoder.row(*id, documents, weights.iter().copied());
    }
    encoder.finish()
}

fn read(bytes: &[u8]) -> Vec<Row> {
    let decoded = decode(bytes).unwrap();
    let owned = |(id, documents, weights): (u64, &[u32], &[u64])| {
        (id, documents.to_vec(), weights.to_vec())
    };
    decoded.rows().map(owned).collect()
}

/// The bytes that `docs/formats/pq-answer.md` shows.
#[test]
fn the_documented_example_is_these_bytes() {
    let head = Head {
        documents: 20,
        total: 2,
        matched: 20,
        rows: 2,
        weights: false,
    };
    let rows = [(7, vec![0, 2], vec![]), (300, (0..20).collect(), vec![])];
    let bytes = encoded(&head, &rows);
    let (body, sum) = bytes.split_at(bytes.len() - 4);
    let documented = [
        b'S', b'P', b'Q', 1, 0, 20, 2, 20, 2, 7, 4, 0, 1, 0xa5, 2, 41, 0xff, 0xff, 0x0f,
    ];
    assert_eq!(body, documented);
    assert_eq!(sum, crc32c::crc32c(body).to_le_bytes());
    assert_eq!(read(&bytes), rows);
}

#[test]
fn a_changed_or_cut_answer_is_refused() {
    let head = Head {
        documents: 200,
        total: 1,
        matched: 2,
        rows: 1,
        weights: true,
    };
    let bytes = encoded(&head, &[(u64::MAX, vec![3, 150], vec![1000, 2001])]);
    assert_eq!(read(&bytes)[0].0, u64::MAX);
    for at in 0..bytes.len() {
        assert!(decode(&bytes[..at]).is_err(), "cut at {at}");
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(decode(&changed).is_err(), "changed at {at}");
    }
}

/// Rows as an answer has them: ids rise, documents rise and lie below the count.
fn answers() -> impl Strategy<Value = (Head, Vec<Row>)> {
    (1u32..400, any::<bool>()).prop_flat_map(|(documents, weights)| {
        let list = prop::collection::btree_set(0..documents, 1..=documents as usize);
        prop::collection::btree_map(any::<u64>(), (list, any::<u64>()), 0..20).prop_map(
            move |rows| {
                let row = |(id, (list, weight)): (u64, (std::collections::BTreeSet<u32>, u64))| {
                    let list: Vec<u32> = list.into_iter().collect();
                    let each = if weights { list.len() } else { 0 };
                    (id, list, vec![weight; each])
                };
                let rows: Vec<Row> = rows.into_iter().map(row).collect();
                let head = Head {
                    documents,
                    total: 1 << 40,
                    matched: u64::from(documents),
                    rows: rows.len() as u64,
                    weights,
                };
                (head, rows)
            },
        )
    })
}

/// `body` between the magic bytes and a correct checksum, so that random bodies reach the checks behind the checksum.
fn summed(body: &[u8]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(body);
    let sum = crc32c::crc32c(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

proptest! {
    #[test]
    fn what_was_written_is_read((head, rows) in answers()) {
        let bytes = encoded(&head, &rows);
        prop_assert_eq!(decode(&bytes).unwrap().head, head);
        prop_assert_eq!(read(&bytes), rows);
    }

    #[test]
    fn no_bytes_panic_the_decoder(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = decode(&bytes);
        if let Ok(decoded) = decode(&summed(&bytes)) {
            prop_assert_eq!(decoded.rows().count() as u64, decoded.head.rows);
        }
    }

    #[test]
    fn no_changed_byte_panics_the_decoder((head, rows) in answers(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let bytes = encoded(&head, &rows);
        let mut body = bytes[MAGIC.len()..bytes.len() - 4].to_vec();
        let at = at.index(body.len());
        body[at] = byte;
        let _ = decode(&summed(&body));
    }
}
