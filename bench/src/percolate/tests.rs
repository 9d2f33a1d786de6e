use super::{Options, Target, measure, run};
use crate::{
    Batch, Effort, Error,
    definition::Definition,
    workload::{self, Recipe},
};

/// A few hundred posts with enough words to draw queries from.
fn posts() -> Vec<u8> {
    let words = [
        "red", "blue", "green", "boat", "net", "fish", "stream", "river", "wave", "shore",
    ];
    let line = |number: usize| {
        let word = |step: usize| words[(number * step + number / 7) % words.len()];
        format!(
            "{{\"body\": \"{} {} {} {}\"}}\n",
            word(1),
            word(3),
            word(7),
            word(9)
        )
    };
    (0..300)
        .flat_map(|number| line(number).into_bytes())
        .collect()
}

/// Posts with selective words: a hundred words that all have, which are the commonest, and three of twenty others.
fn selective_posts() -> Vec<u8> {
    let common: Vec<String> = (0..100).map(|number| format!("filler{number}")).collect();
    let common = common.join(" ");
    let line = |number: usize| {
        let word = |step: usize| format!("salmon{}", (number * step + number / 7) % 20);
        let (a, b, c) = (word(1), word(3), word(7));
        format!("{{\"body\": \"{common} {a} {b} {c}\"}}\n").into_bytes()
    };
    (0..300).flat_map(line).collect()
}

fn definition(matches: u64) -> Definition {
    let posts = workload::posts(&posts()).unwrap();
    Definition {
        name: "small".to_owned(),
        recipe: Recipe::Common,
        queries: 500,
        seed: 1,
        posts: posts.len(),
        body_bytes: posts.iter().map(|post| post.body.len()).sum(),
        matches,
    }
}

/// Matches of the small definition, counted by the reference search.
fn matches() -> u64 {
    use language::analysis::{Analyzer, Words};
    use language::reference;
    let analyzer = Analyzer::default();
    let posts = workload::posts(&posts()).unwrap();
    let queries = Recipe::Common.draw(&posts, 1).unwrap().take(500);
    let root = |text: &str| language::parse(text, &["body"], &analyzer).unwrap().root;
    let nodes: Vec<_> = queries
        .zip(1..)
        .map(|(query, id)| (id, root(&query.text)))
        .collect();
    let hits = |post: &workload::Post| {
        let mut words = Words::new();
        words.push_field(&analyzer, 0, &post.body);
        reference::percolate(&nodes, &words).len() as u64
    };
    posts.iter().map(hits).sum()
}

fn options(batches: &[u32], concurrencies: &[u32]) -> Options {
    Options {
        definition: "common-100k".to_owned(),
        posts: posts(),
        from: 1,
        limit: None,
        place: Target::Within,
        own_count: false,
        batches: batches.iter().map(|count| Batch::Of(*count)).collect(),
        concurrencies: concurrencies.to_vec(),
        changes: None,
        tag: None,
        effort: Effort {
            runs: 2,
            seconds_min: 0.0,
            progress: false,
        },
    }
}

#[test]
fn every_cell_of_the_grid_gives_the_pairs_of_the_reference() {
    let matches = matches();
    let outcome = measure(&definition(matches), &options(&[1, 64, 200], &[1, 2])).unwrap();
    assert_eq!(outcome.cells.len(), 6);
    for cell in &outcome.cells {
        let (_, counted) = cell
            .facts
            .iter()
            .find(|(name, _)| *name == "matches/doc")
            .unwrap();
        assert_eq!(*counted, matches as f64 / 300.0);
    }
}

#[test]
fn documents_are_taken_from_the_one_named_and_begin_again_after_the_last() {
    let whole = matches();
    let asked = Options {
        from: 301,
        limit: Some(600),
        ..options(&[64], &[1])
    };
    let twice = measure(&definition(whole), &asked).unwrap();
    let count = |limit, from| {
        let asked = Options {
            from,
            limit,
            ..options(&[64], &[1])
        };
        let outcome = measure(&definition(whole), &asked).unwrap();
        let cell = &outcome.cells[0];
        let found = cell.facts.iter().find(|(name, _)| *name == "matches/doc");
        (cell.elements, found.unwrap().1 * cell.elements as f64)
    };
    assert_eq!(twice.cells[0].elements, 600);
    let (first, rest) = (count(Some(100), 1), count(None, 101));
    assert_eq!((first.0, rest.0), (100, 200));
    assert!((first.1 + rest.1 - whole as f64).abs() < 0.5);
}

