use super::{Answer, Measures, Reply, ReplySet, Results, Rows, compare, read, write};

/// Query, total found, rows of id and weight.
type Case<'a> = (&'a str, u64, &'a [(i128, i64)]);

fn results(answers: &[Case<'_>]) -> Results {
    let answer = |(number, (query, total_found, documents)): (u64, &Case<'_>)| Answer {
        number,
        query: (*query).to_owned(),
        reply: Reply::Rows(Rows {
            total_found: *total_found,
            count: documents.len() as u64,
            documents: documents.to_vec(),
            digest: None,
        }),
    };
    Results {
        answers: (1..).zip(answers).map(answer).collect(),
    }
}

fn alike(measures: &Measures) -> [u64; 6] {
    let alike: Vec<u64> = measures.lines().map(|(_, alike)| alike).collect();
    alike.try_into().unwrap()
}

#[test]
fn a_server_is_like_itself_in_every_line() {
    let one = results(&[("ant bee", 3, &[(1, 9), (2, 9), (3, 4)]), ("cat", 0, &[])]);
    let measures = compare(&one, &one).unwrap();
    assert!(measures.is_same());
    let text = measures.to_string();
    assert_eq!(text.matches("100.00 %").count(), 6, "{text}");
    assert!(text.contains("0.00 %   0 of 3"), "{text}");
}

#[test]
fn each_line_measures_what_it_says() {
    let one = results(&[
        ("a", 5, &[(1, 9), (2, 9), (3, 4)]),
        ("b", 2, &[(7, 1), (8, 1)]),
    ]);
    let order = results(&[
        ("a", 5, &[(2, 9), (1, 9), (3, 4)]),
        ("b", 2, &[(7, 1), (8, 1)]),
    ]);
    let lowest = results(&[
        ("a", 6, &[(1, 9), (2, 9), (4, 4)]),
        ("b", 2, &[(7, 2), (8, 2)]),
    ]);
    let shares = |other: &Results| {
        let measures = compare(&one, other).unwrap();
        assert!(!measures.is_same());
        alike(&measures).map(|alike| alike * 50)
    };
    // Results, found, top 10, set, groups, replies.
    assert_eq!(shares(&order), [100, 100, 50, 100, 100, 50]);
    assert_eq!(shares(&lowest), [100, 50, 50, 50, 100, 0]);
    let text = compare(&one, &lowest).unwrap().to_string();
    assert!(text.contains("33.33 %   2 of 6"), "{text}");
    assert!(text.contains("0 1 0 0 0 0 0 0 0 0"), "{text}");
}

#[test]
fn results_of_other_queries_are_not_compared() {
    let (one, other) = (results(&[("a", 1, &[])]), results(&[("b", 1, &[])]));
    assert!(compare(&one, &other).is_err());
    assert!(compare(&one, &results(&[])).is_err());
}

#[test]
fn saved_results_come_back() {
    let one = results(&[("ant bee", 3, &[(1, -9), (2, 9)]), ("cat", 0, &[])]);
    assert_eq!(read(&write(&one)).unwrap(), one);
    assert!(read("id;weight\n").is_err());
    assert!(
        read("# seine results 3\n")
            .unwrap_err()
            .contains("another version")
    );
    let wrong = read(&write(&one).replace("\"n\":2", "\"n\":x"));
    assert_eq!(wrong.unwrap_err(), "line 3 is no result");
}

#[test]
fn files_of_version_1_are_read() {
    let text = "# seine results 1\nant bee\t3\t1:-9 2:9\ncat\t0\t\n";
    let one = results(&[("ant bee", 3, &[(1, -9), (2, 9)]), ("cat", 0, &[])]);
    assert_eq!(read(text).unwrap(), one);
    assert!(read("# seine results 1\ncat\t0\t7\n").is_err());
}

fn set(columns: &[&str], rows: &[&[Option<&str>]]) -> ReplySet {
    let cell = |cell: &Option<&str>| cell.map(|text| text.as_bytes().to_vec());
    ReplySet {
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        rows: rows
            .iter()
            .map(|row| row.iter().map(cell).collect())
            .collect(),
    }
}

#[test]
fn an_answer_has_ids_and_weights_by_name_and_every_cell_changes_its_digest() {
    let one = set(
        &["body", "ID", "@weight"],
        &[&[None, Some("7"), Some("16")]],
    );
    let rows = Rows::of_sets(std::slice::from_ref(&one), None);
    assert_eq!((rows.total_found, rows.count), (1, 1));
    assert_eq!(rows.documents, [(7, 16)]);
    for other in [
        set(
            &["body", "ID", "@weight"],
            &[&[Some(""), Some("7"), Some("16")]],
        ),
        set(
            &["body", "id", "@weight"],
            &[&[None, Some("7"), Some("16")]],
        ),
        set(
            &["body", "ID", "@weight"],
            &[&[None, Some("71"), Some("6")]],
        ),
    ] {
        assert_ne!(Rows::of_sets(&[other], None).digest, rows.digest);
    }
    let facet = set(&["n"], &[]);
    assert_ne!(Rows::of_sets(&[one, facet], None).digest, rows.digest);
    assert_eq!(Rows::of_sets(&[set(&["n"], &[])], Some(5)).total_found, 5);
}

fn failed(number: u64, message: &str) -> Answer {
    Answer {
        number,
        query: "a".to_owned(),
        reply: Reply::Failed {
            code: 1064,
            message: message.to_owned(),
        },
    }
}

#[test]
fn a_failure_is_an_answer_and_what_only_one_side_answered_is_told() {
    let rows = results(&[("a", 1, &[(1, 9)])]);
    let failure = |message| Results {
        answers: vec![failed(1, message)],
    };
    let measures = compare(&failure("no"), &rows).unwrap();
    assert_eq!(alike(&measures), [0; 6]);
    let text = measures.to_string();
    assert!(text.contains("failed: 1 of A, 0 of B, 0 of both"), "{text}");
    assert!(
        text.ends_with(
            "query 1: a\n  A: error 1064: no\n  B: 1 of 1 rows, digest 00000000, id:weight 1:9"
        ),
        "{text}"
    );
    assert!(compare(&failure("no"), &failure("no")).unwrap().is_same());
    let words = compare(&failure("no"), &failure("nay")).unwrap();
    assert_eq!(alike(&words), [1, 1, 1, 1, 1, 0]);
    let mut more = rows.clone();
    more.answers.push(failed(4, "lost"));
    let measures = compare(&rows, &more).unwrap();
    assert!(!measures.is_same());
    assert!(
        measures
            .to_string()
            .contains("0 queries have an answer of A only, 1 of B only")
    );
}
