use std::io::{Cursor, Read, Write};
use std::num::NonZeroUsize;

use super::super::generate::{GeneratedForm, LogGenerator, Workload};
use super::super::limits::RECORD_BYTES_MAX;
use super::super::{Place, QueryOrder, Summary, SummaryOptions};
use super::blocks::Blocks;
use super::{Input, InputReport, Progress, ServerRule, read_blocks, read_logs, server_of_path};

fn input(name: &str, bytes: Vec<u8>) -> Input {
    Input {
        name: name.to_owned(),
        server: name.to_owned(),
        read: Box::new(Cursor::new(bytes)),
    }
}

fn generated(form: GeneratedForm, lines: usize) -> Vec<u8> {
    let workload = Workload {
        form,
        queries: 5_000,
        ..Workload::default()
    };
    let mut generator = LogGenerator::new(workload, 0);
    let mut log = Vec::new();
    (0..lines).for_each(|_| generator.write_line(&mut log));
    log
}

fn read(inputs: Vec<Input>, threads: usize) -> (Summary, Vec<InputReport>) {
    let threads = NonZeroUsize::new(threads).unwrap();
    read_logs(inputs, &SummaryOptions::default(), threads, &mut |_| {})
}

/// Everything that a summary tells, as text.
fn told(summary: &Summary) -> String {
    let queries = [QueryOrder::Count, QueryOrder::Cost, QueryOrder::Nothing]
        .map(|order| summary.queries().top(order, 1_000));
    format!(
        "{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{:?}\n{queries:?}",
        summary.counts(),
        summary.pairs(),
        summary.by_words(),
        summary.minutes().by_time(),
        summary.slowest(),
        summary.errors(),
        summary.examples(),
        summary.costs(),
    )
}

/// All kinds of lines, so that cuts fall into each.
fn mixed() -> Vec<u8> {
    let mut log = generated(GeneratedForm::OneTime, 300);
    log.extend_from_slice(b"rubbish\n\n\xff\xfe\x00[\n[Ven Jui 29 21:17:58 2007] 0.004 sec\r\n");
    log.extend_from_slice(&generated(GeneratedForm::Sphinxql, 300));
    log.extend_from_slice(b"/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.001 wall 0.001 found 1 */ SELECT *\n FROM a\r\n WHERE MATCH('x');\r\n");
    log.extend_from_slice(b"/* Sun Apr 28 12:38:02.808 2024 conn 2 */ SELEC # error=syntax\n");
    log.extend_from_slice(&generated(GeneratedForm::Json, 300));
    log.extend_from_slice(b"[Fri Jun 29 21:17:58 2007] 0.0");
    log
}

#[test]
fn any_number_of_threads_and_any_size_of_blocks_give_the_same_summary() {
    let inputs = || {
        vec![
            input("a", mixed()),
            input("empty", Vec::new()),
            input("b", mixed()),
        ]
    };
    let mut whole = Summary::new(&SummaryOptions::default());
    for (number, name) in [(0, "a"), (2, "b")] {
        let first = Place {
            input: number,
            line: 1,
        };
        whole.add_block(name, first, &mixed());
    }
    let wanted = told(&whole);
    for threads in [1, 2, 5] {
        let (summary, reports) = read(inputs(), threads);
        assert_eq!(told(&summary), wanted);
        let lines = reports.iter().map(|report| report.lines).sum::<u64>();
        assert_eq!(lines, summary.counts().lines);
        assert!(reports.iter().all(|report| report.cut.is_none()));
    }
    for block_bytes in [2_500, 2_777, 4_000, 50_000] {
        let blocks = Blocks::new(inputs(), block_bytes);
        let threads = NonZeroUsize::new(3).unwrap();
        let (summary, _) = read_blocks(blocks, &SummaryOptions::default(), threads, &mut |_| {});
        assert_eq!(told(&summary), wanted, "{block_bytes}");
    }
}

#[test]
fn past_the_bound_of_queries_the_threads_do_not_show_either() {
    let options = SummaryOptions {
        queries_max: Some((64, 4_096)),
        ..SummaryOptions::default()
    };
    let by = |threads| {
        let blocks = Blocks::new(
            vec![input("a", generated(GeneratedForm::OneTime, 3_000))],
            10_000,
        );
        told(
            &read_blocks(
                blocks,
                &options,
                NonZeroUsize::new(threads).unwrap(),
                &mut |_| {},
            )
            .0,
        )
    };
    assert_eq!(by(1), by(4));
}