#[test]
fn the_automatic_batch_is_told_beside_the_best_cell() {
    let asked = Options {
        batches: vec![Batch::Of(10), Batch::Auto, Batch::Of(100)],
        ..options(&[1], &[2])
    };
    let outcome = measure(&definition(matches()), &asked).unwrap();
    let batches: Vec<Batch> = outcome.cells.iter().map(|cell| cell.batch).collect();
    assert_eq!(batches, [Batch::Of(10), Batch::Of(100), Batch::Auto]);
    let told = |note: &String| note.starts_with("the automatic batch with 2 clients: ");
    assert!(outcome.notes.iter().any(told), "{:?}", outcome.notes);
}

#[test]
fn while_queries_change_every_pass_gives_the_same_pairs() {
    let asked = Options {
        changes: Some(1_000),
        ..options(&[64], &[2])
    };
    let outcome = measure(&definition(matches()), &asked).unwrap();
    assert_eq!(outcome.cells.len(), 2);
    let facts = &outcome.cells[1].facts;
    assert!(
        facts.iter().any(|(name, _)| *name == "x quiet"),
        "{facts:?}"
    );
}

/// The pairs of an export's queries and documents, by its own text.
fn exported_pairs(queries: &str, documents: &str) -> u64 {
    let has = |document: &str, words: &str| {
        let mut words = words.split('|');
        words.any(|word| document.split(' ').any(|other| other == word))
    };
    let hit = |query: &&str, document: &str| {
        let mut parts = query.split(' ');
        parts.all(|part| has(document, &part[1..]) == part.starts_with('+'))
    };
    let of = |document| queries.lines().filter(|query| hit(query, document)).count() as u64;
    documents.lines().map(of).sum()
}

#[test]
fn an_export_of_words_and_groups_gives_the_pairs_that_it_tells() {
    for recipe in [Recipe::Common, Recipe::Ors, Recipe::Boolean] {
        let name = format!("seine-bench-export-{}-{recipe:?}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let asked = Options {
            limit: Some(10),
            ..options(&[1], &[1])
        };
        let other_posts = Definition {
            recipe,
            posts: 0,
            ..definition(0)
        };
        let posts = match recipe {
            Recipe::Common => posts(),
            _ => selective_posts(),
        };
        let asked = Options { posts, ..asked };
        let pairs = super::export::write(&other_posts, &asked, &directory).unwrap();
        let read = |name| std::fs::read_to_string(directory.join(name)).unwrap();
        let (queries, documents) = (read("queries.txt"), read("documents.txt"));
        assert_eq!(
            (queries.lines().count(), documents.lines().count()),
            (500, 10)
        );
        assert_eq!(queries.contains('|'), recipe != Recipe::Common);
        assert_eq!(exported_pairs(&queries, &documents), pairs);
        assert!(pairs > 0, "{recipe:?}");
        std::fs::remove_dir_all(directory).unwrap();
    }
}

#[test]
fn a_query_that_needs_positions_is_not_exported() {
    let directory = std::env::temp_dir().join(format!("seine-bench-phrase-{}", std::process::id()));
    let phrases = Definition {
        recipe: Recipe::Phrases,
        posts: 0,
        ..definition(0)
    };
    let asked = Options {
        posts: selective_posts(),
        ..options(&[1], &[1])
    };
    let refused = super::export::write(&phrases, &asked, &directory);
    assert!(matches!(refused, Err(Error::Query(_))), "{refused:?}");
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn another_count_than_the_definitions_gives_no_time() {
    let refused = measure(&definition(matches() + 1), &options(&[1], &[1]));
    assert!(matches!(refused, Err(Error::WrongAnswer { .. })));
}

#[test]
fn options_that_make_no_sense_are_refused_before_the_work() {
    assert!(matches!(
        run(&options(&[0], &[1])),
        Err(Error::BadOption(_))
    ));
    let unknown = Options {
        definition: "none".into(),
        ..options(&[1], &[1])
    };
    assert!(matches!(
        run(&unknown),
        Err(Error::UnknownDefinition { .. })
    ));
    let empty = Options {
        posts: Vec::new(),
        ..options(&[1], &[1])
    };
    assert!(matches!(run(&empty), Err(Error::TooFewPosts)));
    let bad = Options {
        posts: b"{}\nno\n".to_vec(),
        ..options(&[1], &[1])
    };
    assert!(matches!(run(&bad), Err(Error::Posts(error)) if error.line == 2));
}
