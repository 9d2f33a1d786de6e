use super::*;

/// The marked texts of a document with the fields `title` and `body`.
fn marked(query: &str, title: &str, body: &str) -> Vec<(usize, String)> {
    let analyzer = Analyzer::default();
    let fields = ["title", "body"];
    let field = |name: &str, text: &str| (name.to_owned(), Value::Str(text.to_owned()));
    let document = PqDocument::Fields(vec![field("title", title), field("body", body)]);
    let root = query::parse(query, &fields, &analyzer).unwrap().root;
    let mut leaves = Vec::new();
    positive(&root, &mut leaves);
    Read::new(&document, &fields, &analyzer).marked(&root, &leaves)
}

#[track_caller]
fn check(query: &str, body: &str, expected: &str) {
    assert_eq!(marked(query, "", body), [(1, expected.to_owned())]);
}

#[test]
fn the_words_of_the_query_are_marked_as_written() {
    check("cafe", "Un Café, deux cafés", "Un <b>Café</b>, deux cafés");
    check("red shoes", "shoes: red", "<b>shoes</b>: <b>red</b>");
    check("red -blue", "red", "<b>red</b>");
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
fn fields_without_marks_are_left_out() {
    assert_eq!(
        marked("@title red", "red", "red"),
        [(0, "<b>red</b>".to_owned())]
    );
    assert_eq!(marked("", "red", "red"), []);
}

#[test]
fn a_long_text_has_every_word_of_the_query_marked() {
    let long = format!("star {}", "wars ".repeat(HIGHLIGHT_WORDS_MAX + 1));
    let (_, text) = marked("\"star wars\"", "", &long).remove(0);
    assert!(text.ends_with("<b>wars</b> "));
}
