//! `seine log`: reports over the fixtures of the crate study, their forms, and logs that are broken.

mod broken;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::server::{Folder, clean_command};

/// The folder of logs that the crate study compares.
fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../study/tests/fixtures")
}

/// The verb among the fixtures, without a terminal and without an input.
fn log(arguments: &[&str]) -> Command {
    let mut command = clean_command();
    command.arg("log").args(arguments).current_dir(fixtures());
    command.stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    log(arguments).output().unwrap()
}

/// Runs the verb with bytes on standard input.
fn run_with(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = log(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Standard output of a run that ends with status 0.
#[track_caller]
fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
    stdout(output)
}

/// The JSON of a report.
#[track_caller]
fn json(output: &Output) -> Value {
    serde_json::from_str(&printed(output)).unwrap()
}

#[track_caller]
fn report_json(arguments: &[&str]) -> Value {
    json(&run(&[&["report", "--json"], arguments].concat()))
}

/// The values of a column of a table.
fn column(report: &Value, table: &str, name: &str) -> Vec<Value> {
    let rows = report[table].as_array().unwrap();
    rows.iter().map(|row| row[name].clone()).collect()
}

/// Standard error of a run that ends with `status` and prints nothing.
#[track_caller]
fn refused(output: &Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status), "{}", stderr(output));
    assert_eq!(stdout(output), "");
    let said = stderr(output);
    assert!(said.starts_with("seine: "), "{said}");
    said
}

#[test]
fn csv_of_each_form_of_log_is_as_the_study_has_it() {
    for name in [
        "sphinx-0.9.8-plain.log",
        "sphinx-0.9.9-plain.log",
        "searchd-2.2.11-plain.log",
        "searchd-2.2.11-sphinxql.log",
        "manticore-plain.log",
        "manticore-sphinxql.log",
        "seine-json.log",
        "mixed.log",
    ] {
        let golden = std::fs::read(fixtures().join(format!("{name}.csv"))).unwrap();
        for threads in ["1", "3"] {
            let output = run(&["report", name, "--csv", "--threads", threads]);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            assert!(output.stdout == golden, "{name} on {threads} threads");
            assert_eq!(stderr(&output), "");
        }
    }
}

#[test]
fn csv_is_read_by_another_parser() {
    let text = printed(&run(&["report", "--csv", "searchd-2.2.11-plain.log"]));
    for table in text.split("\n\n").skip(1) {
        let (name, rows) = table.split_once('\n').unwrap();
        assert!(name.starts_with("# "), "{name}");
        let mut reader = csv::Reader::from_reader(rows.as_bytes());
        let columns = reader.headers().unwrap().len();
        for row in reader.records() {
            assert_eq!(row.unwrap().len(), columns, "{name}");
        }
    }
}

#[test]
fn json_counts_the_queries_and_names_the_indexes() {
    let report = report_json(&["searchd-2.2.11-thousand-plain.log.gz"]);
    assert_eq!(report["queries"].as_u64(), Some(1_000));
    assert_eq!(
        column(&report, "indexes", "name"),
        ["lj", "lj,small", "small"]
    );
    assert_eq!(
        column(&report, "servers", "name"),
        ["searchd-2.2.11-thousand-plain"]
    );
}

#[test]
fn the_terminals_report_fits_its_columns_and_has_no_colours_in_a_pipe() {
    let text = printed(&run(&["report", "searchd-2.2.11-thousand-plain.log.gz"]));
    assert!(!text.contains('\x1b'));
    let widest = text.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");
    assert!(text.contains("Most frequent queries"), "{text}");
    let plain = run(&["report", "--ascii", "searchd-2.2.11-thousand-plain.log.gz"]);
    assert!(printed(&plain).is_ascii());
}

#[test]
fn a_pipe_a_dash_and_a_name_are_the_same_log() {
    let name = "searchd-2.2.11-thousand-sphinxql.log.gz";
    let packed = std::fs::read(fixtures().join(name)).unwrap();
    let wanted = report_json(&[name, "--server", "web"]);
    for arguments in [
        &["report", "--json", "--server", "web"][..],
        &["report", "--json", "--server", "web", "-"],
    ] {
        let mut piped = json(&run_with(arguments, &packed));
        assert_eq!(piped["inputs"][0]["name"], "standard input");
        piped["inputs"][0]["name"] = name.into();
        assert_eq!(piped, wanted, "{arguments:?}");
    }
}

