//! Logs that are broken, strange or in motion: told, shown by example, never obeyed.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::geteuid;

use super::{column, fixtures, json, printed, refused, report_json, run, run_with, stderr, stdout};
use crate::server::Folder;

const LINE: &str = "[Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 3 (0,20)] [lj] word\n";

#[test]
fn half_lines_and_lines_of_ten_megabytes_are_counted_and_passed_over() {
    let mut log = LINE.as_bytes().to_vec();
    log.extend_from_slice(b"[Fri Jun 29 21:17:58.609 2007] 0.00\n");
    log.resize(log.len() + 10_000_000, b'x');
    log.extend_from_slice(format!("\n{LINE}{}", &LINE[..50]).as_bytes());
    let report = json(&run_with(&["report", "--json"], &log));
    assert_eq!(report["queries"], 2);
    assert_eq!(report["unknown_lines"], 2);
    assert_eq!(report["too_long_lines"], 1);
    assert_eq!(report["lines"], 5);
    assert_eq!(column(&report, "unknown", "line"), [2, 5]);
}

#[test]
fn a_log_without_a_known_line_is_refused_with_its_first_lines() {
    let mut rubbish: Vec<u8> = (0..=255).cycle().take(100_000).collect();
    rubbish.splice(0..0, *b"\x1b[2J\x1b]0;title\x07 <b>first</b>\n");
    let output = run_with(&["report"], &rubbish);
    let said = refused(&output, 1);
    assert!(
        said.contains("standard input:1: \\u{1b}[2J\\u{1b}]0;title\\u{7} <b>first</b>"),
        "{said}"
    );
    assert!(said.contains("docs/query-log.md"), "{said}");
    assert!(
        said.chars().all(|c| !c.is_control() || c == '\n'),
        "{said:?}"
    );
    let hashed = refused(&run_with(&["report", "--anonymous"], &rubbish), 1);
    assert!(!hashed.contains("first</b>"), "{hashed}");
}

#[test]
fn a_packed_log_that_is_cut_counts_as_far_as_it_goes() {
    let folder = Folder::new();
    let name = "searchd-2.2.11-thousand-plain.log.gz";
    let packed = fs::read(fixtures().join(name)).unwrap();
    let path = folder.path("cut.gz");
    fs::write(&path, &packed[..packed.len() / 2]).unwrap();
    let output = run(&["report", "--json", &path]);
    let report = json(&output);
    let queries = report["queries"].as_u64().unwrap();
    assert!((1..1_000).contains(&queries), "{queries}");
    assert!(stderr(&output).contains("cut.gz: the reading ended early"));
    assert!(report["inputs"][0]["cut"].is_string());
}

#[test]
fn names_that_cannot_be_read_are_told_before_anything_is_read() {
    let folder = Folder::new();
    let locked = folder.path("locked");
    fs::write(&locked, LINE).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let mut cases = vec![
        (folder.path("missing"), "No such file or directory"),
        (folder.path(""), "is a directory: name its files, such as"),
    ];
    // Root may read everything.
    if !geteuid().is_root() {
        cases.push((locked, "no right to read it as user"));
    }
    for (path, why) in cases {
        // The first log has no known line, which would be told if it were read.
        let said = refused(&run(&["report", "thousand-queries.txt", &path]), 1);
        assert!(said.contains(&path) && said.contains(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn an_empty_log_has_nothing_to_report() {
    let folder = Folder::new();
    let path = folder.path("empty.log");
    for content in ["", "\n\n"] {
        fs::write(&path, content).unwrap();
        let said = refused(&run(&["report", &path]), 1);
        assert!(said.contains("empty.log: no line to report on"), "{said}");
    }
    // Beside another log, an empty one does no harm.
    let report = report_json(&["mixed.log", &path]);
    assert_eq!(report["queries"], 8);
}

#[test]
fn a_file_with_two_names_is_read_once() {
    let output = run(&["report", "--json", "mixed.log", "./mixed.log"]);
    assert_eq!(json(&output)["queries"], 8);
    assert!(stderr(&output).contains("./mixed.log is the same file as mixed.log"));
}

#[test]
fn control_characters_in_names_are_shown_and_not_obeyed() {
    let folder = Folder::new();
    let path = folder.path("web\x1b[31m\n.log");
    let line = LINE
        .replace("[lj]", "[l\x1b[2Jj]")
        .replace("word", "a\x1b[1mb\u{202e}c<i>");
    fs::write(&path, line.repeat(3)).unwrap();
    let page = folder.path("page.html");
    let text = printed(&run(&["report", &path]));
    printed(&run(&["report", &path, "--html", &page]));
    let html = fs::read_to_string(&page).unwrap();
    for (shown, form) in [(&text, "text"), (&html, "html")] {
        assert!(
            !shown.contains('\x1b') && !shown.contains('\u{202e}'),
            "{form}"
        );
        assert!(shown.contains("\\u{1b}[1mb\\u{202e}c"), "{form}: {shown}");
    }
    assert!(!html.contains("c<i>"));
    // An error names the file in the same way.
    fs::write(&path, "no log\n").unwrap();
    let said = stderr(&run(&["report", &path]));
    assert!(said.contains("web\\u{1b}[31m\\n.log"), "{said:?}");
    let missing = stderr(&run(&["report", &folder.path("gone\x1b[31m")]));
    assert!(!missing.contains('\x1b'), "{missing:?}");
}

#[test]
fn a_log_that_grows_while_it_is_read_has_whole_lines_only() {
    let folder = Folder::new();
    let path = folder.path("growing.log");
    let first = 200_000_u64;
    fs::write(&path, LINE.repeat(first as usize)).unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = File::options().append(true).open(&path).unwrap();
            while !ended.load(Ordering::Relaxed) {
                log.write_all(LINE.as_bytes()).unwrap();
            }
        });
        let output = run(&["report", "--json", &path]);
        ended.store(true, Ordering::Relaxed);
        let report = json(&output);
        assert!(report["queries"].as_u64() >= Some(first));
        assert_eq!(report["unknown_lines"], 0);
        assert_eq!(report["queries"], report["lines"]);
    });
}

#[test]
fn mixed_forms_in_one_file_are_each_read() {
    let folder = Folder::new();
    let path = folder.path("all.log");
    let mut all = Vec::new();
    let mut queries = 0;
    for name in [
        "sphinx-0.9.8-plain.log",
        "manticore-sphinxql.log",
        "seine-json.log",
        "searchd-2.2.11-plain.log",
    ] {
        all.extend(fs::read(fixtures().join(name)).unwrap());
        queries += report_json(&[name])["queries"].as_u64().unwrap();
    }
    fs::write(&path, &all).unwrap();
    let output = run(&["report", "--json", &path]);
    assert_eq!(json(&output)["queries"], queries, "{}", stdout(&output));
}
