//! A Rust file in the form that the rules use: comments and the content of literals are blanks, and test code is marked.
//!
//! This is no parser. It knows just enough of the language to count braces correctly.

/// A Rust file.
pub(super) struct Source {
    /// The text with spaces in place of comments and literals; every line keeps its number.
    pub(super) code: String,
    /// For each line, from 0, whether it is test code.
    is_test: Vec<bool>,
}

/// A function with a body: its name and its first and last line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) first: usize,
    pub(super) last: usize,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Source {
        let code = blank(text);
        let mut is_test = vec![is_test_file(path); code.lines().count()];
        for start in matches(&code, "#[cfg(test)]") {
            if let Some((_, close)) = braces_after(&code, start) {
                is_test[line_of(&code, start) - 1..line_of(&code, close)].fill(true);
            }
        }
        Source { code, is_test }
    }

    /// Whether a line, from 1, is test code.
    pub(super) fn is_test(&self, line: usize) -> bool {
        self.is_test[line - 1]
    }

    /// Number, from 1, and text of each line.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    /// The functions with a body, nested ones too, by rising first line.
    pub(super) fn functions(&self) -> Vec<Function> {
        let starts = words(&self.code, "fn").filter_map(|start| {
            let name = self.code[start + 2..].trim_start();
            let name: String = name
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            let (_, close) = braces_after(&self.code, start)?;
            let (first, last) = (line_of(&self.code, start), line_of(&self.code, close));
            (!name.is_empty()).then_some(Function { name, first, last })
        });
        starts.collect()
    }
}

/// Whether no code of a file ships, by its path: a file or folder of tests, an example, a benchmark.
fn is_test_file(path: &str) -> bool {
    let folders = ["tests", "examples", "benches"];
    let is_apart = |part: &str| folders.contains(&part) || part.ends_with("tests.rs");
    path.split('/').any(is_apart)
}

/// Offsets of a whole word in the code.
pub(super) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    matches(code, word).filter(move |&start| {
        !code[..start].chars().next_back().is_some_and(joins)
            && !code[start + word.len()..].chars().next().is_some_and(joins)
    })
}

fn matches<'a>(code: &'a str, part: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(part).map(|(start, _)| start)
}

/// The line, from 1, of an offset.
pub(super) fn line_of(code: &str, offset: usize) -> usize {
    code[..offset].bytes().filter(|byte| *byte == b'\n').count() + 1
}

/// Offsets of the next `{` and of the `}` that closes it; `None`: a `;` outside of brackets comes first.
fn braces_after(code: &str, start: usize) -> Option<(usize, usize)> {
    let (mut depth, mut brackets, mut open) = (0_u32, 0_i32, 0);
    for (offset, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'(' | b'[' if depth == 0 => brackets += 1,
            b')' | b']' if depth == 0 => brackets -= 1,
            b';' if depth == 0 && brackets == 0 => return None,
            b'{' => {
                if depth == 0 {
                    open = offset;
                }
                depth += 1;
            }
            b'}' if depth == 1 => return Some((open, offset)),
            b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// Replaces comments and the content of literals by spaces, byte for byte; keeps line ends.
fn blank(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = token_end(bytes, at);
        if let Some(end) = end {
            for byte in &mut out[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        }
        at = end.unwrap_or(at + 1);
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// End of the comment or literal that begins at `at`; `None`: none begins there.
fn token_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let after_name = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    match rest {
        [b'/', b'/', ..] => Some(at + find(rest, b"\n").unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(at + block_comment_bytes(rest)),
        [b'r', b'"' | b'#', ..] | [b'b', b'r', ..] if !after_name => raw_end(bytes, at),
        [b'"', ..] => Some(at + quoted_bytes(rest, b'"')),
        [b'\'', b'\\', ..] => Some(at + quoted_bytes(rest, b'\'')),
        [b'\'', first, ..] => {
            // A character literal, or, if no quote follows, a lifetime.
            let width = match first {
                0..0x80 => 1,
                0xC0..0xE0 => 2,
                0xE0..0xF0 => 3,
                _ => 4,
            };
            (rest.get(1 + width) == Some(&b'\'')).then_some(at + width + 2)
        }
        _ => None,
    }
}

fn block_comment_bytes(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a literal with escapes, with both quotes.
fn quoted_bytes(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// End of `r"…"`, `r#"…"#` or `br"…"`; `None`: it is no raw string, as in `r#fn`.
fn raw_end(bytes: &[u8], at: usize) -> Option<usize> {
    let mut quote = at + bytes[at..].iter().position(|byte| *byte == b'r')? + 1;
    let hashes = bytes[quote..]
        .iter()
        .take_while(|byte| **byte == b'#')
        .count();
    quote += hashes;
    if bytes.get(quote) != Some(&b'"') {
        return None;
    }
    let close = [b"\"".as_slice(), &vec![b'#'; hashes]].concat();
    let body = quote + 1;
    Some(find(&bytes[body..], &close).map_or(bytes.len(), |found| body + found + close.len()))
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
