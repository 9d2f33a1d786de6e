use std::path::PathBuf;

use super::{Corpus, Layout, Options, export, run};
use crate::{Effort, error::Error};

/// A folder of its own below the build's, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let unique = format!("seine-bench-test-{}-{name}", std::process::id());
        Folder(std::env::temp_dir().join(unique))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Records of the study's own words, so that its queries find some.
fn corpus() -> Corpus {
    let queries: Vec<&str> = super::definition::study_queries().take(300).collect();
    let record = |place: usize| {
        let words = queries[place..].iter().step_by(7).take(5).copied();
        format!("{}\t{}\n", place + 1, words.collect::<Vec<_>>().join(" "))
    };
    let text: String = (0..queries.len()).map(record).collect();
    Corpus::tsv(text.into_bytes(), 1, 2).unwrap()
}

fn options(folder: &Folder) -> Options {
    Options {
        tests: ["any-bm25", "all-bm25", "phrase-bm25a"]
            .map(str::to_owned)
            .to_vec(),
        queries: 40,
        own_queries: None,
        server: None,
        data: folder.0.clone(),
        keep: false,
        shards: vec![None, Some(3)],
        layouts: vec![Layout::Merged, Layout::Sealed, Layout::One],
        threads: vec![None, Some(2)],
        clients: vec![1, 2],
        beside: Vec::new(),
        tag: None,
        effort: Effort {
            runs: 1,
            seconds_min: 0.01,
            progress: false,
        },
    }
}

#[test]
fn every_setting_gives_the_same_answers_and_one_is_marked() {
    let folder = Folder::new("settings");
    let report = run(&options(&folder), &corpus()).unwrap();
    assert_eq!(report.rows.len(), 3 * 2 * 3 * 2 * 2);
    assert!(report.rows.iter().all(|row| row.median().requests > 0));
    assert_eq!(
        report.rows.iter().filter(|row| row.is_automatic()).count(),
        6
    );
    // Each cell ran once, but the best cell and the automatic one ran in five pairs for each test and number of clients.
    let again: Vec<&str> = report
        .notes
        .iter()
        .filter_map(|note| note.split("both again in turns: ").nth(1))
        .collect();
    assert_eq!(again.len(), 3 * 2);
    assert!(
        again.iter().all(|ratios| ratios.split(' ').count() == 5),
        "{again:?}"
    );
    // The second run takes the tables of the first, whose contents are unchanged.
    let again = run(&options(&folder), &corpus()).unwrap();
    let sums = |notes: &[String]| {
        notes
            .iter()
            .filter(|note| note.contains("rows found"))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(sums(&report.notes), sums(&again.notes));
}

#[test]
fn operators_are_counted_slowly_too() {
    let folder = Folder::new("operators");
    let mut asked = options(&folder);
    let names = ["near", "quorum", "sentence", "start", "before", "prefix"];
    asked.tests = names.map(|name| format!("{name}-bm25a")).to_vec();
    (asked.threads, asked.clients) = (vec![None], vec![1]);
    // Records of the operators' words, some of them with an end of a sentence between.
    let record = |(place, line): (usize, &str)| {
        let words = line.split_once('\t').unwrap().1;
        let words = words.replacen(' ', [" ", ". ", " x x x x x "][place % 3], 1);
        format!("{}\t{words}\n", place + 1)
    };
    let text: String = super::definition::operator_lines()
        .enumerate()
        .map(record)
        .collect();
    let report = run(&asked, &Corpus::tsv(text.into_bytes(), 1, 2).unwrap()).unwrap();
    assert_eq!(report.rows.len(), names.len() * 2 * 3);
    let found = |name: &str| {
        report.notes.iter().any(|note| {
            note.contains("rows found") && note.starts_with(name) && !note.contains(": 0 rows")
        })
    };
    assert!(names.iter().all(|name| found(name)), "{:?}", report.notes);
}

#[test]
fn tests_of_two_tables_are_refused() {
    let folder = Folder::new("two-tables");
    let mut asked = options(&folder);
    asked.tests = vec!["any-bm25".to_owned(), "near-bm25a".to_owned()];
    assert!(matches!(run(&asked, &corpus()), Err(Error::BadOption(_))));
}

#[test]
fn tables_of_other_records_are_no_answer() {
    let folder = Folder::new("other");
    let mut asked = options(&folder);
    asked.tests.truncate(1);
    run(&asked, &corpus()).unwrap();
    let kept = std::fs::read_dir(&folder.0)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    // Other words in as many records and bytes give the same folder name. The check of the answers shows the difference.
    let other: String = corpus()
        .iter()
        .take(300)
        .map(|(id, text)| format!("{id}\t{}\n", "x".repeat(text.len())))
        .collect();
    let other = Corpus::tsv(other.into_bytes(), 1, 2).unwrap();
    assert!(kept.ends_with(format!("{}-{}", other.records(), other.bytes())));
    assert!(matches!(
        run(&asked, &other),
        Err(Error::WrongAnswer { .. })
    ));
}

#[test]
fn words_are_written_once_for_other_programs() {
    let data = Folder::new("export");
    let folder = export(&corpus(), &data.0, &[]).unwrap();
    let text = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let documents = text("documents.tsv");
    assert_eq!(
        (
            documents.lines().count(),
            text("queries.txt").lines().count()
        ),
        (600, 10_000)
    );
    // A second export must not rewrite the file: indexes built from it would seem older than it.
    std::fs::write(folder.join("documents.tsv"), "1\tkept\n").unwrap();
    assert_eq!(export(&corpus(), &data.0, &[]).unwrap(), folder);
    assert_eq!(text("documents.tsv"), "1\tkept\n");
}
