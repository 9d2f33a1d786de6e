//! Names, limits and ids of statements.

use language::meter::Unmetered;

use super::{
    BindError, BoundSelect, ITEMS_OF_TAGS, Ids, KeyCodes, Scope, TAGS_OF_STANDING, within_matches,
};
use crate::expression::{self, Expression, Metered};
use crate::lexer::Lexer;
use crate::options::Options;
use crate::request::{Item, OrderBy, Output, Select};
use crate::schema::{Column, ColumnType};
use crate::value::Value;

fn expression(text: &str) -> Expression {
    expression::parse(&mut Lexer::new(text.as_bytes())).unwrap()
}

#[track_caller]
fn check_ids(condition: &str, expected: Option<(&[u64], bool)>) {
    let found = Ids::of(&expression(condition));
    let found = found.as_ref().map(|it| (&it.ids[..], it.are_all_wanted));
    assert_eq!(found, expected, "{condition}");
}

#[test]
fn ids_are_read_off_the_conditions_that_name_them() {
    check_ids("id = 5", Some((&[5], true)));
    check_ids("7 = id", Some((&[7], true)));
    check_ids("id IN (9, 3, 3, '4', NULL, -1)", Some((&[3, 4, 9], true)));
    check_ids("id = '5' OR id = '-1' OR id = '-0'", Some((&[0, 5], true)));
    let or = "id = 1 OR id = 2 OR id IN (3, 4)";
    check_ids(or, Some((&[1, 2, 3, 4], true)));
    let and = "id IN (1, 2, 3) AND n > 4 AND id IN (2, 9)";
    check_ids(and, Some((&[2, 9], false)));
    check_ids("(id = 1 OR id = 2) AND NOT n = 3", Some((&[1, 2], false)));
    check_ids("id = 1 OR (id = 2 AND n = 3)", Some((&[1, 2], false)));
}

#[test]
fn other_conditions_name_no_ids() {
    for condition in [
        "id > 5",
        "id <> 5",
        "NOT id = 5",
        "id NOT IN (5)",
        "id = 5 OR n = 1",
        "n = 5",
        "id = '5x'",
        "id = '--5'",
        "id = '18446744073709551616'",
        "id = 5.5",
        "id = ''",
    ] {
        check_ids(condition, None);
    }
}

/// Over `n int`, `s string` with a KEY each, and `m int` without one.
#[track_caller]
fn check_keys(condition: &str, expected: &[(usize, &[u64])]) {
    let kinds = [
        ("n", ColumnType::Int, true),
        ("s", ColumnType::String, true),
        ("m", ColumnType::Int, false),
    ];
    let columns = kinds.map(|(name, kind, keyed)| Column {
        name: name.to_owned(),
        kind,
        nullable: true,
        default: None,
        keyed,
    });
    let found = KeyCodes::of(&expression(condition), &columns);
    let found: Vec<_> = found.iter().map(|it| (it.column, &it.codes[..])).collect();
    assert_eq!(found, expected, "{condition}");
}

#[test]
fn values_of_keys_are_read_off_the_conditions_that_name_them() {
    let a = crate::key::code(&Value::Str("a".to_owned())).unwrap();
    check_keys("n = 5", &[(0, &[5])]);
    check_keys("n IN (5, '6', 7.0, NULL) AND m = 3", &[(0, &[5, 6, 7])]);
    check_keys("n = 1 OR n = 2 AND s = 'A'", &[(0, &[1, 2])]);
    check_keys("(n = 1 OR n = 1) AND s = 'A'", &[(0, &[1]), (1, &[a])]);
    check_keys("n = NULL", &[(0, &[])]);
    check_keys("s = 5 AND n = -1", &[(0, &[u64::MAX])]);
    check_keys("m = 5", &[]);
    check_keys("n > 5 OR s = 'a'", &[]);
    check_keys("NOT n = 5", &[]);
}

fn columns() -> Vec<Column> {
    [("title", ColumnType::Text), ("n", ColumnType::Int)]
        .map(|(name, kind)| Column {
            name: name.to_owned(),
            kind,
            nullable: true,
            default: None,
            keyed: false,
        })
        .to_vec()
}

fn scope(columns: &[Column], is_searched: bool) -> Scope<'_> {
    Scope {
        columns,
        has_id: true,
        starred: columns.len(),
        is_searched,
        is_standing: false,
    }
}

fn select(items: Vec<Item>) -> Select {
    Select::new("t", items)
}

