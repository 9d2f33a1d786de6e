//! Text that is read as a number, and where that may stand.
//!
//! A constant beside a column is read in one place, `ColumnType::constant`, so that it means the same in every statement, filter and
//! door. So a file of the crates that see constants may turn text into a number only if it is listed here with the text that it
//! reads, or if it is part of the one reader.

use super::Problem;
use super::source::{Source, words};
use super::tree::Tree;

/// The crates and folders through which constants come.
const SEE_CONSTANTS: [&str; 7] = [
    "crates/language/src/",
    "crates/relation/src/",
    "crates/session/src/",
    "crates/engine/src/",
    "crates/wire/src/",
    "crates/server/src/http/",
    "crates/collect/src/table/",
];

/// The reader of constants and values, and the lexers that hand them to it.
const READER: [&str; 8] = [
    "crates/relation/src/schema/accept.rs",
    "crates/relation/src/schema/calendar.rs",
    "crates/relation/src/schema/constant.rs",
    "crates/relation/src/schema/decimal.rs",
    "crates/relation/src/value.rs",
    "crates/relation/src/value/compare.rs",
    "crates/relation/src/expression/literal.rs",
    "crates/wire/src/sql/values.rs",
];

/// Files that read other text as numbers, and what that text is.
const OTHERS: &[(&str, &str)] = &[
    (
        "crates/language/src/analysis/settings.rs",
        "the options of an analyzer",
    ),
    (
        "crates/relation/src/bind/ids.rs",
        "ids, which are no column's values",
    ),
    (
        "crates/relation/src/bind/join/groups.rs",
        "names of slots, made by the binder itself",
    ),
    (
        "crates/relation/src/expression/call/bucket.rs",
        "date math of date_range",
    ),
    (
        "crates/relation/src/expression/call/date.rs",
        "moments given to functions of time",
    ),
    (
        "crates/relation/src/expression/call/place.rs",
        "corners of POLYGON",
    ),
    ("crates/relation/src/expression/call/zone.rs", "time zones"),
    ("crates/relation/src/expression/list.rs", "lists of ids"),
    ("crates/relation/src/options.rs", "OPTION"),
    ("crates/language/src/parser/fields.rs", "the query language"),
    ("crates/language/src/parser/infix.rs", "the query language"),
    ("crates/language/src/parser/lucene.rs", "the query language"),
    ("crates/language/src/parser/phrase.rs", "the query language"),
    ("crates/relation/src/scroll.rs", "scroll tokens"),
    (
        "crates/relation/src/time_unit.rs",
        "lengths of time with a unit",
    ),
    (
        "crates/session/src/faults.rs",
        "faults for tests, from the environment",
    ),
    (
        "crates/session/src/statement/pq/documents.rs",
        "the order in which CALL PQ names documents",
    ),
    (
        "crates/session/src/statement/translate/queue_options.rs",
        "options of queues",
    ),
    (
        "crates/session/src/statement/translate/search_options.rs",
        "options of tables",
    ),
    (
        "crates/session/src/query_log/told.rs",
        "OPTION threads, for a line of the log",
    ),
    ("crates/session/src/statement/variables.rs", "values of SET"),
    (
        "crates/session/src/units.rs",
        "the unit of a budget, from the environment",
    ),
    ("crates/session/src/webhook_target.rs", "ports of addresses"),
    (
        "crates/engine/src/engine/transact.rs",
        "ids that an INSERT names",
    ),
    (
        "crates/engine/src/model/catalog/keep.rs",
        "options of tables, in the catalog",
    ),
    (
        "crates/engine/src/model/catalog/options.rs",
        "options of queues, in the catalog",
    ),
    (
        "crates/engine/src/model/catalog/search_options.rs",
        "options of tables, in the catalog",
    ),
    (
        "crates/wire/src/es/lucene.rs",
        "boosts and distances of query_string",
    ),
    (
        "crates/wire/src/es/number.rs",
        "Elasticsearch's dates in milliseconds, and minimum_should_match",
    ),
    ("crates/wire/src/es/search.rs", "from and size"),
    (
        "crates/wire/src/es/simple.rs",
        "distances of simple_query_string",
    ),
    ("crates/wire/src/es/source.rs", "ids of standing queries"),
    ("crates/wire/src/json/bulk.rs", "ids of documents"),
    ("crates/wire/src/json/clause.rs", "minimum_should_match"),
    ("crates/wire/src/json/place.rs", "angles and distances"),
    (
        "crates/wire/src/sql/parser.rs",
        "sizes of columns and limits, which are literals",
    ),
    (
        "crates/wire/src/sql/queue_functions.rs",
        "seconds to wait, and counts",
    ),
    (
        "crates/server/src/http/collect_routes.rs",
        "addresses of hosts",
    ),
    ("crates/server/src/http/guard.rs", "addresses of hosts"),
    (
        "crates/server/src/http/hits.rs",
        "single floats, printed short",
    ),
    ("crates/server/src/http/pq.rs", "ids of standing queries"),
    ("crates/server/src/http/pq/search.rs", "from and size"),
    (
        "crates/server/src/http/queue_routes/request.rs",
        "receipts, counts and seconds of the queue's requests",
    ),
];

/// Calls that turn text into a number.
const CALLS: [&str; 2] = ["parse", "from_str_radix"];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    let mut unused: Vec<&str> = OTHERS.iter().map(|(path, _)| *path).collect();
    for (path, text) in tree.texts() {
        let sees_constants = SEE_CONSTANTS.iter().any(|folder| path.starts_with(folder));
        if !path.ends_with(".rs") || !sees_constants || READER.contains(&path) {
            continue;
        }
        let source = Source::new(path, text);
        let read = source
            .lines()
            .find(|(number, line)| !source.is_test(*number) && reads(line));
        let listed = unused.iter().position(|listed| *listed == path);
        match (read, listed) {
            (Some(_), Some(at)) => {
                unused.swap_remove(at);
            }
            (Some((number, _)), None) => problems.push(Problem::new(
                path,
                number,
                "text is read as a number: a constant beside a column is read by ColumnType::constant alone; a file that reads \
                 other text is listed in xtask/src/tidy/readers.rs",
            )),
            (None, _) => {}
        }
    }
    // In a tree of one rule's test, a listed file that is not there is no fault.
    let is_there = |path: &&str| tree.texts().any(|(there, _)| there == *path);
    for path in unused.into_iter().filter(is_there) {
        let message = "reads no text as a number any more: take it from the list of xtask/src/tidy/readers.rs";
        problems.push(Problem::new(path, 1, message));
    }
}

/// Whether a line calls the parser of a number: `.parse()`, `.parse::<u64>()` or `from_str_radix`. A type's own `parse` is called
/// with an argument.
fn reads(line: &str) -> bool {
    CALLS.iter().any(|call| {
        words(line, call).any(|start| {
            let (before, after) = (&line[..start], &line[start + call.len()..]);
            *call != "parse"
                || before.ends_with('.') && (after.starts_with("()") || after.starts_with("::<"))
        })
    })
}
