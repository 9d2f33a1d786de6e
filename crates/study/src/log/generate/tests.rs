use std::collections::{BTreeSet, HashMap};

use super::super::frame::{Framed, Records};
use super::super::line::parse;
use super::super::{Place, QueryOrder, Summary, SummaryOptions};
use super::text::write_query;
use super::{GeneratedForm, LogGenerator, Workload, index_sizes, server_name};

fn lines(form: GeneratedForm, server: u32, count: usize) -> Vec<u8> {
    let workload = Workload {
        form,
        queries: 100_000,
        ..Workload::default()
    };
    let mut generator = LogGenerator::new(workload, server);
    let mut log = Vec::new();
    (0..count).for_each(|_| generator.write_line(&mut log));
    log
}

#[test]
fn the_first_lines_are_those_of_the_seed() {
    let log = lines(GeneratedForm::OneTime, 0, 3);
    assert_eq!(log, lines(GeneratedForm::OneTime, 0, 3));
    assert_ne!(log, lines(GeneratedForm::OneTime, 1, 3));
}

#[test]
fn every_form_has_the_same_queries_and_times() {
    let facts = |form| -> Vec<_> {
        let log = lines(form, 3, 2_000);
        let entries = Records::new(&log).map(|record| {
            let Framed::Text(text) = record.framed else {
                panic!("too long");
            };
            let (_, entry) =
                parse(text).unwrap_or_else(|| panic!("unknown: {}", String::from_utf8_lossy(text)));
            (
                entry.time.local_ms,
                entry.real_us,
                entry.found,
                entry.tables.to_vec(),
                entry.query.map(|query| query.to_vec()),
            )
        });
        entries.collect()
    };
    let one_time = facts(GeneratedForm::OneTime);
    for form in [
        GeneratedForm::Plain,
        GeneratedForm::Sphinxql,
        GeneratedForm::Json,
    ] {
        assert_eq!(facts(form), one_time);
    }
}

#[test]
fn the_report_finds_the_distribution_of_the_study_back() {
    let mut summary = Summary::new(&SummaryOptions::default());
    for server in 0..4 {
        let log = lines(GeneratedForm::OneTime, server, 50_000);
        let first = Place {
            input: server,
            line: 1,
        };
        summary.add_block(&server_name(server), first, &log);
    }
    let times = summary.times();
    assert_eq!(
        (summary.counts().queries, summary.counts().unknown),
        (200_000, 0)
    );
    for (us, wanted) in [(10_000, 0.60), (100_000, 0.80), (500_000, 0.99)] {
        let share = times.share_within(us).unwrap();
        // Three standard deviations of 200,000 draws.
        assert!((share - wanted).abs() < 0.0034, "{us} {share}");
    }
    let mean = |class: usize| summary.by_words()[class].mean_us().unwrap();
    for class in 1..=4 {
        assert!(mean(class) < mean(5) && mean(5) < mean(6));
    }
    assert!(mean(7) < mean(6));
    let indexes = summary.indexes();
    assert_eq!(indexes.len(), 180);
    let third = |part: usize| -> f64 {
        let mut times = super::super::Histogram::default();
        index_sizes()[part * 60..(part + 1) * 60]
            .iter()
            .for_each(|(name, _)| times.merge(&indexes[name.as_str()].times));
        times.mean_us().unwrap()
    };
    assert!(third(0) < third(1) && third(1) < third(2));
}

#[test]
fn queries_of_different_ranks_differ() {
    let mut texts = BTreeSet::new();
    for class in 1..8 {
        for rank in 0..5_000 {
            let mut text = Vec::new();
            write_query(class, rank, &mut text);
            assert!(texts.insert(text), "{class} {rank}");
        }
    }
}

#[test]
fn the_first_hundred_queries_are_exact_past_the_bound_of_the_table() {
    let options = SummaryOptions {
        queries_max: Some((16_384, 1 << 20)),
        ..SummaryOptions::default()
    };
    let mut summary = Summary::new(&options);
    let mut counts: HashMap<Vec<u8>, u64> = HashMap::new();
    for server in 0..2 {
        let log = lines(GeneratedForm::OneTime, server, 60_000);
        let first = Place {
            input: server,
            line: 1,
        };
        summary.add_block(&server_name(server), first, &log);
        for line in log
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
        {
            let (_, entry) = parse(line).unwrap();
            *counts
                .entry(entry.query.unwrap_or_default().into_owned())
                .or_default() += 1;
        }
    }
    assert!(!summary.queries().is_exact() && counts.len() > 20_000);
    let mut slow: Vec<(u64, String)> = counts
        .into_iter()
        .map(|(text, count)| (count, String::from_utf8(text).unwrap()))
        .collect();
    slow.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let top = summary.queries().top(QueryOrder::Count, 100);
    assert!(top.iter().all(|query| query.count_error == 0));
    let fast: Vec<(u64, String)> = top
        .into_iter()
        .map(|query| (query.count, query.text))
        .collect();
    assert_eq!(fast, slow[..100]);
}
