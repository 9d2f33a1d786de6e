//! The contract of every implementation.

use std::io::ErrorKind;

use proptest::prelude::*;

use super::{on_every_disk, read, write};
use crate::Disk;

#[track_caller]
fn refused<T>(kind: ErrorKind, result: std::io::Result<T>) {
    assert_eq!(result.err().map(|error| error.kind()), Some(kind));
}

#[test]
fn a_new_file_is_empty_and_holds_what_is_written() {
    on_every_disk(|disk| {
        let file = disk.create("a").unwrap();
        assert!(file.is_empty().unwrap());
        file.write_at(3, b"later").unwrap();
        file.write_at(0, b"now").unwrap();
        file.sync().unwrap();
        assert_eq!(read(disk, "a"), b"nowlater");
    });
}

#[test]
fn a_write_beyond_the_end_leaves_zeroes_between() {
    on_every_disk(|disk| {
        disk.create("a").unwrap().write_at(5000, b"x").unwrap();
        let content = read(disk, "a");
        assert_eq!(
            (content.len(), content[4999], content[5000]),
            (5001, 0, b'x')
        );
    });
}

#[test]
fn an_empty_write_does_not_grow_a_file() {
    on_every_disk(|disk| {
        let file = disk.create("a").unwrap();
        file.write_at(10, b"").unwrap();
        assert_eq!(file.len().unwrap(), 0);
    });
}

#[test]
fn a_file_cut_and_grown_again_reads_zeroes() {
    on_every_disk(|disk| {
        write(disk, "a", b"secret");
        let file = disk.open("a").unwrap();
        file.set_len(2).unwrap();
        file.set_len(6).unwrap();
        assert_eq!(read(disk, "a"), b"se\0\0\0\0");
    });
}

#[test]
fn a_read_beyond_the_end_is_refused() {
    on_every_disk(|disk| {
        write(disk, "a", b"abc");
        let file = disk.open("a").unwrap();
        refused(ErrorKind::UnexpectedEof, file.read_at(1, &mut [0; 3]));
        refused(ErrorKind::UnexpectedEof, file.read_at(99, &mut [0; 1]));
        file.read_at(3, &mut []).unwrap();
    });
}

#[test]
fn a_map_shows_the_content_and_outlives_the_name() {
    on_every_disk(|disk| {
        write(disk, "a", &[7; 10_000]);
        disk.create("empty").unwrap();
        let map = disk.open("a").unwrap().map().unwrap();
        disk.remove("a").unwrap();
        assert_eq!(map[..], [7; 10_000]);
        assert!(disk.open("empty").unwrap().map().unwrap().is_empty());
    });
}

#[test]
fn names_are_refused_as_the_system_refuses_them() {
    on_every_disk(|disk| {
        disk.create_dir("folder").unwrap();
        write(disk, "file", b"");
        refused(ErrorKind::NotFound, disk.open("none"));
        refused(ErrorKind::NotFound, disk.create("none/a"));
        refused(ErrorKind::AlreadyExists, disk.create("file"));
        refused(ErrorKind::NotFound, disk.list("none"));
        refused(ErrorKind::NotFound, disk.remove("none"));
        refused(ErrorKind::NotFound, disk.rename("none", "other"));
        refused(ErrorKind::NotFound, disk.sync_dir("none"));
        refused(ErrorKind::IsADirectory, disk.rename("file", "folder"));
        refused(ErrorKind::NotADirectory, disk.remove_dir("file"));
    });
}

#[test]
fn a_path_that_leads_outside_is_refused() {
    on_every_disk(|disk| {
        for path in ["/etc", "../a", "a/../b", "a//b", "a/", "./a", "a\0b"] {
            refused(ErrorKind::InvalidInput, disk.open(path));
            refused(ErrorKind::InvalidInput, disk.create(path));
            refused(ErrorKind::InvalidInput, disk.create_dir(path));
            refused(ErrorKind::InvalidInput, disk.remove_dir(path));
        }
    });
}

#[test]
fn names_are_listed_in_order() {
    on_every_disk(|disk| {
        disk.create_dir("d/inner").unwrap();
        disk.create_dir("d/inner").unwrap();
        for name in ["d/c", "d/a", "d/b"] {
            write(disk, name, b"");
        }
        assert_eq!(disk.list("d").unwrap(), ["a", "b", "c", "inner"]);
        assert_eq!(disk.list("").unwrap(), ["d"]);
        assert_eq!(disk.list("d/inner").unwrap(), [""; 0]);
    });
}

#[test]
fn a_rename_replaces_and_moves_between_folders() {
    on_every_disk(|disk| {
        disk.create_dir("x").unwrap();
        disk.create_dir("y").unwrap();
        write(disk, "x/a", b"new");
        write(disk, "y/a", b"older");
        disk.rename("x/a", "y/a").unwrap();
        disk.sync_dir("x").unwrap();
        disk.sync_dir("y").unwrap();
        assert_eq!(read(disk, "y/a"), b"new");
        assert!(!disk.exists("x/a").unwrap());
        disk.rename("y", "z").unwrap();
        assert_eq!(read(disk, "z/a"), b"new");
        assert!(!disk.exists("y").unwrap());
    });
}