fn named(text: &str, name: &str) -> Item {
    Item::Value {
        what: Output::Expression(expression(text)),
        name: name.to_owned(),
    }
}

fn by(name: &str) -> Vec<OrderBy> {
    vec![OrderBy {
        key: Output::Expression(Expression::Column(name.to_owned())),
        descending: true,
    }]
}

#[test]
fn the_items_of_tags_are_those_of_a_set_but_for_standing_queries() {
    let mut columns = columns();
    columns[0].name = TAGS_OF_STANDING.to_owned();
    columns[0].kind = ColumnType::Multi { wide: false };
    let accepts = |condition: &str, set: &[i64]| {
        let condition = expression(condition);
        let bound = scope(&columns, true).condition(&condition).unwrap();
        let set = Value::Set(set.into());
        let row = Metered::new(&Unmetered, |_| set.clone());
        bound.prepared.accepts(&row)
    };
    assert!(accepts("any(tags) = 3", &[3, 4]));
    assert!(accepts("any(tags) != 3", &[3, 4]));
    assert!(!accepts("any(tags) != 3", &[3]));
    assert!(accepts("tags ANY (4, 5)", &[3, 4]));
    let standing = Scope {
        is_standing: true,
        ..scope(&columns, false)
    };
    for text in ["any(tags) != 3", "n = 1 OR all(tags) = 3"] {
        let refused = standing.condition(&expression(text)).map(|_| ());
        assert_eq!(refused, Err(BindError::NotYet(ITEMS_OF_TAGS)), "{text}");
    }
}

#[test]
fn a_star_is_the_id_and_the_columns() {
    let columns = columns();
    let select = select(vec![Item::Star, named("n + 1", "more")]);
    let bound = BoundSelect::new(&select, &Options::default(), &scope(&columns, true)).unwrap();
    let headers: Vec<&str> = bound.headers.iter().map(|(name, _)| &name[..]).collect();
    assert_eq!(headers, ["id", "title", "n", "more"]);
    let row = |slot: usize| Value::Int(10 * slot as i128);
    let shown: Vec<Value> = bound
        .shown
        .iter()
        .map(|it| it.value(1, &Metered::new(&Unmetered, row)))
        .collect();
    assert_eq!(shown, [0, 10, 20, 21].map(Value::Int));
}

#[test]
fn an_alias_hides_a_column_in_any_case_and_in_every_kind_of_table() {
    let columns = columns();
    for is_searched in [true, false] {
        let mut select = select(vec![named("n * -1", "N")]);
        select.order = by("n");
        let scope = scope(&columns, is_searched);
        let bound = BoundSelect::new(&select, &Options::default(), &scope).unwrap();
        let keys = bound
            .order
            .values(&Metered::new(&Unmetered, |_| Value::Int(7)));
        assert_eq!(keys, [Value::Int(-7)]);
    }
}

#[test]
fn what_rows_do_not_have_is_refused_by_name() {
    let columns = columns();
    let bind = |select: &Select, is_searched| {
        let scope = scope(&columns, is_searched);
        BoundSelect::new(select, &Options::default(), &scope).map(|_| ())
    };
    let unknown = |name: &str| Err(BindError::UnknownColumn(name.to_owned()));
    let invalid = |what: &str| Err(BindError::Invalid(what.to_owned()));
    let mut select = select(vec![named("nought", "nought")]);
    assert_eq!(bind(&select, true), unknown("nought"));
    select.items = vec![Item::Star];
    select.order = by("other");
    assert_eq!(bind(&select, true), unknown("other"));
    select.order = vec![OrderBy {
        key: Output::Weight,
        descending: true,
    }];
    assert_eq!(bind(&select, true), Ok(()));
    assert_eq!(
        bind(&select, false),
        invalid("weight() needs a search table")
    );
    select.order.clear();
    select.matching = Some("word".to_owned());
    assert_eq!(bind(&select, false), invalid("MATCH needs a search table"));
    let count = Item::Value {
        what: Output::Count,
        name: "count(*)".to_owned(),
    };
    select.items.push(count);
    let not_yet = BindError::NotYet("count(*) beside other columns");
    assert_eq!(bind(&select, true), Err(not_yet));
}