#[test]
fn each_line_is_counted_once() {
    let (summary, _) = read(vec![input("a", mixed())], 2);
    let counts = summary.counts();
    let parts = counts.queries
        + counts.failed
        + counts.others
        + counts.outside
        + counts.unknown
        + counts.too_long;
    assert_eq!(counts.lines, parts + counts.blank + counts.continued);
    assert_eq!((counts.queries, counts.failed, counts.unknown), (901, 1, 4));
    assert_eq!((counts.blank, counts.continued), (1, 2));
    let lines: Vec<u64> = summary.examples().keys().map(|place| place.line).collect();
    assert_eq!(lines, [301, 303, 304, 909]);
}

#[test]
fn a_line_of_ten_megabytes_is_counted_and_skipped() {
    let mut log = generated(GeneratedForm::OneTime, 10);
    log.extend(std::iter::repeat_n(b'x', 10 << 20));
    log.push(b'\n');
    log.extend_from_slice(&generated(GeneratedForm::OneTime, 10));
    log.extend(std::iter::repeat_n(b'y', RECORD_BYTES_MAX + 1));
    let (summary, reports) = read(vec![input("a", log.clone())], 2);
    let counts = summary.counts();
    assert_eq!((counts.lines, counts.queries, counts.too_long), (22, 20, 2));
    assert_eq!((reports[0].lines, reports[0].bytes), (22, log.len() as u64));
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut packed = vec![0; zstd_safe::compress_bound(bytes.len())];
    let length = zstd_safe::compress(&mut packed[..], bytes, 3).unwrap();
    packed.truncate(length);
    packed
}

#[test]
fn compressed_logs_and_their_concatenations_are_read_whole() {
    let log = generated(GeneratedForm::OneTime, 5_000);
    let (plain, _) = read(vec![input("a", [log.clone(), log.clone()].concat())], 2);
    for packed in [gzip(&log), zstd(&log)] {
        let (summary, reports) = read(vec![input("a", [packed.clone(), packed].concat())], 2);
        assert_eq!(told(&summary), told(&plain));
        assert_eq!(reports[0].cut, None);
    }
}

#[test]
fn what_a_cut_archive_holds_counts_and_the_cut_is_told() {
    let log = generated(GeneratedForm::OneTime, 50_000);
    for packed in [gzip(&log), zstd(&log)] {
        let half = packed[..packed.len() / 2].to_vec();
        let (summary, reports) = read(vec![input("a", half), input("b", log.clone())], 2);
        assert!(reports[0].cut.is_some() && reports[1].cut.is_none());
        let counts = summary.counts();
        assert!(reports[0].lines > 10_000, "{}", reports[0].lines);
        assert_eq!(counts.queries + counts.unknown, reports[0].lines + 50_000);
        assert!(counts.unknown <= 1);
    }
}

#[test]
fn a_read_that_fails_is_told() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("gone"))
        }
    }
    let failing = Input {
        read: Box::new(Cursor::new(generated(GeneratedForm::OneTime, 3)).chain(Fails)),
        ..input("a", Vec::new())
    };
    let (summary, reports) = read(vec![failing], 1);
    assert_eq!(
        (summary.counts().queries, reports[0].cut.as_deref()),
        (3, Some("gone"))
    );
}

#[test]
fn a_worker_that_panics_ends_the_reading() {
    struct Panics;
    impl Read for Panics {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            panic!("a reader at fault")
        }
    }
    let failing = Input {
        read: Box::new(Cursor::new(generated(GeneratedForm::OneTime, 3)).chain(Panics)),
        ..input("a", Vec::new())
    };
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(vec![failing], 3)));
    assert!(ended.is_err());
}

#[test]
fn progress_ends_at_the_whole() {
    let log = generated(GeneratedForm::OneTime, 100);
    let mut last = Progress::default();
    let bytes = log.len() as u64;
    read_logs(
        vec![input("a", log)],
        &SummaryOptions::default(),
        NonZeroUsize::MIN,
        &mut |progress| last = progress,
    );
    assert_eq!(last, Progress { lines: 100, bytes });
}

#[test]
fn servers_are_named_by_file_directory_or_the_caller() {
    for (path, file, directory) in [
        ("logs/web1/query.log.2.gz", "query", "web1"),
        ("web1-query.log-20260801.zst", "web1-query", "web1-query"),
        ("./query.log", "query", "query"),
        ("10.gz", "10", "10"),
    ] {
        assert_eq!(server_of_path(path, &ServerRule::FileName), file);
        assert_eq!(server_of_path(path, &ServerRule::Directory), directory);
        assert_eq!(
            server_of_path(path, &ServerRule::Given("x".to_owned())),
            "x"
        );
    }
}
