//! LIKE.

/// SQL's LIKE, in expressions and in SHOW: `%` fits any characters, `_` one character, `\` makes the next character plain. The case of
/// ASCII letters does not count.
///
/// Cost: at most pattern × text; no allocation beyond the two lists of characters.
#[must_use]
pub fn like(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // Offset of the last `%`, and of the text up to which it stands for characters.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('%') => {
                star = Some((p, t));
                p += 1;
            }
            Some('_') => (p, t) = (p + 1, t + 1),
            Some('\\') if pattern.get(p + 1).is_some_and(|next| same(*next, text[t])) => {
                (p, t) = (p + 2, t + 1);
            }
            Some(&wanted) if wanted != '\\' && same(wanted, text[t]) => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, swallowed)) => {
                    star = Some((at, swallowed + 1));
                    (p, t) = (at + 1, swallowed + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&left| left == '%')
}

fn same(left: char, right: char) -> bool {
    left.eq_ignore_ascii_case(&right)
}
