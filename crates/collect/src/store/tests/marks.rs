//! Marks as bytes: of today, of other lengths, and any.

use proptest::prelude::*;

use super::super::marks::Marks;

/// `multi` of `category` and a file, in a buffer's note or a spool's file of marks. An old file must be read for ever.
const FIXTURE: &str = "0200000001000000000000000200000000000000\
     02000000020000000000000001000000\
     0400000000000000\
     0100000003000000000000000200000000000000010000000100000001000000620000000000000000\
     00000000";

fn fixture() -> (Vec<u8>, Marks) {
    let digits: Vec<u8> = FIXTURE.bytes().filter(u8::is_ascii_hexdigit).collect();
    let digit = |at: usize| char::from(digits[at]).to_digit(16).unwrap() as u8;
    let bytes = (0..digits.len() / 2).map(|at| digit(2 * at) << 4 | digit(2 * at + 1));
    let of_b = Marks::default();
    let of_category = Marks {
        hashes: vec![3],
        numbers: vec![0, 1],
        parts: vec![(b"b"[..].into(), of_b)],
    };
    let marks = Marks {
        hashes: vec![1, 2],
        numbers: vec![2, 0],
        parts: vec![(0_u32.to_le_bytes()[..].into(), of_category)],
    };
    (bytes.collect(), marks)
}

fn any_marks() -> impl Strategy<Value = Marks> {
    let own = || {
        let hashes = prop::collection::vec(any::<u64>(), 0..4);
        (hashes, prop::collection::vec(any::<u32>(), 0..4))
    };
    let leaf = own().prop_map(|(hashes, numbers)| Marks {
        hashes,
        numbers,
        parts: Vec::new(),
    });
    leaf.prop_recursive(4, 20, 3, move |inner| {
        let key = prop::collection::vec(any::<u8>(), 0..5).prop_map(Vec::into_boxed_slice);
        let parts = prop::collection::vec((key, inner), 0..3);
        (own(), parts).prop_map(|((hashes, numbers), parts)| Marks {
            hashes,
            numbers,
            parts,
        })
    })
}

#[test]
fn marks_have_the_bytes_of_the_page() {
    let (bytes, marks) = fixture();
    assert_eq!(Marks::decode(&bytes).as_ref(), Some(&marks));
    let note = marks.note(7);
    assert_eq!(note[..8], 7_u64.to_le_bytes());
    assert_eq!(note[8..], bytes);
    assert_eq!(Marks::of_note(&note, 7), Some(marks));
    assert_eq!(Marks::of_note(&note, 8), None, "another store");
    assert_eq!(Marks::default().note(7), b"");
}

#[test]
fn cut_marks_are_no_marks() {
    let (bytes, _) = fixture();
    for end in 0..bytes.len() {
        assert_eq!(Marks::decode(&bytes[..end]), None, "{end}");
    }
    assert_eq!(Marks::decode(&[&bytes[..], b"x"].concat()), None);
}

/// Each store in it would take a call of its own.
#[test]
fn marks_of_stores_in_stores_without_end_are_refused() {
    let one_more = [0_u32, 0, 1, 0].map(u32::to_le_bytes).concat();
    let bytes = [&one_more.repeat(100_000)[..], &[0; 12]].concat();
    assert_eq!(Marks::decode(&bytes), None);
    let bytes = [&one_more.repeat(16)[..], &[0; 12]].concat();
    let marks = Marks::decode(&bytes).unwrap();
    assert_eq!(marks.note(7)[8..], bytes);
}

proptest! {
    #[test]
    fn marks_come_back_from_their_bytes(marks in any_marks()) {
        let note = marks.note(1);
        let want = (!note.is_empty()).then_some(marks);
        prop_assert_eq!(Marks::of_note(&note, 1), want);
    }

    #[test]
    fn any_bytes_are_marks_or_refused(bytes in prop::collection::vec(0..3_u8, 0..80)) {
        if let Some(marks) = Marks::decode(&bytes)
            && !marks.is_empty()
        {
            prop_assert_eq!(&marks.note(1)[8..], &bytes);
        }
    }
}
