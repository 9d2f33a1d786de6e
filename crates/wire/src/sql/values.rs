//! Constants and the rows of VALUES, parsed straight from bytes: a statement of many megabytes consists mostly of them.
//!
//! Tokens would need two passes over each string, one to find its end and one to undo its escapes. The scanner here searches
//! the end 32 bytes at a time, and copies a string without escapes once.

use relation::expression::{Expression, evaluate_constant, parse_with_time};
use relation::lexer::{Lexer, OUT_OF_ROOM, TOO_MUCH_WORK};
use relation::limits::{CONSTANT_WORK_A_BYTE, CONSTANT_WORK_MAX};
use relation::value::Value;

use super::error::{ErrorKind, SyntaxError};
use super::parser::limit_of;
use super::statement::Timed;

/// Bytes in one step of the search for a string's end.
const STEP: usize = 32;

/// The constant at a byte offset, and the offset behind it: a string, a number with or without sign, hexadecimal bytes, NULL,
/// TRUE or FALSE. `None`: something else, or a string without end.
pub(super) fn constant(text: &[u8], at: usize) -> Option<(Value, usize)> {
    let room = usize::MAX;
    let mut scanner = Scanner::new(text, at, room, 0);
    let value = scanner.constant()?;
    Some((value, scanner.at))
}

/// Rows of VALUES.
pub(super) struct Scanned {
    pub(super) rows: Vec<Vec<Value>>,
    /// Values that need the moment of the statement. NULL stands in their places.
    pub(super) timed: Vec<Timed>,
    /// The offset behind the last row.
    pub(super) end: usize,
    /// The room left.
    pub(super) room: usize,
}

/// Memory of a row beside its values, in bytes: its entry in a list that doubles, and the overhead of its block.
const ROW_BYTES: usize = 2 * size_of::<Vec<Value>>() + 16;

/// Memory of a value, in bytes.
pub(super) fn value_bytes(value: &Value) -> usize {
    let text = match value {
        Value::Str(text) => text.capacity() + 16,
        Value::Bytes(bytes) => bytes.capacity() + 16,
        Value::Set(numbers) => size_of_val::<[i64]>(numbers),
        Value::Json(document) => document.bytes().len(),
        Value::Null | Value::Int(_) | Value::Float(_) => 0,
    };
    size_of::<Value>() + text
}

/// Parses rows `(…), (…)` from a byte offset; at least one. They may take `room` bytes of memory, and their constants `work` units.
pub(super) fn rows(
    text: &[u8],
    at: usize,
    room: usize,
    work: usize,
) -> Result<Scanned, SyntaxError> {
    let mut scanner = Scanner::new(text, at, room, work);
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut timed = Vec::new();
    loop {
        scanner.skip_blank();
        scanner.charge(ROW_BYTES)?;
        let width = rows.last().map_or(0, Vec::len);
        let row = scanner.row(width, (rows.len(), &mut timed));
        rows.push(row.map_err(|error| in_row(error, rows.len() + 1))?);
        let end = scanner.at;
        scanner.skip_blank();
        if !scanner.take(b',') {
            return Ok(Scanned {
                rows,
                timed,
                end,
                room: scanner.room,
            });
        }
    }
}

/// Adds the row's number to an error, from the second row on: among thousands of rows a byte offset helps nobody.
#[cold]
fn in_row(mut error: SyntaxError, row: usize) -> SyntaxError {
    if row > 1 {
        error.message = format!("{} in row {row}", error.message);
    }
    error
}

struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    /// Bytes that may still be allocated.
    room: usize,
    /// Work that may still be done.
    work: usize,
}

/// What an expression over constants gives.
enum Computed {
    Value(Value),
    /// It needs the moment of the statement.
    Timed(Expression),
}

/// The work that the constants of a statement may take.
pub(super) fn constant_work(text: &[u8]) -> usize {
    CONSTANT_WORK_MAX.saturating_add(text.len().saturating_mul(CONSTANT_WORK_A_BYTE))
}

