use super::{Options, Place, measure, run};
use crate::{
    Effort, Error,
    definition::{Definition, RecipeName},
    workload,
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

fn definition(matches: u64) -> Definition {
    let posts = workload::posts(&posts()).unwrap();
    Definition {
        name: "small".to_owned(),
        recipe: RecipeName::Common,
        queries: 500,
        seed: 1,
        posts: posts.len(),
        body_bytes: posts.iter().map(|post| post.body.len()).sum(),
        matches,
    }
}

/// What the small definition gives, by the reference.
fn matches() -> u64 {
    use query::{
        analysis::{Analyzer, Words},
        reference,
    };
    let analyzer = Analyzer::default();
    let posts = workload::posts(&posts()).unwrap();
    let texts: Vec<&str> = posts.iter().map(|post| post.body.as_str()).collect();
    let queries = workload::Recipe::Common.queries(&texts, 500, 1).unwrap();
    let parse =
        |(text, id): (&String, u64)| (id, query::parse(text, &["body"], &analyzer).unwrap().root);
    let nodes: Vec<_> = queries.iter().zip(1..).map(parse).collect();
    let hits = |text: &&str| {
        let mut words = Words::new();
        words.push_field(&analyzer, 0, text);
        reference::percolate(&nodes, &words).len() as u64
    };
    texts.iter().map(hits).sum()
}

fn options(batches: Vec<u32>, concurrencies: Vec<u32>) -> Options {
    Options {
        definition: "common-100k".to_owned(),
        posts: posts(),
        place: Place::Within,
        batches,
        concurrencies,
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
    let outcome = measure(&definition(matches), &options(vec![1, 64, 200], vec![1, 2])).unwrap();
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
fn another_count_than_the_definitions_gives_no_time() {
    let refused = measure(&definition(matches() + 1), &options(vec![1], vec![1]));
    assert!(matches!(refused, Err(Error::WrongAnswer { .. })));
}

#[test]
fn options_that_make_no_sense_are_refused_before_the_work() {
    assert!(matches!(
        run(&options(vec![0], vec![1])),
        Err(Error::BadOption(_))
    ));
    let unknown = Options {
        definition: "none".into(),
        ..options(vec![1], vec![1])
    };
    assert!(matches!(
        run(&unknown),
        Err(Error::UnknownDefinition { .. })
    ));
    let empty = Options {
        posts: Vec::new(),
        ..options(vec![1], vec![1])
    };
    assert!(matches!(run(&empty), Err(Error::TooFewPosts)));
    let bad = Options {
        posts: b"{}\nno\n".to_vec(),
        ..options(vec![1], vec![1])
    };
    assert!(matches!(run(&bad), Err(Error::Posts(error)) if error.line == 2));
}