#[test]
fn a_link_leads_to_a_file_beside_it_and_replaces_the_link_before() {
    on_every_disk(|disk| {
        disk.create_dir("d/folder").unwrap();
        write(disk, "d/a", b"one");
        write(disk, "d/b", b"two");
        write(disk, "d/now", b"a file in its place");
        disk.symlink("a", "d/now").unwrap();
        assert_eq!(read(disk, "d/now"), b"one");
        disk.symlink("b", "d/now").unwrap();
        assert_eq!(read(disk, "d/now"), b"two");
        assert_eq!(disk.list("d").unwrap(), ["a", "b", "folder", "now"]);
        disk.symlink("now", "d/again").unwrap();
        assert_eq!(read(disk, "d/again"), b"two");
        disk.remove("d/now").unwrap();
        assert_eq!(read(disk, "d/b"), b"two");
        refused(ErrorKind::NotFound, disk.open("d/again"));
        assert!(disk.exists("d/again").unwrap());
        refused(ErrorKind::AlreadyExists, disk.create("d/again"));
    });
}

#[test]
fn a_link_out_of_its_folder_or_over_a_folder_is_refused() {
    on_every_disk(|disk| {
        disk.create_dir("folder").unwrap();
        for target in ["", "..", "/etc/passwd", "folder/a", "a\0b"] {
            refused(ErrorKind::InvalidInput, disk.symlink(target, "link"));
        }
        refused(ErrorKind::IsADirectory, disk.symlink("a", "folder"));
        refused(ErrorKind::NotFound, disk.symlink("a", "none/link"));
        assert_eq!(disk.list("").unwrap(), ["folder"]);
        disk.symlink("other", "one").unwrap();
        disk.symlink("one", "other").unwrap();
        assert!(disk.open("one").is_err());
    });
}

#[test]
fn a_folder_goes_with_all_it_holds() {
    on_every_disk(|disk| {
        disk.create_dir("d/e").unwrap();
        write(disk, "d/e/a", b"1");
        disk.remove_dir("d").unwrap();
        disk.remove_dir("d").unwrap();
        assert!(!disk.exists("d").unwrap());
        assert!(!disk.exists("d/e/a").unwrap());
    });
}

#[test]
fn an_open_without_links_refuses_a_link_and_opens_a_file() {
    on_every_disk(|disk| {
        super::write(disk, "f", b"kept");
        disk.symlink("f", "link").unwrap();
        disk.symlink("nothing", "dangling").unwrap();
        assert_eq!(disk.open("link").unwrap().len().unwrap(), 4);
        assert_eq!(disk.open_no_link("f").unwrap().len().unwrap(), 4);
        for (path, kind) in [
            ("link", ErrorKind::InvalidInput),
            ("dangling", ErrorKind::InvalidInput),
            ("nothing", ErrorKind::NotFound),
        ] {
            assert_eq!(
                disk.open_no_link(path).err().unwrap().kind(),
                kind,
                "{path}"
            );
        }
    });
}

#[test]
fn a_lock_has_one_holder_and_says_who() {
    on_every_disk(|disk| {
        let held = disk.lock("lock").unwrap();
        let error = disk.lock("lock").err().unwrap();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(
            error
                .to_string()
                .contains(&format!("process {}", std::process::id())),
            "{error}"
        );
        drop(held);
        drop(disk.lock("lock").unwrap());
    });
}

#[test]
fn there_is_room_on_the_device() {
    on_every_disk(|disk| {
        let space = disk.space().unwrap();
        assert!(0 < space.free_bytes && space.free_bytes <= space.total_bytes);
    });
}

/// One step on one of two files.
#[derive(Clone, Debug)]
enum Step {
    Write(u8, u16, Vec<u8>),
    SetLen(u8, u16),
    Rename(u8, u8),
    Remove(u8),
    Sync(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0..3u8;
    prop_oneof![
        4 => (file.clone(), 0..9000u16, prop::collection::vec(any::<u8>(), 0..6000))
            .prop_map(|(file, at, data)| Step::Write(file, at, data)),
        1 => (file.clone(), 0..9000u16).prop_map(|(file, len)| Step::SetLen(file, len)),
        1 => (file.clone(), file.clone()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => file.clone().prop_map(Step::Remove),
        1 => file.prop_map(Step::Sync),
    ]
}

fn take(disk: &dyn Disk, step: &Step) -> Result<(), ErrorKind> {
    let name = |file: &u8| format!("f{file}");
    let open = |file: &u8| match disk.open(&name(file)) {
        Err(error) if error.kind() == ErrorKind::NotFound => disk.create(&name(file)),
        result => result,
    };
    let result = match step {
        Step::Write(file, at, data) => open(file).and_then(|f| f.write_at(u64::from(*at), data)),
        Step::SetLen(file, len) => open(file).and_then(|f| f.set_len(u64::from(*len))),
        Step::Rename(from, to) => disk.rename(&name(from), &name(to)),
        Step::Remove(file) => disk.remove(&name(file)),
        Step::Sync(file) => open(file).and_then(|f| f.sync()),
    };
    result.map_err(|error| error.kind())
}

fn everything(disk: &dyn Disk) -> Vec<(String, Vec<u8>)> {
    disk.list("")
        .unwrap()
        .into_iter()
        .map(|name| (name.clone(), read(disk, &name)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn all_disks_do_the_same(steps in prop::collection::vec(step(), 1..40)) {
        let scratch = super::Scratch::new();
        let real = crate::RealDisk::open(&scratch.path).unwrap();
        let (memory, fault) = (crate::MemoryDisk::new(), crate::FaultDisk::new());
        for step in &steps {
            let outcome = take(&real, step);
            prop_assert_eq!(take(&memory, step), outcome);
            prop_assert_eq!(take(&fault, step), outcome);
        }
        prop_assert_eq!(everything(&memory), everything(&real));
        prop_assert_eq!(everything(&fault), everything(&real));
        prop_assert_eq!(everything(&fault.crash(crate::everything_kept)), everything(&real));
    }
}
