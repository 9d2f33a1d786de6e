//! Laws of reading a damaged file: with checksums, and in the frames of Scribe and of earlier builds.

use engine::Messages;
use proptest::prelude::*;

use super::super::checked;
use super::super::frames::{self, Content};
use super::{bodies, records};
use crate::message::Message;
use crate::store::tests::messages;

/// Reads all of a file.
fn whole(data: &[u8], category: Option<&[u8]>) -> Content {
    frames::read(data, 0, usize::MAX, category)
}

fn lost(content: &Content) -> u64 {
    content.lost.iter().map(|(_, bytes)| bytes).sum()
}

/// The file of these messages; without their categories, as Scribe writes it.
pub(super) fn framed(bodies: &[&str], has_category: bool) -> Vec<u8> {
    let mut data = Vec::new();
    for message in messages(bodies) {
        append(&message, has_category, &mut data);
    }
    data
}

fn append(message: &Message<'_>, has_category: bool, data: &mut Vec<u8>) {
    if has_category {
        data.extend((message.category.len() as u32 + 1).to_le_bytes());
        data.extend([message.category, b"\n"].concat());
    }
    data.extend((message.body.len() as u32).to_le_bytes());
    data.extend(message.body);
}

#[test]
fn a_flipped_bit_of_a_file_with_checksums_costs_its_own_message_alone() {
    let list = ["one", "", "three", "a longer message, the fourth", "five"];
    let pairs = list.map(|body| ("web", body));
    let data = records(&pairs);
    for bit in 0..data.len() * 8 {
        let mut damaged = data.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let content = checked::read(&damaged, 0, usize::MAX);
        let (mut start, mut want) = (0, Vec::new());
        for body in list {
            let end = start + checked::HEAD_BYTES + 3 + body.len();
            if !(start..end).contains(&(bit / 8)) {
                want.push(body);
            }
            start = end;
        }
        assert_eq!(bodies(&content.messages), want, "bit {bit}");
        assert_eq!(content.lost.len(), 1, "bit {bit}");
    }
}

#[test]
fn a_message_that_holds_records_of_another_file_is_one_message_whatever_is_damaged() {
    let inner = records(&[("mail", "not a message"), ("mail", "nor this")]);
    let mut data = Vec::new();
    let list: [&[u8]; 3] = [b"one", &inner, b"three"];
    for body in list {
        let category = b"web";
        assert!(checked::append(&Message { category, body }, 0, &mut data));
    }
    for place in 22..22 + checked::HEAD_BYTES {
        let mut damaged = data.clone();
        damaged[place] ^= 0x40;
        let content = checked::read(&damaged, 0, usize::MAX);
        assert_eq!(bodies(&content.messages), ["one", "three"], "byte {place}");
    }
}

#[test]
fn a_length_past_the_end_loses_its_own_record_alone() {
    let mut data = framed(&["one", "two", "three", "four"], false);
    data[7..11].copy_from_slice(&[0xff; 4]);
    let content = whole(&data, Some(b"web"));
    assert_eq!(bodies(&content.messages), ["one", "three", "four"]);
    assert_eq!(lost(&content), 7);
}

#[test]
fn a_length_that_leads_into_the_next_message_loses_its_own_record_alone() {
    let mut data = framed(&["one", "two", "three", "four"], false);
    data[7] = 9;
    let content = whole(&data, Some(b"web"));
    assert_eq!(bodies(&content.messages), ["one", "three", "four"]);
    assert_eq!(lost(&content), 7);
}

#[test]
fn a_place_that_leads_to_a_record_by_chance_is_not_taken() {
    // Read from one byte too early, the length of "bb…" is 256 · 40 + 0x61: it leads to the record of "end".
    let long = "c".repeat(40 * 256 + 0x61 + 3 - 40 - 4 - 4);
    let mut data = framed(
        &["one", "a", &"b".repeat(40), &long, "end", "of", "file"],
        false,
    );
    let by_chance = 11 + 4 + 40 * 256 + 0x61;
    assert_eq!(
        data.get(by_chance..by_chance + 7),
        Some(&b"\x03\0\0\0end"[..])
    );
    data[7..11].copy_from_slice(&[0xff; 4]);
    let content = whole(&data, Some(b"web"));
    assert_eq!(lost(&content), 5);
    assert_eq!(content.messages.count(), 6);
}

#[test]
fn zeroes_in_a_damaged_record_become_at_most_7_empty_messages() {
    let zeroes = "\0".repeat(60);
    let mut data = framed(&["one", &zeroes, "three", ""], false);
    data[7..11].copy_from_slice(&[0xff; 4]);
    let content = whole(&data, Some(b"web"));
    let bodies = bodies(&content.messages);
    let ends = (
        bodies.first().map(String::as_str),
        bodies.last().map(String::as_str),
    );
    assert_eq!(ends, (Some("one"), Some("")));
    let empty = bodies.iter().filter(|body| body.is_empty()).count();
    assert!(
        empty <= 8 && bodies.contains(&"three".to_owned()),
        "{bodies:?}"
    );
}

