use super::{Answered, Results, compare, read, write};

/// Query, total found, rows of id and weight.
type Case<'a> = (&'a str, u64, &'a [(u64, i64)]);

fn results(answers: &[Case<'_>]) -> Results {
    let answer = |(query, total_found, rows): &Case<'_>| Answered {
        query: (*query).to_owned(),
        total_found: *total_found,
        rows: rows.to_vec(),
    };
    Results {
        answers: answers.iter().map(answer).collect(),
    }
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
        measures.alike().map(|alike| alike * 50)
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
    assert!(read(&write(&one).replace("2:9", "2")).is_err());
}
