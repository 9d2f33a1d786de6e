//! The set against the slow reference: random queries, documents, batch splits, changes and merges.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    sync::Arc,
};

use language::analysis::Words;
use language::reference;
use language::tree::Node;
use proptest::prelude::*;
use relation::expression::{self, Expression, Prepared};
use relation::lexer::Lexer;
use relation::value::Value;

use super::{
    any::{FILTERS, any_document, any_filter, any_node},
    rows_of, standing,
};
use crate::{Documents, Matchers, QuerySet, Scratch, Snapshot, StandingQuery};

/// By id: the query's tree and the number of its filter.
type Model = BTreeMap<u64, (Node, Option<usize>)>;

/// Number of sets that are tried; `SEINE_LAW_CASES=100000` takes some hours.
fn cases() -> u32 {
    let given = std::env::var("SEINE_LAW_CASES").ok();
    given.and_then(|cases| cases.parse().ok()).unwrap_or(128)
}

fn filter(number: usize) -> Expression {
    expression::parse(&mut Lexer::new(FILTERS[number].as_bytes())).unwrap()
}

/// The attributes of a document: `n`, `m` and `s`.
fn attribute(document: usize, column: usize) -> Value {
    match (column, document % 7) {
        (0, 6) => Value::Null,
        (0, n) => Value::Int(n as i128),
        (1, _) => Value::Int((document * 3 % 8) as i128),
        _ => match document % 5 {
            0 => Value::Null,
            1 => Value::Int(7),
            number => Value::Str(["green", "Blue", "RED"][number - 2].to_owned()),
        },
    }
}

fn slot(name: &str) -> Option<usize> {
    ["n", "m", "s"].iter().position(|column| *column == name)
}

type Filtered = (Arc<StandingQuery>, Option<Arc<Prepared>>);

fn filtered(id: u64, root: &Node, number: Option<usize>) -> Filtered {
    let prepared = number.map(|number| Prepared::new(&filter(number), &slot).unwrap());
    let query = StandingQuery {
        filters: number.map_or("", |number| FILTERS[number]).into(),
        ..(*standing(id, &format!("{root:?}"))).clone()
    };
    (Arc::new(query), prepared.map(Arc::new))
}

fn insert_filtered(
    set: &mut QuerySet,
    id: u64,
    root: &Node,
    number: Option<usize>,
) -> Option<String> {
    let (query, filter) = filtered(id, root, number);
    // Whether regular expressions are compiled before changes nothing.
    let replaced = match id % 2 {
        0 => set.insert(query, root, filter),
        _ => set.insert_compiled(query, root, filter, Matchers::of(root)),
    };
    replaced.map(|query| query.text.to_string())
}

/// Loads the queries with new ids, each into one of three batches.
fn load(set: &mut QuerySet, model: &mut Model, queries: Vec<Loaded>) {
    let mut parts: Vec<_> = (0..3).map(|_| set.part()).collect();
    for (part, id, root, number) in queries {
        if let Entry::Vacant(place) = model.entry(id) {
            let (query, filter) = filtered(id, &root, number);
            parts[part].insert(query, &root, filter);
            place.insert((root, number));
        }
    }
    set.load(parts);
}

/// Matches documents, the first of which has that index.
fn ask_from(
    snapshot: &Snapshot,
    first: usize,
    documents: &[Words],
    scratch: &mut Scratch,
) -> Vec<(u64, Vec<u32>)> {
    let attributes = |document: usize, column: usize| attribute(first + document, column);
    let documents = Documents {
        attributes: &attributes,
        ..Documents::of(documents)
    };
    rows_of(snapshot, &documents, scratch)
}

fn expected(queries: &Model, documents: &[Words]) -> Vec<(u64, Vec<u32>)> {
    let filters: Vec<Expression> = (0..FILTERS.len()).map(filter).collect();
    let row = |(id, (root, number)): (&u64, &(Node, Option<usize>))| {
        let accepts = |document: usize| {
            number.is_none_or(|number| {
                let value = |name: &str| Some(attribute(document, slot(name)?));
                expression::evaluate(&filters[number], &value).as_bool() == Some(true)
            })
        };
        let numbered = documents.iter().enumerate();
        let found = numbered.filter(|(n, words)| accepts(*n) && reference::matches(root, words));
        (*id, found.map(|(n, _)| n as u32).collect::<Vec<u32>>())
    };
    queries
        .iter()
        .map(row)
        .filter(|(_, found)| !found.is_empty())
        .collect()
}

