//! Laws over random lines: the slow summary of sorted values, and any split of the lines.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::document::{DocumentOptions, document};
use super::super::histogram::{bin_of, upper_edge_us};
use super::super::limits::GROUPS_MAX;
use super::super::line::{write_json, write_plain};
use super::super::{Entry, LogTime, MatchMode, Place, QueryOrder};
use super::{Filter, Summary, SummaryOptions, word_class};

/// A line that a test makes: its server, its text, and the entry in it.
#[derive(Clone, Debug)]
struct Line {
    server: &'static str,
    text: Vec<u8>,
    entry: Option<(u64, u64, i64, String, String)>,
}

fn line() -> impl Strategy<Value = Line> {
    let server = prop::sample::select(vec!["web1", "web2", "web3"]);
    let index = prop::sample::select(vec!["a", "b", "a,b", "c"]);
    let query = prop::sample::select(vec!["", "one", "one two", "a b c d e f g", "X", "x"]);
    let times = (
        prop_oneof![0_u64..20, 0_u64..700, 0_u64..40_000],
        0_u64..3,
        0_i64..400_000_000,
    );
    let form = prop::sample::select(vec!["plain", "json", "json", "rubbish", "error"]);
    (server, index, query, times, form).prop_map(
        |(server, index, query, (ms, found, time), form)| {
            let entry = Entry {
                time: LogTime {
                    local_ms: 1_183_075_200_000 + time,
                    offset_minutes: None,
                },
                real_us: Some(ms * 1_000),
                found: Some(found),
                mode: Some(MatchMode::Any),
                tables: index.as_bytes().into(),
                query: (!query.is_empty()).then(|| query.as_bytes().into()),
                faults: (form == "json").then_some(found),
                table_bytes: (form == "json").then_some(found * 2_000_000),
                error: (form == "error").then(|| query.as_bytes().into()),
                ..Entry::default()
            };
            let mut text = Vec::new();
            match form {
                "plain" => write_plain(&entry, 1_000, &mut text),
                "rubbish" => text.extend_from_slice(format!("rubbish {query}\n").as_bytes()),
                _ => write_json(&entry, 1_000, &mut text),
            }
            let counts = form == "plain" || form == "json";
            Line {
                server,
                text,
                entry: counts.then(|| {
                    (
                        ms * 1_000,
                        found,
                        entry.time.local_ms,
                        index.to_owned(),
                        query.to_lowercase(),
                    )
                }),
            }
        },
    )
}

/// The summary of the lines whose part is `part`; a line's place is its place among all.
fn summary(lines: &[Line], parts: &[usize], part: usize, options: &SummaryOptions) -> Summary {
    let mut summary = Summary::new(options);
    for (number, line) in lines
        .iter()
        .enumerate()
        .filter(|(number, _)| parts[*number] == part)
    {
        let place = Place {
            input: 0,
            line: number as u64 + 1,
        };
        summary.add_block(line.server, place, &line.text);
    }
    summary
}

fn told(summary: &Summary) -> String {
    let options = DocumentOptions {
        top: 1_000,
        ..DocumentOptions::default()
    };
    document(summary, &[], &options).json()
}

