//! The files of a buffer: read back, shortened, damaged. `damage` has the laws of both forms.

mod damage;

use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use engine::Messages;

use super::{FileStore, buffer_file};
use crate::config::{FileBase, FileConfig};
use crate::message::Message;
use crate::store::tests::{at, read, surroundings, write};
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
    let store = buffer_file(&config(max_size), b"web", 0, &surroundings).unwrap();
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

/// The file of these categories and messages, written from the text of docs/formats/collected.md.
fn records(list: &[(&str, &str)]) -> Vec<u8> {
    let mut data: Vec<u8> = Vec::new();
    for (category, body) in list {
        let mut head: Vec<u8> = Vec::new();
        head.extend((category.len() as u32).to_le_bytes());
        head.extend((body.len() as u32).to_le_bytes());
        head.extend(crc32c::crc32c(format!("{category}{body}").as_bytes()).to_le_bytes());
        let placed = [&(data.len() as u64).to_le_bytes()[..], &head].concat();
        head.extend(crc32c::crc32c(&placed).to_le_bytes());
        data.extend(head);
        data.extend([category.as_bytes(), body.as_bytes()].concat());
    }
    data
}

#[test]
fn messages_have_checksums_and_come_back_as_they_came_empty_ones_too() {
    let (disk, _, mut store) = buffer(0);
    write(&mut store, &["hi", "", "a\nb"], at(12, 0));
    assert_eq!(
        read(&*disk, "buffer/web_00000.buffer2"),
        records(&[("web", "hi"), ("web", ""), ("web", "a\nb")])
    );
    let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
    assert_eq!(bodies(&oldest), ["hi", "", "a\nb"]);
    assert!(oldest.runs().all(|run| *run.category == *b"web"));
    assert_eq!(
        disk.list("buffer").unwrap(),
        ["web_00000.buffer2"],
        "no link"
    );
}

#[test]
fn a_file_shared_by_categories_keeps_the_category_of_each_message() {
    let (disk, surroundings, _) = buffer(0);
    let mut store = buffer_file(&config(0), b"", 0, &surroundings).unwrap();
    let batch = [("web", ""), ("mail", "x\n")].map(|(category, body)| Message {
        category: category.as_bytes(),
        body: body.as_bytes(),
    });
    assert_eq!(store.write(&batch, at(12, 0)).taken, 2);
    let want = records(&[("web", ""), ("mail", "x\n")]);
    assert_eq!(read(&*disk, "buffer/default_00000.buffer2"), want);
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
    let torn = disk.open("buffer/web_00000.buffer2").unwrap();
    torn.write_at(22, b"\x03\0\0\0\x09\0\0").unwrap();
    for _ in 0..2 {
        let mut later = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
        later.open(at(12, 0)).unwrap();
    }
    assert_eq!(
        disk.list("buffer").unwrap(),
        ["web_00000.buffer2", "web_00001.buffer2"]
    );
    let mut later = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
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
    let mut later = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
    assert_eq!(bodies(&later.read_oldest(0, at(12, 0)).unwrap()), ["three"]);
    assert!(later.remove_oldest(1).unwrap());
    assert!(later.is_empty(at(12, 0)).unwrap());
    assert_eq!(
        disk.list("buffer").unwrap(),
        [""; 0],
        "nor is its note there"
    );
}

#[test]
fn a_killed_store_goes_on_behind_the_last_piece_that_was_sent() {
    let (_, surroundings, mut store) = buffer(0);
    write(&mut store, &["one", "two", "three", "four"], at(12, 0));
    for want in ["two", "three", "four"] {
        store.read_oldest(0, at(12, 0)).unwrap();
        assert!(!store.remove_oldest(1).unwrap());
        store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap(); // without a close
        let oldest = store.read_oldest(0, at(12, 0)).unwrap();
        assert_eq!(bodies(&oldest), [want]);
    }
}

#[test]
fn the_note_of_a_removed_file_skips_no_message_of_a_later_file_of_its_name() {
    let (disk, surroundings, mut store) = buffer(0);
    write(&mut store, &["one", "two"], at(12, 0));
    store.read_oldest(0, at(12, 0)).unwrap();
    store.remove_oldest(1).unwrap();
    disk.remove("buffer/web_00000.buffer2").unwrap(); // and its note stays
    let mut store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
    write(&mut store, &["one", "two"], at(12, 0)); // the same bytes
    let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
    assert_eq!(bodies(&oldest), ["one", "two"]);
}

