//! The oracle: rows in a map, every answer by brute force.

use std::collections::{BTreeMap, BTreeSet};

use index::{Keyword, Reshape, TableShape};
use language::analysis::{Analyzer, Words};
use language::pattern::Matcher;
use language::reference;
use language::tree::{FieldPlace, Node, Query, Term};
use relation::expression::{Expression, evaluate};
use relation::options::Options;
use relation::request::{Item, Output, Select};
use relation::schema;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use crate::oracle::{Oracle, Table};

/// What both sides of a comparison give.
#[derive(Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) columns: Vec<(String, Option<ColumnType>)>,
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) total_found: u64,
    pub(crate) keywords: Vec<Keyword>,
}

#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) shape: TableShape,
    rows: BTreeMap<u64, (Vec<Value>, Words)>,
}

/// `body text, n int, title text, f float, s string`.
pub(crate) fn shape() -> TableShape {
    let column = |name: &str, kind| Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    };
    TableShape {
        columns: vec![
            column("body", ColumnType::Text),
            column("n", ColumnType::Int),
            column("title", ColumnType::Text),
            column("f", ColumnType::Float),
            column("s", ColumnType::String),
        ],
        analyzer: Analyzer::default(),
        shards: 1,
    }
}

/// The words of a row's text columns.
pub(crate) fn words_of(shape: &TableShape, row: &[Value]) -> Words {
    let mut words = Words::new();
    let texts = shape
        .columns
        .iter()
        .zip(row)
        .filter(|(column, _)| column.kind == schema::ColumnType::Text);
    for (field, (_, value)) in (0..).zip(texts) {
        if let Value::Str(text) = value {
            words.push_field(&shape.analyzer, field, text);
        }
    }
    words
}

impl Model {
    pub(crate) fn new(shape: TableShape) -> Model {
        Model {
            shape,
            rows: BTreeMap::new(),
        }
    }

    pub(crate) fn contains(&self, id: u64) -> bool {
        self.rows.contains_key(&id)
    }

    pub(crate) fn insert(&mut self, id: u64, row: Vec<Value>) {
        let words = words_of(&self.shape, &row);
        assert!(self.rows.insert(id, (row, words)).is_none());
    }

    pub(crate) fn delete(&mut self, id: u64) -> bool {
        self.rows.remove(&id).is_some()
    }

    /// `false` if there is no such row.
    pub(crate) fn change(&mut self, id: u64, values: &[(u16, Value)]) -> bool {
        let Some((row, _)) = self.rows.get_mut(&id) else {
            return false;
        };
        for (column, value) in values {
            row[usize::from(*column)] = value.clone();
        }
        true
    }

    pub(crate) fn alter(&mut self, reshape: &Reshape) {
        self.shape = reshape.shape.clone();
        for (id, (row, words)) in &mut self.rows {
            *row = (reshape.row)(*id, std::mem::take(row)).expect("rows that fit");
            *words = words_of(&self.shape, row);
        }
    }

    /// The ids of the rows with this value in a column.
    pub(crate) fn value_of(&self, column: u16, value: &Value) -> Vec<u64> {
        let rows = self.rows.iter();
        let rows = rows.filter(|(_, (row, _))| row[usize::from(column)] == *value);
        rows.map(|(id, _)| *id).collect()
    }

