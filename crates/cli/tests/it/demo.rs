//! The demo with posts and queries of the user's, over both ways of posts to the server.

use std::fmt::Write as _;

use crate::server::{Folder, clean_command};

/// Runs the demo over 3,000 short posts and two queries, with one more argument; gives its output.
fn demo(way: &[&str]) -> String {
    let folder = Folder::new();
    let mut posts = String::new();
    for number in 0..3_000 {
        let word = ["cat", "dog", "cow"][number % 3];
        writeln!(posts, "{{\"body\": \"a {word} number {number}\"}}").unwrap();
    }
    std::fs::write(folder.path("posts"), posts).unwrap();
    std::fs::write(folder.path("queries"), "cat\ndog -cow\n").unwrap();
    let output = clean_command()
        .args(["demo", "--exit", "--data", &folder.path("demo")])
        .args(["--posts", &folder.path("posts")])
        .args(["--queries", &folder.path("queries")])
        .args(way)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{shown}{told}");
    shown
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