impl<'a> Scanner<'a> {
    fn new(text: &'a [u8], at: usize, room: usize, work: usize) -> Self {
        Scanner {
            text,
            at,
            room,
            work,
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    #[inline]
    fn charge(&mut self, bytes: usize) -> Result<(), SyntaxError> {
        match self.room.checked_sub(bytes) {
            Some(left) => {
                self.room = left;
                Ok(())
            }
            None => Err(self.fail(ErrorKind::Limit, OUT_OF_ROOM)),
        }
    }

    fn fail(&self, kind: ErrorKind, message: &str) -> SyntaxError {
        SyntaxError::new(kind, message, self.text, self.at)
    }

    fn expected(&self, wanted: &str) -> SyntaxError {
        self.fail(ErrorKind::Syntax, &format!("expected {wanted}"))
    }

    /// Skips white space and comments.
    #[inline]
    fn skip_blank(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\n' | b'\t' | b'\r' | 0x0b | 0x0c) => self.at += 1,
                Some(b'/' | b'-' | b'#') => {
                    let skipped = comment_bytes(self.rest());
                    if skipped == 0 {
                        return;
                    }
                    self.at += skipped;
                }
                _ => return,
            }
        }
    }

    /// Parses a row; `width` is its likely count of values.
    fn row(
        &mut self,
        width: usize,
        (number, timed): (usize, &mut Vec<Timed>),
    ) -> Result<Vec<Value>, SyntaxError> {
        if !self.take(b'(') {
            return Err(self.expected("a row of values in brackets"));
        }
        let mut row = Vec::with_capacity(width);
        self.skip_blank();
        if self.take(b')') {
            return Ok(row);
        }
        loop {
            self.skip_blank();
            let from = self.at;
            let constant = self.constant();
            self.skip_blank();
            match constant {
                Some(value) if matches!(self.peek(), Some(b',' | b')')) => row.push(value),
                constant => row.push(match self.computed(from, constant.is_some())? {
                    Computed::Value(value) => value,
                    Computed::Timed(value) => {
                        self.charge(value.memory())?;
                        timed.push(Timed {
                            row: number,
                            place: row.len(),
                            value,
                        });
                        Value::Null
                    }
                }),
            }
            // A row longer than the row before doubles its list.
            let growth = if row.len() > width {
                size_of::<Value>()
            } else {
                0
            };
            self.charge(growth + row.last().map_or(0, value_bytes))?;
            if self.take(b')') {
                return Ok(row);
            }
            if !self.take(b',') {
                return Err(self.expected("`,` or `)`"));
            }
        }
    }

    /// Evaluates an expression over constants, as `11 * 10`, from a byte offset. `constant`: a constant stands there.
    #[cold]
    fn computed(&mut self, from: usize, constant: bool) -> Result<Computed, SyntaxError> {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut lexer = Lexer::within(rest, self.room).with_work(self.work);
        let parsed = parse_with_time(&mut lexer);
        self.work = lexer.work();
        if let Some(limit) = parsed.as_ref().err().and_then(limit_of) {
            return Err(self.fail(ErrorKind::Limit, limit));
        }
        let value = match parsed {
            Ok(expression) if expression.first_column().is_some() || expression.has_aggregate() => {
                return Err(match constant {
                    true => self.expected("`,` or `)`"),
                    false => Scanner { at: from, ..*self }.no_constant(),
                });
            }
            Ok(expression) if expression.is_of_the_moment() => Computed::Timed(expression),
            Ok(expression) => evaluate_constant(&expression, &mut self.work)
                .map(Computed::Value)
                .ok_or_else(|| self.fail(ErrorKind::Limit, TOO_MUCH_WORK))?,
            Err(error) if !constant && names_function(&error.message) => {
                let at = from + error.position;
                let message = error.message.strip_prefix("not yet: ");
                let kind = message.map_or(ErrorKind::Syntax, |_| ErrorKind::NotYet);
                let message = message.unwrap_or(&error.message);
                return Err(Scanner { at, ..*self }.fail(kind, message));
            }
            _ if constant => return Err(self.expected("`,` or `)`")),
            _ => return Err(Scanner { at: from, ..*self }.no_constant()),
        };
        self.at = from + lexer.peek().range.start;
        if !constant && !matches!(self.peek(), Some(b',' | b')')) {
            return Err(Scanner { at: from, ..*self }.no_constant());
        }
        Ok(value)
    }

