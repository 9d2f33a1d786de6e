use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use super::Snapshot;

/// A file for a test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let name = format!("seine-log-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, bytes).unwrap();
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Reads a file that gets `more` after it was opened, `step` bytes at a time.
fn read(name: &str, before: &[u8], more: &[u8], step: usize) -> Vec<u8> {
    let scratch = Scratch::new(name, before);
    let mut snapshot = Snapshot::new(File::open(&scratch.0).unwrap()).unwrap();
    let mut log = File::options().append(true).open(&scratch.0).unwrap();
    log.write_all(more).unwrap();
    let mut all = Vec::new();
    let mut room = vec![0; step];
    loop {
        match snapshot.read(&mut room).unwrap() {
            0 => return all,
            count => all.extend_from_slice(&room[..count]),
        }
    }
}

#[test]
fn lines_that_come_later_are_not_read_but_a_half_line_is_ended() {
    for step in [1, 2, 3, 100] {
        for (before, more, wanted) in [
            (&b"one\ntwo\n"[..], &b"three\n"[..], &b"one\ntwo\n"[..]),
            (b"one\ntw", b"o\nthree\n", b"one\ntwo\n"),
            (b"one\ntw", b"o, and no end", b"one\ntwo, and no end"),
            (b"one\ntwo", b"", b"one\ntwo"),
            (b"", b"one\n", b""),
        ] {
            let name = format!("grows-{step}");
            assert_eq!(read(&name, before, more, step), wanted, "{step}");
        }
    }
}

#[test]
fn a_file_that_gets_shorter_ends_where_it_ends() {
    let scratch = Scratch::new("shorter", b"one\ntwo\n");
    let mut snapshot = Snapshot::new(File::open(&scratch.0).unwrap()).unwrap();
    File::options()
        .write(true)
        .open(&scratch.0)
        .unwrap()
        .set_len(4)
        .unwrap();
    let mut room = [0; 100];
    assert_eq!(snapshot.read(&mut room).unwrap(), 4);
    assert_eq!(snapshot.read(&mut room).unwrap(), 0);
}
