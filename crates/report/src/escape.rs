//! Texts of strangers, made safe to show.

use std::fmt::Write;

/// The text with each character that moves a cursor or turns the direction of writing replaced by its escape, such as `\n` or
/// `\u{202e}`. A backslash of the text itself stays as it is.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\0' => out += "\\0",
            _ if is_hidden(c) => put(&mut out, format_args!("\\u{{{:x}}}", u32::from(c))),
            _ => out.push(c),
        }
    }
    out
}

/// Control characters, marks of direction, line separators and other characters without a shape. The joiners of emoji and of
/// Indic and Arabic words stay.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Text of an element or of an attribute in double quotes.
pub(crate) fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible(text).chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            _ => out.push(c),
        }
    }
    out
}

/// The first `chars_max` characters; a cut text ends in `…`, which counts.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// Writing into a string cannot fail.
pub(crate) fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::{cut, markup, visible};

    #[test]
    fn what_moves_a_cursor_or_turns_text_is_shown() {
        assert_eq!(
            visible("a\x1b[31m\0\n\u{202e}b\u{7f}\u{9b}"),
            "a\\u{1b}[31m\\0\\n\\u{202e}b\\u{7f}\\u{9b}"
        );
        assert_eq!(
            visible("naïve 猫 👩\u{200d}🚒 a\\b"),
            "naïve 猫 👩\u{200d}🚒 a\\b"
        );
    }

    #[test]
    fn markup_cannot_leave_its_element_or_its_attribute() {
        assert_eq!(
            markup("\"><img src=x onerror='a&b'>"),
            "&quot;&gt;&lt;img src=x onerror=&#39;a&amp;b&#39;&gt;"
        );
    }

    #[test]
    fn a_cut_text_has_the_length_asked_for() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
    }
}
