//! `seine bench` becomes `seine-bench`. A shell stands for that program.

use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::server::{Folder, SEINE, clean};

/// The binary under another name, in a folder of the same file system.
fn linked(name: &str) -> (Folder, String) {
    let inside =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir(&inside).unwrap();
    let folder = Folder(inside);
    let binary = folder.path(name);
    std::fs::hard_link(SEINE, &binary).unwrap();
    (folder, binary)
}

#[test]
fn arguments_streams_and_status_are_those_of_the_program_beside_the_binary() {
    let (_folder, binary) = linked("seine-77");
    symlink("/bin/sh", format!("{binary}-bench")).unwrap();
    let script = "cat; printf '<%s>' \"$@\"; echo told >&2; exit 7";
    let mut child = clean(Command::new(&binary))
        .args(["bench", "-c", script, "sh"])
        .args([
            "percolate",
            "--help",
            "--runs=1",
            "-b",
            "--version",
            "--",
            "two words",
            "",
            "-h",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"given").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&ended.stdout),
        "given<percolate><--help><--runs=1><-b><--version><--><two words><><-h>"
    );
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "told\n");
    assert_eq!(ended.status.code(), Some(7));
}

#[test]
fn without_a_program_beside_it_the_one_on_the_path_is_started() {
    let (folder, binary) = linked("seine-path");
    symlink("/bin/sh", folder.path("seine-bench")).unwrap();
    let ended = clean(Command::new(&binary))
        .env("PATH", &folder.0)
        .args(["bench", "-c", "echo started"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "started\n");
}

#[test]
fn without_a_program_the_verb_says_how_to_build_it() {
    let (folder, binary) = linked("seine-alone");
    let ended = clean(Command::new(&binary))
        .env("PATH", &folder.0)
        .args(["bench", "--help"])
        .output()
        .unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let told = String::from_utf8_lossy(&ended.stderr);
    let wanted = "cargo build --release --manifest-path bench/Cargo.toml";
    assert!(told.contains(wanted), "{told}");
    assert!(told.contains(&format!("{binary}-bench")), "{told}");
}
