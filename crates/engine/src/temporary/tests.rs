//! A temporary table beside a list of rows.

use std::sync::Arc;

use proptest::prelude::*;
use relation::expression::{Expression, evaluate};
use relation::lexer::Lexer;
use relation::request::Insert;
use relation::rows::JoinRows;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::Temporary;
use crate::error::Error;

fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    }
}

fn columns() -> Vec<Column> {
    vec![
        column("id", ColumnType::Bigint),
        column("tag", ColumnType::String),
    ]
}

fn insert(rows: Vec<Vec<Value>>, replace: bool) -> Insert {
    Insert {
        table: "t".to_owned(),
        columns: None,
        rows,
        replace,
    }
}

fn expression(text: &str) -> Expression {
    relation::expression::parse(&mut Lexer::new(text.as_bytes())).unwrap()
}

fn rows_of(table: &Arc<Temporary>, condition: Option<&Expression>) -> Vec<Vec<Value>> {
    let found = table.find(condition, &index::Interrupt::default()).unwrap();
    let row = |row: u32| {
        (0..2)
            .map(|column| found.value(row, column).unwrap())
            .collect()
    };
    (0..found.len() as u32).map(row).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Insert(Vec<(Option<i8>, String)>),
    Ignore(Vec<(Option<i8>, String)>),
    Replace(Vec<(Option<i8>, String)>),
    Delete(&'static str),
    Truncate,
}

fn step() -> impl Strategy<Value = Step> {
    let row = (prop::option::weighted(0.9, 0_i8..12), "[abA]{0,2}");
    let rows = || prop::collection::vec(row.clone(), 1..6);
    prop_oneof![
        4 => rows().prop_map(Step::Insert),
        2 => rows().prop_map(Step::Ignore),
        3 => rows().prop_map(Step::Replace),
        3 => prop::sample::select(vec!["id < 6", "tag = 'a'", "id IS NULL", "id > 2"]).prop_map(Step::Delete),
        1 => Just(Step::Truncate),
    ]
}

/// Whether two rows have the same key: the id, or id and tag.
fn clash(by_both: bool, a: &[Value], b: &[Value]) -> bool {
    let is_same = |at: usize| a[at].cmp_sql(&b[at]).is_some_and(|order| order.is_eq());
    is_same(0) && (!by_both || is_same(1))
}

proptest! {
    #[test]
    fn a_table_holds_what_a_list_of_rows_holds(by_both in any::<bool>(), steps in prop::collection::vec(step(), 1..20)) {
        let key = if by_both { vec![0, 1] } else { vec![0] };
        let mut table = Arc::new(Temporary::new("t".to_owned(), columns(), vec![key]).unwrap());
        let mut model: Vec<Vec<Value>> = Vec::new();
        for step in steps {
            let (rows, replaces, ignores) = match step {
                Step::Truncate => {
                    Arc::make_mut(&mut table).truncate();
                    model.clear();
                    continue;
                }
                Step::Delete(text) => {
                    let condition = expression(text);
                    let found = table.find(Some(&condition), &index::Interrupt::default()).unwrap();
                    let numbers = found.into_numbers();
                    Arc::make_mut(&mut table).delete(&numbers);
                    model.retain(|row| {
                        let value = |name: &str| row.get(usize::from(name == "tag")).cloned();
                        evaluate(&condition, &value).as_bool() != Some(true)
                    });
                    continue;
                }
                Step::Insert(rows) => (rows, false, false),
                Step::Ignore(rows) => (rows, false, true),
                Step::Replace(rows) => (rows, true, false),
            };
            let rows: Vec<Vec<Value>> = rows.into_iter().map(|(id, tag)| {
                vec![id.map_or(Value::Null, |id| Value::Int(id.into())), Value::Str(tag)]
            }).collect();
            let mut next = model.clone();
            let (mut affected, mut refused) = (0, false);
            for row in &rows {
                let known = next.iter().position(|old| clash(by_both, old, row));
                match known {
                    Some(at) if replaces => {
                        next.remove(at);
                        affected += 1;
                    }
                    Some(_) if ignores => continue,
                    Some(_) => refused = true,
                    None => {}
                }
                next.push(row.clone());
                affected += 1;
            }
            match Arc::make_mut(&mut table).insert(insert(rows, replaces), ignores) {
                Ok(inserted) => {
                    prop_assert!(!refused);
                    prop_assert_eq!(inserted.affected, affected);
                    model = next;
                }
                Err(error) => {
                    prop_assert!(refused, "{error}");
                    let is_duplicate = matches!(error, Error::DuplicateKey { .. });
                    prop_assert!(is_duplicate);
                }
            }
            prop_assert_eq!(rows_of(&table, None), model.clone());
            prop_assert_eq!(table.len(), model.len());
        }
    }
}

#[test]
fn a_refused_insert_says_which_key_and_stores_nothing() {
    let mut table = Temporary::new("t".to_owned(), columns(), vec![vec![0, 1]]).unwrap();
    let row = |id, tag: &str| vec![Value::Int(id), Value::Str(tag.to_owned())];
    let error = table.insert(
        insert(vec![row(1, "a"), row(2, "b"), row(1, "A")], false),
        false,
    );
    let text = "duplicate entry '1-A' for key (id, tag)";
    assert_eq!(error.unwrap_err().to_string(), text);
    assert!(table.is_empty());
    let short = table.insert(insert(vec![vec![Value::Int(1)]], false), false);
    assert_eq!(short.unwrap_err(), Error::WrongColumnCount { row: 1 });
}

#[test]
fn a_million_ids_take_eight_bytes_each() {
    let mut table = Temporary::new(
        "t".to_owned(),
        vec![column("id", ColumnType::Bigint)],
        vec![],
    )
    .unwrap();
    let rows = (0..1_000_000).map(|id| vec![Value::Int(id)]).collect();
    table.insert(insert(rows, false), false).unwrap();
    assert_eq!(table.memory(), 8_000_000);
}

#[test]
fn a_default_is_kept_as_its_column_stores_it_or_refused() {
    let with = |default: Value| {
        let column = Column {
            default: Some(default),
            ..column("n", ColumnType::Bigint)
        };
        Temporary::new("t".to_owned(), vec![column], vec![])
    };
    let table = with(Value::Str("12".to_owned())).unwrap();
    assert_eq!(table.columns()[0].default, Some(Value::Int(12)));
    let error = with(Value::Str("soon".to_owned())).unwrap_err();
    assert_eq!(error.to_string(), "invalid default value for column 'n'");
}
