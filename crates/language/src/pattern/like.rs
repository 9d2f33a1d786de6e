//! LIKE.

use std::str::Chars;

use crate::meter::{Unmetered, Work};

/// The character of LIKE that makes the next one plain, where no ESCAPE names another.
pub const ESCAPE: char = '\\';

/// SQL's LIKE, in expressions and in SHOW: `%` fits any characters, `_` one character, `\` makes the next character plain. The case of
/// ASCII letters does not count.
///
/// For names of the server's own, which are short. Cost: at most pattern × text.
#[must_use]
pub fn like(pattern: &str, text: &str) -> bool {
    let work = Work::new(&Unmetered);
    like_escaped(pattern, text, Some(ESCAPE), &work).unwrap_or(false)
}

/// Steps between two looks at the meter, and the units of a step.
const STEPS_A_LOOK: u64 = 4_096;
const STEP_UNITS: u64 = 4;

/// As [`like`], with the character that makes the next one plain; `None`: there is none. It may be `%` or `_`, which then has no
/// other meaning. `None`: the meter has stopped.
pub fn like_escaped(
    pattern: &str,
    text: &str,
    escape: Option<char>,
    work: &Work<'_>,
) -> Option<bool> {
    work.begin(STEP_UNITS * pattern.len() as u64)?;
    let pattern: Vec<char> = pattern.chars().collect();
    let is_escape = |letter: &char| Some(*letter) == escape;
    let (mut p, mut rest) = (0, text.chars());
    // Offset of the last `%`, and the text behind the characters that it stands for.
    let mut star: Option<(usize, Chars<'_>)> = None;
    let mut steps = 0;
    loop {
        steps += 1;
        if steps == STEPS_A_LOOK {
            work.begin(STEP_UNITS * steps)?;
            steps = 0;
        }
        let mut behind = rest.clone();
        let Some(letter) = behind.next() else {
            break;
        };
        let step = match pattern.get(p) {
            Some(wanted) if is_escape(wanted) => {
                let plain = pattern.get(p + 1);
                plain.filter(|next| same(**next, letter)).map(|_| 2)
            }
            Some('%') => {
                star = Some((p, rest.clone()));
                p += 1;
                continue;
            }
            Some('_') => Some(1),
            Some(&wanted) if same(wanted, letter) => Some(1),
            _ => None,
        };
        match (step, &mut star) {
            (Some(letters), _) => (p, rest) = (p + letters, behind),
            (None, Some((at, swallowed))) => {
                swallowed.next();
                (p, rest) = (*at + 1, swallowed.clone());
            }
            (None, None) => break,
        }
    }
    work.begin(STEP_UNITS * steps)?;
    let mut left = pattern[p..].iter();
    let is_all = left.all(|letter| *letter == '%' && !is_escape(letter));
    Some(is_all && rest.as_str().is_empty())
}

fn same(left: char, right: char) -> bool {
    left.eq_ignore_ascii_case(&right)
}
