use proptest::prelude::*;

use super::*;
use crate::limits::WORD_BYTES_MAX;
use crate::meter::{Budget, Meter, Unmetered};
use crate::tree::Unit;

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

/// Skips planes of private use and unassigned ones, which would take most of the time.
fn is_beyond_letters(c: char) -> bool {
    u32::from(c) > 0x3_FFFF
}

fn analyzer(settings: &[(&str, &str)]) -> Analyzer {
    let mut made = Settings::default();
    for (name, value) in settings {
        made.set(name, value).unwrap().unwrap();
    }
    Analyzer::new(made)
}

/// The words at each position, with `|` where a sentence begins and `||` where a paragraph does.
fn shown(analyzer: &Analyzer, text: &str) -> String {
    let mut words = Words::new();
    words.push_field(analyzer, 0, "Before. This\n\nfield");
    words.push_field(analyzer, 3, text);
    let mut shown = Vec::new();
    let mut last = (0, 0, 0);
    for (text, _, position) in words.iter().filter(|(_, field, _)| *field == 3) {
        let unit = |unit| words.unit_at(unit, 3, position);
        let here = (position, unit(Unit::Sentence), unit(Unit::Paragraph));
        let bound = match here {
            (_, _, paragraph) if paragraph != last.2 => "|| ",
            (_, sentence, _) if sentence != last.1 => "| ",
            _ => "",
        };
        let same = if position == last.0 { "=" } else { "" };
        shown.push(format!("{bound}{same}{text}"));
        last = here;
    }
    shown.join(" ")
}

#[test]
fn stems_stand_where_their_words_do() {
    let english = analyzer(&[("morphology", "stem_en")]);
    assert_eq!(
        shown(&english, "Running #Cats the 東"),
        "run ==running cat ==cats =#cats the ==the 東 ==東"
    );
    let both = analyzer(&[("morphology", "stem_enru")]);
    assert_eq!(
        shown(&both, "running красные"),
        "run ==running красн ==красные"
    );
    let russian = analyzer(&[("morphology", "libstemmer_russian")]);
    assert_eq!(
        shown(&russian, "красный КРАСНЫЙ"),
        "красн ==красныи красн ==красныи"
    );
    let german = analyzer(&[("morphology", "libstemmer_german, stem_en")]);
    assert_eq!(shown(&german, "Häuser"), "haus ==hauser");
    // English has no accents of its own: with and without them is one stem.
    for (accented, plain) in [
        ("naïve", "naive"),
        ("Résumés", "resumes"),
        ("fiancé", "fiance"),
    ] {
        assert_eq!(shown(&english, accented), shown(&english, plain));
    }
}

#[test]
fn the_first_stemmer_that_changes_a_word_is_the_last_asked() {
    let french_first = analyzer(&[("morphology", "libstemmer_french,stem_en")]);
    let english_first = analyzer(&[("morphology", "stem_en, libstemmer_french")]);
    let words = "parties nouvelles happiness relatives";
    assert_ne!(shown(&french_first, words), shown(&english_first, words));
    assert_eq!(shown(&english_first, "mangera"), "mang ==mangera");
}

#[test]
fn sentences_end_by_the_rules_of_sphinx() {
    let units = analyzer(&[("index_sp", "1")]);
    for (text, want) in [
        (
            "One. Two! Three? Four… five",
            "one | two | three | four | five",
        ),
        (
            "v 3.14 a.b? \"Yes.\" (No!) end",
            "v 3 14 a b | yes | no | end",
        ),
        ("J. Smith, U.S. Army. Then", "j smith u s army | then"),
        (
            "S.p.A., then News Corp. announced (Corp. (no) end). 7",
            "s p a then news corp announced corp no end | 7",
        ),
        (
            "Mr. Doe met MS. Doe, Mrs. Roe. Of. A3. MX. DRS. x.  y. \"z. (Z",
            "mr doe met ms doe mrs roe | of a3 mx | drs x | y | z | z",
        ),
        ("one.\"Two one.-two a!b", "one | two one two a | b"),
        ("東。京！x？y", "東 | 京 | x | y"),
        ("a\n \r\nb\ncc. D", "a || b cc | d"),
        ("... aa.\n\nb", "aa || b"),
        ("éé.É éé. É", "ee e ee | e"),
    ] {
        assert_eq!(shown(&units, text), want, "{text}");
    }
    assert_eq!(shown(&Analyzer::default(), "One. Two"), "one two");
}

/// A table as a stored definition says it.
fn stored(settings: &[(&str, &str)]) -> Analyzer {
    let mut made = Settings::default();
    for (name, value) in settings {
        made.set_stored(name, value).unwrap().unwrap();
    }
    Analyzer::new(made)
}