#[test]
fn a_page_ends_at_max_matches_and_a_look_up_has_none() {
    let columns = columns();
    let page = |limit, offset, matching: bool, filter: &str, options: &Options| {
        let mut select = select(vec![Item::Star]);
        (select.limit, select.offset) = (limit, offset);
        select.matching = matching.then(String::new);
        select.filter = (!filter.is_empty()).then(|| expression(filter));
        let mut bound = BoundSelect::new(&select, options, &scope(&columns, true))?;
        bound.page().map(|_| bound.limit)
    };
    let usual = Options::default();
    assert_eq!(page(None, 0, true, "", &usual), Ok(Some(20)));
    assert_eq!(page(None, 0, false, "", &usual), Ok(None));
    assert_eq!(page(Some(5000), 0, false, "", &usual), Ok(Some(5000)));
    assert_eq!(page(None, 0, false, "id IN (1, 2)", &usual), Ok(None));
    assert_eq!(page(None, 0, true, "id IN (1, 2)", &usual), Ok(Some(20)));
    assert_eq!(page(Some(5000), 10, true, "", &usual), Ok(Some(990)));
    let behind = "offset out of bounds (offset=1000, max_matches=1000)".to_owned();
    let behind = Err(BindError::Invalid(behind));
    assert_eq!(page(None, 1000, true, "", &usual), behind);
    let few = Options {
        max_matches: Some(7),
        ..Options::default()
    };
    assert_eq!(page(Some(9), 0, false, "n > 1", &few), Ok(Some(7)));
}

#[test]
fn what_has_no_page_of_its_own_ends_at_max_matches_too() {
    assert_eq!(within_matches(None, 0, 5), Ok(5));
    assert_eq!(within_matches(Some(9), 3, 5), Ok(2));
    assert_eq!(within_matches(Some(1), 3, 5), Ok(1));
    assert_eq!(within_matches(None, 0, u64::MAX), Ok(u64::MAX));
    for offset in [5, 6] {
        let message = format!("offset out of bounds (offset={offset}, max_matches=5)");
        let refused = Err(BindError::Invalid(message));
        assert_eq!(within_matches(Some(1), offset, 5), refused);
    }
}

#[test]
fn a_page_of_a_look_up_by_keys_has_no_limit_of_its_own() {
    let mut columns = columns();
    let page = |columns: &[Column], matching: bool, filter: &str| {
        let mut select = select(vec![Item::Star]);
        select.matching = matching.then(String::new);
        select.filter = Some(expression(filter));
        let bound = BoundSelect::new(&select, &Options::default(), &scope(columns, true));
        let mut bound = bound.unwrap();
        bound.page().map(|_| bound.limit)
    };
    assert_eq!(page(&columns, false, "n IN (1, 2)"), Ok(None));
    let n = columns.iter_mut().find(|column| column.name == "n");
    n.unwrap().keyed = true;
    assert_eq!(page(&columns, false, "n IN (1, 2)"), Ok(None));
    assert_eq!(page(&columns, false, "n = 1 AND id > 5"), Ok(None));
    assert_eq!(page(&columns, false, "n = 1 OR id > 5"), Ok(None));
    assert_eq!(page(&columns, true, "n IN (1, 2)"), Ok(Some(20)));
}

#[test]
fn what_aliases_stand_for_is_bounded_in_levels_and_bytes() {
    let columns = columns();
    let bind = |items: Vec<Item>| {
        let select = select(items);
        let bound = BoundSelect::new(&select, &Options::default(), &scope(&columns, true));
        bound.map(|_| ())
    };
    let chain = |count: usize, next: &dyn Fn(usize) -> String| {
        let first = [named("n", "p0")].into_iter();
        let others = (1..count).map(|at| named(&next(at - 1), &format!("p{at}")));
        bind(first.chain(others).collect())
    };
    let refused = "aliases stand for expressions of more than 67108864 bytes or 100 levels";
    let refused = Err(BindError::Invalid(refused.to_owned()));
    let deeper = |before: usize| format!("p{before} + 1");
    assert_eq!(chain(40, &deeper), Ok(()));
    assert_eq!(chain(1_000, &deeper), refused);
    let wider = |before: usize| format!("p{before} + p{before}");
    assert_eq!(chain(8, &wider), Ok(()));
    assert_eq!(chain(40, &wider), refused);
    // A text of a megabyte, and texts that calls may make.
    let text = format!("'{}'", "x".repeat(1 << 20));
    for (alias, count) in [(&text[..], 64), ("replace(title, 'a', 'bc')", 16)] {
        let times = |count: usize| {
            let mut items = vec![named(alias, "t")];
            items.extend((0..count).map(|_| named("concat(t, n)", "u")));
            bind(items)
        };
        assert_eq!(times(count / 2), Ok(()), "{alias:.30}");
        assert_eq!(times(count), refused, "{alias:.30}");
    }
}