#[test]
fn the_first_bytes_tell_a_packed_log_whatever_its_name() {
    let folder = Folder::new();
    let plain = std::fs::read(fixtures().join("searchd-2.2.11-plain.log")).unwrap();
    let queries = report_json(&["searchd-2.2.11-plain.log"])["queries"].clone();
    // A frame of zstd with one raw block of up to 128 KiB: magic number, window of 8 MiB, header of the last block.
    let mut zstd = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68];
    let header = (plain.len() as u32) << 3 | 1;
    zstd.extend_from_slice(&header.to_le_bytes()[..3]);
    zstd.extend_from_slice(&plain);
    for (name, bytes) in [
        ("a.gz", plain.clone()),
        ("b.log", gzip(&plain)),
        ("c", zstd),
    ] {
        let path = folder.path(name);
        std::fs::write(&path, bytes).unwrap();
        assert_eq!(report_json(&[&path])["queries"], queries, "{name}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn servers_are_named_by_file_by_directory_or_by_the_flag() {
    let folder = Folder::new();
    for server in ["web1", "web2"] {
        std::fs::create_dir(folder.path(server)).unwrap();
        let log = format!("{server}/query.log.1");
        std::fs::copy(fixtures().join("sphinx-0.9.9-plain.log"), folder.path(&log)).unwrap();
    }
    let logs = ["web1", "web2"].map(|server| folder.path(&format!("{server}/query.log.1")));
    let names = |flags: &[&str]| {
        let report = report_json(&[&[&*logs[0], &*logs[1]], flags].concat());
        column(&report, "servers", "name")
    };
    assert_eq!(names(&[]), ["query"]);
    assert_eq!(names(&["--server-by", "directory"]), ["web1", "web2"]);
    assert_eq!(names(&["--server", "all"]), ["all"]);
    assert_eq!(
        names(&["--server-by", "directory", "--server-only", "web2"]),
        ["web2"]
    );
}

#[test]
fn filters_leave_lines_out_and_count_them() {
    let name = "searchd-2.2.11-thousand-plain.log.gz";
    let report = report_json(&[name, "--index", "small"]);
    // A query of both indexes is one of `small`, too.
    assert_eq!(
        column(&report, "indexes", "name"),
        ["lj,small", "small"],
        "{}",
        report["indexes"]
    );
    let queries = report["queries"].as_u64().unwrap();
    assert_eq!(queries + report["outside_filter"].as_u64().unwrap(), 1_000);

    let log = "[Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 3 (0,20)] [lj] early\n\
               [Fri Jun 29 21:18:00.000 2007] 0.004 sec [all/0/rel 3 (0,20)] [lj] late\n";
    let of = |flags: &[&str]| {
        let output = run_with(&[&["report", "--json"], flags].concat(), log.as_bytes());
        column(&json(&output), "frequent", "query")
    };
    assert_eq!(of(&["--to", "2007-06-29 21:18"]), ["early"]);
    assert_eq!(of(&["--from", "2007-06-29T21:18:00"]), ["late"]);
    assert_eq!(of(&["--top", "1"]).len(), 1);
    assert_eq!(of(&[]).len(), 2);
    let none = run_with(&["report", "--from", "2008-01-01"], log.as_bytes());
    assert!(printed(&none).contains("outside the filter"));
    assert!(stderr(&none).contains("2 entries are outside"));
}

#[test]
fn sizes_come_from_a_file_of_names_and_bytes() {
    let folder = Folder::new();
    let sizes = folder.path("sizes");
    std::fs::write(&sizes, "# by hand\nlj 12 MB\nsmall 500000\n").unwrap();
    let name = "searchd-2.2.11-thousand-plain.log.gz";
    let report = report_json(&[name, "--sizes", &sizes]);
    assert_eq!(column(&report, "indexes", "bytes")[0], 12_000_000);
    std::fs::write(&sizes, "lj 12 MB\nsmall\n").unwrap();
    let said = refused(&run(&["report", name, "--sizes", &sizes]), 1);
    assert!(said.contains("sizes:2: a line is the name"), "{said}");
}

#[test]
fn words_of_queries_are_hashed_on_demand_with_another_key_each_time() {
    let log = b"[Fri Jun 29 21:17:58.609 2007] 0.004 sec [all/0/rel 3 (0,20)] [lj] secret word\n";
    let page = |flags: &[&str]| {
        printed(&run_with(
            &[&["report", "--json"], flags].concat(),
            log.as_slice(),
        ))
    };
    assert!(page(&[]).contains("secret word"));
    let (first, second) = (page(&["--anonymous"]), page(&["--anonymous"]));
    assert!(
        !first.contains("secret") && !first.contains("word\""),
        "{first}"
    );
    assert_ne!(first, second);
}

#[test]
fn a_page_is_one_file_and_replaces_the_old_one_whole() {
    let folder = Folder::new();
    let (page, link) = (folder.path("page.html"), folder.path("link.html"));
    std::fs::write(&page, "old").unwrap();
    std::os::unix::fs::symlink("page.html", &link).unwrap();
    let output = run(&["report", "mixed.log", "--html", &link]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert_eq!(printed(&output), format!("{link}: {} bytes\n", html.len()));
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    assert!(!html.contains("src=") && !html.contains("href=\"http"));
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    let mut names: Vec<_> = std::fs::read_dir(&folder.0).unwrap().collect();
    names.retain(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name != "page.html" && name != "link.html"
    });
    assert!(names.is_empty(), "{names:?}");

    // A log that is refused leaves the old page.
    let output = run(&["report", "thousand-queries.txt", "--html", &page]);
    refused(&output, 1);
    assert_eq!(std::fs::read_to_string(&page).unwrap(), html);
    // JSON and the page at once.
    let both = run(&["report", "mixed.log", "--json", "--html", &page]);
    assert_eq!(json(&both)["queries"], 8);
}

#[test]
fn a_page_that_cannot_be_written_is_refused_before_the_logs_are_read() {
    let folder = Folder::new();
    for (page, why) in [
        (
            folder.path("missing/page.html"),
            "No such file or directory",
        ),
        (folder.path(""), "is a directory: name a file"),
    ] {
        // The log would be refused, too, were it read.
        let said = refused(
            &run(&["report", "thousand-queries.txt", "--html", &page]),
            1,
        );
        assert!(said.contains(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let device = run(&["report", "mixed.log", "--html", "/dev/null"]);
    printed(&device);
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn the_example_needs_no_log_and_says_what_it_is() {
    let report = report_json(&["--example"]);
    assert_eq!(report["queries"], 300_000);
    assert_eq!(report["title"], "Query log (example)");
    let note = report["notes"][0].as_str().unwrap();
    assert!(note.starts_with("An example"), "{note}");
    assert_eq!(column(&report, "servers", "name").len(), 15);
    assert_eq!(column(&report, "indexes", "name").len(), 180);
    // The shares of the study, whose lines the example imitates.
    for (name, share) in [
        ("within_10ms_share", 0.60),
        ("within_100ms_share", 0.80),
        ("within_500ms_share", 0.99),
    ] {
        let found = report[name].as_f64().unwrap();
        assert!((found - share).abs() < 0.005, "{name}: {found}");
    }
}

#[test]
fn two_logs_are_compared_by_file_and_by_directory() {
    let sides = [
        "searchd-2.2.11-thousand-plain.log.gz",
        "searchd-2.2.11-thousand-sphinxql.log.gz",
    ];
    let report = json(&run(&["compare", "--json", sides[0], sides[1]]));
    assert_eq!(report["queries"], 2_000);
    assert_eq!(report["before_queries"], 1_000);
    assert_eq!(
        column(&report, "indexes", "name"),
        ["lj", "lj,small", "small"]
    );
    assert_eq!(report["times"][0]["difference"], 0.0);

    let folder = Folder::new();
    for (side, name) in [("before", sides[0]), ("after", sides[1])] {
        std::fs::create_dir(folder.path(side)).unwrap();
        for server in ["web1", "web2"] {
            let log = folder.path(&format!("{side}/{server}.log.gz"));
            std::fs::copy(fixtures().join(name), log).unwrap();
        }
    }
    let both = [folder.path("before"), folder.path("after")];
    let report = json(&run(&["compare", "--json", &both[0], &both[1]]));
    assert_eq!(report["queries"], 4_000);
    assert_eq!(column(&report, "servers", "name"), ["web1", "web2"]);
    let page = folder.path("page.html");
    let text = printed(&run(&["compare", &both[0], &both[1], "--html", &page]));
    assert!(text.starts_with(&page), "{text}");
    assert!(
        std::fs::read_to_string(&page)
            .unwrap()
            .contains("Two query logs")
    );
}

#[test]
fn a_side_of_a_comparison_may_be_standard_input_but_not_both() {
    let log = std::fs::read(fixtures().join("sphinx-0.9.9-plain.log")).unwrap();
    let output = run_with(&["compare", "--json", "-", "sphinx-0.9.9-plain.log"], &log);
    let report = json(&output);
    assert_eq!(report["before_queries"], report["after_queries"]);
    refused(&run(&["compare", "-", "-"]), 2);
    let said = refused(
        &run(&["compare", "sphinx-0.9.9-plain.log", "thousand-queries.txt"]),
        1,
    );
    assert!(said.contains("thousand-queries.txt:1: "), "{said}");
}

#[test]
fn a_wrong_command_line_is_one_line_and_status_2() {
    for (arguments, why) in [
        (&["report", "x", "--from", "yesterday"][..], "a time is"),
        (&["report", "x", "--from", "2007-06-29T00:00:00Z"], "zone"),
        (
            &["report", "x", "--from", "2007-06-29", "--to", "2007-06-29"],
            "--to is not after --from",
        ),
        (&["report", "x", "--csv", "--json"], "--csv"),
        (&["report", "x", "--example"], "--example"),
        (&["report", "x", "--top", "1001"], "1..=1000"),
        (&["report", "x", "--threads", "0"], "--threads"),
        (
            &["report", "x", "--server", "a", "--server-by", "file"],
            "--server-by",
        ),
        (&["compare", "x"], "<B>"),
    ] {
        let said = refused(&run(arguments), 2);
        assert!(said.contains(why), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_reader_that_leaves_early_ends_it_quietly() {
    let mut command = log(&["report", "--csv", "searchd-2.2.11-thousand-plain.log.gz"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_full_disk_behind_standard_output_is_told() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = log(&["report", "mixed.log"]).stdout(full).output().unwrap();
    let said = refused(&output, 1);
    assert!(said.contains("standard output: No space left"), "{said}");
}
