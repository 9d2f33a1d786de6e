//! What the examples have in common.
#![allow(dead_code, reason = "each example uses some of it")]

use std::sync::Arc;
use std::time::Duration;

use index::{Answer, Control, Snapshot};
use language::analysis::{Analyzer, Words};
use language::tree::{FieldSet, Node, Query, Term, Word};
use relation::expression::Expression;
use relation::options::Options;
use relation::request::{Item, Output, Select};
use relation::schema::{Column, ColumnType};

/// As the default analysis has it.
pub(crate) fn analysed(text: &str) -> Words {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, text);
    words
}

/// The words alone.
pub(crate) fn tokens(text: &str) -> Vec<String> {
    let words = analysed(text);
    words.iter().map(|(word, _, _)| word.to_owned()).collect()
}

pub(crate) fn column(name: &str, kind: ColumnType) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed: false,
    }
}

/// Rows of one of the words.
pub(crate) fn any(words: &[String]) -> Node {
    Node::Or(words_of(words))
}

/// Rows of all words.
pub(crate) fn all(words: &[String]) -> Node {
    Node::And(words_of(words))
}

fn words_of(words: &[String]) -> Vec<Node> {
    let node = |text: &String| {
        Node::Word(Word {
            term: Term::whole(text.as_str()),
            fields: FieldSet::ALL,
        })
    };
    words.iter().map(node).collect()
}

pub(crate) fn query(root: Node) -> Query {
    Query {
        root,
        warnings: Vec::new(),
    }
}

/// Ids and weights of the first `shown` rows.
pub(crate) fn select(
    is_matching: bool,
    filter: Option<Expression>,
    shown: u64,
    ranker: &str,
) -> Select {
    let value = |what, name: &str| Item::Value {
        what,
        name: name.to_owned(),
    };
    let id = Output::Expression(Expression::Column("id".to_owned()));
    Select {
        table: "posts".to_owned(),
        items: vec![value(id, "id"), value(Output::Weight, "weight()")],
        matching: is_matching.then(String::new),
        filter,
        order: Vec::new(),
        limit: Some(shown),
        offset: 0,
        options: vec![("ranker".to_owned(), ranker.to_owned())],
    }
}

/// Processor time that this thread has taken: the machine may be busy with other things. Linux only.
pub(crate) fn cpu_time() -> Duration {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedule.split(' ').next().unwrap().parse().unwrap())
}

/// Binds a SELECT and answers it.
pub(crate) fn search(
    snapshot: &Arc<Snapshot>,
    select: &Select,
    query: Option<&Query>,
    control: &Control,
) -> index::Result<Answer> {
    let options = Options::parse(&select.options).unwrap();
    let select = Select {
        matching: query.map(|_| String::new()),
        ..select.clone()
    };
    let bound = snapshot.bind(&select, &options).unwrap();
    snapshot.search(&bound, query, control)
}
