use proptest::prelude::*;

use super::*;
use crate::limits::WORD_BYTES_MAX;

/// `word` for a bare word, `word@position` where the position is not one more than before.
#[track_caller]
fn check(text: &str, want: &str) {
    let mut got = Vec::new();
    let mut last = 0;
    Analyzer::default().words(text, &mut |word| {
        let same = if word.position == last { "=" } else { "" };
        assert!(
            word.position == last || word.position == last + 1,
            "{word:?}"
        );
        got.push(format!("{same}{}", word.text));
        last = word.position;
    });
    assert_eq!(got.join(" "), want);
}

fn general(text: &str) -> Vec<(String, u8, u32)> {
    let mut words = Vec::new();
    Analyzer::default().words(text, &mut |word| {
        words.push((word.text.to_owned(), 0, word.position))
    });
    words
}

fn hot(text: &str) -> Vec<(String, u8, u32)> {
    let mut words = Words::new();
    words.push_field(&Analyzer::default(), 0, text);
    words
        .iter()
        .map(|(text, field, position)| (text.to_owned(), field, position))
        .collect()
}

#[test]
fn letters_digits_and_underscore_make_words() {
    check(
        "Hello, World! it's 3.14 snake_case",
        "hello world it s 3 14 snake_case",
    );
    check("", "");
    check(" \t\n-–—…", "");
}

#[test]
fn accents_and_case_are_folded() {
    check(
        "Crème BRÛLÉE Straße Łódź Ærøskøbing",
        "creme brulee strasse lodz aeroskobing",
    );
    check("ΌΔΟΣ όδος", "οδοσ οδοσ");
    check("Ёлка Май İstanbul ısı", "елка маи istanbul isi");
    check("ﬁne ＡＢＣ① ℌ", "fine abc1 h");
    check("e\u{301}cole éCOLE", "ecole ecole");
}

#[test]
fn signs_that_carry_meaning_stay() {
    check("हिन्दी", "हिन्दी");
    check("ภาษาไทย", "ภาษาไทย");
    check("مُحَمَّد", "محمد");
}

#[test]
fn chinese_japanese_and_korean_are_single_characters() {
    check("東京tower 2020年", "東 京 tower 2020 年");
    check("한국어", "한 국 어");
    check("ガール ｶﾞ", "ガ ー ル ガ");
}

#[test]
fn joiners_and_soft_hyphens_do_not_part_words() {
    check("co\u{AD}operate a\u{200D}b \u{FEFF}x", "cooperate ab x");
}

#[test]
fn tags_and_handles_give_both_words_at_one_position() {
    check("see #Tag and @Bob_1.", "see tag =#tag and bob_1 =@bob_1");
    check("##a #-b # c a#d me@home.org", "a =#a b c a d me home org");
    check("#東京x!", "東 =#東京x 京 x");
    check("#été", "ete =#ete");
}

#[test]
fn a_mark_alone_is_no_word() {
    check("\u{301} \u{20E3} \u{200D} \u{3099} \u{93F}", "");
    check("#\u{FE0F}\u{20E3} x", "x");
}

#[test]
fn a_long_word_is_cut_at_a_character() {
    let long = "é".repeat(WORD_BYTES_MAX * 2);
    assert_eq!(general(&long)[0].0.len(), WORD_BYTES_MAX);
    let kept = general(&"я".repeat(WORD_BYTES_MAX));
    assert_eq!(kept[0].0.chars().count(), WORD_BYTES_MAX / 2);
    let tagged = general(&format!("#{}", "я".repeat(WORD_BYTES_MAX)));
    assert_eq!(tagged[1].0.chars().count(), 1 + (WORD_BYTES_MAX - 1) / 2);
}

#[test]
fn sources_name_the_bytes_that_a_reader_would_mark() {
    let text = "Ein Café, #Tag 東京";
    let mut sources = Vec::new();
    Analyzer::default().words(text, &mut |word| sources.push(&text[word.source]));
    assert_eq!(sources, ["Ein", "Café", "Tag", "#Tag", "東", "京"]);
}

#[test]
fn a_stripped_mark_at_the_head_of_a_tag_is_inside_its_source() {
    let mut sources = Vec::new();
    Analyzer::default().words("#\u{301}A", &mut |word| sources.push(word.source));
    assert_eq!(sources, [3..4, 0..4]);
}

#[test]
fn positions_start_anew_in_each_field() {
    let mut words = Words::new();
    for (field, text) in [(0, "a b"), (2, "c é d")] {
        words.push_field(&Analyzer::default(), field, text);
    }
    let got: Vec<_> = words.iter().collect();
    assert_eq!(
        got,
        [
            ("a", 0, 1),
            ("b", 0, 2),
            ("c", 2, 1),
            ("e", 2, 2),
            ("d", 2, 3)
        ]
    );
    words.clear();
    assert!(words.is_empty());
}

#[test]
fn every_character_folds_to_itself_again() {
    for c in ('\0'..=char::MAX).filter(|c| !is_beyond_letters(*c)) {
        for (word, ..) in general(&format!("a{c}")) {
            let again: Vec<_> = general(&word).into_iter().map(|(word, ..)| word).collect();
            assert_eq!(again, [word], "{c:?} U+{:04X}", u32::from(c));
        }
    }
}

/// Planes of private use and of nothing, which would take most of the time.
fn is_beyond_letters(c: char) -> bool {
    u32::from(c) > 0x3_FFFF
}

proptest! {
    #[test]
    fn the_fast_path_gives_what_the_general_one_gives(
        text in r"([a-zA-Z0-9_#@ .,'!\x00\x7f-]|[ -~]|[’é東\u{301}😀#@ ]){0,400}"
    ) {
        prop_assert_eq!(hot(&text), general(&text));
    }

    #[test]
    fn runs_longer_than_a_block_and_than_a_word_are_the_same_on_both_paths(
        parts in prop::collection::vec(("[#@ ,]{0,3}", "[A-Za-z0-9_é東’]", 0..300usize), 0..6)
    ) {
        let text: String =
            parts.iter().map(|(before, letter, count)| before.clone() + &letter.repeat(*count)).collect();
        prop_assert_eq!(hot(&text), general(&text));
    }

    #[test]
    fn any_text_gives_words_within_the_limits_and_sources_inside_it(text in any::<String>()) {
        let mut last = 0;
        Analyzer::default().words(&text, &mut |word| {
            assert!(!word.text.is_empty() && word.text.len() <= WORD_BYTES_MAX);
            assert!(word.position >= last);
            last = word.position;
            assert!(text.get(word.source.clone()).is_some_and(|source| !source.is_empty()));
        });
        prop_assert_eq!(hot(&text), general(&text));
    }

    #[test]
    fn folded_text_folds_to_itself(text in "\\PC{0,40}") {
        let bare = |text: &str| -> Vec<String> {
            let words = general(text).into_iter().map(|(word, ..)| word);
            words.filter(|word| !word.starts_with(['#', '@'])).collect()
        };
        let once = bare(&text);
        prop_assert_eq!(bare(&once.join(" ")), once);
    }
}
