use std::fmt::Write;

use insta::assert_snapshot;
use proptest::prelude::*;
use relation::value::Value;
use serde_json::{Value as Json, json};

use super::*;
use crate::fragment::{Tags, beginning, fragments};

fn mapping() -> Mapping {
    let body = json!({"mappings": {"properties": {
        "query": {"type": "percolator"},
        "message": {"type": "text"},
        "title": {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}},
        "status": {"type": "keyword"},
        "price": {"type": "double"},
        "count": {"type": "integer"},
        "active": {"type": "boolean"},
        "created": {"type": "date"},
        "user": {"properties": {"name": {"type": "keyword"}}},
    }}});
    Mapping::read(&body).unwrap()
}

fn standing(query: &str, mapping: &Mapping) -> Result<Standing, EsError> {
    stored(format!("{{\"query\":{query}}}").as_bytes(), mapping).map(|stored| stored.standing)
}

#[test]
fn queries_become_text_and_filter_as_the_snapshot_shows() {
    let mapping = mapping();
    let mut out = String::new();
    for query in include_str!("tests/queries.ndjson").lines() {
        writeln!(out, "{query}").unwrap();
        match standing(query, &mapping) {
            Ok(standing) => writeln!(
                out,
                "    text    {}\n    filters {}",
                standing.text, standing.filters
            ),
            Err(error) => writeln!(out, "    {} {error}", error.status),
        }
        .unwrap();
    }
    assert_snapshot!(out);
}

/// A filter keeps the exact constant: neither cut to whole numbers nor to whole seconds, as a stored value is.
#[test]
fn a_constant_of_a_filter_is_exact_beside_each_kind_of_field() {
    let mapping = mapping();
    let day = json!("2024-01-01");
    for (field, query, wanted) in [
        (
            "created",
            json!({"gte": 1_704_067_200_500_u64}),
            "`created` >= 1704067200.5",
        ),
        (
            "created",
            json!({"lt": "1704067200001"}),
            "`created` < 1704067200.001",
        ),
        ("created", json!({"lt": -500}), "`created` < -0.5"),
        (
            "created",
            json!({"gte": 1_704_067_200_000_u64}),
            "`created` >= 1704067200",
        ),
        (
            "created",
            json!({"gte": "2024-01-01T00:00:00.250Z"}),
            "`created` >= 1704067200.25",
        ),
        (
            "created",
            json!({"gt": day, "lte": day}),
            "`created` > 1704153599 AND `created` <= 1704153599",
        ),
        (
            "created",
            json!({"lte": "1704067200"}),
            "`created` <= 1704067.2",
        ),
        ("count", json!({"gte": 12.7}), "`count` >= 12.7"),
        ("count", json!({"lt": "12.7"}), "`count` < 12.7"),
        (
            "count",
            json!({"lt": 5_000_000_000_u64}),
            "`count` < 5000000000",
        ),
        ("price", json!({"gt": 0.1}), "`price` > 0.10000000149011612"),
        ("status", json!({"gt": "o'clock"}), "`status` > 'o\\'clock'"),
    ] {
        let filter = standing(&json!({"range": {field: &query}}).to_string(), &mapping);
        assert_eq!(filter.unwrap().filters, wanted, "{field} {query}");
    }
    for (field, value, wanted) in [
        ("created", json!(1_704_067_200_500_u64), "1704067200.5"),
        ("count", json!(12.7), "12.7"),
        ("count", json!("12"), "12"),
        ("active", json!("true"), "1"),
        ("price", json!(0.1), "0.10000000149011612"),
        ("status", json!(12.5), "'12.5'"),
    ] {
        let term = standing(&json!({"term": {field: &value}}).to_string(), &mapping);
        assert_eq!(term.unwrap().filters, format!("`{field}` = {wanted}"));
        let terms = standing(&json!({"terms": {field: [&value]}}).to_string(), &mapping);
        assert_eq!(terms.unwrap().filters, format!("`{field}` IN ({wanted})"));
    }
    for (field, value) in [
        ("created", json!("yesterday")),
        ("created", json!("")),
        ("count", json!("12abc")),
        ("count", json!(true)),
        ("count", json!("")),
        ("price", json!([1])),
        ("active", json!("maybe")),
    ] {
        for query in [
            json!({"term": {field: &value}}),
            json!({"terms": {field: [&value]}}),
            json!({"range": {field: {"gte": &value}}}),
        ] {
            let error = standing(&query.to_string(), &mapping).unwrap_err();
            assert_eq!(error.status, 400, "{query}");
        }
    }
}

