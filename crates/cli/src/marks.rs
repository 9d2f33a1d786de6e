//! Matched words marked in a line, for a terminal, a pipe or a program.

use std::ops::Range;

use crate::demo::push_clean;
use crate::window::has_colour;

/// Form in which hits are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Matched words in colour. Control characters are removed, because a stranger's text goes to a terminal.
    Colour,
    /// Matched words between stars.
    Stars,
    /// One JSON object a hit.
    Json,
}

impl Form {
    /// The form for standard output.
    pub(crate) fn of_output(is_json: bool) -> Form {
        match (is_json, has_colour()) {
            (true, _) => Form::Json,
            (false, true) => Form::Colour,
            (false, false) => Form::Stars,
        }
    }

    /// A line with these byte ranges of it marked. The ranges rise and do not touch.
    pub(crate) fn marked(self, line: &str, marks: &[Range<usize>]) -> String {
        let (open, close) = match self {
            Form::Colour => ("\x1b[1;31m", "\x1b[0m"),
            Form::Stars | Form::Json => ("*", "*"),
        };
        let mut text = String::with_capacity(line.len());
        let push = |text: &mut String, piece: &str| match self {
            Form::Colour => push_clean(text, piece),
            Form::Stars | Form::Json => text.push_str(piece),
        };
        let mut at = 0;
        for mark in marks {
            push(&mut text, &line[at..mark.start]);
            text.push_str(open);
            push(&mut text, &line[mark.clone()]);
            text.push_str(close);
            at = mark.end;
        }
        push(&mut text, &line[at..]);
        text
    }
}