#[test]
fn a_torn_end_loses_only_the_torn_record() {
    let data = framed(&["one", "", "three"], false);
    for end in 11..data.len() {
        let content = whole(&data[..end], Some(b"web"));
        assert_eq!(bodies(&content.messages), ["one", ""], "{end} bytes");
        assert_eq!(lost(&content), end as u64 - 11);
    }
}

proptest! {
    #[test]
    fn what_was_written_with_checksums_is_read_back_whole_and_in_pieces(
        list in prop::collection::vec(("[a-z]{1,5}", prop::collection::vec(any::<u8>(), 0..50)), 0..40),
        start in 0..2_u64,
        bytes_max in 0..200usize,
    ) {
        let start = start * 100;
        let mut data = Vec::new();
        let mut want = Messages::default();
        for (category, body) in &list {
            let category = category.as_bytes();
            let is_held = checked::append(&Message { category, body }, start, &mut data);
            prop_assert!(is_held);
            want.push(category, body);
        }
        let data = [vec![0; start as usize], data].concat();
        let (mut from, mut pieces) = (start as usize, Messages::default());
        while from < data.len() {
            let piece = checked::read(&data, from, bytes_max);
            prop_assert!(piece.end > from && piece.lost.is_empty());
            for run in piece.messages.runs() {
                run.bodies().for_each(|body| pieces.push(run.category, body));
            }
            from = piece.end;
        }
        prop_assert_eq!(pieces, want);
    }

    #[test]
    fn any_bytes_are_read_with_checksums_without_a_panic_and_every_byte_is_a_message_or_lost(
        list in prop::collection::vec("[ -~]{0,60}", 0..20),
        hurt in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        cut in any::<prop::sample::Index>(),
    ) {
        let pairs: Vec<(&str, &str)> = list.iter().map(|body| ("web", body.as_str())).collect();
        let mut data = records(&pairs);
        if !data.is_empty() {
            let bytes = data.len();
            hurt.iter().for_each(|(place, byte)| data[place.index(bytes)] = *byte);
            data.truncate(cut.index(bytes) + 1);
        }
        let content = checked::read(&data, 0, usize::MAX);
        let bytes = |body: &String| checked::HEAD_BYTES + 3 + body.len();
        let got = bodies(&content.messages);
        prop_assert!(got.iter().all(|body| list.contains(body)), "only what was written");
        let kept: usize = got.iter().map(bytes).sum();
        prop_assert_eq!(kept as u64 + lost(&content), data.len() as u64);
    }

    #[test]
    fn what_was_framed_is_read_back(
        list in prop::collection::vec(("[a-z]{1,5}", prop::collection::vec(any::<u8>(), 0..50)), 0..40),
        has_category in any::<bool>(),
        bytes_max in 0..200usize,
    ) {
        let mut data = Vec::new();
        let mut want = Messages::default();
        for (category, body) in &list {
            let category = if has_category { category.as_bytes() } else { b"web" };
            append(&Message { category, body }, has_category, &mut data);
            want.push(category, body);
        }
        let category = (!has_category).then_some(&b"web"[..]);
        let content = whole(&data, category);
        prop_assert_eq!((&content.messages, content.lost.len()), (&want, 0));
        // In pieces it is the same.
        let (mut from, mut pieces) = (0, Messages::default());
        while from < data.len() {
            let piece = frames::read(&data, from, bytes_max, category);
            prop_assert!(piece.end > from);
            for run in piece.messages.runs() {
                run.bodies().for_each(|body| pieces.push(run.category, body));
            }
            from = piece.end;
        }
        prop_assert_eq!(pieces, want);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic_and_every_byte_is_a_message_or_lost(
        data in prop::collection::vec(prop_oneof![3 => 0..3_u8, 1 => any::<u8>()], 0..300),
        has_category in any::<bool>(),
    ) {
        let content = whole(&data, (!has_category).then_some(b"web"));
        let heads = if has_category { 9 } else { 4 };
        let mut bytes = 0;
        for run in content.messages.runs() {
            let category = if has_category { run.category.len() } else { 0 };
            bytes += run.bodies().map(|body| heads + body.len() + category).sum::<usize>();
        }
        prop_assert_eq!(bytes as u64 + lost(&content), data.len() as u64);
    }

    #[test]
    fn damage_loses_text_only_where_it_strikes(
        list in prop::collection::vec("[ -~]{0,60}", 1..60),
        place in any::<prop::sample::Index>(),
        garbage in prop::collection::vec(0x80..=0xff_u8, 1..30),
        has_category in any::<bool>(),
    ) {
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        let mut data = framed(&list, has_category);
        let from = place.index(data.len());
        let to = data.len().min(from + garbage.len());
        data[from..to].copy_from_slice(&garbage[..to - from]);
        let (mut start, mut want) = (0, Vec::new());
        for body in &list {
            let end = start + 4 + body.len() + if has_category { 8 } else { 0 };
            if end <= from || start >= to {
                want.push(*body);
            }
            start = end;
        }
        let got = bodies(&whole(&data, (!has_category).then_some(b"web")).messages);
        let mut got = got.iter();
        // Behind the damage, the chain of a place needs a message that is not empty.
        while want.last() == Some(&"") {
            want.pop();
        }
        for body in want {
            prop_assert!(got.any(|got| got == body), "{:?} is gone", body);
        }
    }
}
