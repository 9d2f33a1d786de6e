//! Every ranker over rows that random histories seldom have: words that repeat, long queries, many rows of one weight.

use std::sync::Arc;

use disk::MemoryDisk;
use index::{Control, Reason};
use language::tree::Query;
use proptest::prelude::*;
use relation::options::Ranker;
use relation::request::Select;
use relation::value::Value;

use crate::subject::{
    Subject, cases, check, filtered, row, search, select_all, select_count, tree,
};

fn with(select: Select, options: &[(&str, &str)]) -> Select {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    Select {
        options: options.iter().map(own).collect(),
        ..select
    }
}

/// Rows `1 ..= rows` with words `w0`, `w1`, … repeated up to 40 times, some deleted; half of them sealed.
fn repeated(rows: u64) -> Subject {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 1..=rows {
        let mut body = String::new();
        for word in 0..id % 7 {
            let times = (id * (word + 3) + word) % 41;
            body.push_str(&format!("w{word} w{} ", word + 1).repeat(times as usize / 2));
            body.push_str(&format!("w{word} x "));
        }
        let title = ["w0 w1", "w1 w0 w2", "w2", "", "w0 w1 w2 w3"][(id % 5) as usize];
        subject.insert(id, row(&body, 0, title, 0.0, ""));
        if id == rows / 2 {
            subject.seal();
        }
    }
    (3..=rows).step_by(9).for_each(|id| {
        subject.delete(id);
    });
    subject
}

#[test]
fn words_that_repeat_weigh_as_the_oracle_says() {
    let mut subject = repeated(60);
    let queries = [
        "w0",
        "w0 | w1 | w2",
        "w0 w1",
        "\"w0 w1\"",
        "\"w0 w1 w2 w9\"/2",
        "\"w0 w0 w1\"/3",
        "\"w0 w0 w0\"/2",
        "\"w0 w0 w0\"/3",
        "\"w1 w0\" | w2 MAYBE w3 -w5",
        "@title w0 w1 | @body w3",
        "w0 w1 w0",
        "w*",
        "w0 << w1",
        "w0 NEAR/2 w2",
        "w0 NEAR/2 w1",
        "w1 NEAR/4 w0",
        "w2 NEAR/1 w1",
        "w1 << w0",
        "w0 SENTENCE w1",
        "^w0",
        "w1$",
        "@title[2] w1",
        "w0 MAYBE ^w1",
        "w0 -(w1 NEAR/2 w2)",
        "w1 x w0 w2",
        "w0 | w1 | w2 | w3 | w4 | w5 | w6 | x | w7 | w8",
        "@title w0 @body w1",
        "@title w* | x",
        "\"w0 w1\"~2 MAYBE w3",
    ];
    for _ in 0..2 {
        for query in queries {
            let root = tree(query);
            for (ranker, _) in Ranker::NAMED {
                let weights = ("field_weights", "(title=7,body=2)");
                let select = with(select_all(), &[("ranker", ranker), weights]);
                subject.check(&select, Some(&root));
                let limit = Some(5);
                subject.check(&Select { limit, ..select }, Some(&root));
            }
        }
        subject.seal();
    }
}

/// Texts of few words, in which every form of a run turns up.
fn short_text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["a", "b", "c", "x"]);
    prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn runs_of_two_or_three_words_weigh_as_the_oracle_says(
        rows in prop::collection::vec((short_text(), short_text()), 1..40),
        distance in 1..6_u32,
    ) {
        let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
        for ((title, body), id) in rows.iter().zip(1..) {
            subject.insert(id, row(body, 0, title, 0.0, ""));
        }
        let near = format!("a NEAR/{distance} b");
        for _ in 0..2 {
            for query in [&near[..], "b << a", "a SENTENCE b", "a b", "a | b | c", "b a c", "@title a b", "^a", "a MAYBE ^b", "a -\"b c\""] {
                let root = tree(query);
                for ranker in ["proximity_bm25", "proximity", "sph04", "matchany"] {
                    let weights = ("field_weights", "(title=3,body=2)");
                    let select = with(select_all(), &[("ranker", ranker), weights]);
                    subject.check(&Select { limit: Some(3), ..select }, Some(&root));
                }
            }
            subject.seal();
        }
    }
}

