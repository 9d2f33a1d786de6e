use super::super::line::parse;
use super::{Call, Schedule, Skipped, request};

fn of_line(line: &str) -> Result<super::Request, Skipped> {
    request(&parse(line.as_bytes()).unwrap().1)
}

#[track_caller]
fn statement(line: &str) -> String {
    match of_line(line).unwrap().call {
        Call::Statement(text) => String::from_utf8(text).unwrap(),
        Call::Body { path, .. } => panic!("{path}"),
    }
}

#[track_caller]
fn plain(search: &str, query: &str) -> String {
    statement(&format!(
        "[Fri Jun 29 21:17:58 2021] 0.004 sec [{search}] [lj] {query}"
    ))
}

#[test]
fn plain_lines_become_the_select_that_they_mean() {
    for (search, query, wanted) in [
        (
            "all/0/rel 3 (0,20)",
            "test (new) it's",
            r"SELECT id, weight() FROM lj WHERE MATCH('test \\(new\\) it\'s') LIMIT 0, 20 OPTION ranker=proximity",
        ),
        (
            "any/0/rel 3 (10,5)",
            "run-shoes NOT | a",
            "SELECT id, weight() FROM lj WHERE MATCH('run | shoes | not | a') LIMIT 10, 5 OPTION ranker=matchany",
        ),
        (
            "any/0/rel 0 (0,5)",
            "--",
            "SELECT id, weight() FROM lj WHERE MATCH(' ') LIMIT 0, 5 OPTION ranker=matchany",
        ),
        (
            "phr/0/rel 3 (0,2000)",
            "the \"cat\"",
            r#"SELECT id, weight() FROM lj WHERE MATCH('"the \\"cat\\""') LIMIT 0, 2000 OPTION ranker=proximity, max_matches=2000"#,
        ),
        (
            "bool/0/rel 3 (0,20)",
            "(a | b) -c @title",
            r"SELECT id, weight() FROM lj WHERE MATCH('(a | b) -c \\@title') LIMIT 0, 20 OPTION ranker=none",
        ),
        (
            "ext2/0/rel 3 (0,20)",
            "@title cat NEAR/3 dog",
            "SELECT id, weight() FROM lj WHERE MATCH('@title cat NEAR/3 dog') LIMIT 0, 20",
        ),
        (
            "scan/0/rel 3 (0,20) @lang",
            "",
            "SELECT id, count(*), lang FROM lj GROUP BY lang ORDER BY lang DESC LIMIT 0, 20",
        ),
    ] {
        assert_eq!(plain(search, query), wanted);
    }
}

#[test]
fn what_a_plain_line_does_not_tell_is_said() {
    let told = |search: &str| {
        let line = format!("[Fri Jun 29 21:17:58 2021] 0.004 sec [{search}] [lj, delta] a");
        let request = of_line(&line).unwrap();
        (request.lacks_filters, request.lacks_order)
    };
    assert_eq!(told("all/0/rel 3 (0,20)"), (false, false));
    assert_eq!(told("all/2/rel 3 (0,20)"), (true, false));
    assert_eq!(told("all/0/attr- 3 (0,20)"), (false, true));
    for tables in ["*", "", "lj) --"] {
        let line =
            format!("[Fri Jun 29 21:17:58 2021] 0.004 sec [all/0/rel 3 (0,20)] [{tables}] a");
        assert_eq!(of_line(&line), Err(Skipped::NoTable), "{tables}");
    }
}

fn sphinxql(rest: &str) -> String {
    format!("/* Sun Apr 28 12:38:02.808 2024 conn 2 real 0.105 wall 0.104 found 0 */ {rest}")
}

#[test]
fn one_select_or_call_pq_is_sent_as_it_stands() {
    for text in [
        "SELECT id FROM t WHERE MATCH('a; DROP TABLE t') FACET n OPTION comment='x'",
        "select a, 'it''s' FROM t",
        "/* who */ SELECT id FROM t",
        "CALL PQ('t', ('{\"a\": \"b\"}'), 1 AS docs)",
        "SELECT n-1 FROM `t`\nWHERE MATCH('a \\' b')",
    ] {
        assert_eq!(statement(&sphinxql(&format!("{text};"))), text);
    }
}

#[test]
fn whatever_may_change_something_is_refused() {
    for text in [
        "DROP TABLE t",
        "SELECT 1; DROP TABLE t",
        "SELECT 1;;DROP TABLE t",
        "CALL KEYWORDS('a', 't')",
        "SELECT 1 FROM t -- '\n; DROP TABLE t; -- '",
        "SELECT 1 FROM t # '\n; DROP TABLE t; # '",
        "SELECT `a\\`; DROP TABLE t; SELECT `b` FROM t",
        "SELECT 1 /*! INTO OUTFILE 'x' */ FROM t",
        "SELECT a INTO OUTFILE 'x' FROM t",
        "/*/ SELECT 1 /*/ DROP TABLE t",
        "SELECT queue_wait('q') FROM t",
        "SELECT QUEUE_END() FROM t",
        "UPDATE t SET a=1 WHERE id=1",
        "SELECT 'a FROM t",
    ] {
        let line = sphinxql(&format!("{text};"));
        let refused = of_line(&line);
        assert!(
            matches!(refused, Err(Skipped::Refused | Skipped::Cut)),
            "{text}: {refused:?}"
        );
    }
}

