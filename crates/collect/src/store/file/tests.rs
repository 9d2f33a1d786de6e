//! The files of a buffer: read back, shortened, damaged.

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use engine::Messages;
use proptest::prelude::*;

use super::frames::{self, Content};
use super::{FileStore, buffer_file};
use crate::config::{FileBase, FileConfig};
use crate::message::Message;
use crate::store::tests::{at, messages, read, surroundings, write};
use crate::store::{Backlog, Store, Surroundings};

fn config(max_size: u64) -> FileConfig {
    FileConfig {
        base: FileBase {
            file_path: "/buffer".to_owned(),
            max_size,
            ..FileBase::default()
        },
        add_newlines: true,
    }
}

fn buffer(max_size: u64) -> (Arc<dyn Disk>, Surroundings, FileStore) {
    let disk: Arc<dyn Disk> = Arc::new(MemoryDisk::new());
    let surroundings = surroundings(&disk);
    let store = buffer_file(&config(max_size), b"web", false, &surroundings).unwrap();
    (disk, surroundings, store)
}

fn bodies(messages: &Messages) -> Vec<String> {
    let runs = messages.runs();
    runs.flat_map(|run| {
        run.bodies()
            .map(|body| String::from_utf8_lossy(body).into_owned())
            .collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn messages_are_framed_and_come_back_as_they_came_empty_ones_too() {
    let (disk, _, mut store) = buffer(0);
    write(&mut store, &["hi", "", "a\nb"], at(12, 0));
    assert_eq!(
        read(&*disk, "buffer/web_00000.buffer"),
        b"\x04\0\0\0web\n\x02\0\0\0hi\x04\0\0\0web\n\0\0\0\0\x04\0\0\0web\n\x03\0\0\0a\nb"
    );
    let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
    assert_eq!(bodies(&oldest), ["hi", "", "a\nb"]);
    assert!(oldest.runs().all(|run| *run.category == *b"web"));
    assert_eq!(
        disk.list("buffer").unwrap(),
        ["web_00000.buffer"],
        "no link"
    );
}

#[test]
fn a_file_shared_by_categories_keeps_the_category_of_each_message() {
    let (disk, surroundings, _) = buffer(0);
    let mut store = buffer_file(&config(0), b"", false, &surroundings).unwrap();
    let batch = [("web", ""), ("mail", "x\n")].map(|(category, body)| Message {
        category: category.as_bytes(),
        body: body.as_bytes(),
    });
    assert_eq!(store.write(&batch, at(12, 0)).taken, 2);
    let want = b"\x04\0\0\0web\n\0\0\0\0\x05\0\0\0mail\n\x02\0\0\0x\n";
    assert_eq!(read(&*disk, "buffer/default_00000.buffer"), want);
    let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
    let categories: Vec<&[u8]> = oldest.runs().map(|run| run.category).collect();
    assert_eq!(
        (categories, bodies(&oldest)),
        (
            vec![&b"web"[..], b"mail"],
            vec![String::new(), "x\n".to_owned()]
        )
    );
}

#[test]
fn files_are_read_the_oldest_first_and_a_file_that_is_written_ends() {
    let (disk, _, mut store) = buffer(6);
    assert!(store.is_empty(at(12, 0)).unwrap());
    write(&mut store, &["one", "two"], at(12, 0));
    let mut all = Vec::new();
    while !store.is_empty(at(12, 0)).unwrap() {
        let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
        all.push(bodies(&oldest).join(","));
        if all.len() == 2 {
            write(&mut store, &["three"], at(12, 0));
        }
        store.remove_oldest(usize::MAX).unwrap();
    }
    assert_eq!(all, ["one", "two", "three"]);
    write(&mut store, &["x"], at(12, 0));
    assert_eq!(
        bodies(&store.read_oldest(usize::MAX, at(12, 0)).unwrap()),
        ["x"]
    );
    assert!(disk.list("buffer").unwrap().len() <= 2);
}

#[test]
fn a_message_written_while_its_file_is_read_goes_to_the_next_file() {
    let (_, _, mut store) = buffer(0);
    write(&mut store, &["one", "two"], at(12, 0));
    assert_eq!(
        bodies(&store.read_oldest(usize::MAX, at(12, 0)).unwrap()),
        ["one", "two"]
    );
    write(&mut store, &["three"], at(12, 0));
    assert!(!store.remove_oldest(1).unwrap(), "a message is left");
    assert_eq!(
        bodies(&store.read_oldest(usize::MAX, at(12, 0)).unwrap()),
        ["two"]
    );
    assert!(store.remove_oldest(1).unwrap());
    assert_eq!(
        bodies(&store.read_oldest(usize::MAX, at(12, 0)).unwrap()),
        ["three"]
    );
}

#[test]
fn a_new_store_reads_the_files_of_the_old_one_and_writes_behind_them() {
    let (disk, surroundings, mut store) = buffer(0);
    write(&mut store, &["one"], at(12, 0));
    let torn = disk.open("buffer/web_00000.buffer").unwrap();
    torn.write_at(15, b"\x09\0\0\0tor").unwrap();
    for _ in 0..2 {
        let mut later = buffer_file(&config(0), b"web", false, &surroundings).unwrap();
        later.open(at(12, 0)).unwrap();
    }
    assert_eq!(
        disk.list("buffer").unwrap(),
        ["web_00000.buffer", "web_00001.buffer"]
    );
    let mut later = buffer_file(&config(0), b"web", false, &surroundings).unwrap();
    write(&mut later, &["two"], at(12, 0));
    for _ in 0..2 {
        assert_eq!(
            bodies(&later.read_oldest(usize::MAX, at(12, 0)).unwrap()),
            ["one"]
        );
    }
    assert_eq!(surroundings.counters.all()[&b"web:bytes lost"[..]], 7);
    later.remove_oldest(usize::MAX).unwrap();
    assert_eq!(
        bodies(&later.read_oldest(usize::MAX, at(12, 0)).unwrap()),
        ["two"]
    );
}

/// Reads all of a file.
fn whole(data: &[u8], category: Option<&[u8]>) -> Content {
    frames::read(data, 0, usize::MAX, category)
}

fn lost(content: &Content) -> u64 {
    content.lost.iter().map(|(_, bytes)| bytes).sum()
}

#[test]
fn pieces_of_a_file_are_removed_and_a_closed_store_keeps_the_rest() {
    let (disk, surroundings, mut store) = buffer(0);
    write(&mut store, &["one", "two", "three"], at(12, 0));
    assert_eq!(
        bodies(&store.read_oldest(4, at(12, 0)).unwrap()),
        ["one", "two"]
    );
    assert!(!store.remove_oldest(2).unwrap(), "a third message is left");
    store.close(at(12, 0));
    assert_eq!(
        read(&*disk, "buffer/web_00000.buffer"),
        b"\x04\0\0\0web\n\x05\0\0\0three"
    );
    let mut later = buffer_file(&config(0), b"web", false, &surroundings).unwrap();
    assert_eq!(bodies(&later.read_oldest(0, at(12, 0)).unwrap()), ["three"]);
    assert!(later.remove_oldest(1).unwrap());
    assert!(later.is_empty(at(12, 0)).unwrap());
}

/// The file of these messages; without their categories, as Scribe writes it.
fn framed(bodies: &[&str], has_category: bool) -> Vec<u8> {
    let mut data = Vec::new();
    for message in messages(bodies) {
        append(&message, has_category, &mut data);
    }
    data
}

fn append(message: &Message<'_>, has_category: bool, data: &mut Vec<u8>) {
    if has_category {
        assert!(frames::append(message, data));
    } else {
        data.extend((message.body.len() as u32).to_le_bytes());
        data.extend(message.body);
    }
}

#[test]
fn a_changed_configuration_misreads_no_left_over_file() {
    for (write_category, later_category) in [(true, &b"web"[..]), (false, b"mail"), (false, b"")] {
        let (_, surroundings, mut store) = buffer(0);
        // Read without a category, these would be the category "GET /" and the message "GET /x\n".
        write(&mut store, &["GET /\n", "GET /x\n"], at(12, 0));
        store.close(at(12, 0));
        let mut changed = config(0);
        changed.base.write_category = write_category;
        changed.base.base_filename = Some("web".to_owned());
        let mut later = buffer_file(&changed, later_category, false, &surroundings).unwrap();
        let oldest = later.read_oldest(usize::MAX, at(12, 0)).unwrap();
        assert_eq!(bodies(&oldest), ["GET /\n", "GET /x\n"]);
        assert!(oldest.runs().all(|run| *run.category == *b"web"));
    }
}

#[test]
fn files_of_scribe_are_read_as_the_configuration_says_and_never_written_to() {
    for write_category in [false, true] {
        let (disk, surroundings, _) = buffer(0);
        let mut config = config(0);
        config.base.write_category = write_category;
        disk.create_dir("buffer").unwrap();
        let scribes = disk.create("buffer/web_00007").unwrap();
        let data = framed(&["one", "two"], write_category);
        scribes.write_at(0, &data).unwrap();
        let mut store = buffer_file(&config, b"web", false, &surroundings).unwrap();
        write(&mut store, &["three"], at(12, 0));
        disk.remove("buffer/web_00008.buffer").unwrap();
        write(&mut store, &["four"], at(12, 0));
        assert_eq!(read(&*disk, "buffer/web_00007"), data);
        let mut all = Vec::new();
        while !store.is_empty(at(12, 0)).unwrap() {
            let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
            assert!(oldest.runs().all(|run| *run.category == *b"web"));
            all.extend(bodies(&oldest));
            store.remove_oldest(usize::MAX).unwrap();
        }
        assert_eq!(all, ["one", "two", "four"]);
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