/// After a merge the pairs of a page tell which rows hold words side by side.
#[test]
fn rows_of_a_merged_segment_weigh_as_the_oracle_says() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    let mut seed = 88_172_645_463_325_252u64;
    let mut text = |words: u64| {
        let mut text = String::new();
        for _ in 0..words {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(["a ", "b ", "c ", "x ", "y "][(seed >> 40) as usize % 5]);
        }
        text
    };
    for id in 1..=500 {
        let (title, body) = (text(id % 3), text(id % 7));
        subject.insert(id, row(&body, 0, &title, 0.0, ""));
        if id % 250 == 0 {
            subject.seal();
        }
    }
    subject.start_merge(true);
    subject.run_merge();
    subject.install_merged();
    for query in [
        "a b",
        "b a",
        "a | b",
        "a b c",
        "c | a | b",
        "a b c x",
        "a << b",
        "b SENTENCE a",
        "a -y b",
    ] {
        let root = tree(query);
        for ranker in ["proximity_bm25", "proximity", "sph04", "matchany"] {
            for limit in [3, 100] {
                let weights = ("field_weights", "(title=3,body=2)");
                let select = with(select_all(), &[("ranker", ranker), weights]);
                let limit = Some(limit);
                subject.check(&Select { limit, ..select }, Some(&root));
            }
        }
    }
}

/// Rows are weighed by falling bound. The last ones here have higher bounds than the first ones, and the same weight.
#[test]
fn rows_of_one_weight_come_by_id_whatever_their_bounds() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    for id in 1..=400 {
        let body = if id <= 100 { "a x" } else { "b y a" };
        subject.insert(id, row(body, 0, "", 0.0, ""));
    }
    for _ in 0..2 {
        for query in ["a | b", "a MAYBE b", "a MAYBE ^b", "a MAYBE (b << y)"] {
            let root = tree(query);
            for ranker in ["proximity", "matchany", "fieldmask"] {
                let select = with(select_all(), &[("ranker", ranker)]);
                subject.check(
                    &Select {
                        limit: Some(3),
                        ..select
                    },
                    Some(&root),
                );
            }
        }
        subject.seal();
    }
}

/// What Sphinx 2.2.11 answers with `ranker=proximity` and `ranker=wordcount`, by row, 0 for none.
const OF_SPHINX: [(&str, [i64; 6], [i64; 6]); 10] = [
    (
        "\"alpha beta\" gamma",
        [2, 3, 0, 0, 0, 2],
        [2, 2, 0, 0, 0, 2],
    ),
    (
        "\"alpha * gamma\" beta",
        [2, 0, 0, 0, 0, 2],
        [2, 0, 0, 0, 0, 2],
    ),
    (
        "\"alpha beta\"~3 gamma",
        [2, 2, 1, 1, 1, 2],
        [2, 2, 2, 2, 3, 2],
    ),
    ("alpha NEAR/3 beta", [2, 2, 2, 2, 4, 2], [1, 1, 1, 1, 2, 1]),
    ("alpha << gamma", [1, 1, 2, 0, 1, 1], [2, 2, 2, 0, 2, 2]),
    (
        "\"alpha beta\"/1 gamma",
        [2, 3, 1, 1, 1, 2],
        [3, 3, 3, 3, 5, 3],
    ),
    ("alpha -delta beta", [1, 1, 1, 1, 2, 1], [2, 2, 2, 2, 4, 2]),
    ("^alpha gamma", [1, 1, 0, 0, 1, 0], [2, 2, 0, 0, 2, 0]),
    (
        "alpha SENTENCE gamma",
        [1, 1, 2, 1, 1, 1],
        [2, 2, 2, 2, 3, 2],
    ),
    (
        "gamma MAYBE \"alpha beta\"",
        [2, 2, 1, 1, 1, 2],
        [2, 2, 1, 1, 1, 2],
    ),
];

#[test]
fn words_that_count_as_one_weigh_as_in_sphinx() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    let texts = [
        "alpha beta gamma",
        "alpha beta x gamma",
        "beta alpha gamma",
        "gamma beta x x alpha",
        "alpha x beta beta gamma alpha",
        "x alpha. Beta gamma",
    ];
    for (text, id) in texts.into_iter().zip(1..) {
        subject.insert(id, row(text, 0, "", 0.0, ""));
    }
    for _ in 0..2 {
        let snapshot = subject.table.snapshot();
        for (text, lcs, hits) in OF_SPHINX {
            let query = Query {
                root: tree(text),
                warnings: Vec::new(),
            };
            for (ranker, want) in [("proximity", lcs), ("wordcount", hits)] {
                let select = with(select_all(), &[("ranker", ranker)]);
                let answer = search(&snapshot, &select, Some(&query), &Control::default());
                let mut found = [0; 6];
                for row in answer.expect("an answer").rows {
                    let row = row.expect("a row");
                    if let (Some(Value::Int(id)), Some(Value::Int(weight))) =
                        (row.first(), row.last())
                    {
                        found[*id as usize - 1] = *weight as i64;
                    }
                }
                assert_eq!(found, want, "{text} {ranker}");
            }
        }
        subject.seal();
    }
}

