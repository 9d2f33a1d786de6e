//! The line by which a server says that it could not write some lines before it. In no form is it an entry.
//!
//! | form | line |
//! |---|---|
//! | plain | `# 3 lines of the query log were lost here` |
//! | sphinxql | `/* 3 lines of the query log were lost here */` |
//! | JSON | `{"lost":3}` |

use super::super::digits::write_number;
use super::super::entry::Form;

/// What stands before and behind the number.
fn around(form: Form) -> (&'static str, &'static str) {
    match form {
        Form::Plain => ("# ", " lines of the query log were lost here"),
        Form::Sphinxql => ("/* ", " lines of the query log were lost here */"),
        Form::Json => ("{\"lost\":", "}"),
    }
}

/// Appends the line, with its line end.
pub fn write_lost(form: Form, lines: u64, out: &mut Vec<u8>) {
    let (before, after) = around(form);
    write_number(before, lines, out);
    out.extend_from_slice(after.as_bytes());
    out.push(b'\n');
}

/// How many lines a line says were lost; `None`: it is no such line.
pub fn parse_lost(line: &[u8]) -> Option<u64> {
    let line = std::str::from_utf8(line).ok()?.trim_ascii_end();
    Form::ALL.into_iter().find_map(|form| {
        let (before, after) = around(form);
        line.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
    })
}
