use language::tree::{FieldSet, Word};

use super::{CROWDED_WORDS_MIN, Dictionary, FIRST, TermId, UNKNOWN, key_in};

fn word(text: &str, fields: FieldSet) -> Word {
    Word::whole(text, fields)
}

fn find(dictionary: &Dictionary, text: &str) -> Option<u32> {
    let found = dictionary.find(text.as_bytes()).term();
    (found != UNKNOWN).then_some(found)
}

#[test]
fn a_key_does_not_depend_on_what_lies_around_the_word() {
    let buffer = b"xxxxxfifteen15letteryyyyyyyyyyyyyyyyyyyyy";
    for start in 0..20 {
        for end in start..buffer.len().min(start + 16) {
            let alone = key_in(&buffer[start..end], 0..end - start);
            assert_eq!(key_in(buffer, start..end), alone);
        }
    }
}

#[test]
fn words_that_differ_in_length_or_in_a_zero_byte_have_different_keys() {
    let words = [
        "",
        "a",
        "a\0",
        "\0a",
        "a\0\0",
        "aaaaaaaa",
        "aaaaaaaa\0",
        "aaaaaaaaa",
    ];
    for (index, a) in words.iter().enumerate() {
        for b in &words[..index] {
            assert_ne!(
                key_in(a.as_bytes(), 0..a.len()),
                key_in(b.as_bytes(), 0..b.len())
            );
        }
    }
}

#[test]
fn a_term_keeps_its_number_in_older_copies_and_through_merges() {
    let mut dictionary = Dictionary::default();
    let mut copies = Vec::new();
    let text = |number: usize| match number % 3 {
        0 => format!("w{number}"),
        1 => format!("word{number}"),
        _ => format!("a-word-of-many-letters-{number}"),
    };
    for number in 0..3_000 {
        let term = dictionary.intern(&word(&text(number), FieldSet::ALL));
        assert_eq!((term - FIRST) as usize, number);
        if number % 500 == 0 {
            copies.push((number, dictionary.clone()));
        }
    }
    dictionary.compact();
    for (last, copy) in copies {
        assert_eq!(find(&copy, &text(last)), Some(FIRST + last as u32));
        assert_eq!(find(&copy, &text(last + 1)), None);
    }
    for number in 0..3_000 {
        assert_eq!(
            find(&dictionary, &text(number)),
            Some(FIRST + number as u32)
        );
    }
}

#[test]
fn each_set_of_fields_of_a_word_is_a_term_of_its_own() {
    for text in ["cat", "a-word-of-many-letters"] {
        let mut dictionary = Dictionary::default();
        let sets = [FieldSet(0b01), FieldSet(0b10), FieldSet(0b11)];
        let terms = sets.map(|fields| dictionary.intern(&word(text, fields)));
        assert_eq!(
            terms,
            sets.map(|fields| dictionary.intern(&word(text, fields)))
        );
        dictionary.compact();
        let plain = dictionary.find(text.as_bytes());
        assert!(!terms.contains(&plain.term()));
        let mut held = Vec::new();
        dictionary.limited(plain, 1, |term| held.push(term));
        held.sort_unstable();
        assert_eq!(held, [terms[1], terms[2]]);
    }
}

#[test]
fn words_are_kept_that_came_in_such_numbers_that_both_the_job_and_the_writer_merged_the_layers() {
    let mut dictionary = Dictionary::default();
    dictionary.intern(&Word::whole("first", FieldSet::ALL));
    let mut job = dictionary.clone();
    job.compact();
    let text = |number: usize| format!("w{number}");
    let terms: Vec<TermId> = (0..2 * CROWDED_WORDS_MIN)
        .map(|number| dictionary.intern(&Word::whole(text(number), FieldSet::ALL)))
        .collect();
    dictionary.install(job);
    for (number, term) in terms.iter().enumerate() {
        assert_eq!(dictionary.find(text(number).as_bytes()).term(), *term);
    }
}