#[test]
fn a_query_of_more_than_64_words_weighs_as_the_oracle_says() {
    let mut subject = repeated(40);
    let any: Vec<String> = (0..90).map(|word| format!("w{}", 89 - word)).collect();
    let root = tree(&any.join(" | "));
    for (ranker, _) in Ranker::NAMED {
        for idf in ["plain", "tfidf_unnormalized"] {
            let select = with(select_all(), &[("ranker", ranker), ("idf", idf)]);
            let limit = Some(3);
            subject.check(&Select { limit, ..select }, Some(&root));
        }
    }
}

/// Rows of many words are ranked by marks, where common words that cannot decide are only counted.
#[test]
fn rows_of_common_and_rare_words_of_a_pattern_weigh_as_the_oracle_says() {
    let mut subject = Subject::new(Arc::new(MemoryDisk::new()));
    let mut seed = 88_172_645_463_325_252u64;
    let mut below = |end: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) % end
    };
    for id in 1..=6_000 {
        let mut body = String::new();
        if below(5) > 0 {
            body.push_str(&"s0 ".repeat(1 + below(2) as usize));
        }
        for _ in 0..below(4) {
            // Half of the words in one row of two, a quarter in one of four, …
            body.push_str(&format!(
                "s{} ",
                2 + below(1 << 40).leading_zeros() + below(3) as u32
            ));
        }
        let title = if below(9) == 0 { "s3 x" } else { "" };
        subject.insert(id, row(&body, id as i64 % 5, title, 0.0, ""));
    }
    (3..=6_000).step_by(7).for_each(|id| {
        subject.delete(id);
    });
    let any = |words: u32| -> String {
        let words: Vec<String> = (0..words).map(|word| format!("s{word}")).collect();
        words.join(" | ")
    };
    let queries = [
        "s*".to_owned(),
        any(12),
        any(70),
        "s* -x".to_owned(),
        "s* s0".to_owned(),
    ];
    for _ in 0..2 {
        for query in &queries {
            let root = tree(query);
            for (ranker, limit, condition) in [
                ("bm25a", 3, ""),
                ("bm25", 3, ""),
                ("bm25", 300, "n < 2"),
                ("proximity_bm25", 20, ""),
            ] {
                let select = match condition {
                    "" => select_all(),
                    condition => filtered(condition),
                };
                let limit = Some(limit);
                let select = with(Select { limit, ..select }, &[("ranker", ranker)]);
                subject.check(&select, Some(&root));
            }
        }
        subject.seal();
    }
}

#[test]
fn a_cutoff_leaves_rows_out_and_says_so() {
    let mut subject = repeated(50);
    let snapshot = subject.table.snapshot();
    let query = Query {
        root: tree("w0"),
        warnings: Vec::new(),
    };
    let all = search(&snapshot, &select_all(), Some(&query), &Control::default());
    let all = all.expect("an answer").total_found;
    let ask = |cutoff: u64| {
        let select = with(select_all(), &[("cutoff", &cutoff.to_string())]);
        let answer = search(&snapshot, &select, Some(&query), &Control::default());
        let answer = answer.expect("an answer");
        (answer.total_found, answer.rows.len() as u64, answer.partial)
    };
    assert_eq!(ask(1), (1, 1, Some(Reason::Cutoff)));
    assert_eq!(ask(all - 1), (all - 1, all - 1, Some(Reason::Cutoff)));
    assert_eq!(ask(all), (all, all, None));
    assert_eq!(ask(0), (all, all, None));
    let count = with(select_count(), &[("cutoff", "1")]);
    check(&snapshot, &subject.model, &count, Some(&query.root));
    for cutoff in 1..all {
        let select = with(select_all(), &[("cutoff", &cutoff.to_string())]);
        check(&snapshot, &subject.model, &select, Some(&query.root));
    }
}
