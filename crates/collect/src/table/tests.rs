//! Rows of messages.

use engine::{Feed, Keep, Kind, QueueOptions, SearchOptions};
use language::Syntax;
use relation::schema::{Column, ColumnType, TypeSystem};
use relation::value::Value;

use super::shape::Kept;
use super::*;
use crate::config::{StoreConfig, TableConfig};
use crate::message::Incoming;

/// A table with these columns: `name type` or `name type not null`.
fn definition(kind: Kind, columns: &[&str]) -> Arc<Definition> {
    let system = match kind {
        Kind::Queue(_) => TypeSystem::Queue,
        _ => TypeSystem::Search,
    };
    let column = |column: &&str| {
        let words: Vec<&str> = column.split(' ').collect();
        Column {
            name: words[0].to_owned(),
            kind: ColumnType::parse(words[1], &[], false, system).unwrap(),
            nullable: words.len() == 2,
            default: None,
            keyed: false,
        }
    };
    Arc::new(Definition {
        name: "t".to_owned(),
        kind,
        columns: columns.iter().map(column).collect(),
        analysis: Default::default(),
        sync: None,
        keep: None::<Keep>,
    })
}

fn search() -> Kind {
    Kind::Search(SearchOptions::default())
}

fn queue() -> Kind {
    Kind::Queue(QueueOptions::default())
}

fn config(lines: &str) -> TableConfig {
    let text = format!("<store>\ncategory=web\ntable=t\n{lines}\n</store>\n");
    let (configuration, problems) = crate::config::read(text.as_bytes(), "f", Default::default());
    assert!(problems.is_empty(), "{problems:?}");
    match &configuration.stores[0].store {
        StoreConfig::Table(table) => (**table).clone(),
        other => panic!("{other:?}"),
    }
}

fn message(body: &[u8]) -> Incoming<'_> {
    Incoming {
        category: b"web",
        body,
        host: "10.0.0.1",
        unix_s: 1_000,
        is_line: false,
    }
}

/// The row of a message, each value as text, and what was kept.
fn row(shape: &Shape, body: &[u8]) -> Result<(Vec<String>, Kept), String> {
    let mut rows = TableRows::default();
    let kept = shape.add(&mut rows, &message(body))?;
    let feed = shape.feed(rows);
    let shown = feed.rows().rows[0].iter().map(|value| match value {
        Value::Null => "NULL".to_owned(),
        other => other.to_string(),
    });
    Ok((shown.collect(), kept))
}

const WHOLE: Kept = Kept {
    whole: true,
    replaced: false,
};

#[test]
fn a_text_goes_whole_into_its_column_without_its_line_end() {
    let lines = "type=index\ncategory_column=c\nhost_column=h\ntime_column=ts";
    let table = definition(
        search(),
        &["ts timestamp", "h string", "body text", "c string", "n int"],
    );
    let shape = Shape::new(&config(lines), &table).unwrap();
    for (body, text) in [
        (&b"a line\n"[..], "a line"),
        (b"a line\r\n", "a line"),
        (b"two\nlines\n\n", "two\nlines\n"),
        (b"", ""),
        (b"a\0b", "a\0b"),
    ] {
        let (shown, kept) = row(&shape, body).unwrap();
        assert_eq!(shown, [text, "web", "10.0.0.1", "1000"]);
        assert_eq!(kept, Kept::default());
    }
    let (shown, kept) = row(&shape, b"a\xffb").unwrap();
    assert_eq!((&*shown[0], kept.replaced), ("a\u{fffd}b", true));
    let most = vec![b'x'; (1 << 24) - 1];
    assert!(row(&shape, &most).is_ok());
    let refused = row(&shape, &[&most[..], b"x"].concat()).unwrap_err();
    assert!(refused.contains("too long for column 'body'"), "{refused}");
}

#[test]
fn bytes_stay_as_they_are_in_a_column_of_bytes() {
    let shape = Shape::new(&config("type=queue"), &definition(queue(), &["body blob"])).unwrap();
    let mut rows = TableRows::default();
    let kept = shape.add(&mut rows, &message(b"a\xff\n")).unwrap();
    assert_eq!(kept, Kept::default());
    let feed = shape.feed(rows);
    assert!(matches!(&feed, Feed::Store(_)));
    assert_eq!(feed.rows().rows[0], [Value::Bytes(b"a\xff".to_vec())]);
}

