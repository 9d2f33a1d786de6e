//! SQL statements that are made before the clock starts.

/// Statements with up to `count` items each: `begin`, the items with commas between them, `end`.
pub(crate) fn statements<T>(
    begin: impl Into<String>,
    items: impl Iterator<Item = T>,
    count: usize,
    end: &str,
    push: impl Fn(&mut String, T),
) -> impl Iterator<Item = String> {
    let (begin, mut items) = (begin.into(), items.peekable());
    std::iter::from_fn(move || {
        items.peek()?;
        let mut text = begin.clone();
        for (number, item) in items.by_ref().take(count).enumerate() {
            if number > 0 {
                text.push(',');
            }
            push(&mut text, item);
        }
        text.push_str(end);
        Some(text)
    })
}

/// Appends a string literal.
pub(crate) fn push_literal(text: &mut String, value: &str) {
    text.push('\'');
    for letter in value.chars() {
        if matches!(letter, '\'' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('\'');
}
