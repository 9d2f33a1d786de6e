use language::analysis::Analyzer;
use proptest::prelude::*;
use relation::value::Value;

use super::*;
use crate::sql::PqOptions;

/// The MATCH text and the filter that `query` becomes.
fn asked(query: &str) -> (Option<String>, String) {
    let body = format!(r#"{{"table":"t","query":{query}}}"#);
    let asked = search(body.as_bytes());
    let select = asked
        .unwrap_or_else(|error| panic!("{query}: {error}"))
        .select;
    (
        select.matching,
        select
            .filter
            .map_or(String::new(), |filter| format!("{filter:?}")),
    )
}

#[track_caller]
fn check_text(query: &str, expected: &str) {
    assert_eq!(asked(query), (Some(expected.to_owned()), String::new()));
    let parsed = language::parse(expected, &["title", "body"], &Analyzer::default());
    assert!(parsed.is_ok(), "{expected}: {parsed:?}");
}

#[test]
fn texts_become_the_query_language() {
    check_text(r#"{"match":{"*":"star wars"}}"#, "star | wars");
    check_text(
        r#"{"match":{"_all":{"query":"star wars","operator":"AND"}}}"#,
        "star wars",
    );
    check_text(
        r#"{"match":{"title, body":"star wars"}}"#,
        "@(title,body) (star | wars)",
    );
    check_text(
        r#"{"match_phrase":{"title":"star wars"}}"#,
        r#"@(title) ("star wars")"#,
    );
    check_text(r#"{"query_string":"star -wars"}"#, "star -wars");
    check_text(r#"{"query_string":{"query":"@title a|b"}}"#, "@title a|b");
    check_text(
        r#"{"match":{"*":"-a @b c|d (e) \"f\" AND 3/4 #tag un_der é"}}"#,
        r#"\-a | \@b | c\|d | \(e\) | \"f\" | \AND | 3\/4 | #tag | un_der | é"#,
    );
}

#[test]
fn filters_become_expressions() {
    let column = |name: &str| format!("Column(\"{name}\")");
    let (text, filter) = asked(r#"{"equals":{"Price":5}}"#);
    assert_eq!(text, None);
    assert_eq!(
        filter,
        format!("Binary(Equal, {}, Literal(Int(5)))", column("price"))
    );
    let (_, filter) = asked(r#"{"in":{"_id":[1,"b",true,1.5]}}"#);
    let list = r#"[Int(1), Str("b"), Json(true), Float(1.5)]"#;
    assert_eq!(
        filter,
        format!(
            "In {{ needle: {}, negated: false, list: {list} }}",
            column("id")
        )
    );
    let (_, filter) = asked(r#"{"range":{"ts":{"gte":1,"lt":9}}}"#);
    let bound = |operator, number| {
        format!(
            "Binary({operator}, {}, Literal(Int({number})))",
            column("ts")
        )
    };
    assert_eq!(
        filter,
        format!(
            "Binary(And, {}, {})",
            bound("GreaterOrEqual", 1),
            bound("Less", 9)
        )
    );
    assert_eq!(asked(r#"{"match_all":{}}"#), (None, String::new()));
}

#[test]
fn bool_joins_texts_with_texts_and_filters_with_filters() {
    check_text(
        r#"{"bool":{"must":[{"match":{"title":"a b"}},{"match_phrase":{"*":"c d"}}],"must_not":[{"match":{"*":"e f"}}]}}"#,
        r#"(@(title) (a | b)) ("c d") -((e | f))"#,
    );
    check_text(
        r#"{"bool":{"should":[{"match":{"*":"a"}},{"bool":{"must":[{"match":{"*":"b"}},{"match":{"*":"c"}}]}}]}}"#,
        "((a)) | ((b) (c))",
    );
    let (text, filter) = asked(
        r#"{"bool":{"must":[{"query_string":"a"},{"equals":{"x":1}}],"must_not":{"equals":{"y":2}},"should":[{"equals":{"z":3}}]}}"#,
    );
    assert_eq!(text.as_deref(), Some("a"));
    let is = |name, number| format!("Binary(Equal, Column(\"{name}\"), Literal(Int({number})))");
    assert_eq!(
        filter,
        format!("Binary(And, {}, Unary(Not, {}))", is("x", 1), is("y", 2))
    );
    let (text, filter) = asked(r#"{"bool":{"should":[{"equals":{"x":1}},{"equals":{"y":2}}]}}"#);
    assert_eq!(text, None);
    assert_eq!(
        filter,
        format!("Binary(Or, {}, {})", is("x", 1), is("y", 2))
    );
}

#[test]
fn the_rest_of_a_search_is_read() {
    let select = search(
        br#"{"index":"db.Posts","query":{"match_all":{}},"limit":5,"from":10,"sort":["_score",{"Price":"desc"},{"ts":{"order":"asc"}},"_id"],
            "_source":["title","Price"],"options":{"ranker":"bm25","field_weights":{"title":10}},"track_scores":true}"#,
    );
    insta::assert_debug_snapshot!(select.unwrap().select);
    let items = |source: &str| {
        let body = format!(r#"{{"table":"t","_source":{source}}}"#);
        search(body.as_bytes()).unwrap().select.items.len()
    };
    assert_eq!(items("true"), 3);
    assert_eq!(items("false"), 2);
    assert_eq!(items(r#"{"includes":["a","b"]}"#), 4);
}

#[test]
fn what_is_wrong_with_a_search_has_its_path() {
    for (body, expected) in [
        ("", "EOF while parsing a value at byte 0"),
        ("[]", "expected an object"),
        (
            r#"{"table":"t","query":{"match":"x"}}"#,
            "query.match: expected an object",
        ),
        (r#"{"query":{"match_all":{}}}"#, "table: no table is named"),
        (
            r#"{"table":"t","nothing":1}"#,
            "nothing: unknown part of a search",
        ),
        (
            r#"{"table":"t","knn":{}}"#,
            "not yet: knn: this part of a search",
        ),
        (
            r#"{"table":"t","limit":-1}"#,
            "limit: expected a whole number from 0",
        ),
        (
            r#"{"table":"t","query":{"bool":{"must":[{"match_all":{}},{"fuzz":{}}]}}}"#,
            "query.bool.must[1].fuzz: unknown kind of query",
        ),
        (
            r#"{"table":"t","query":{"bool":{"must":[{"geo_distance":{}}]}}}"#,
            "query.bool.must[0].geo_distance.distance: expected a distance, as 5 km",
        ),
        (
            r#"{"table":"t","query":{"range":{"a":{"above":1}}}}"#,
            "query.range.a.above: expected gt, gte, lt or lte",
        ),
        (
            r#"{"table":"t","query":{"bool":{"must_not":[{"match":{"*":"x"}}]}}}"#,
            "not yet: query: excluding a text without another text to find",
        ),
        (
            r#"{"table":"t","query":{"bool":{"should":[{"match":{"*":"x"}},{"equals":{"a":1}}]}}}"#,
            "not yet: query.bool.should: alternatives of a text and a filter",
        ),
        (
            r#"{"table":"t","query":{"match":{"a b":"x"}}}"#,
            "query.match.a b: expected the names of fields, or *",
        ),
        (
            r#"{"table":"t","sort":[{"a":"up"}]}"#,
            "sort[0].a: expected asc or desc",
        ),
        (
            r#"{"table":"t","_source":{"without":["a"]}}"#,
            "_source.without: expected includes or excludes",
        ),
    ] {
        assert_eq!(
            search(body.as_bytes()).unwrap_err().to_string(),
            expected,
            "{body}"
        );
    }
}

#[test]
fn bulk_commits_at_empty_lines_and_at_the_end() {
    let body = b"\n{\"insert\":{\"table\":\"db.T\",\"id\":1,\"doc\":{\"Title\":\"x\",\"n\":-5,\"f\":1.5,\"b\":true,\"z\":null,\"l\":[1,\"a\"]}}}\r\n\
        {\"replace\":{\"index\":\"t\",\"id\":\"2\",\"doc\":{}}}\n\n\n{\"delete\":{\"table\":\"t\",\"id\":3}}\n{\"create\":{\"table\":\"t\",\"doc\":{}}}\n";
    let events: Vec<BulkEvent> = bulk(body).collect();
    let fields = [
        ("title", Value::Str("x".to_owned())),
        ("n", Value::Int(-5)),
        ("f", Value::Float(1.5)),
        ("b", Value::of_truth(true)),
        ("z", Value::Null),
        ("l", Value::Str("[1,\"a\"]".to_owned())),
    ];
    let fields = fields
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec();
    let item = |line, id, action| BulkEvent::Item {
        line,
        item: Ok(BulkItem {
            table: "t".to_owned(),
            id,
            action,
        }),
    };
    let expected = [
        item(2, Some(1), BulkAction::Insert { fields }),
        item(3, Some(2), BulkAction::Replace { fields: Vec::new() }),
        BulkEvent::Commit { line: 4 },
        item(6, Some(3), BulkAction::Delete),
        item(7, None, BulkAction::Insert { fields: Vec::new() }),
        BulkEvent::Commit { line: 7 },
    ];
    assert_eq!(events, expected);
    assert_eq!(bulk(b"").count(), 0);
    assert_eq!(bulk(b" \n\r\n").count(), 0);
}

#[test]
fn a_bad_bulk_line_says_what_is_wrong() {
    for (line, expected) in [
        (r#"{"insert""#, "EOF while parsing an object at byte 9"),
        (
            r#"{"nope":1}"#,
            "invalid type: integer `1`, expected an object with table, id and doc at byte 9",
        ),
        ("{}", "an object without an action at byte 2"),
        (
            r#"{"insert":{"id":1,"doc":{}}}"#,
            "insert: no table is named",
        ),
        (r#"{"insert":{"table":"t"}}"#, "insert: no doc is given"),
        (r#"{"delete":{"table":"t"}}"#, "delete: no id is given"),
        (
            r#"{"delete":{"table":"t","query":{}}}"#,
            "not yet: delete.query: deleting by a query in /bulk; POST /delete does",
        ),
        (
            r#"{"update":{"table":"t","id":1,"doc":{}}}"#,
            "update: no doc is given",
        ),
        (
            r#"{"update":{"table":"t","doc":{"a":1}}}"#,
            "update: either id or query is needed",
        ),
        (
            r#"{"update":{"table":"t","doc":{"a":1},"query":{"match_all":{}}}}"#,
            "not yet: update.query: changes by a query in /bulk; POST /update does",
        ),
        (
            r#"{"index":{"table":"t","id":1,"doc":{}}}"#,
            "index: unknown action (insert, create, replace, update or delete)",
        ),
        (
            r#"{"insert":{"table":"t","id":-1,"doc":{}}}"#,
            "'-1' is no document id at byte 30",
        ),
        (
            r#"{"insert":{"table":"t","id":true,"doc":{}}}"#,
            "'true' is no document id at byte 32",
        ),
        (
            r#"{"insert":{"table":"t","doc":{},"query":{}}}"#,
            "insert: takes no query",
        ),
        (
            r#"{"insert":{"table":"t","doc":[]}}"#,
            "invalid type: sequence, expected an object of fields at byte 29",
        ),
    ] {
        let events: Vec<BulkEvent> = bulk(line.as_bytes()).collect();
        let BulkEvent::Item {
            line: 1,
            item: Err(error),
        } = &events[0]
        else {
            panic!("{line}: {events:?}");
        };
        assert_eq!(error.to_string(), expected);
        assert_eq!(events[1], BulkEvent::Commit { line: 1 });
    }
}

#[test]
fn one_string_may_hold_many_documents() {
    let titles = |text: &str| -> Vec<Value> {
        let found = documents(text.as_bytes()).unwrap();
        let title = |mut fields: Vec<(String, Value)>| {
            assert_eq!((fields.len(), fields[0].0.as_str()), (1, "title"));
            fields.remove(0).1
        };
        found.into_iter().map(title).collect()
    };
    let text = |text: &str| Value::Str(text.to_owned());
    assert_eq!(titles(r#"{"Title":"a"}"#), [text("a")]);
    assert_eq!(
        titles(r#" [{"title":"b"}, {"title":"c"}] "#),
        ["b", "c"].map(text)
    );
    assert_eq!(
        titles(r#"{"title":"d"} {"title":"e"}[{"title":5}]"#),
        [text("d"), text("e"), Value::Int(5)]
    );
    assert_eq!(titles("[]"), []);
}

#[test]
fn ranges_inside_ranges_are_bounded_together() {
    let ranges = |count: usize, inner: &str| {
        let field = format!("f{}", inner.len());
        let ranges = (0..count).map(|from| format!(r#"{{"from":{from}}}"#));
        let ranges = ranges.collect::<Vec<_>>().join(",");
        format!(r#"{{"r":{{"range":{{"field":"{field}","ranges":[{ranges}]}}{inner}}}}}"#)
    };
    let asked = |outer, inner| {
        let inner = format!(r#","aggs":{}"#, ranges(inner, ""));
        let body = format!(r#"{{"table":"t","aggs":{}}}"#, ranges(outer, &inner));
        search(body.as_bytes()).map(drop)
    };
    assert_eq!(asked(1_024, 64).map_err(|error| error.to_string()), Ok(()));
    let refused = asked(1_024, 65).unwrap_err().to_string();
    assert!(
        refused.contains("at most 65536 ranges inside ranges, there are 66560"),
        "{refused}"
    );
    let refused = asked(1_025, 1).unwrap_err().to_string();
    assert!(
        refused.contains("at most 1024 ranges, there are 1025"),
        "{refused}"
    );
}

#[test]
fn what_is_no_document_is_refused() {
    for (text, expected) in [
        ("", "no JSON document"),
        ("{", "EOF while parsing an object at byte 1"),
        (
            "[1]",
            "invalid type: integer `1`, expected an object of fields at byte 2",
        ),
        (
            "\"text\"",
            "invalid type: string \"text\", expected a JSON object or an array of objects at byte 6",
        ),
        ("{} x", "expected value at byte 4"),
    ] {
        assert_eq!(
            documents(text.as_bytes()).unwrap_err().to_string(),
            expected
        );
    }
}

#[test]
fn search_replies_have_manticores_shape() {
    let mut reply = SearchReply::default();
    reply.begin(3, false, 12, true);
    reply.hit(Some(1), Some(2500));
    reply.field("title", Cell::Str("a \"b\"\n\u{1}é"));
    reply.field("price", Cell::Single(0.1));
    reply.hit_end();
    reply.hit(Some(2), None);
    reply.hit_end();
    reply.hits_end();
    reply.end(None, &[]);
    let expected = concat!(
        r#"{"took":3,"timed_out":false,"hits":{"total":12,"total_relation":"eq","hits":["#,
        r#"{"_id":1,"_score":2500,"_source":{"title":"a \"b\"\n\u0001é","price":0.1}},{"_id":2,"_source":{}}]}}"#,
    );
    assert_eq!(String::from_utf8_lossy(reply.bytes()), expected);
}

#[test]
fn rows_of_a_raw_reply_that_fail_are_left_out() {
    for rows in 0..3 {
        let mut reply = RawReply::default();
        if rows > 0 {
            reply.done(1, "", "");
        }
        reply.begin(&[("id", "long long")]);
        for id in 0..rows {
            reply.row();
            reply.cell("id", Cell::Int(id));
        }
        reply.done(0, "no row", "");
        reply.finish();
        let first = match rows {
            0 => "",
            _ => r#"{"total":1,"error":"","warning":""},"#,
        };
        let expected = format!(r#"[{first}{{"total":0,"error":"no row","warning":""}}]"#);
        assert_eq!(String::from_utf8_lossy(reply.bytes()), expected);
    }
}

#[test]
fn raw_replies_have_manticores_shape() {
    let mut reply = RawReply::default();
    reply.begin(&[("id", "long long"), ("v", "double")]);
    for (id, number) in [(1, 1.5), (2, f64::NAN)] {
        reply.row();
        reply.cell("id", Cell::Int(id));
        reply.cell("v", Cell::Float(number));
        reply.row_end();
    }
    reply.end(2, "", "");
    reply.done(5, "", "careful");
    reply.finish();
    let expected = concat!(
        r#"[{"columns":[{"id":{"type":"long long"}},{"v":{"type":"double"}}],"data":[{"id":1,"v":1.5},{"id":2,"v":null}],"#,
        r#""total":2,"error":"","warning":""},{"total":5,"error":"","warning":"careful"}]"#,
    );
    assert_eq!(String::from_utf8_lossy(reply.bytes()), expected);
    let mut reply = RawReply::default();
    reply.finish();
    assert_eq!(reply.bytes(), b"[]");
}

#[test]
fn bulk_replies_have_manticores_shape() {
    let mut reply = BulkReply::default();
    reply.batch("t", 5, 2, 0, 0);
    reply.batch("t", 0, 0, 1, 0);
    reply.finish(4, 1, "line 4: no table is named");
    let expected = concat!(
        r#"{"items":[{"bulk":{"table":"t","_id":5,"created":2,"deleted":0,"updated":0,"result":"created","status":201}},"#,
        r#"{"bulk":{"table":"t","_id":0,"created":0,"deleted":1,"updated":0,"result":"deleted","status":200}}],"#,
        r#""current_line":4,"skipped_lines":1,"errors":true,"error":"line 4: no table is named"}"#,
    );
    assert_eq!(String::from_utf8_lossy(reply.bytes()), expected);
}

#[test]
fn a_percolation_has_its_options_beside_the_query() {
    let body =
        br#"{"query":{"percolate":{"document":{"Title":"x","n":5}}},"size":3,"after":7,"top":2,
        "only":"any(tags)='a'","count_only":1,"weights":true,"highlight":{}}"#;
    let mut options = PqOptions::default();
    let found = pq_search(body, &mut options).unwrap();
    let text = Value::Str("x".to_owned());
    let fields = [("title".to_owned(), text), ("n".to_owned(), Value::Int(5))];
    assert_eq!(found, [fields.to_vec()]);
    assert_eq!(
        (options.limit, options.after, options.top),
        (Some(3), Some(7), Some(2))
    );
    assert!(options.count && options.weights && options.highlight && options.only.is_some());
    for (body, expected) in [
        (r#"{"limit":1}"#, "query: no query is given"),
        (
            r#"{"query":{"percolate":{}}}"#,
            "query.percolate: no document is given",
        ),
        (
            r#"{"query":{"percolate":{"document":{},"documents":[]}}}"#,
            "query.percolate: expected either document or documents",
        ),
        (
            r#"{"query":{"percolate":{"documents":{}}}}"#,
            "query.percolate.documents: expected an array of documents",
        ),
        (
            r#"{"query":{"percolate":{"document":{}}},"top":0}"#,
            "top: expected a number from 1",
        ),
    ] {
        let error = pq_search(body.as_bytes(), &mut PqOptions::default()).unwrap_err();
        assert_eq!(error.to_string(), expected, "{body}");
    }
}

#[test]
fn a_standing_query_is_text_or_json() {
    let query = |body: &str| pq_rule(body.as_bytes()).map(|rule| rule.query);
    assert_eq!(query(r#"{"query":{"ql":"a | b"}}"#).unwrap(), "a | b");
    assert_eq!(query(r#"{"query":"a"}"#).unwrap(), "a");
    assert_eq!(
        query(r#"{"query":{"match":{"t":"a b"}}}"#).unwrap(),
        "@(t) (a | b)"
    );
    assert_eq!(query(r#"{"filters":"n > 5"}"#).unwrap(), "");
    let rule = pq_rule(br#"{"query":"a","tags":["x","y"],"filters":"n > 5"}"#).unwrap();
    assert_eq!(
        (rule.tags.as_str(), rule.filters.as_str()),
        ("x,y", "n > 5")
    );
    assert!(
        query(r#"{"query":{"equals":{"n":5}}}"#)
            .unwrap_err()
            .not_yet
    );
    assert!(query(r#"{"tags":"x"}"#).is_err());
}

/// Random bodies of the right words, most of them wrong.
fn query_like() -> impl Strategy<Value = serde_json::Value> {
    let names = vec![
        "match",
        "match_phrase",
        "query_string",
        "equals",
        "in",
        "range",
        "bool",
        "must",
        "should",
        "must_not",
        "gte",
        "lt",
        "query",
        "operator",
        "*",
        "title",
        "_id",
    ];
    let leaf = prop_oneof![
        any::<i64>().prop_map(serde_json::Value::from),
        any::<bool>().prop_map(serde_json::Value::from),
        ".{0,9}".prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            3 => prop::collection::vec((prop::sample::select(names.clone()), inner), 1..3).prop_map(|entries| {
                entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<serde_json::Value>()
            }),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_panic_the_decoders(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = search(&bytes);
        let _ = documents(&bytes);
        let _ = pq_rule(&bytes);
        let _ = pq_search(&bytes, &mut PqOptions::default());
        let last = bulk(&bytes).last();
        let ended = matches!(last, None | Some(BulkEvent::Commit { .. }));
        prop_assert!(ended);
    }

    #[test]
    fn no_search_body_panics(query in query_like()) {
        let body = serde_json::json!({"table": "t", "query": query}).to_string();
        let _ = search(body.as_bytes());
        let rule = serde_json::json!({"query": query, "tags": query, "filters": query}).to_string();
        let _ = pq_rule(rule.as_bytes());
        let asked = serde_json::json!({"query": {"percolate": {"documents": [query]}}, "only": query});
        let _ = pq_search(asked.to_string().as_bytes(), &mut PqOptions::default());
        let line = serde_json::json!({"insert": {"table": "t", "doc": query}}).to_string();
        prop_assert_eq!(bulk(line.as_bytes()).count(), 2);
    }

    /// The text of a match may hold any character: it is quoted, so the query language sees no operator.
    #[test]
    fn words_of_a_match_are_no_operators(text in r#"[a-c A-Z"()|@!*\\^$=~/,#_<\-]{0,30}"#, phrase in any::<bool>()) {
        let kind = if phrase { "match_phrase" } else { "match" };
        let body = serde_json::json!({"table": "t", "query": {kind: {"title": text}}}).to_string();
        if let Ok(asked) = search(body.as_bytes()) {
            let matching = asked.select.matching.unwrap();
            let parsed = language::parse(&matching, &["title"], &Analyzer::default());
            prop_assert!(parsed.is_ok(), "{:?}: {:?}", matching, parsed);
        } else {
            prop_assert!(text.trim().is_empty());
        }
    }

    #[test]
    fn strings_of_replies_read_back(text in ".{0,60}", number in any::<f64>()) {
        let mut reply = SearchReply::default();
        reply.begin(0, false, 1, true);
        reply.hit(Some(1), Some(1));
        reply.field(&text, Cell::Str(&text));
        reply.field("number", Cell::Float(number));
        reply.hit_end();
        reply.hits_end();
    reply.end(None, &[]);
        let read: serde_json::Value = serde_json::from_slice(reply.bytes()).unwrap();
        let source = &read["hits"]["hits"][0]["_source"];
        prop_assert_eq!(&source[&text], &serde_json::Value::from(text.clone()));
    }
}

#[test]
fn a_body_of_a_queue_has_receipts_and_options() {
    let body = queue_body(br#"{"done": ["1-1", "2-3"], "rows": 10, "wait": "5s"}"#).unwrap();
    assert_eq!(body.receipts, ["1-1", "2-3"]);
    let options: Vec<(&str, &str)> = body
        .options
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    assert_eq!(options, [("rows", "10"), ("wait", "5s")]);
    assert_eq!(queue_body(b" \n").unwrap(), QueueBody::default());
}

#[test]
fn a_body_of_a_queue_that_cannot_be_read_says_where() {
    for (body, message) in [
        (&b"{\"done\": 1}"[..], "done: expected an array of receipts"),
        (b"{\"receipts\": [1]}", "receipts[0]: expected a string"),
        (b"{\"rows\": true}", "rows: expected a text or a number"),
        (b"[]", "expected an object"),
    ] {
        let error = queue_body(body).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn rows_of_a_queue_are_written_with_their_receipts() {
    let mut reply = QueueReply::default();
    reply.begin();
    reply.row(Some(("7-1", 1)));
    reply.field("v", Cell::Int(5));
    reply.field("s", Cell::Str("a\nb"));
    reply.row_end();
    reply.row(None);
    reply.row_end();
    reply.end();
    assert_eq!(
        String::from_utf8_lossy(reply.bytes()),
        r#"{"rows":[{"receipt":"7-1","delivery":1,"data":{"v":5,"s":"a\nb"}},{"data":{}}]}"#
    );
}

#[test]
fn a_doc_of_update_becomes_assignments() {
    let body = br#"{"index": "db.T", "query": {"range": {"n": {"gte": 5}}}, "doc":
        {"N": 5, "big": 18446744073709551615, "m": [1, 2], "j.Size['a b'][0]": [1, "x"], "j.ok": true, "ok": true, "a-b": null}}"#;
    let Change { id, update } = change(body).expect("a change");
    assert_eq!((id, update.table.as_str()), (None, "t"));
    assert_eq!(
        update.filter.map(|it| it.to_string()).as_deref(),
        Some("n>=5")
    );
    let set: Vec<String> = update
        .set
        .iter()
        .map(|set| format!("{} {:?} {:?}", set.column, set.path, set.value))
        .collect();
    insta::assert_snapshot!(set.join("\n"));
    assert!(
        change(br#"{"table": "t", "id": 1, "query": {"match_all": {}}, "doc": {"n": 1}}"#).is_err()
    );
    assert!(change(br#"{"table": "t", "id": 1, "doc": {"n": 1}, "docs": 1}"#).is_err());
}

#[test]
fn only_ranges_that_overlap_are_counted_by_sets() {
    let key = |kind: &str, ranges: &str| {
        let body = format!(
            r#"{{"table":"t","aggs":{{"r":{{"{kind}":{{"field":"f","ranges":{ranges}}}}}}}}}"#
        );
        let parsed = search(body.as_bytes()).expect("a search");
        format!("{:?}", parsed.facets[0])
    };
    for (ranges, is_set) in [
        (r#"[{"to":1},{"from":1,"to":3},{"from":3}]"#, false),
        (r#"[{"from":3},{"to":1},{"from":1,"to":3}]"#, false),
        (r#"[{"to":1},{"from":0.5}]"#, true),
        (r#"[{"to":1},{"to":0}]"#, true),
        (r#"[{"from":5},{"from":7,"to":8}]"#, true),
        (r#"[{"from":5,"to":9},{"from":7,"to":7}]"#, false),
        (
            r#"[{"to":9007199254740993},{"from":9007199254740992}]"#,
            true,
        ),
    ] {
        let shown = key("range", ranges);
        assert_eq!(shown.contains("Call(Ranges"), is_set, "{shown}");
    }
    let dates = r#"[{"to":"2024"},{"from":"2024-01-01"}]"#;
    assert!(key("date_range", dates).contains("Call(DateRange,"));
    let dates = r#"[{"to":"2024||+1d"},{"from":"2024-01-01"}]"#;
    assert!(key("date_range", dates).contains("Call(DateRanges,"));
}