fn positions(analyzer: &Analyzer, text: &str) -> Vec<u32> {
    let mut words = Words::new();
    words.push_field(analyzer, 0, text);
    words.places().map(|(_, position)| position).collect()
}

#[test]
fn the_end_of_a_sentence_takes_one_position_however_many_signs_it_has() {
    let units = analyzer(&[("index_sp", "1")]);
    assert_eq!(
        positions(&units, "! a. B?! c\n\nd é. É. "),
        [1, 3, 5, 7, 8, 10]
    );
    assert_eq!(positions(&Analyzer::default(), "a. B?! c"), [1, 2, 3]);
}

#[test]
fn a_stored_table_keeps_the_rules_of_its_sentences() {
    let before = stored(&[("morphology", "stem_en"), ("index_sp", "1")]);
    let now = analyzer(&[("morphology", "stem_en"), ("index_sp", "1")]);
    assert_eq!(shown(&before, "corp. a"), "corp ==corp | a ==a");
    assert_eq!(shown(&now, "corp. a"), "corp ==corp a ==a");
    let stored_now = now.settings().stored_pairs();
    let want = [("morphology", "libstemmer_english"), ("index_sp", "2")];
    assert_eq!(
        stored_now,
        want.map(|(name, value)| (name, value.to_owned()))
    );
    assert_eq!(positions(&before, "a. B"), [1, 1, 2, 2]);
    assert_eq!(positions(&now, "a. B"), [1, 1, 3, 3]);
    for made in [&before, &now] {
        let pairs = made.settings().stored_pairs();
        let pairs: Vec<_> = pairs
            .iter()
            .map(|(name, value)| (*name, &**value))
            .collect();
        assert_eq!(stored(&pairs), *made);
    }
    assert_ne!(before, now);
}

#[test]
fn english_stems_are_those_of_sphinx() {
    let english = analyzer(&[("morphology", "stem_en")]);
    // As CALL KEYWORDS of Sphinx 2.2.11 shows them; Porter's first algorithm has `gener`, `kindli`, `new`.
    for (word, stem) in [
        ("generously", "generous"),
        ("kindly", "kind"),
        ("news", "news"),
        ("dying", "die"),
        ("inning", "inning"),
        ("early", "earli"),
        ("possibly", "possibl"),
        ("apology", "apolog"),
    ] {
        assert_eq!(shown(&english, word), format!("{stem} =={word}"));
    }
}

#[test]
fn settings_print_what_they_read() {
    let pairs = |settings: &[(&str, &str)]| analyzer(settings).settings().pairs();
    assert_eq!(
        pairs(&[
            ("min_infix_len", "0"),
            ("index_sp", "0"),
            ("morphology", "none")
        ]),
        []
    );
    let all = [
        ("morphology", "stem_en, libstemmer_german"),
        ("index_exact_words", "1"),
        ("index_sp", "1"),
        ("min_infix_len", "3"),
        ("min_prefix_len", "2"),
    ];
    assert_eq!(
        pairs(&all),
        all.map(|(name, value)| (name, value.to_owned()))
    );
    let mut settings = Settings::default();
    assert_eq!(settings.set("charset_table", "x"), None);
    for (name, value) in [
        ("morphology", "stem_xx"),
        ("morphology", "libstemmer_klingon"),
        ("index_sp", "yes"),
        ("min_infix_len", "-1"),
        ("min_prefix_len", "33"),
    ] {
        assert!(settings.set(name, value).unwrap().is_err(), "{value}");
    }
    assert_eq!(settings, Settings::default());
}

/// The words that `push_field` must give: the general path over the whole text, with bounds counted for each word.
fn slow_twin(analyzer: &Analyzer, text: &str) -> Vec<(String, u32, u32, u32)> {
    let bounds = units::bounds(text, analyzer.settings().sentences(), &Unmetered);
    let kept = |start: usize, paragraph: bool| {
        let before = bounds.iter().filter(|bound| bound.at <= start);
        before.filter(|bound| bound.paragraph || !paragraph).count() as u32
    };
    let mut words = Vec::new();
    let mut at = (0, 0);
    analyzer.field_words(text, &Unmetered, &mut |word| {
        if word.position > at.0 {
            at = (word.position, word.source.start);
        }
        words.push((
            word.text.to_owned(),
            word.position,
            kept(at.1, false),
            kept(at.1, true),
        ));
    });
    words
}

