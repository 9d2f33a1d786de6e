use language::analysis::Analyzer;
use language::tree::Node;

use super::{Idf, MatchMode, Options, Ranker};

fn parsed(pairs: &[(&str, &str)]) -> Result<Options, String> {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let pairs: Vec<_> = pairs.iter().map(pair).collect();
    Options::parse(&pairs).map_err(|error| error.to_string())
}

#[track_caller]
fn refused(name: &str, value: &str, message: &str) {
    assert_eq!(parsed(&[(name, value)]).unwrap_err(), message);
}

#[test]
fn options_are_read_as_sphinx_writes_them() {
    let options = parsed(&[
        ("ranker", "Wordcount"),
        ("field_weights", "(Title=10, `body` = 0)"),
        ("idf", "plain,tfidf_unnormalized"),
        ("max_matches", "3000"),
        ("cutoff", "7"),
        ("max_query_time", "250"),
        ("max_threads_per_query", "2"),
        ("sort_method", "kbuffer"),
    ])
    .unwrap();
    let expected = Options {
        ranker: Some(Ranker::Wordcount),
        field_weights: vec![("title".to_owned(), 10), ("body".to_owned(), 0)],
        idf: Idf {
            plain: true,
            unnormalized: true,
        },
        max_matches: Some(3000),
        cutoff: 7,
        max_query_time_ms: 250,
        threads: 2,
        ..Options::default()
    };
    assert_eq!(options, expected);
}

#[test]
fn what_is_no_option_is_refused_with_the_nearest_that_is_one() {
    refused("rankr", "bm25", "no option 'rankr', did you mean ranker?");
    refused("zzzzzzzz", "1", "no option 'zzzzzzzz'");
    refused("cutoff", "-1", "cutoff=-1 is not a number from 0 on");
    refused("max_matches", "0", "max_matches must be at least 1");
    refused(
        "field_weights",
        "title=1",
        "field_weights=title=1 is not of the form (column=weight, …)",
    );
    refused(
        "field_weights",
        "(a=65536)",
        "field_weights=(a=65536): a weight is at most 65535",
    );
    refused(
        "boolean_mode",
        "xor",
        "boolean_mode='xor' is not one of: and, or",
    );
    refused("morphology", "none", "not yet: option morphology");
    assert!(parsed(&[("expand_keywords", "0")]).is_ok());
    refused("ranker", "expr('bm25')", "not yet: ranker=expr('bm25')");
    let message = parsed(&[("ranker", "bm26")]).unwrap_err();
    assert!(message.starts_with("ranker='bm26' is not one of: proximity_bm25, bm25"));
}

#[test]
fn a_match_mode_brings_its_ranker_unless_one_is_named() {
    let ranker = |pairs: &[_]| parsed(pairs).unwrap().ranker();
    assert_eq!(ranker(&[]), Ranker::ProximityBm25);
    assert_eq!(ranker(&[("match_mode", "any")]), Ranker::Matchany);
    assert_eq!(ranker(&[("match_mode", "all")]), Ranker::Proximity);
    assert_eq!(ranker(&[("match_mode", "boolean")]), Ranker::None);
    assert_eq!(
        ranker(&[("match_mode", "extended2")]),
        Ranker::ProximityBm25
    );
    assert_eq!(
        ranker(&[("match_mode", "any"), ("ranker", "sph04")]),
        Ranker::Sph04
    );
}

#[track_caller]
fn tree(mode: MatchMode, text: &str, meant: &str) {
    let analyzer = Analyzer::default();
    let parse = |text: &str| language::parse(text, &["title"], &analyzer).unwrap().root;
    assert_eq!(
        parse(&mode.query(text)),
        parse(meant),
        "{}",
        mode.query(text)
    );
}

#[test]
fn nothing_is_an_operator_in_the_old_modes() {
    tree(MatchMode::All, "star -wars | (trek)", "star wars trek");
    tree(
        MatchMode::All,
        "a MAYBE b << c NEAR/3 d",
        "a maybe b c near 3 d",
    );
    tree(
        MatchMode::Any,
        "star -wars \"x\" @title",
        "\"star wars x \\@title\"/1",
    );
    tree(MatchMode::Any, "star", "star");
    tree(MatchMode::Any, "star-wars", "\"star wars\"/1");
    tree(MatchMode::Phrase, "star | wars", "\"star wars\"");
    tree(MatchMode::Phrase, "star", "star");
    tree(MatchMode::Extended, "star -wars", "star -wars");
    for mode in [MatchMode::All, MatchMode::Any, MatchMode::Phrase] {
        tree(mode, " ", "&");
        tree(mode, "", "");
    }
    let fullscan = language::parse(
        &MatchMode::Fullscan.query("a | b"),
        &[],
        &Analyzer::default(),
    );
    assert_eq!(fullscan.unwrap().root, Node::All);
}