    /// The error for a place without a constant.
    #[cold]
    fn no_constant(&self) -> SyntaxError {
        match self.peek() {
            Some(b'(') if self.opens_select() => {
                self.fail(ErrorKind::NotYet, "SELECT in brackets as a value")
            }
            Some(b'(') => {
                self.expected("a constant; a list as a value has whole numbers alone, as (1, 2)")
            }
            Some(b'\'' | b'"') => self.fail(ErrorKind::Syntax, "a string that does not end"),
            Some(b'0'..=b'9' | b'-' | b'+' | b'.') => {
                self.fail(ErrorKind::Syntax, "malformed number")
            }
            Some(b'?') => self.fail(ErrorKind::NotYet, "placeholders"),
            Some(byte) if is_name(byte) => {
                let word: Vec<u8> = self
                    .rest()
                    .iter()
                    .copied()
                    .take_while(|&b| is_name(b))
                    .collect();
                let word = String::from_utf8_lossy(&word).to_uppercase();
                match word.as_str() {
                    "DEFAULT" | "CURRENT_TIMESTAMP" | "LOCALTIME" | "LOCALTIMESTAMP" => {
                        self.fail(ErrorKind::NotYet, &format!("{word} as a value"))
                    }
                    _ => self.expected("a constant (a text stands in quotes)"),
                }
            }
            _ => self.expected("a constant"),
        }
    }

    /// Whether SELECT stands behind the bracket that is next.
    fn opens_select(&self) -> bool {
        let rest = self.rest().get(1..).unwrap_or_default().trim_ascii_start();
        let word = rest.get(..6).unwrap_or_default();
        word.eq_ignore_ascii_case(b"SELECT")
    }

    #[inline]
    fn constant(&mut self) -> Option<Value> {
        match self.peek()? {
            b'\'' | b'"' => self.strings().map(text_or_bytes),
            b'0' if matches!(self.text.get(self.at + 1), Some(b'x' | b'X')) => {
                self.at += 2;
                let digits = self.span(|byte| byte.is_ascii_hexdigit());
                self.ends_here()
                    .then(|| from_hex(digits).map(Value::Bytes))?
            }
            b'0'..=b'9' | b'-' | b'+' | b'.' => self.number(),
            _ => self.word(),
        }
    }

    /// Takes the bytes for which `belongs` holds, up to the first for which it does not.
    fn span(&mut self, belongs: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest
            .iter()
            .position(|&byte| !belongs(byte))
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Whether the next byte is no part of a name: the number or word ends here.
    fn ends_here(&self) -> bool {
        !self.peek().is_some_and(is_name)
    }

    fn number(&mut self) -> Option<Value> {
        let from = self.at;
        while matches!(self.peek(), Some(b'-' | b'+')) {
            self.at += 1;
            self.skip_blank();
        }
        let negative = self.text[from..self.at]
            .iter()
            .filter(|&&byte| byte == b'-')
            .count()
            % 2
            == 1;
        let start = self.at;
        let mut whole: i128 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // Up to 38 digits fit an i128. Longer numbers wrap here and are parsed again as floats.
            whole = whole
                .wrapping_mul(10)
                .wrapping_add(i128::from(digit - b'0'));
            self.at += 1;
        }
        let count = self.at - start;
        let point = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if !point && (1..=38).contains(&count) {
            let value = if negative { -whole } else { whole };
            return self.ends_here().then_some(Value::Int(value));
        }
        self.fraction();
        let written = std::str::from_utf8(&self.text[start..self.at]).ok()?;
        let value: f64 = written.parse().ok()?;
        let value = if negative { -value } else { value };
        (self.ends_here() && value.is_finite()).then_some(Value::Float(value))
    }