proptest! {
    #[test]
    fn with_settings_the_fast_path_gives_what_the_general_one_gives(
        text in r"([a-zA-Z#@ ]|running|cats|[é東\u{301}ыйк]|[.!?…。] ?|\n\n?| ){0,60}",
        morphology in prop::sample::select(vec!["none", "stem_en", "stem_enru", "libstemmer_french"]),
        units in "[01]",
    ) {
        let analyzer = analyzer(&[("morphology", morphology), ("index_sp", &units)]);
        let mut words = Words::new();
        words.push_field(&analyzer, 0, &text);
        let slow = slow_twin(&analyzer, &text);
        let plain = |words: &Words| -> Vec<(String, u32)> {
            words.iter().map(|(text, _, position)| (text.to_owned(), position)).collect()
        };
        let expected: Vec<_> = slow.iter().map(|(text, position, ..)| (text.clone(), *position)).collect();
        prop_assert_eq!(plain(&words), expected);
        if units == "1" {
            // Bounds without a word between them are one, so numbers differ but not where they change.
            for pair in slow.windows(2) {
                for (unit, changes) in [
                    (Unit::Sentence, pair[0].2 != pair[1].2),
                    (Unit::Paragraph, pair[0].3 != pair[1].3),
                ] {
                    let number = |position| words.unit_at(unit, 0, position);
                    prop_assert_eq!(number(pair[0].1) != number(pair[1].1), changes);
                }
            }
        }
    }

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

/// The ends of sentences of old tables, by a look at all that follows each sign.
fn slow_ends(text: &str) -> Vec<usize> {
    let closing = ['"', '\'', ')', ']', '”', '’', '»', '.', '!', '?', '…'];
    let ends = text.char_indices().filter(|(at, sign)| {
        let mut before = text[..*at].chars().rev();
        let initial = *sign == '.'
            && before.next().is_some_and(char::is_alphabetic)
            && !before.next().is_some_and(fold::in_run);
        let ahead = text[at + sign.len_utf8()..].trim_start_matches(closing);
        let next = ahead.chars().next();
        ['.', '!', '?', '…'].contains(sign) && next.is_none_or(char::is_whitespace) && !initial
    });
    ends.map(|(at, sign)| at + sign.len_utf8()).collect()
}

proptest! {
    #[test]
    fn signs_of_old_tables_end_sentences_as_if_each_looked_ahead(text in "[ab.!)\" …]{0,24}") {
        let bounds = units::bounds(&text, units::Sentences::Unplaced, &Unmetered);
        let ends: Vec<usize> = bounds.iter().map(|bound| bound.at).collect();
        prop_assert_eq!(ends, slow_ends(&text));
    }
}

#[test]
fn a_text_of_signs_takes_no_quadratic_time() {
    // A look at all that follows each sign would take minutes.
    let text = ".".repeat(1 << 20);
    let bounds = units::bounds(&text, units::Sentences::Unplaced, &Unmetered);
    assert_eq!(bounds.len(), 1 << 20);
}

#[test]
fn a_long_text_is_read_no_further_than_a_budget_allows() {
    let mut stemming = Settings::default();
    for (name, value) in [("morphology", "stem_en"), ("index_sp", "1")] {
        stemming.set(name, value).unwrap().unwrap();
    }
    for analyzer in [Analyzer::default(), Analyzer::new(stemming)] {
        for word in ["word. ", "#tag ", "café "] {
            let text = word.repeat((4 << 20) / word.len());
            let words = |budget: &Budget| {
                let mut words = Words::new();
                words.push_field_within(&analyzer, 0, &text, budget);
                words.len()
            };
            let whole = Budget::new(u64::MAX);
            let all = words(&whole);
            let budget = Budget::new((u64::MAX - whole.left()) / 3);
            let read = words(&budget);
            assert!(
                budget.is_stopped() && read < all / 2,
                "{word}: {read} of {all}"
            );
        }
    }
}

/// A meter that has stopped.
struct Stopped;

impl Meter for Stopped {
    fn spend(&self, _: u64) {}

    fn is_stopped(&self) -> bool {
        true
    }
}

#[test]
fn a_long_run_of_letters_ends_where_the_meter_stops() {
    for settings in [&[][..], &[("index_sp", "1")]] {
        let analyzer = analyzer(settings);
        for letter in ["\u{6f22}", "é"] {
            let mut words = Words::new();
            words.push_field_within(&analyzer, 0, &letter.repeat(100_000), &Stopped);
            assert!(words.is_empty(), "{letter}");
            words.push_field_within(&analyzer, 1, letter, &Stopped);
            assert_eq!(words.len(), 1, "a short one is made");
        }
    }
}
