//! LIKE.

/// The character of LIKE that makes the next one plain, where no ESCAPE names another.
pub(crate) const ESCAPE: char = '\\';

/// SQL's LIKE, in expressions and in SHOW: `%` fits any characters, `_` one character, `\` makes the next character plain. The case of
/// ASCII letters does not count.
///
/// Cost: at most pattern × text; no allocation beyond the two lists of characters.
#[must_use]
pub fn like(pattern: &str, text: &str) -> bool {
    like_escaped(pattern, text, Some(ESCAPE))
}

/// As [`like`], with the character that makes the next one plain; `None`: there is none. It may be `%` or `_`, which then has no
/// other meaning.
pub(crate) fn like_escaped(pattern: &str, text: &str, escape: Option<char>) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let is_escape = |letter: &char| Some(*letter) == escape;
    let (mut p, mut t) = (0, 0);
    // Offset of the last `%`, and of the text up to which it stands for characters.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        let step = match pattern.get(p) {
            Some(letter) if is_escape(letter) => {
                let plain = pattern.get(p + 1);
                plain.filter(|next| same(**next, text[t])).map(|_| 2)
            }
            Some('%') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some('_') => Some(1),
            Some(&wanted) if same(wanted, text[t]) => Some(1),
            _ => None,
        };
        match (step, star) {
            (Some(letters), _) => (p, t) = (p + letters, t + 1),
            (None, Some((at, swallowed))) => {
                star = Some((at, swallowed + 1));
                (p, t) = (at + 1, swallowed + 1);
            }
            (None, None) => return false,
        }
    }
    let mut left = pattern[p..].iter();
    left.all(|letter| *letter == '%' && !is_escape(letter))
}

fn same(left: char, right: char) -> bool {
    left.eq_ignore_ascii_case(&right)
}