proptest! {
    #[test]
    fn any_split_in_any_order_merges_to_the_same_document(
        lines in prop::collection::vec(line(), 0..120),
        parts in prop::collection::vec(0_usize..4, 120),
        order in Just([0_usize, 1, 2, 3]).prop_shuffle(),
    ) {
        let options = SummaryOptions::default();
        let whole = told(&summary(&lines, &vec![0; 120], 0, &options));
        let mut merged = Summary::new(&options);
        for part in order {
            merged.merge(summary(&lines, &parts, part, &options));
        }
        prop_assert_eq!(&told(&merged), &whole);
        // Associative: (0 + 1) + (2 + 3).
        let mut left = summary(&lines, &parts, 0, &options);
        left.merge(summary(&lines, &parts, 1, &options));
        let mut right = summary(&lines, &parts, 2, &options);
        right.merge(summary(&lines, &parts, 3, &options));
        left.merge(right);
        prop_assert_eq!(&told(&left), &whole);
    }

    #[test]
    fn the_fast_summary_is_that_of_the_sorted_values(lines in prop::collection::vec(line(), 1..200)) {
        let fast = summary(&lines, &vec![0; 200], 0, &SummaryOptions::default());
        let entries: Vec<_> = lines.iter().filter_map(|line| line.entry.as_ref().map(|entry| (line.server, entry))).collect();
        let mut times: Vec<u64> = entries.iter().map(|(_, entry)| entry.0).collect();
        times.sort_unstable();
        let counts = fast.counts();
        prop_assert_eq!(counts.queries, times.len() as u64);
        prop_assert_eq!(counts.nothing, entries.iter().filter(|(_, entry)| entry.1 == 0).count() as u64);
        prop_assert_eq!(counts.lines, counts.queries + counts.failed + counts.unknown);
        let all = fast.times();
        prop_assert_eq!(all.sum_us(), times.iter().sum::<u64>());
        for share in [0.5, 0.9, 0.99] {
            let wanted = (!times.is_empty()).then(|| {
                let rank = ((times.len() as f64 * share).ceil() as usize).max(1);
                upper_edge_us(bin_of(times[rank - 1])).min(times[times.len() - 1])
            });
            prop_assert_eq!(all.quantile_us(share), wanted);
        }
        let mut pairs: BTreeMap<(&str, &str), Vec<u64>> = BTreeMap::new();
        let mut by_words = [0_u64; 8];
        let mut minutes: BTreeMap<i64, u64> = BTreeMap::new();
        let mut queries: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for (server, (us, _, local_ms, index, query)) in &entries {
            pairs.entry((server, index)).or_default().push(*us);
            by_words[word_class(query.split_whitespace().count() as u32)] += 1;
            *minutes.entry(local_ms.div_euclid(60_000)).or_default() += 1;
            let sums = queries.entry(query).or_default();
            *sums = (sums.0 + 1, sums.1 + us);
        }
        let found: BTreeMap<_, _> = fast.pairs().into_iter().map(|(names, group)| (names, (group.times.count(), group.times.sum_us()))).collect();
        let wanted: BTreeMap<_, _> = pairs.into_iter().map(|(names, times)| (names, (times.len() as u64, times.iter().sum()))).collect();
        prop_assert_eq!(found, wanted);
        prop_assert_eq!(fast.by_words().iter().map(|times| times.count()).collect::<Vec<_>>(), by_words);
        let found: BTreeMap<i64, u64> = fast.minutes().by_time().into_iter().map(|(minute, sums)| (minute, sums.queries)).collect();
        prop_assert_eq!(found, minutes);
        let found: BTreeMap<String, (u64, u64)> = fast.queries().top(QueryOrder::Count, 100).into_iter().map(|query| (query.text, (query.count, query.sum_us))).collect();
        let wanted: BTreeMap<String, (u64, u64)> = queries.into_iter().map(|(text, sums)| (text.to_owned(), sums)).collect();
        prop_assert_eq!(found, wanted);
        let slowest: Vec<u64> = fast.slowest().iter().map(|query| query.real_us).collect();
        times.reverse();
        prop_assert_eq!(slowest, times);
    }

    #[test]
    fn a_filter_counts_what_the_lines_alone_would(lines in prop::collection::vec(line(), 0..100), from in 0_i64..400_000_000, to in 0_i64..400_000_000) {
        let start = 1_183_075_200_000;
        let filter = Filter {
            from_ms: Some(start + from),
            to_ms: Some(start + to),
            indexes: vec!["b".to_owned()],
            servers: vec!["web1".to_owned(), "web2".to_owned()],
        };
        let passes = |line: &&Line| {
            line.entry.as_ref().is_some_and(|(_, _, local_ms, index, _)| {
                (from..to).contains(&(local_ms - start)) && index.split(',').any(|name| name == "b") && line.server != "web3"
            })
        };
        let alone: Vec<Line> = lines.iter().filter(passes).cloned().collect();
        let options = SummaryOptions { filter, queries_max: None };
        let filtered = summary(&lines, &[0; 100], 0, &options);
        let wanted = summary(&alone, &[0; 100], 0, &SummaryOptions::default());
        prop_assert_eq!(filtered.times(), wanted.times());
        prop_assert_eq!(filtered.counts().queries, alone.len() as u64);
    }
}

#[test]
fn ten_thousand_indexes_are_told_apart() {
    let mut summary = Summary::new(&SummaryOptions::default());
    let lines: String = (0..10_000)
        .map(|index| {
            format!(
                "[Fri Jun 29 21:17:58 2007] 0.004 sec [all/0/rel 5 (0,20)] [index{index}] test\n"
            )
        })
        .collect();
    summary.add_block("web", Place::default(), lines.as_bytes());
    assert_eq!(summary.indexes().len(), 10_000);
}

#[test]
fn pairs_above_the_bound_share_one_group_of_their_server() {
    let mut summary = Summary::new(&SummaryOptions::default());
    for server in ["web1", "web2", "web3"] {
        let lines: String = (0..12_000)
            .map(|index| {
                format!(
                    "[Fri Jun 29 21:17:58 2007] 0.004 sec [all/0/rel 5 (0,20)] [i{index}] test\n"
                )
            })
            .collect();
        summary.add_block(server, Place::default(), lines.as_bytes());
    }
    let pairs = summary.pairs();
    assert!(pairs.len() <= GROUPS_MAX + 1);
    let queries: u64 = pairs.values().map(|group| group.times.count()).sum();
    assert_eq!(queries, 36_000);
    let others = pairs[&("web3", "(other indexes)")].times.count();
    assert_eq!(others as usize, 36_000 - GROUPS_MAX);
}

#[test]
fn clocks_that_go_back_and_wrong_years_count_where_they_say() {
    let mut summary = Summary::new(&SummaryOptions::default());
    let times = [
        "Jun 29 21:17:58 2007",
        "Jun 29 21:16:58 2007",
        "Jun 29 21:17:59 2007",
        "Jan  1 00:00:00 0001",
        "Dec 31 23:59:59 9999",
    ];
    let lines: String = times
        .iter()
        .map(|time| format!("[Fri {time}] 0.004 sec [all/0/rel 5 (0,20)] [lj] test\n"))
        .collect();
    summary.add_block("web", Place::default(), lines.as_bytes());
    let minutes = summary.minutes().by_time();
    assert_eq!(
        minutes
            .iter()
            .map(|(_, sums)| sums.queries)
            .collect::<Vec<_>>(),
        [1, 1, 2, 1]
    );
    let document = document(&summary, &[], &DocumentOptions::default());
    assert!(document.table("rate").unwrap().rows.len() < 2_000);
}