/// The batch that it is loaded in, then the query.
type Loaded = (usize, u64, Node, Option<usize>);

#[derive(Clone, Debug)]
enum Step {
    Insert(u64, Node, Option<usize>),
    Remove(u64),
    Snapshot,
    /// Begins to file everything anew; the next `Install` gives the result to the set.
    FileAnew,
    Merge,
    Install,
    Abandon,
    ForgetWords,
    Load(Vec<Loaded>),
}

fn any_step() -> impl Strategy<Value = Step> {
    let id = || 0_u64..60;
    prop_oneof![
        6 => (id(), any_node(), any_filter())
            .prop_map(|(id, root, filter)| Step::Insert(id, root, filter)),
        2 => id().prop_map(Step::Remove),
        3 => Just(Step::Snapshot),
        2 => Just(Step::FileAnew),
        2 => Just(Step::Merge),
        3 => Just(Step::Install),
        1 => Just(Step::Abandon),
        1 => Just(Step::ForgetWords),
        1 => proptest::collection::vec((0_usize..3, id(), any_node(), any_filter()), 0..30)
            .prop_map(Step::Load),
    ]
}

/// Splits the documents into calls of the given sizes and joins the answers.
fn ask_in_parts(
    snapshot: &Snapshot,
    documents: &[Words],
    sizes: &[usize],
    scratch: &mut Scratch,
) -> Vec<(u64, Vec<u32>)> {
    let mut rows: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    let mut start = 0;
    let mut sizes = sizes.iter().cycle();
    while start < documents.len() {
        let end = documents.len().min(start + sizes.next().unwrap());
        for (id, found) in ask_from(snapshot, start, &documents[start..end], scratch) {
            rows.entry(id)
                .or_default()
                .extend(found.iter().map(|index| index + start as u32));
        }
        start = end;
    }
    rows.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    /// Every snapshot, however late it is used and however the documents are split, gives the reference's answer for
    /// the queries of the moment when it was taken.
    #[test]
    fn hits_are_the_references(
        steps in proptest::collection::vec(any_step(), 1..40),
        documents in proptest::collection::vec(any_document(), 1..90),
        sizes in proptest::collection::vec(1_usize..140, 1..4),
    ) {
        let mut set = QuerySet::new();
        let mut model: Model = BTreeMap::new();
        let (mut taken, mut under_way) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Insert(id, root, filter) => {
                    let replaced = insert_filtered(&mut set, id, &root, filter);
                    let wanted = model.insert(id, (root, filter));
                    let wanted = wanted.map(|(root, _)| format!("{root:?}"));
                    prop_assert_eq!(replaced, wanted);
                }
                Step::Remove(id) => prop_assert_eq!(set.remove(id), model.remove(&id).is_some()),
                Step::Snapshot => taken.push((set.snapshot(), model.clone())),
                Step::FileAnew => {
                    set.outdate();
                    under_way.extend(set.merge_job());
                }
                Step::Merge => under_way.extend(set.merge_job()),
                Step::Install => {
                    if !under_way.is_empty() {
                        set.install(under_way.remove(0).run());
                    }
                }
                Step::Abandon => set.abandon(),
                Step::ForgetWords => {
                    set.outlive_words();
                    under_way.extend(set.merge_job());
                }
                Step::Load(queries) => load(&mut set, &mut model, queries),
            }
            prop_assert_eq!(set.len(), model.len());
        }
        let listed: Vec<_> = set.iter().map(|query| (query.id, query.text.to_string())).collect();
        let text = |(id, (root, _)): (&u64, &(Node, _))| (*id, format!("{root:?}"));
        prop_assert_eq!(&listed, &model.iter().map(text).collect::<Vec<_>>());
        for (id, text) in listed {
            prop_assert_eq!(set.get(id).map(|query| &*query.text), Some(&*text));
        }
        taken.push((set.snapshot(), model));
        let mut scratch = Scratch::new();
        for (snapshot, queries) in taken.iter().rev().take(4) {
            let want = expected(queries, &documents);
            prop_assert_eq!(ask_from(snapshot, 0, &documents, &mut scratch), want.clone());
            prop_assert_eq!(ask_in_parts(snapshot, &documents, &sizes, &mut scratch), want);
        }
    }
}
