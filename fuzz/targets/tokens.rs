//! The fast path of analysis gives the same words and positions as the slow path.
#![no_main]

use language::analysis::{Analyzer, Words};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let analyzer = Analyzer::default();
    let mut fast = Words::new();
    fast.push_field(&analyzer, 0, text);
    let mut slow = Vec::new();
    analyzer.words(text, &mut |word| {
        slow.push((word.text.to_owned(), word.position))
    });
    let fast: Vec<_> = fast
        .iter()
        .map(|(word, _, position)| (word.to_owned(), position))
        .collect();
    assert_eq!(fast, slow);
});