    /// Skips a point, digits and an exponent.
    fn fraction(&mut self) {
        if self.take(b'.') {
            self.span(|byte| byte.is_ascii_digit());
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'-' | b'+')) {
                self.at += 1;
            }
            self.span(|byte| byte.is_ascii_digit());
        }
    }

    /// NULL, TRUE, FALSE, `x'…'`, `N'…'`, or a string behind the name of its character set.
    fn word(&mut self) -> Option<Value> {
        let from = self.at;
        let word = self.span(is_name).to_ascii_lowercase();
        let quoted = matches!(self.peek(), Some(b'\'' | b'"'));
        let value = match word.as_slice() {
            b"null" => Some(Value::Null),
            b"true" => Some(Value::Int(1)),
            b"false" => Some(Value::Int(0)),
            b"x" if quoted => self
                .strings()
                .and_then(|digits| from_hex(&digits))
                .map(Value::Bytes),
            b"n" if quoted => self.strings().map(text_or_bytes),
            [b'_', ..] => {
                self.skip_blank();
                let value = self.introduced();
                if word == b"_binary" {
                    value.map(into_bytes)
                } else {
                    value
                }
            }
            _ => None,
        };
        if value.is_none() {
            self.at = from;
        }
        value
    }

    /// The constant behind the name of a character set.
    fn introduced(&mut self) -> Option<Value> {
        match self.peek()? {
            b'\'' | b'"' | b'0' | b'x' | b'X' => self.constant(),
            _ => None,
        }
    }

    /// A string and the strings right behind it: MySQL joins neighbours.
    #[inline]
    fn strings(&mut self) -> Option<Vec<u8>> {
        let from = self.at;
        let mut bytes = Vec::new();
        loop {
            let Some(()) = self.string(&mut bytes) else {
                self.at = from;
                return None;
            };
            let end = self.at;
            self.skip_blank();
            if !matches!(self.peek(), Some(b'\'' | b'"')) {
                self.at = end;
                return Some(bytes);
            }
        }
    }

    /// Appends the value of a quoted string. `None`: it has no end.
    #[inline]
    fn string(&mut self, bytes: &mut Vec<u8>) -> Option<()> {
        let quote = self.peek()?;
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..)?;
            let plain = plain_bytes(rest, quote);
            let stop = *rest.get(plain)?;
            bytes.extend_from_slice(&rest[..plain]);
            self.at += plain + 1;
            if stop == b'\\' {
                unescape(self.peek()?, bytes);
            } else if self.peek() == Some(quote) {
                bytes.push(quote);
            } else {
                return Some(());
            }
            self.at += 1;
        }
    }
}

/// Count of bytes before the next quote or backslash; all bytes if there is none.
#[inline]
fn plain_bytes(rest: &[u8], quote: u8) -> usize {
    let stops = |byte: u8| byte == quote || byte == b'\\';
    let mut plain = 0;
    for step in rest.chunks(STEP) {
        // Without an early exit inside a step the compiler compares all of its bytes at once.
        if step.iter().fold(false, |found, &byte| found | stops(byte)) {
            return plain + step.iter().position(|&byte| stops(byte)).unwrap_or(0);
        }
        plain += step.len();
    }
    plain
}

/// Appends the value of a character behind a backslash.
fn unescape(character: u8, bytes: &mut Vec<u8>) {
    match character {
        b'0' => bytes.push(0),
        b'b' => bytes.push(8),
        b'n' => bytes.push(b'\n'),
        b'r' => bytes.push(b'\r'),
        b't' => bytes.push(b'\t'),
        b'Z' => bytes.push(26),
        // Escapes of a LIKE pattern stay: LIKE undoes them.
        b'%' | b'_' => bytes.extend_from_slice(&[b'\\', character]),
        other => bytes.push(other),
    }
}

/// Whether the message of an expression's error is about a function.
fn names_function(message: &str) -> bool {
    let others = [
        "no function",
        "not yet: the function",
        "not yet: arguments of",
    ];
    others.iter().any(|begin| message.starts_with(begin)) || message.ends_with("cannot stand here")
}

/// Length of the comment that begins here, in bytes; 0: none begins. Without an end it reaches to the end of the text.
pub(super) fn comment_bytes(rest: &[u8]) -> usize {
    let line = |rest: &[u8]| {
        let end = rest.iter().position(|&byte| byte == b'\n');
        end.map_or(rest.len(), |end| end + 1)
    };
    match rest {
        [b'#', ..] => line(rest),
        [b'-', b'-'] | [b'-', b'-', b' ' | b'\t' | b'\n' | b'\r', ..] => line(rest),
        [b'/', b'*', inside @ ..] => {
            let end = inside.windows(2).position(|pair| pair == b"*/");
            end.map_or(rest.len(), |end| end + 4)
        }
        _ => 0,
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn text_or_bytes(bytes: Vec<u8>) -> Value {
    match String::from_utf8(bytes) {
        Ok(text) => Value::Str(text),
        Err(error) => Value::Bytes(error.into_bytes()),
    }
}

fn into_bytes(value: Value) -> Value {
    match value {
        Value::Str(text) => Value::Bytes(text.into_bytes()),
        other => other,
    }
}

/// Bytes of hexadecimal digits. With an odd count the first digit is a byte of its own. `None`: another character.
fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let (first, pairs) = digits.split_at(digits.len() % 2);
    let mut bytes = Vec::with_capacity(digits.len().div_ceil(2));
    for &digit in first {
        bytes.push(nibble(digit)?);
    }
    for pair in pairs.chunks_exact(2) {
        bytes.push(nibble(pair[0])? << 4 | nibble(pair[1])?);
    }
    Some(bytes)
}
