use super::*;

/// The marked texts of a document with the fields `title` and `body`.
fn marked(query: &str, title: &str, body: &str) -> Vec<(String, String)> {
    let reading = TableAnalysis {
        analyzer: Analyzer::default(),
        syntax: Syntax::default(),
        fields: vec!["title", "body"],
    };
    let field = |name: &str, text: &str| (name.to_owned(), Value::Str(text.to_owned()));
    let document = PqDocument::Fields(vec![field("title", title), field("body", body)]);
    let found = reading.marked(&reading.root(query), &document, &Interrupt::default());
    let owned = |(name, text): (&str, String)| (name.to_owned(), text);
    found.into_iter().map(owned).collect()
}

#[track_caller]
fn check(query: &str, body: &str, expected: &str) {
    let expected = ("body".to_owned(), expected.to_owned());
    assert_eq!(marked(query, "", body), [expected]);
}

#[test]
fn the_words_of_the_query_are_marked_as_written() {
    check("cafe", "Un Café, deux", "Un <b>Café</b>, deux");
    check("red shoes", "shoes: red", "<b>shoes</b>: <b>red</b>");
    check("red | blue", "a blue one", "a <b>blue</b> one");
}

#[test]
fn a_word_of_a_phrase_is_marked_inside_the_phrase_only() {
    check(
        "\"star wars\"",
        "star of star wars",
        "star of <b>star</b> <b>wars</b>",
    );
}

#[test]
fn fields_without_marks_and_texts_that_are_too_long_are_left_out() {
    let long = "red ".repeat(HIGHLIGHT_TEXT_BYTES_MAX);
    for (query, body) in [("@title red", "red"), ("red", long.as_str())] {
        let title = ("title".to_owned(), "<b>red</b>".to_owned());
        assert_eq!(marked(query, "red", body), [title]);
    }
    assert_eq!(marked("", "red", "red"), []);
}
