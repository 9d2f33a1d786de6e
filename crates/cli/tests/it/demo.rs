//! The demo with posts and queries of the user's, over both ways of posts to the server.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::server::{Folder, clean_command};

/// The command of a demo over 3,000 short posts and two queries.
fn command(folder: &Folder) -> Command {
    let mut posts = String::new();
    for number in 0..3_000 {
        let word = ["cat", "dog", "cow"][number % 3];
        writeln!(posts, "{{\"body\": \"a {word} number {number}\"}}").unwrap();
    }
    std::fs::write(folder.path("posts"), posts).unwrap();
    std::fs::write(folder.path("queries"), "cat\ndog -cow\n").unwrap();
    let mut command = clean_command();
    command
        .args(["demo", "--data", &folder.path("demo")])
        .args(["--posts", &folder.path("posts")])
        .args(["--queries", &folder.path("queries")]);
    command
}

/// Runs the demo with one more argument; gives its output.
fn demo(way: &[&str]) -> String {
    let folder = Folder::new();
    let output = command(&folder).arg("--exit").args(way).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{shown}{told}");
    shown
}

#[test]
fn in_a_pipe_the_demo_ends_by_itself() {
    let folder = Folder::new();
    let output = command(&folder).stdin(Stdio::null()).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}");
    assert!(shown.contains("3,000 posts acknowledged, 3,000 found"));
    assert!(!shown.contains("serving until Ctrl-C"), "{shown}");
}

#[test]
fn the_demo_ends_where_nobody_reads_on() {
    let folder = Folder::new();
    let mut child = command(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    let mut shown = BufReader::new(child.stdout.take().unwrap());
    shown.read_line(&mut first).unwrap();
    drop(shown); // as `| head -1` does
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert!(first.starts_with("Seine:"), "{first}");
    assert_eq!((ended.status.code(), told.as_str()), (Some(0), ""));
}

#[test]
fn every_post_and_hit_is_there_after_a_kill_whichever_way_it_came() {
    for (way, files) in [(&[][..], 0), (&["--collect"], 1)] {
        let shown = demo(way);
        let whole = shown
            .matches("3,000 posts acknowledged, 3,000 found")
            .count();
        let hits = shown
            .matches("2,000 hits expected, 2,000 found: 0 missing")
            .count();
        let kept = shown
            .matches("the files of the category hold all 3,000 posts")
            .count();
        assert_eq!((whole, hits, kept), (1, 1, files), "{shown}");
    }
}
