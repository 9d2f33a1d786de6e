use language::analysis::Analyzer;
use language::parse;
use language::tree::{FieldSet, Node, Word};

use super::{Conjunction, Terms, compile};

/// Numbers the words a, b, c … by the alphabet; later ones are rarer. A phrase has the number of its first word plus
/// 100, and is rarer than any word.
struct Alphabet;

impl Terms for Alphabet {
    fn intern(&mut self, word: &Word) -> u32 {
        u32::from(word.term.text.as_bytes()[0] - b'a')
    }

    fn phrase(&mut self, words: &[&str], _fields: FieldSet) -> u32 {
        100 + u32::from(words[0].as_bytes()[0] - b'a')
    }

    fn cost(&self, term: u32) -> u64 {
        1_000_u64.saturating_sub(u64::from(10 * term))
    }
}

fn compiled(text: &str) -> Vec<Conjunction> {
    let root = parse(text, &["body"], &Analyzer::default()).unwrap().root;
    compile(&root, &mut Alphabet)
}

/// The anchors of each conjunction, as letters; `+` where there is a check as well.
#[track_caller]
fn check(text: &str, expected: &str) {
    let letter =
        |term: &u32| char::from(if *term < 100 { b'a' } else { b'A' } + (*term % 100) as u8);
    let each = |conjunction: &Conjunction| {
        let anchors: String = conjunction.anchors.iter().map(letter).collect();
        anchors + if conjunction.check.is_some() { "+" } else { "" }
    };
    let found: Vec<String> = compiled(text).iter().map(each).collect();
    assert_eq!(found.join(" "), expected, "{text}");
}

#[test]
fn a_conjunction_is_filed_under_its_rarest_word() {
    check("a c b", "c");
    check("a b -c", "b");
}

#[test]
fn an_or_is_filed_in_parts() {
    check("a | b", "a b");
    check("(a b) | (c -d)", "b c");
}

#[test]
fn an_or_within_is_expanded_while_that_is_cheap() {
    check("a (b | c)", "b c");
    check("(a | b) (c | d)", "c d c d");
    check("a (b | c | d | e | f | g | h | i | j)", "a+");
}

#[test]
fn an_or_of_rare_words_is_a_better_anchor_than_a_common_word() {
    struct Common;
    impl Terms for Common {
        fn intern(&mut self, word: &Word) -> u32 {
            Alphabet.intern(word)
        }
        fn phrase(&mut self, words: &[&str], fields: FieldSet) -> u32 {
            Alphabet.phrase(words, fields)
        }
        fn cost(&self, term: u32) -> u64 {
            if term == 0 { 1_000 } else { 1 }
        }
    }
    let text = "a (b | c | d | e | f | g | h | i | j)";
    let root = parse(text, &["body"], &Analyzer::default()).unwrap().root;
    let conjunctions = compile(&root, &mut Common);
    assert_eq!(conjunctions.len(), 1);
    assert_eq!(conjunctions[0].anchors, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert!(conjunctions[0].covered);
}

#[test]
fn a_phrase_is_a_term_unless_it_is_long() {
    check("\"a c\"", "A");
    check("\"a b c\"", "A");
    check("a -\"b c\"", "a+");
    check("\"a b c d e f g i h\"", "I+");
}

#[test]
fn no_more_words_than_fit_stay_in_an_entry() {
    let conjunctions = compiled("a b c d e f g -h -i");
    let [only] = conjunctions.as_slice() else {
        panic!("one conjunction")
    };
    assert_eq!(only.positive, [6, 5, 4, 3, 2]);
    assert!(only.negative.is_empty() && only.check.is_some());
    let conjunctions = compiled("a b c d -h -i");
    assert!(conjunctions[0].check.is_none());
}

#[test]
fn a_quorum_is_filed_under_as_many_parts_as_may_not_all_fail() {
    let parts: Vec<Node> = ["a", "b", "c", "d"]
        .map(|text| Node::Word(Word::whole(text, FieldSet::ALL)))
        .into();
    let anchors = |least| {
        let parts = parts.clone();
        compile(&Node::Quorum { parts, least }, &mut Alphabet)
    };
    assert_eq!(anchors(3)[0].anchors, [2, 3]);
    assert_eq!(anchors(2)[0].anchors, [1, 2, 3]);
    assert_eq!(anchors(1).len(), 4, "an OR");
    assert_eq!(anchors(4)[0].positive, [3, 2, 1, 0], "an AND");
}
