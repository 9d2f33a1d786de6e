//! The codec takes any bytes.

use super::*;
use proptest::prelude::*;

fn origin() -> Origin {
    let segment = SegmentId {
        epoch: 3,
        salt: 0x5a17,
    };
    Origin {
        segment,
        first: Position(10),
        synced: Position(9),
        chain: 77,
    }
}

/// All records of a frame, or its damage.
fn decode(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let header = Header::decode(bytes).map_err(|error| format!("{error:?}"))?;
    let records = records(&header, bytes).map_err(str::to_owned)?;
    records
        .map(|record| record.map(<[u8]>::to_vec).map_err(str::to_owned))
        .collect()
}

/// Bytes with a correct header checksum, so that the checks behind it are reached.
fn with_header_crc(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= HEADER_BYTES {
        bytes[..6].copy_from_slice(b"SnJf\x01\0");
        let crc = crc32c(&bytes[..HEADER_CRC_AT]);
        bytes[HEADER_CRC_AT..HEADER_BYTES].copy_from_slice(&crc.to_le_bytes());
    }
    bytes
}

#[test]
fn a_header_says_what_was_written() {
    let mut bytes = Vec::new();
    let crc = encode(&origin(), &[b"one", b"", b"three"], &mut bytes);
    let header = Header::decode(&bytes).unwrap();
    assert_eq!(header.segment, origin().segment);
    assert_eq!(
        (header.first, header.last(), header.synced),
        (Position(10), Position(12), Position(9))
    );
    assert_eq!(
        (header.chain, header.crc, header.frame_bytes),
        (77, crc, 64 + 24 + 8)
    );
    assert_eq!((header.padded_bytes(), bytes.len()), (4096, 4096));
}

#[test]
fn a_page_of_zeroes_is_no_frame() {
    assert_eq!(Header::decode(&[0; 4096]), Err(Unreadable::NotAFrame));
    assert_eq!(Header::decode(&[]), Err(Unreadable::NotAFrame));
}

#[test]
fn the_bytes_of_a_frame_stand_where_the_format_says() {
    let mut bytes = Vec::new();
    encode(&origin(), &[b"record"], &mut bytes);
    let got: Vec<String> = bytes[..80].chunks(8).map(hex).collect();
    // Checksums as a table-free CRC-32C in another language computes them.
    let want = [
        "536e4a6601000000", // magic, version, zero
        "0300000000000000", // epoch
        "175a000000000000", // salt
        "0a00000000000000", // first position
        "0900000000000000", // last position known synced
        "4e00000001000000", // frame bytes, record count
        "4d000000bc1f023c", // chain, checksum of the table
        "000000001ddde1f7", // zero, checksum of the header
        "06000000d4ac9679", // the record's length and checksum
        "7265636f72640000", // the record, padding
    ];
    assert_eq!(got, want);
    assert!(bytes[80..].iter().all(|byte| *byte == 0));
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_was_encoded_is_decoded(records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..900), 1..20)) {
        let borrowed: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        let mut bytes = Vec::new();
        encode(&origin(), &borrowed, &mut bytes);
        prop_assert_eq!(bytes.len() as u64, padded_bytes(&borrowed).unwrap());
        prop_assert_eq!(decode(&bytes), Ok(records));
    }

    #[test]
    fn any_bytes_are_refused_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(decode(&bytes).is_err());
        let _ = decode(&with_header_crc(bytes));
    }

    #[test]
    fn any_lengths_are_refused_without_a_panic(
        frame_bytes in prop_oneof![Just(u32::MAX), 0..400u32, any::<u32>()],
        count in prop_oneof![Just(u32::MAX), 0..40u32, any::<u32>()],
        table_is_sound in any::<bool>(),
        mut bytes in prop::collection::vec(any::<u8>(), 64..400),
    ) {
        bytes[24..32].copy_from_slice(&u64::MAX.to_le_bytes());
        bytes[40..44].copy_from_slice(&frame_bytes.to_le_bytes());
        bytes[44..48].copy_from_slice(&count.to_le_bytes());
        for first in [1, u64::MAX, u64::MAX - 40] {
            bytes[24..32].copy_from_slice(&first.to_le_bytes());
            bytes[32..40].copy_from_slice(&0u64.to_le_bytes());
            let table_end = (HEADER_BYTES + (count as usize).saturating_mul(8)).min(bytes.len());
            if table_is_sound {
                let crc = crc32c(&bytes[HEADER_BYTES..table_end]);
                bytes[52..56].copy_from_slice(&crc.to_le_bytes());
            }
            let _ = decode(&with_header_crc(bytes.clone()));
        }
    }

    #[test]
    fn one_flipped_bit_is_found(bit in 0..(64 + 16 + 200) * 8usize) {
        let mut bytes = Vec::new();
        encode(&origin(), &[&[1; 100], &[2; 100]], &mut bytes);
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(decode(&bytes).is_err());
    }
}
