use super::*;

const ONE: Mutation = Mutation {
    name: "one",
    file: "a.rs",
    text: "sync()?;\n",
    becomes: "",
    test: "crates/a/src/lib.rs::b",
    may_hang: false,
};

#[test]
fn a_bug_is_planted_where_its_text_stands_once() {
    assert_eq!(ONE.plant("a;\nsync()?;\nb;\n").unwrap(), "a;\nb;\n");
}

#[test]
fn a_text_that_is_gone_or_stands_twice_is_stale() {
    assert_eq!(ONE.plant("a;\n").unwrap_err(), "its text is not in a.rs");
    let twice = ONE.plant("sync()?;\nsync()?;\n");
    assert_eq!(twice.unwrap_err(), "its text is 2 times in a.rs");
}

#[test]
fn names_choose_and_an_unknown_one_is_refused() {
    let first = MUTATIONS[0].name;
    let asked: Vec<&str> = chosen(&[first])
        .unwrap()
        .iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(asked, [first]);
    assert_eq!(chosen(&[]).unwrap().len(), MUTATIONS.len());
    assert!(
        chosen(&[first, "nothing"])
            .unwrap_err()
            .ends_with("nothing")
    );
}

#[test]
fn only_a_failed_test_is_caught() {
    let took = Duration::from_secs(3);
    let caught = line(&ONE, &Outcome::Caught, took);
    assert_eq!(caught, "caught one by crates/a/src/lib.rs::b (3 s)");
    let others = [
        Outcome::Missed,
        Outcome::Stale(String::new()),
        Outcome::Broken(String::new()),
        Outcome::Hangs,
    ];
    for other in others {
        assert!(!line(&ONE, &other, took).starts_with("caught"), "{other:?}");
    }
}
