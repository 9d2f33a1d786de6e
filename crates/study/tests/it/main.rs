//! Reports over logs of each form.
//!
//! `tests/fixtures` has the logs: lines of the forms of Sphinx 0.9.8 and 0.9.9 and of Manticore, lines of our own, a log of mixed
//! and broken lines, and four that searchd 2.2.11 wrote. Each has the report that is wanted beside it. `SEINE_GOLDEN=write`
//! writes the reports anew.

#![expect(
    clippy::unwrap_used,
    reason = "a test fails where something is missing"
)]

use std::fs::{File, read_to_string};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use report::Document;
use study::log::document::{DocumentOptions, document};
use study::log::frame::{Framed, Records};
use study::log::line::parse;
use study::log::source::{Input, InputReport, ServerRule, read_logs, server_of_path};
use study::log::{Summary, SummaryOptions};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

fn read(name: &str) -> (Summary, Vec<InputReport>) {
    let input = Input {
        name: name.to_owned(),
        server: server_of_path(name, &ServerRule::FileName),
        read: Box::new(File::open(fixture(name)).unwrap()),
    };
    read_logs(
        vec![input],
        &SummaryOptions::default(),
        NonZeroUsize::new(2).unwrap(),
        &mut |_| {},
    )
}

fn report_of(name: &str) -> Document {
    let (summary, inputs) = read(name);
    document(&summary, &inputs, &DocumentOptions::default())
}

#[test]
fn reports_of_each_form_are_as_written() {
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
        let csv = report_of(name).csv();
        let golden = fixture(&format!("{name}.csv"));
        if std::env::var("SEINE_GOLDEN").is_ok_and(|set| set == "write") {
            std::fs::write(&golden, &csv).unwrap();
        }
        assert_eq!(csv, read_to_string(&golden).unwrap(), "{name}");
    }
}

#[test]
fn the_log_of_a_thousand_queries_by_searchd_is_read_whole() {
    for form in ["plain", "sphinxql"] {
        let (summary, inputs) = read(&format!("searchd-2.2.11-thousand-{form}.log.gz"));
        let counts = summary.counts();
        assert_eq!(
            (counts.lines, counts.queries, counts.unknown),
            (1_000, 1_000, 0),
            "{form}"
        );
        assert_eq!(inputs[0].cut, None);
        let indexes: Vec<&str> = summary.indexes().into_keys().collect();
        assert_eq!(indexes, ["lj", "lj,small", "small"]);
    }
}

#[test]
fn each_query_of_the_thousand_comes_back_as_it_was_sent() {
    let sent = read_to_string(fixture("thousand-queries.txt")).unwrap();
    for form in ["plain", "sphinxql"] {
        let packed =
            File::open(fixture(&format!("searchd-2.2.11-thousand-{form}.log.gz"))).unwrap();
        let mut log = Vec::new();
        std::io::copy(&mut flate2::read::GzDecoder::new(packed), &mut log).unwrap();
        let logged: Vec<String> = Records::new(&log)
            .map(|record| {
                let Framed::Text(text) = record.framed else {
                    panic!("too long");
                };
                let (_, entry) = parse(text).unwrap();
                String::from_utf8(entry.query.unwrap_or_default().into_owned()).unwrap()
            })
            .collect();
        assert_eq!(logged, sent.lines().collect::<Vec<_>>(), "{form}");
    }
}

#[test]
fn the_same_queries_give_the_same_counts_in_both_forms() {
    let of = |form: &str| {
        let (summary, _) = read(&format!("searchd-2.2.11-thousand-{form}.log.gz"));
        let words: Vec<u64> = summary
            .by_words()
            .iter()
            .map(|times| times.count())
            .collect();
        (words, summary.counts().nothing)
    };
    assert_eq!(of("plain"), of("sphinxql"));
}