#[test]
fn a_note_that_is_damaged_or_behind_the_end_of_its_file_or_a_link_does_not_count() {
    let (disk, surroundings, mut store) = buffer(0);
    write(&mut store, &["one", "two"], at(12, 0));
    store.read_oldest(0, at(12, 0)).unwrap();
    store.remove_oldest(1).unwrap();
    let path = "buffer/web_00000.buffer2.sent";
    let note = read(&*disk, path);
    assert_eq!(note.len(), 12);
    let again = || {
        let mut store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
        bodies(&store.read_oldest(usize::MAX, at(12, 0)).unwrap())
    };
    assert_eq!(again(), ["two"]);
    for bit in 0..12 * 8 {
        let mut damaged = note.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        disk.open(path).unwrap().write_at(0, &damaged).unwrap();
        assert_eq!(again(), ["one", "two"], "bit {bit}");
    }
    let file = disk.open(path).unwrap();
    file.write_at(0, &note).unwrap();
    file.set_len(11).unwrap();
    assert_eq!(again(), ["one", "two"], "a torn note");
    let mut beyond = 1_000_u64.to_le_bytes().to_vec();
    let sum = crc32c::crc32c_append(crc32c::crc32c(b"web_00000.buffer2.sent"), &beyond);
    beyond.extend(sum.to_le_bytes());
    file.write_at(0, &beyond).unwrap();
    assert_eq!(again(), ["one", "two"], "beyond the end");
    disk.remove(path).unwrap();
    disk.create("buffer/else")
        .unwrap()
        .write_at(0, &note)
        .unwrap();
    disk.symlink("else", path).unwrap();
    assert_eq!(again(), ["one", "two"], "a link");
    let mut store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
    store.read_oldest(0, at(12, 0)).unwrap();
    disk.open("buffer/else").unwrap().set_len(0).unwrap();
    store.remove_oldest(1).unwrap();
    assert_eq!(
        read(&*disk, "buffer/else"),
        b"",
        "the link's target is not written to"
    );
    assert_eq!(again(), ["two"]);
}

#[test]
fn links_among_the_files_of_a_buffer_are_neither_read_nor_written_to() {
    let (disk, surroundings, _) = buffer(0);
    disk.create_dir("buffer").unwrap();
    let secret = records(&[("web", "a secret of the server")]);
    disk.create("buffer/secret")
        .unwrap()
        .write_at(0, &secret)
        .unwrap();
    for name in ["web_00003.buffer2", "web_00004"] {
        disk.symlink("secret", &format!("buffer/{name}")).unwrap();
    }
    let mut store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
    assert!(store.is_empty(at(12, 0)).unwrap());
    write(&mut store, &["one"], at(12, 0));
    let oldest = store.read_oldest(usize::MAX, at(12, 0)).unwrap();
    assert_eq!(bodies(&oldest), ["one"]);
    assert_eq!(read(&*disk, "buffer/secret"), secret);
    assert_eq!(
        read(&*disk, "buffer/web_00005.buffer2"),
        records(&[("web", "one")])
    );
}

#[test]
fn files_of_an_earlier_build_are_read_first_and_never_written_to() {
    let (disk, surroundings, _) = buffer(0);
    disk.create_dir("buffer").unwrap();
    let old = damage::framed(&["one", "two"], true);
    for name in ["web_00000.buffer", "web_00001.buffer"] {
        disk.create(&format!("buffer/{name}"))
            .unwrap()
            .write_at(0, &old)
            .unwrap();
    }
    let mut store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
    write(&mut store, &["three"], at(12, 0));
    assert_eq!(read(&*disk, "buffer/web_00001.buffer"), old);
    assert_eq!(bodies(&store.read_oldest(0, at(12, 0)).unwrap()), ["one"]);
    store.remove_oldest(1).unwrap();
    store.close(at(12, 0));
    assert_eq!(
        disk.list("buffer").unwrap(),
        ["web_00000.buffer", "web_00001.buffer", "web_00002.buffer2"],
        "a build that knows no notes may come back: what is left is in the file itself"
    );
    let mut store = buffer_file(&config(0), b"web", 0, &surroundings).unwrap();
    let mut all = Vec::new();
    while !store.is_empty(at(12, 0)).unwrap() {
        all.extend(bodies(&store.read_oldest(usize::MAX, at(12, 0)).unwrap()));
        store.remove_oldest(usize::MAX).unwrap();
    }
    assert_eq!(all, ["two", "one", "two", "three"]);
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
        let mut later = buffer_file(&changed, later_category, 0, &surroundings).unwrap();
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
        let data = damage::framed(&["one", "two"], write_category);
        scribes.write_at(0, &data).unwrap();
        let mut store = buffer_file(&config, b"web", 0, &surroundings).unwrap();
        write(&mut store, &["three"], at(12, 0));
        disk.remove("buffer/web_00008.buffer2").unwrap();
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
