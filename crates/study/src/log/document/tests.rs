use std::hash::RandomState;

use report::{Cell, Document, Drawing};

use super::super::anonymous::Words;
use super::super::generate::{
    GeneratedForm, LogGenerator, SERVERS, Workload, index_sizes, server_name,
};
use super::super::source::InputReport;
use super::super::{Place, Summary, SummaryOptions};
use super::{DocumentOptions, document};

fn generated(form: GeneratedForm, lines: usize) -> Summary {
    let workload = Workload {
        form,
        queries: 20_000,
        ..Workload::default()
    };
    let mut summary = Summary::new(&SummaryOptions::default());
    for server in 0..SERVERS {
        let mut generator = LogGenerator::new(workload, server);
        let mut log = Vec::new();
        (0..lines).for_each(|_| generator.write_line(&mut log));
        let first = Place {
            input: server,
            line: 1,
        };
        summary.add_block(&server_name(server), first, &log);
    }
    summary
}

fn column(document: &Document, table: &str, name: &str) -> Vec<Cell> {
    let table = document
        .table(table)
        .unwrap_or_else(|| panic!("no {table}"));
    let place = table
        .columns
        .iter()
        .position(|column| column.name == name)
        .unwrap_or_else(|| panic!("no {name}"));
    table.rows.iter().map(|row| row[place].clone()).collect()
}

fn sum(cells: &[Cell]) -> f64 {
    cells.iter().filter_map(Cell::number).sum()
}

#[test]
fn every_division_of_the_queries_has_them_all() {
    let summary = generated(GeneratedForm::OneTime, 1_000);
    let options = DocumentOptions {
        sizes: index_sizes().into_iter().collect(),
        ..DocumentOptions::default()
    };
    let document = document(&summary, &[], &options);
    for table in [
        "times", "bands", "servers", "indexes", "pairs", "words", "sizes", "rate", "hours",
        "weekdays",
    ] {
        assert_eq!(
            sum(&column(&document, table, "queries")),
            15_000.0,
            "{table}"
        );
    }
    assert_eq!(document.facts[0].name, "queries");
    assert_eq!(document.facts[0].value, Cell::from(15_000_u64));
    assert_eq!(column(&document, "indexes", "name").len(), 180);
    assert_eq!(column(&document, "servers", "name").len(), 15);
}

#[test]
fn rows_have_a_cell_for_each_column_and_names_are_unique() {
    let summary = generated(GeneratedForm::Json, 200);
    let document = document(&summary, &[], &DocumentOptions::default());
    // Facts and tables are keys of one JSON object.
    let mut names: std::collections::BTreeSet<String> = document
        .facts
        .iter()
        .map(|fact| fact.name.clone())
        .collect();
    assert_eq!(names.len(), document.facts.len());
    for table in document.tables() {
        assert!(names.insert(table.name.clone()), "{}", table.name);
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len()),
            "{}",
            table.name
        );
    }
}

#[test]
fn our_own_lines_tell_sizes_and_the_faults_of_the_bands() {
    let summary = generated(GeneratedForm::Json, 1_000);
    let document = document(&summary, &[], &DocumentOptions::default());
    assert_eq!(column(&document, "sizes", "size").len(), 3);
    let faults: Vec<f64> = column(&document, "bands", "faults_per_query")
        .iter()
        .filter_map(Cell::number)
        .collect();
    assert!(
        faults.len() >= 3 && faults.windows(2).all(|pair| pair[0] < pair[1]),
        "{faults:?}"
    );
}

#[test]
fn the_busiest_have_pictures_and_the_table_has_all() {
    let summary = generated(GeneratedForm::OneTime, 500);
    let options = DocumentOptions {
        panels_max: 7,
        ..DocumentOptions::default()
    };
    let document = document(&summary, &[], &options);
    let section = document
        .sections
        .iter()
        .find(|section| section.name == "indexes")
        .unwrap();
    let Drawing::Multiples(multiples) = &section.pictures[0].drawing else {
        panic!("no multiples");
    };
    let names = column(&document, "indexes", "name");
    let titles: Vec<Cell> = multiples
        .panels
        .iter()
        .map(|panel| Cell::from(panel.title.as_str()))
        .collect();
    assert_eq!(titles, names[..7]);
}

#[test]
fn an_anonymous_report_holds_no_word_of_a_query() {
    let mut summary = Summary::new(&SummaryOptions::default());
    let log = "[Fri Jun 29 21:17:58 2007] 0.004 sec [all/0/rel 0 (0,20)] [lj] zebra\n\
               /* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 wall 0.000 found 0 */ SELECT * FROM lj WHERE MATCH('zebra');\n\
               /* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.000 wall 0.000 found 0 */ SELECT 1; /* error=near 'zebra' */\n\
               unknown zebra\n";
    summary.add_block("web", Place::default(), log.as_bytes());
    let options = DocumentOptions {
        words: Words::Hashed(RandomState::new()),
        ..DocumentOptions::default()
    };
    let shown = format!("{:?}", document(&summary, &[], &options));
    assert!(!shown.contains("zebra"), "{shown}");
    let kept = format!("{:?}", document(&summary, &[], &DocumentOptions::default()));
    assert_eq!(kept.matches("zebra").count(), 9);
}

#[test]
fn no_lines_make_a_document_too() {
    let summary = Summary::new(&SummaryOptions::default());
    let input = InputReport {
        name: "empty.gz".to_owned(),
        server: "empty".to_owned(),
        lines: 0,
        bytes: 0,
        cut: Some("unexpected end".to_owned()),
    };
    let document = document(&summary, &[input], &DocumentOptions::default());
    assert_eq!(document.sections.len(), 1);
    assert_eq!(
        document.notes,
        ["1 of 1 inputs ended early; what was read before counts."]
    );
}

#[test]
fn no_two_parts_have_one_name_so_keys_of_json_need_no_number() {
    let summary = generated(GeneratedForm::Json, 200);
    let document = document(&summary, &[], &DocumentOptions::default());
    let mut names: Vec<&str> = vec!["title", "notes", "sections"];
    names.extend(document.facts.iter().map(|fact| fact.name.as_str()));
    names.extend(document.tables().map(|table| table.name.as_str()));
    names.extend(document.pictures().map(|picture| picture.name.as_str()));
    names.sort_unstable();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}
