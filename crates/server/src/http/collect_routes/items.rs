//! A body of JSON as lines: each item of an array is one, and so is any other value.
//!
//! `[{"a": 1},\n {"a": "x y"}]` is `{"a":1}` and `{"a":"x y"}`. Blanks outside of texts go, so that no item has a line
//! feed. A value other than an array that is one line stays as it is.

use serde::de::IgnoredAny;

use session::errors::{self, Failure};

/// The lines of a body that is sent as `application/json`. Lines of JSON, which some clients send by that name, stay as they are.
/// The result is no longer than the body.
///
/// # Errors
/// `SYNTAX`: it begins as an array and is none.
pub(super) fn lines(body: Vec<u8>) -> Result<Vec<u8>, Failure> {
    let is_array = body.trim_ascii_start().first() == Some(&b'[');
    if !is_array && !body.trim_ascii_end().contains(&b'\n') {
        return Ok(body);
    }
    match serde_json::from_slice::<IgnoredAny>(&body) {
        Ok(IgnoredAny) => Ok(parted(body, is_array)),
        Err(error) if is_array => {
            let message = format!(
                "the body is no JSON array: {error}; lines are sent as application/x-ndjson"
            );
            Err(Failure::new(errors::SYNTAX, message))
        }
        Err(_) => Ok(body),
    }
}

/// Parts valid JSON in its place: a byte is kept, dropped, or becomes a line feed.
fn parted(mut body: Vec<u8>, is_array: bool) -> Vec<u8> {
    let (mut depth, mut is_text, mut is_escaped) = (0_u32, false, false);
    let outer = u32::from(is_array);
    body.retain_mut(|byte| {
        if is_text {
            is_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            return true;
        }
        match *byte {
            b' ' | b'\t' | b'\r' | b'\n' => return false,
            b'"' => is_text = true,
            b'[' | b'{' => {
                depth += 1;
                return depth > outer;
            }
            b']' | b'}' => {
                depth -= 1;
                return depth >= outer;
            }
            b',' if depth == outer => *byte = b'\n',
            _ => {}
        }
        true
    });
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_lines_and_texts_keep_their_blanks() {
        for (body, wanted) in [
            ("[]", ""),
            (" [ ] ", ""),
            ("[1, 2]", "1\n2"),
            (r#"[{"a": [1, 2]},"#, ""),
            (
                "[{\"a\": [1, {\"b\": 2}]},\n  \"x, \\\" ]\", null]\n",
                "{\"a\":[1,{\"b\":2}]}\n\"x, \\\" ]\"\nnull",
            ),
            (
                "{\n  \"a\": \"b c\",\n  \"d\": []\n}\n",
                "{\"a\":\"b c\",\"d\":[]}",
            ),
            ("{\"a\": 1}\n{\"a\": 2}\n", "{\"a\": 1}\n{\"a\": 2}\n"),
            ("\"\\\\\"", "\"\\\\\""),
            ("{\"a\":  1}\n", "{\"a\":  1}\n"),
            ("plain, text", "plain, text"),
            ("[1]\n[2]", ""),
        ] {
            let read = lines(body.as_bytes().to_vec());
            let is_refused = matches!(body, r#"[{"a": [1, 2]},"# | "[1]\n[2]");
            match read {
                Ok(read) => assert_eq!(String::from_utf8_lossy(&read), wanted, "{body}"),
                Err(failure) => assert!(is_refused && failure.kind == errors::SYNTAX, "{body}"),
            }
        }
    }
}