#[test]
fn a_json_message_that_its_columns_do_not_hold_stands_whole_in_the_rest() {
    let lines =
        "type=index\nformat=json\nfields=level user.id:id user.name:name on:flag at:ts x.y.z:deep";
    let table = definition(
        search(),
        &[
            "level text",
            "id int",
            "name string",
            "flag bool",
            "ts timestamp",
            "deep float",
            "rest string",
        ],
    );
    let shape = Shape::new(&config(lines), &table).unwrap();
    let null = "NULL";
    for (body, wanted) in [
        (r#"{}"#, [null; 6]),
        (
            r#"{"level":"warn","user":{"id":7,"name":"a"},"on":true,"at":"2001-09-09T01:46:40Z","x":{"y":{"z":1.5}}}"#,
            ["warn", "7", "a", "1", "1000000000", "1.500000"],
        ),
        (
            r#"{"level":12,"user":{"id":"12","name":false},"at":5}"#,
            ["12", "12", "0", null, "5", null],
        ),
        (r#"{"level":null,"user":{}}"#, [null; 6]),
    ] {
        let (shown, kept) = row(&shape, body.as_bytes()).unwrap();
        assert_eq!(shown[..6], wanted, "{body}");
        assert_eq!((&*shown[6], kept), (null, Kept::default()), "{body}");
    }
    let long = format!(r#"{{"level":"{}"}}"#, "x".repeat(300_000));
    let deep = "[".repeat(10_000);
    for (body, level) in [
        ("not json", null),
        ("", null),
        ("[1]", null),
        (r#"{"level":"a"} x"#, null),
        (r#"{"level":"a","more":1}"#, "a"),
        (r#"{"level":["a"]}"#, null),
        (r#"{"level":"a","level":"b"}"#, null),
        (r#"{"level":"a","more":{"b":1,"b":2}}"#, null),
        (r#"{"level":"a","user":7}"#, "a"),
        (r#"{"level":"a","user":{"id":"seven"}}"#, "a"),
        (r#"{"level":"a","user":{"id":99999999999}}"#, "a"),
        (r#"{"level":"a","x":{"y":{"w":1}}}"#, "a"),
        (&long, null),
        (&deep, null),
    ] {
        let (shown, kept) = row(&shape, body.as_bytes()).unwrap();
        let text = body.get(..100).unwrap_or(body);
        assert_eq!((&*shown[6], kept), (body, WHOLE), "{text}");
        assert_eq!(shown[0], level, "{text}");
    }
    let (shown, kept) = row(&shape, b"{\"level\":\"\xff\"}\n").unwrap();
    assert_eq!(shown[6], "{\"level\":\"\u{fffd}\"}");
    assert!(kept.whole && kept.replaced);
}

#[test]
fn what_a_column_rounds_keeps_the_whole_message_in_the_rest() {
    let columns = [
        "i int",
        "n bigint",
        "f float",
        "o double",
        "ts timestamp",
        "s string",
        "m multi",
        "j json",
        "rest string",
    ];
    let lines = "type=index\nformat=json\nfields=i n f o ts s m j";
    let shape = Shape::new(&config(lines), &definition(search(), &columns)).unwrap();
    for (field, json, stored, is_all) in [
        ("i", "5", "5", true),
        ("i", "5.0", "5", true),
        ("i", "5.5", "6", false),
        ("i", r#""5.5""#, "6", false),
        ("i", "true", "1", true),
        ("n", "9007199254740993", "9007199254740993", true),
        ("n", "9007199254740993.0", "9007199254740992", false),
        ("f", "0.1", "0.1", true),
        ("f", "1704164645678", "1704164600000", false),
        ("o", "0.1", "0.1", true),
        ("o", "1e20", "100000000000000000000", true),
        ("ts", "5", "5", true),
        ("ts", "5.5", "5", false),
        ("ts", r#""2024-01-02T03:04:05.678Z""#, "1704164645", false),
        ("ts", r#""2024-01-02T03:04:05Z""#, "1704164645", true),
        // As POST /insert stores them.
        ("s", "true", "1", true),
        ("s", "5.5", "5.500000", true),
        ("s", "12", "12", true),
        ("s", "9007199254740993.0", "9007199254740992.000000", false),
        ("s", r#""9007199254740993.0""#, "9007199254740993.0", true),
        ("m", "[2,1]", "1,2", true),
        ("m", "[1.5]", "NULL", false),
        ("m", "7", "7", true),
        ("j", r#"{"a":[1,true]}"#, r#"{"a":[1,true]}"#, true),
        ("j", "true", "true", true),
        ("j", r#""5""#, r#""5""#, true),
        ("j", "[9007199254740993.5]", "[9007199254740994.0]", false),
    ] {
        let body = format!(r#"{{"{field}":{json}}}"#);
        let mut rows = TableRows::default();
        let kept = shape.add(&mut rows, &message(body.as_bytes())).unwrap();
        let feed = shape.feed(rows);
        let place = columns.iter().position(|it| it.starts_with(field)).unwrap();
        let value = &feed.rows().rows[0][place];
        let shown = match value {
            Value::Null => "NULL".to_owned(),
            Value::Float(number) if field == "f" => (*number as f32).to_string(),
            Value::Float(number) => number.to_string(),
            other => other.to_string(),
        };
        assert_eq!((&*shown, !kept.whole), (stored, is_all), "{body}");
    }
}

#[test]
fn a_table_that_does_not_fit_its_store_is_told() {
    let pq = |on: &[&str], into: Option<&str>| Kind::Percolate {
        on: on.iter().map(|&on| on.to_owned()).collect(),
        into: into.map(str::to_owned),
        syntax: Syntax::default(),
        on_update: false,
    };
    let json = "type=queue\nformat=json\nfields=a";
    for (lines, kind, columns, wanted) in [
        ("type=index", queue(), &["body text"][..], "no search table"),
        ("type=queue", search(), &["body text"], "no queue"),
        ("type=percolate", search(), &["body text"], "no pq table"),
        (
            "type=percolate",
            pq(&["x"], Some("h")),
            &["body text"],
            "it hears the rows of 'x' already",
        ),
        (
            "type=percolate",
            pq(&[], None),
            &["body text"],
            "has no into=",
        ),
        ("type=index", search(), &["text text"], "no column 'body'"),
        ("type=index", search(), &["body int"], "it takes no texts"),
        (
            "type=index\ntime_column=ts",
            search(),
            &["body text", "ts string"],
            "it takes no times",
        ),
        (
            "type=index\nhost_column=h",
            search(),
            &["body text", "h int"],
            "it takes no texts",
        ),
        (json, queue(), &["a text", "rest int"], "it takes no texts"),
        (
            json,
            queue(),
            &["a text not null", "rest text"],
            "column 'a' of 't' is NOT NULL",
        ),
        (
            "type=queue",
            queue(),
            &["body text", "n int not null"],
            "column 'n' of 't' is NOT NULL",
        ),
    ] {
        let refused = Shape::new(&config(lines), &definition(kind, columns)).err();
        let refused = refused.unwrap_or_default();
        assert!(refused.contains(wanted), "{lines} {columns:?}: {refused}");
    }
    let not_null = definition(queue(), &["body text not null"]);
    assert!(Shape::new(&config("type=queue"), &not_null).is_ok());
    let heard = definition(pq(&[], Some("h")), &["body text"]);
    let shape = Shape::new(&config("type=percolate"), &heard).unwrap();
    assert!(matches!(shape.feed(TableRows::default()), Feed::Match(_)));
}

#[test]
fn what_a_configuration_makes_is_written_as_sql_reads_it() {
    let lines =
        "type=percolate\ninto=h\ncolumn=Body\ntime_column=tags\n<queries>\n1=it's \\d\n</queries>";
    let mut configuration = crate::config::Configuration::without_file();
    configuration.stores[0].store = StoreConfig::Table(Box::new(config(lines)));
    let [made] = &making(&configuration)[..] else {
        panic!("one table")
    };
    assert_eq!(
        made.create,
        [
            "CREATE TABLE IF NOT EXISTS `h` (`query_id` bigint, `query` text, `tags` string, `Body` text) ENGINE=queue",
            "CREATE TABLE IF NOT EXISTS `t` (`Body` text, `tags` timestamp) type='pq' into='h'",
        ]
    );
    assert_eq!(made.queries.as_ref().unwrap()[0].1, "it's \\d");
    assert_eq!(quoted_text("a\0"), "'a\\0'");
    assert_eq!(quoted_text("it's \\d"), "'it\\'s \\\\d'");
    configuration.stores[0].store = StoreConfig::Table(Box::new(config("type=percolate")));
    assert!(making(&configuration)[0].create[1].ends_with("into='t_hits'"));
    let web = "type=percolate\ninto=https://a.test/x";
    configuration.stores[0].store = StoreConfig::Table(Box::new(config(web)));
    assert_eq!(making(&configuration)[0].create.len(), 1);
}
