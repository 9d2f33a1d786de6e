//! `seine match`: hits of standard input, and grep's exit status.

use std::io::Write;
use std::process::{Output, Stdio};

use crate::server::{Folder, clean_command};

fn run(queries: &str, text: &[u8], flags: &[&str]) -> Output {
    let folder = Folder::new();
    let file = folder.0.join("queries");
    std::fs::write(&file, queries).unwrap();
    let mut command = clean_command();
    command.arg("match").arg(&file).args(flags);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // A program that has refused its queries does not read.
    let _ = input.write_all(text);
    drop(input);
    child.wait_with_output().unwrap()
}

#[track_caller]
fn check(queries: &str, text: &[u8], flags: &[&str], status: i32, wanted: &str) {
    let output = run(queries, text, flags);
    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted);
    assert_eq!(output.status.code(), Some(status));
}

#[test]
fn each_hit_is_a_line_with_its_query_and_marks() {
    let queries = "google -maps\n\n77\t\"star wars\"\n";
    let text = b"nothing here\nGoogle buys Star Wars\nGoogle Maps\r\nstar of wars, star wars";
    let wanted = "2\t1\t*Google* buys Star Wars\n2\t77\tGoogle buys *Star* *Wars*\n4\t77\tstar of wars, *star* *wars*\n";
    check(queries, text, &[], 0, wanted);
}

#[test]
fn json_has_byte_ranges() {
    let wanted = "{\"id\":5,\"line\":1,\"marks\":[[7,12]],\"text\":\"\u{e9}t\u{e9}, shoes\"}\n";
    let output = run("5\tshoes", "\u{e9}t\u{e9}, shoes\n".as_bytes(), &["--json"]);
    let got = String::from_utf8(output.stdout).unwrap();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&got), value(wanted));
}

#[test]
fn the_status_is_greps() {
    check("absent", b"a line\n", &[], 1, "");
    check("absent", b"", &[], 1, "");
    let output = run("fine\n(open\n7\t\"quote\n7\tagain\n7\ttwice\n", b"x\n", &[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("line 2: unclosed bracket at byte 0"),
        "{said}"
    );
    assert!(said.contains("line 3: unclosed quote at byte 0"), "{said}");
    assert!(
        said.contains("line 5: id 7 is that of line 4 too"),
        "{said}"
    );
}

#[test]
fn odd_bytes_do_not_stop_it() {
    let text = b"\xff\xfe shoes \0 end\n\n\nshoes\n";
    check(
        "shoes",
        text,
        &[],
        0,
        "1\t1\t\u{fffd}\u{fffd} *shoes* \0 end\n4\t1\t*shoes*\n",
    );
}
