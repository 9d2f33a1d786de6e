//! Query texts of both syntaxes: the parser never panics, and an accepted query is parsed again from its printed form.
#![no_main]

use language::Syntax;
use language::analysis::Analyzer;
use libfuzzer_sys::fuzz_target;

const FIELDS: [&str; 3] = ["title", "body", "sub"];

fuzz_target!(|text: &str| {
    let analyzer = Analyzer::default();
    for syntax in [Syntax::Sphinx, Syntax::Lucene] {
        let Ok(parsed) = syntax.parse(text, &FIELDS, &analyzer) else {
            continue;
        };
        let printed = parsed.root.display(&FIELDS).to_string();
        let again = language::parse(&printed, &FIELDS, &analyzer);
        assert_eq!(
            again.map(|again| again.root).as_ref(),
            Ok(&parsed.root),
            "{printed}"
        );
    }
});