    /// Id and values of each row, by id.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, &Vec<Value>)> {
        self.rows.iter().map(|(id, (row, _))| (*id, row))
    }

    pub(crate) fn len(&self) -> u64 {
        self.rows.len() as u64
    }

    /// Words of all rows, every occurrence counted.
    pub(crate) fn words(&self) -> u64 {
        self.rows
            .values()
            .map(|(_, words)| words.len() as u64)
            .sum()
    }

    pub(crate) fn keyword(&self, word: &str) -> Keyword {
        let counts = self.rows.values().map(|(_, words)| count(words, word));
        Keyword {
            word: word.to_owned(),
            documents: counts.clone().filter(|count| *count > 0).count() as u64,
            hits: counts.map(u64::from).sum(),
        }
    }

    /// Of each word of a query, and of each pattern the sums of its words.
    fn keywords(&self, root: &Node) -> Vec<Keyword> {
        let mut terms: Vec<&Term> = Vec::new();
        root.each_term(&mut |term| {
            let is_known = |known: &&Term| (known.form, &known.text) == (term.form, &term.text);
            if !terms.iter().any(is_known) {
                terms.push(term);
            }
        });
        let all = self.rows.values().flat_map(|(_, words)| words.iter());
        let all: BTreeSet<&str> = all.map(|(text, ..)| text).collect();
        let keyword = |term: &&Term| {
            let matcher = Matcher::new(term).expect("a pattern");
            let words = all.iter().filter(|word| matcher.is_match(word));
            let words: Vec<Keyword> = words.map(|word| self.keyword(word)).collect();
            Keyword {
                word: term.text.to_string(),
                documents: words.iter().map(|word| word.documents).sum(),
                hits: words.iter().map(|word| word.hits).sum(),
            }
        };
        terms.iter().map(keyword).collect()
    }

    pub(crate) fn search(&self, select: &Select, query: Option<&Query>) -> Given {
        let root = query.map(|query| &query.root);
        let keywords = root.map_or_else(Vec::new, |root| self.keywords(root));
        let options = Options::parse(&select.options).expect("options");
        let table = Table {
            rows: self.rows.values().map(|(_, words)| words).collect(),
            fields: self.field_weights(&options),
        };
        let weighed = root.filter(|root| **root != Node::All);
        let oracle = weighed.map(|root| Oracle::new(&options, root, table, is_stepped(root)));
        let weigh = |words: &Words| oracle.as_ref().map_or(1, |oracle| oracle.weight(words));
        let mut found: Vec<(u64, i64)> = Vec::new();
        for (id, (row, words)) in &self.rows {
            let matched = root.is_none_or(|root| reference::matches(root, words));
            let wanted = |filter| {
                evaluate(filter, &|name| self.column(*id, row, name)).as_bool() == Some(true)
            };
            if matched && select.filter.as_ref().is_none_or(wanted) {
                found.push((*id, weigh(words)));
            }
        }
        let is_count = select.items.iter().any(|item| {
            matches!(
                item,
                Item::Value {
                    what: Output::Count,
                    ..
                }
            )
        });
        // They come by rising id, and the first ones count.
        if options.cutoff > 0 && !is_count {
            found.truncate(options.cutoff as usize);
        }
        let total = found.len() as u64;
        found.sort_by(|a, b| self.compare(select, query.is_some(), a, b));
        let limit = select.limit.unwrap_or(u64::MAX) as usize;
        let rows: Vec<Vec<Value>> = if is_count {
            vec![vec![Value::Int(total.into()); select.items.len()]]
        } else {
            found
                .iter()
                .map(|(id, weight)| self.shown(select, *id, *weight))
                .collect()
        };
        Given {
            columns: self.headers(select),
            rows: rows
                .into_iter()
                .skip(select.offset as usize)
                .take(limit)
                .collect(),
            total_found: if is_count { 1 } else { total },
            keywords,
        }
    }

    fn field_weights(&self, options: &Options) -> Vec<i64> {
        let texts = self.shape.columns.iter();
        let texts = texts.filter(|column| column.kind == ColumnType::Text);
        let weight = |column: &Column| {
            let named = options.field_weights.iter().rev();
            let mut named = named.filter(|(name, _)| *name == column.name);
            named.next().map_or(1, |(_, weight)| i64::from(*weight))
        };
        texts.map(weight).collect()
    }

    fn column(&self, id: u64, row: &[Value], name: &str) -> Option<Value> {
        if name == "id" {
            return Some(Value::Int(id.into()));
        }
        let at = self
            .shape
            .columns
            .iter()
            .position(|column| column.name == name)?;
        row.get(at).cloned()
    }

    fn value(&self, what: &Output, id: u64, weight: i64) -> Value {
        match what {
            Output::Weight => Value::Int(weight.into()),
            Output::Count => unreachable!("handled apart"),
            Output::Expression(expression) => {
                evaluate(expression, &|name| self.column(id, &self.rows[&id].0, name))
            }
        }
    }

    fn shown(&self, select: &Select, id: u64, weight: i64) -> Vec<Value> {
        let mut values = Vec::new();
        for item in &select.items {
            match item {
                Item::Star => {
                    values.push(Value::Int(id.into()));
                    values.extend(self.rows[&id].0.iter().cloned());
                }
                Item::TableStar(table) => panic!("'{table}.*' of a join"),
                Item::Value { what, .. } => values.push(self.value(what, id, weight)),
            }
        }
        values
    }

    fn headers(&self, select: &Select) -> Vec<(String, Option<ColumnType>)> {
        let mut headers = Vec::new();
        let id = Some(ColumnType::Bigint);
        for item in &select.items {
            match item {
                Item::Star => {
                    headers.push(("id".to_owned(), id));
                    let columns = self.shape.columns.iter();
                    headers.extend(columns.map(|column| (column.name.clone(), Some(column.kind))));
                }
                Item::TableStar(table) => panic!("'{table}.*' of a join"),
                Item::Value { what, name } => {
                    let kind = match what {
                        Output::Weight => Some(ColumnType::Int),
                        Output::Count => id,
                        Output::Expression(Expression::Column(name)) if name == "id" => id,
                        Output::Expression(Expression::Column(name)) => self
                            .shape
                            .columns
                            .iter()
                            .find(|column| column.name == *name)
                            .map(|column| column.kind),
                        Output::Expression(_) => None,
                    };
                    headers.push((name.clone(), kind));
                }
            }
        }
        headers
    }

    fn compare(
        &self,
        select: &Select,
        matching: bool,
        a: &(u64, i64),
        b: &(u64, i64),
    ) -> std::cmp::Ordering {
        for order in &select.order {
            let of = |row: &(u64, i64)| self.value(&order.key, row.0, row.1);
            let compared = of(a).cmp_order(&of(b));
            let compared = if order.descending {
                compared.reverse()
            } else {
                compared
            };
            if compared.is_ne() {
                return compared;
            }
        }
        let by_weight = if select.order.is_empty() && matching {
            b.1.cmp(&a.1)
        } else {
            std::cmp::Ordering::Equal
        };
        by_weight.then(a.0.cmp(&b.0))
    }
}

/// Whether the executor steps through the tree itself.
fn is_stepped(node: &Node) -> bool {
    match node {
        Node::Word(word) => word.term.place == FieldPlace::default(),
        Node::Phrase { words, .. } => words.iter().all(|(term, _)| term.is_plain()),
        Node::Quorum { parts, .. } | Node::And(parts) | Node::Or(parts) => {
            parts.iter().all(is_stepped)
        }
        Node::Maybe(left, right) => is_stepped(left) && is_stepped(right),
        Node::Not(part) => is_stepped(part),
        node => node == &Node::All,
    }
}

fn count(words: &Words, wanted: &str) -> u32 {
    words.iter().filter(|(word, _, _)| *word == wanted).count() as u32
}