#[test]
fn every_text_and_filter_made_is_one_that_our_parsers_take_or_do_not_have_yet() {
    let mapping = mapping();
    let columns = mapping.columns();
    let texts: Vec<&str> = columns
        .iter()
        .filter(|column| column.kind == relation::schema::ColumnType::Text)
        .map(|column| column.name.as_str())
        .collect();
    for line in include_str!("tests/queries.ndjson").lines() {
        let Ok(standing) = standing(line, &mapping) else {
            continue;
        };
        if let Err(error) = ::language::parse(
            &standing.text,
            &texts,
            &::language::analysis::Analyzer::default(),
        ) {
            let later =
                error.message.contains("not yet") || error.message.contains("non-computable");
            assert!(later, "{line}: {}: {}", standing.text, error.message);
        }
        if !standing.filters.is_empty() {
            let mut lexer = relation::lexer::Lexer::new(standing.filters.as_bytes());
            relation::expression::parse(&mut lexer).unwrap();
        }
    }
}

#[test]
fn a_mapping_is_what_its_columns_keep() {
    let mapping = mapping();
    assert_eq!(Mapping::of_columns(&mapping.columns()), mapping);
}

#[test]
fn a_table_made_by_sql_is_an_index_with_its_columns_for_fields() {
    let column = relation::schema::Column {
        name: "body".to_owned(),
        kind: relation::schema::ColumnType::Text,
        nullable: true,
        default: None,
        keyed: false,
    };
    let mapping = Mapping::of_columns(&[column]);
    assert_eq!(mapping.percolator, "query");
    assert_eq!(
        standing(r#"{"match":{"body":"x"}}"#, &mapping)
            .unwrap()
            .text,
        "(@body x)"
    );
}

#[test]
fn mappings_that_cannot_be_kept_are_refused_with_a_name() {
    let mut out = String::new();
    for properties in [
        json!({}),
        json!({"q": {"type": "percolator"}, "p": {"type": "geo_point"}}),
        json!({"q": {"type": "percolator"}, "p": {"type": "text", "analyzer": "my_own"}}),
        json!({"q": {"type": "percolator"}, "p": {"type": "text", "colour": 1}}),
        json!({"q": {"type": "percolator"}, "a.b": {"type": "text"}, "a": {"properties": {"b": {"type": "text"}}}}),
        json!({"q": {"type": "percolator"}, "a": {"type": "text", "analyzer": "english"}, "b": {"type": "text"}}),
        json!({"q": {"type": "percolator"}, "p": 1}),
    ] {
        let error = Mapping::read(&json!({"mappings": {"properties": properties}})).unwrap_err();
        writeln!(out, "{properties}\n    {error}").unwrap();
    }
    assert_snapshot!(out);
}

#[test]
fn a_document_fills_columns_by_their_types() {
    let document = json!({"message": ["red", "shoes"], "title": "Exactly This", "price": 19.99, "count": "7",
        "active": "true", "created": "1970-01-02", "user": {"name": "Ann"}, "other": [1, {"x": 2}]});
    let columns = columns_of(&document, &mapping()).unwrap();
    let value = |name: &str| {
        columns
            .iter()
            .find(|(column, _)| column == name)
            .map(|(_, value)| value.clone())
    };
    assert_eq!(value("message"), Some(Value::Str("red\nshoes".to_owned())));
    assert_eq!(
        value("title__keyword"),
        Some(Value::Str("Exactly This".to_owned()))
    );
    assert_eq!(value("count"), Some(Value::Int(7)));
    assert_eq!(value("active"), Some(Value::Int(1)));
    assert_eq!(value("created"), Some(Value::Int(86_400)));
    assert_eq!(value("user__name"), Some(Value::Str("Ann".to_owned())));
    assert_eq!(value("status"), Some(super::document::absent()));
    for column in mapping().columns() {
        let taken = column.kind.accept(super::document::absent());
        assert!(taken.is_err(), "{}", column.name);
    }
    let wrong = columns_of(&json!({"count": "many"}), &mapping()).unwrap_err();
    assert_eq!(
        (wrong.status, wrong.kind),
        (400, "mapper_parsing_exception")
    );
}

#[test]
fn unmapped_fields_are_words_with_their_name_where_the_index_says_so() {
    let body = json!({"settings": {"index.percolator.map_unmapped_fields_as_text": true},
        "mappings": {"properties": {"query": {"type": "percolator"}}}});
    let mapping = Mapping::read(&body).unwrap();
    let made = standing(r#"{"match_phrase":{"any.Field":"Red Shoes"}}"#, &mapping).unwrap();
    assert_eq!(
        made.text,
        "(@unmapped_fields \"any__field__red any__field__shoes\")"
    );
    let columns = columns_of(&json!({"any": {"Field": "Red Shoes"}}), &mapping).unwrap();
    assert_eq!(
        columns[0].1,
        Value::Str("any__field__red any__field__shoes ".to_owned())
    );
}

#[test]
fn a_name_is_kept_with_its_document_and_read_again() {
    for name in [None, Some("a\"b".to_owned())] {
        let source = Source {
            name,
            document: r#"{"query":{"match_all":{}}, "x": 1}"#,
        };
        assert_eq!(Source::read(&source.kept()), source);
    }
    assert_eq!(query_id("12"), (12, false));
    assert_eq!(query_id("18446744073709551615"), (u64::MAX, false));
    for name in ["0", "01", "+1", "abc", "18446744073709551616", ""] {
        let (id, named) = query_id(name);
        assert!(named && (1..1 << 63).contains(&id), "{name}");
    }
    assert_eq!(query_id("abc").0, 0xba78_16bf_8f01_cfea >> 1);
}

#[test]
fn a_search_is_read_with_its_clauses_numbered() {
    let body = json!({"query": {"bool": {"must": [{"percolate": {"field": "query", "document": {"message": "x"}}}],
        "filter": [{"term": {"owner": "ann"}}, {"constant_score": {"filter":
            {"percolate": {"field": "query", "documents": [{}, {}], "name": "two"}}}}]}},
        "from": 5, "size": 20, "sort": "_doc", "_source": ["a.*"], "highlight": {"fields": {"message": {}}}});
    assert_snapshot!(format!("{:#?}", search(&body, &mapping()).unwrap()));
}

#[test]
fn tests_of_stored_fields_hold_as_elasticsearch_has_them() {
    let document =
        json!({"owner": "ann", "rank": 7, "labels": ["red", "blue"], "message": "Big Tree"});
    let holds = |query: Json| {
        let search = search(&json!({"query": query}), &mapping()).unwrap();
        search.find.holds("7", &document, &|_| false)
    };
    assert!(holds(json!({"term": {"owner": "ann"}})));
    assert!(holds(json!({"term": {"owner.keyword": {"value": "ann"}}})));
    assert!(!holds(json!({"term": {"owner": "Ann"}})));
    assert!(holds(json!({"terms": {"labels": ["blue", "x"]}})));
    assert!(holds(json!({"range": {"rank": {"gt": 6, "lte": 7}}})));
    assert!(!holds(json!({"range": {"rank": {"gt": 7}}})));
    assert!(holds(json!({"prefix": {"owner": "a"}})));
    assert!(holds(json!({"match": {"message": "tree"}})));
    assert!(holds(json!({"exists": {"field": "rank"}})));
    assert!(!holds(json!({"exists": {"field": "nope"}})));
    assert!(holds(json!({"ids": {"values": ["7"]}})));
    assert!(holds(
        json!({"bool": {"must_not": {"term": {"owner": "bob"}}}})
    ));
    assert!(holds(
        json!({"bool": {"should": [{"term": {"owner": "bob"}}, {"term": {"rank": 7}}]}})
    ));
}

#[test]
fn searches_that_cannot_be_done_are_refused_with_the_place() {
    let mut out = String::new();
    for body in [
        json!({"query": {"percolate": {"field": "nope", "document": {}}}}),
        json!({"query": {"percolate": {"field": "query"}}}),
        json!({"query": {"percolate": {"field": "query", "index": "a", "id": "1"}}}),
        json!({"query": {"bool": {"must": [{"match_all": {}}, {"foo": {}}]}}}),
        json!({"query": {"match_all": {}, "term": {}}}),
        json!({"size": 100_001}),
        json!({"size": -1}),
        json!({"aggs": {"a": {"terms": {"field": "nothing"}}}}),
        json!({"aggs": {"a": {"terms": {"field": "title"}}}}),
        json!({"aggs": {"a": {"top_hits": {}}}}),
        json!({"aggregations": {"a": {"terms": {"feld": "price"}}}}),
        json!({"collapse": {}}),
        json!({"quarry": {}}),
        json!({"sort": [{"price": "asc"}]}),
    ] {
        let error = search(&body, &mapping()).unwrap_err();
        writeln!(out, "{body}\n    {} {error}", error.status).unwrap();
    }
    assert_snapshot!(out);
}

#[test]
fn a_bulk_body_is_items_and_a_bad_line_is_named() {
    let body = b"{\"index\":{\"_id\":1}}\n{\"a\":1}\r\n\n{\"delete\":{\"_index\":\"i\",\"_id\":\"x\"}}\n{\"create\":{}}\n{}\n";
    let items = bulk(body).unwrap();
    let names: Vec<_> = items
        .iter()
        .map(|item| (item.operation.name(), item.id.as_deref(), item.document))
        .collect();
    let empty: &[u8] = b"";
    assert_eq!(
        names,
        [
            ("index", Some("1"), &b"{\"a\":1}"[..]),
            ("delete", Some("x"), empty),
            ("create", None, &b"{}"[..])
        ]
    );
    for body in [
        "",
        "{\"index\":{}}",
        "{\"grow\":{}}\n{}",
        "nothing",
        "{\"delete\":{}}",
        "{\"index\":1}\n{}",
    ] {
        assert_eq!(bulk(body.as_bytes()).unwrap_err().status, 400, "{body}");
    }
}

#[test]
fn paths_choose_parts_of_a_reply_and_of_a_document() {
    let reply = r#"{"took":1,"hits":{"total":{"value":2},"hits":[{"_id":"1","_score":1.0},{"_id":"2","_score":0.5}]}}"#;
    assert_eq!(
        filter_path(reply, "hits.hits._id"),
        r#"{"hits":{"hits":[{"_id":"1"},{"_id":"2"}]}}"#
    );
    assert_eq!(
        filter_path(reply, "**.value,took"),
        r#"{"hits":{"total":{"value":2}},"took":1}"#
    );
    assert_eq!(filter_path(reply, "-hits"), r#"{"took":1}"#);
    assert_eq!(filter_path(reply, "nothing"), "{}");
    let paths = Paths {
        includes: vec!["a.*".to_owned(), "b".to_owned()],
        excludes: vec!["a.x".to_owned()],
        nothing: false,
    };
    assert_eq!(
        paths.of(r#"{"a":{"x":1,"y":2},"b":{"c":3},"d":4}"#),
        r#"{"a":{"y":2},"b":{"c":3}}"#
    );
}

#[test]
fn fragments_hold_their_marks_and_end_between_words() {
    let tags = Tags {
        before: "<em>".to_owned(),
        after: "</em>".to_owned(),
    };
    let text = "the quick brown fox jumps over the lazy dog and the été fox sleeps";
    let fox: Vec<_> = text
        .match_indices("fox")
        .map(|(at, word)| at..at + word.len())
        .collect();
    assert_eq!(
        fragments(text, &fox, (5, 20), &tags),
        [
            "<em>fox</em> jumps over the lazy",
            "été <em>fox</em> sleeps"
        ]
    );
    assert_eq!(fragments(text, &fox, (1, 20), &tags).len(), 1);
    assert_eq!(
        fragments(text, &fox, (0, 20), &tags)[0].len(),
        text.len() + 18
    );
    assert!(fragments(text, &[], (5, 20), &tags).is_empty());
    assert_eq!(beginning(text, 6), "the quick");
    assert_eq!(beginning("été", 6), "été");
}

#[test]
fn errors_have_elasticsearchs_shape() {
    assert_snapshot!(EsError::no_index("gone").body());
}

fn json_value() -> impl Strategy<Value = Json> {
    let name = prop_oneof![
        "(query|bool|must|should|must_not|filter|match|term|terms|range|exists|prefix|wildcard|query_string|percolate)",
        "(message|status|price|created|field|document|documents|value|gte|lt|operator|minimum_should_match|slop|fields)",
        ".{0,3}",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        "(query|message|status|price|and|2<75%|-50%|2024-01-02)".prop_map(Json::from),
        "[ab*?\\\\:()\"\\[\\]{}~^+|!&/ -]{0,12}".prop_map(Json::from),
        ".{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            proptest::collection::vec((name.clone(), inner), 0..3)
                .prop_map(|fields| Json::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_makes_the_codec_panic(json in json_value()) {
        let mapping = mapping();
        let _ = standing(&json.to_string(), &mapping);
        let _ = search(&json, &mapping);
        let _ = search(&json!({"query": &json}), &mapping);
        let _ = Mapping::read(&json);
        let _ = Mapping::read(&json!({"mappings": {"properties": &json}}));
        let _ = columns_of(&json, &mapping);
        let _ = filter_path(&json.to_string(), "a.*,-**.b");
    }

    #[test]
    fn no_query_string_makes_the_codec_panic(text in "([ab*?\\\\:()\"\\[\\]{}~^+|!&/><= é-]|AND|OR|NOT|TO|price){0,24}") {
        let mapping = mapping();
        for kind in ["query_string", "simple_query_string"] {
            let query = json!({kind: {"query": &text, "default_operator": "and"}});
            let _ = standing(&query.to_string(), &mapping);
        }
    }

    #[test]
    fn no_bytes_make_the_codec_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = bulk(&bytes);
        let _ = stored(&bytes, &mapping());
        let _ = Source::read(&String::from_utf8_lossy(&bytes));
    }
}