#[test]
fn failed_and_cut_statements_are_skipped() {
    let failed = sphinxql("SELECT x FROM t; /* error=unknown column */");
    assert_eq!(of_line(&failed), Err(Skipped::Failed));
    let cut = sphinxql("SELECT x FROM t WHERE id IN (1,; /* cut=90000 */");
    assert_eq!(of_line(&cut), Err(Skipped::Cut));
    assert_eq!(of_line(&sphinxql("SELECT x FR")), Err(Skipped::Cut));
}

#[test]
fn bodies_go_to_the_path_that_they_came_by() {
    for (body, path) in [
        (r#"{"index":"t","query":{"match_all":{}}}"#, "/search"),
        (
            r#"{"query":{"percolate":{"document":{"a":"b"}}}}"#,
            "/pq/t/search",
        ),
        (
            r#"{"query":{"percolate":{"document":{"a":"b"},"field":"query"}}}"#,
            "/t/_search",
        ),
        (r#"{"query":{"match_all":{}}}"#, "/t/_search"),
    ] {
        let escaped = serde_json::to_string(body).unwrap();
        let line = format!(
            r#"{{"time":"2026-08-01T10:00:00.123Z","real":0.1,"found":3,"table":"t","statement":{escaped}}}"#
        );
        let wanted = Call::Body {
            path: path.to_owned(),
            body: body.as_bytes().to_vec(),
        };
        assert_eq!(of_line(&line).unwrap().call, wanted);
    }
}

/// Pushes (beginning in ms, name) and gives (ms, name) of what is due.
fn due(requests: &[(i64, &'static str)]) -> Vec<(u64, &'static str)> {
    let mut schedule = Schedule::default();
    let mut due = Vec::new();
    for (ms, name) in requests {
        schedule.push(ms * 1_000, 10, *name);
        due.extend(std::iter::from_fn(|| schedule.next(false)));
    }
    due.extend(std::iter::from_fn(|| schedule.next(true)));
    due.iter()
        .map(|due| (due.after_us / 1_000, due.item))
        .collect()
}

#[test]
fn requests_are_due_in_the_order_in_which_they_began() {
    assert_eq!(
        due(&[(999, "a"), (0, "long"), (999, "b"), (5_000, "c")]),
        [(0, "long"), (999, "a"), (999, "b"), (5_000, "c")]
    );
}

#[test]
fn a_clock_that_is_set_back_makes_no_gap() {
    let hour = 3_600_000;
    assert_eq!(
        due(&[
            (2 * hour, "a"),
            (2 * hour + 5, "b"),
            (hour, "c"),
            (hour + 7, "d")
        ]),
        [(0, "a"), (5, "b"), (5, "c"), (12, "d")]
    );
}

#[test]
fn a_log_is_a_list_of_queries() {
    let log = format!(
        "[Fri Jun 29 21:17:58 2021] 0.004 sec [all/0/rel 3 (0,20)] [lj] black cat\nrubbish\n{}\n{}\n",
        sphinxql("SELECT id FROM t WHERE MATCH('a dog');"),
        sphinxql("SELECT id FROM t;")
    );
    let texts = super::full_texts(Box::new(std::io::Cursor::new(log.into_bytes())));
    assert_eq!(texts, ["black cat", "a dog"]);
}

#[test]
fn another_log_makes_no_gap() {
    let mut schedule = Schedule::default();
    schedule.push(1_000, 1, "a");
    schedule.push(3_000, 1, "b");
    schedule.begin_log();
    schedule.push(9_000_000_000, 1, "c");
    let due = std::iter::from_fn(|| schedule.next(true));
    let due: Vec<_> = due.map(|due| (due.after_us, due.item)).collect();
    assert_eq!(due, [(0, "a"), (2_000, "b"), (2_000, "c")]);
}

#[test]
fn the_schedule_holds_a_bounded_number_of_requests() {
    let mut schedule = Schedule::default();
    (0..5_000).for_each(|at| schedule.push(at, 10, at));
    let early = std::iter::from_fn(|| schedule.next(false)).count();
    assert_eq!(early, 5_000 - super::schedule::LOOKAHEAD_MAX);
    schedule.push(0, 10, -1);
    // It began before what is gone already: due at once.
    assert_eq!(
        schedule.next(true).map(|due| (due.after_us, due.item)),
        Some((903, -1))
    );
}
