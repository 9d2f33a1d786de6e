//! Functions and procedures of queues, and the statements that install them in MySQL.

mod call;
mod install;

use relation::expression::{Expression, constant, parse_condition};
use relation::lexer::{Lexer, SyntaxError as LexerError, TokenKind};
use relation::request::{SourceMode, WaitSource};
use relation::value::Value;

use super::parser::{Parser, Result};
use super::statement::{QueueCall, Statement};

/// Default of a wait in Q4M, in microseconds.
pub(super) const WAIT_US_DEFAULT: u64 = 60_000_000;
const SECOND_US: f64 = 1e6;

/// Column that stands for `queue_wait(…)` in a WHERE until its answer is known. No table has a column of that name.
const WAIT_PLACE: &str = "queue_wait()";

/// Highest number of a sender of `queue_set_srcid`.
const SENDER_MAX: u64 = 63;

/// Parses an argument of `queue_wait`: `t`, `db.t`, `t:condition` or `db.t:condition`. Names may be in backticks.
///
/// # Errors
/// The reason; for a condition with the byte offset in it.
pub fn wait_source(text: &str) -> std::result::Result<WaitSource, String> {
    let (names, condition) = match outside_backticks(text, ':') {
        Some(at) => (text.get(..at), text.get(at + 1..)),
        None => (Some(text), None),
    };
    let names = names.unwrap_or_default();
    let name = match outside_backticks(names, '.') {
        Some(at) => names.get(at + 1..).unwrap_or_default(),
        None => names,
    };
    let table = name.trim().trim_matches('`').to_lowercase();
    if table.is_empty() {
        return Err(format!("no name of a queue in '{text}'"));
    }
    let condition = match condition.map(read_condition).transpose() {
        Ok(condition) => condition,
        Err(error) => return Err(format!("condition of '{table}': {error}")),
    };
    Ok(WaitSource { table, condition })
}

/// Byte offset of the first `wanted` outside backticks.
fn outside_backticks(text: &str, wanted: char) -> Option<usize> {
    let mut quoted = false;
    text.char_indices().find_map(|(at, character)| {
        quoted ^= character == '`';
        (character == wanted && !quoted).then_some(at)
    })
}

fn read_condition(text: &str) -> std::result::Result<Expression, LexerError> {
    let mut lexer = Lexer::new(text.as_bytes());
    let condition = parse_condition(&mut lexer)?;
    if lexer.peek().kind != TokenKind::End {
        return Err(lexer.unexpected("an operator or the end"));
    }
    Ok(condition)
}

/// The filter of [`Statement::SelectWaiting`] with the wait's answer in place of the call.
#[must_use]
pub fn with_answer(filter: Expression, answer: &Value) -> Expression {
    filter.map_columns(&mut |column| match column {
        Expression::Column(name) if name == WAIT_PLACE => Expression::Literal(answer.clone()),
        other => other,
    })
}

/// Parses a `queue_wait` in a WHERE, from behind its opening bracket, into `wait`.
pub(super) fn wait_in_filter(
    lexer: &mut Lexer<'_>,
    wait: &mut Option<QueueCall>,
) -> std::result::Result<Option<Expression>, LexerError> {
    if wait.is_some() {
        return Err(lexer.unexpected("only one queue_wait() in WHERE"));
    }
    *wait = Some(queue_wait(arguments(lexer)?));
    Ok(Some(Expression::Column(WAIT_PLACE.to_owned())))
}

/// Parses constants up to the closing bracket, and takes that.
fn arguments(lexer: &mut Lexer<'_>) -> std::result::Result<Vec<Value>, LexerError> {
    let mut given = Vec::new();
    if lexer.take(TokenKind::Close) {
        return Ok(given);
    }
    loop {
        given.push(constant(lexer)?);
        if lexer.take(TokenKind::Close) {
            return Ok(given);
        }
        if !lexer.take(TokenKind::Comma) {
            return Err(lexer.unexpected("`,` or `)`"));
        }
    }
}

impl Parser<'_> {
    /// Parses a queue function as the only item of a SELECT; `None`: the next word is none.
    pub(super) fn queue_function(&mut self) -> Result<Option<Statement>> {
        let word = String::from_utf8_lossy(self.peek_bytes()).to_lowercase();
        if self.peek() != TokenKind::Word || !word.starts_with("queue_") {
            return Ok(None);
        }
        let before = self.clone();
        self.next();
        self.expect(TokenKind::Open, "`(`")?;
        let given = arguments(self.lexer()).map_err(|error| self.lexer_error(error))?;
        let call = match word.as_str() {
            "queue_wait" => queue_wait(given),
            "queue_end" => without_arguments(QueueCall::End, &word, &given),
            "queue_abort" => without_arguments(QueueCall::Abort, &word, &given),
            "queue_rowid" => without_arguments(QueueCall::RowId, &word, &given),
            "queue_set_srcid" => set_source(&given),
            "queue_compact" => on_table(&word, &given, |table| QueueCall::Compact { table }),
            "queue_stats" => on_table(&word, &given, |table| QueueCall::Stats { table }),
            _ => return Err(before.error(format!("no function '{word}'"))),
        };
        let written = self.written_since(&before);
        let name = self.alias()?.unwrap_or(written);
        if self.peek() == TokenKind::Comma {
            return Err(self.not_yet(format!("{word}() beside other columns")));
        }
        if self.take_word("from") {
            self.expect_word("dual")?;
        }
        if self.take_word("limit") {
            self.skip_limit()?;
        }
        self.end()?;
        Ok(Some(Statement::Queue { call, name }))
    }
}

fn without_arguments(call: QueueCall, name: &str, given: &[Value]) -> QueueCall {
    if given.is_empty() {
        call
    } else {
        QueueCall::Wrong(format!("{name}(): takes no argument"))
    }
}

fn on_table(name: &str, given: &[Value], call: impl FnOnce(String) -> QueueCall) -> QueueCall {
    let table = match given {
        [Value::Str(text)] => wait_source(text)
            .ok()
            .filter(|source| source.condition.is_none()),
        _ => None,
    };
    match table {
        Some(source) => call(source.table),
        None => QueueCall::Wrong(format!("{name}(): expected one argument, a queue's name")),
    }
}

/// The call of `queue_wait`. With two or more arguments the last is always the time, as in Q4M.
fn queue_wait(mut given: Vec<Value>) -> QueueCall {
    let seconds = if given.len() > 1 { given.pop() } else { None };
    let timeout_us = match seconds.as_ref().map(microseconds) {
        None => WAIT_US_DEFAULT,
        Some(Some(timeout_us)) => timeout_us,
        Some(None) => {
            let message =
                "queue_wait(): the last of several arguments is the seconds to wait, from 0";
            return QueueCall::Wrong(message.to_owned());
        }
    };
    match sources(&given) {
        Ok(sources) => QueueCall::Wait {
            sources,
            timeout_us,
        },
        Err(message) => QueueCall::Wrong(format!("queue_wait(): {message}")),
    }
}

/// Parses the sources of a wait. Errors: a bad source, or none.
fn sources(given: &[Value]) -> std::result::Result<Vec<WaitSource>, String> {
    if given.is_empty() {
        return Err("expected a queue's name in quotes".to_owned());
    }
    let read = |(index, value): (usize, &Value)| match value {
        Value::Str(text) => {
            wait_source(text).map_err(|message| format!("argument {}: {message}", index + 1))
        }
        _ => Err(format!(
            "argument {}: expected a queue's name in quotes",
            index + 1
        )),
    };
    given.iter().enumerate().map(read).collect()
}

/// Seconds, as a number or its text, in microseconds. A huge number means for ever.
fn microseconds(seconds: &Value) -> Option<u64> {
    let seconds = match seconds {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Str(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bytes(_) | Value::Set(_) | Value::Json(_) => return None,
    };
    // `as` saturates.
    (seconds >= 0.0).then_some((seconds * SECOND_US) as u64)
}

/// A whole number from 0, or its text: some drivers send parameters that are numbers in quotes.
fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::Str(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn set_source(given: &[Value]) -> QueueCall {
    let [sender, mode, row] = given else {
        return QueueCall::Wrong(
            "queue_set_srcid(): expected a sender, a mode and a row's number".to_owned(),
        );
    };
    let sender = whole(sender).filter(|sender| *sender <= SENDER_MAX);
    let Some(sender) = sender.and_then(|sender| u8::try_from(sender).ok()) else {
        return QueueCall::Wrong(format!(
            "queue_set_srcid(): a sender is a number from 0 to {SENDER_MAX}"
        ));
    };
    let mode = match mode {
        Value::Str(mode) if mode == "a" => SourceMode::Append,
        Value::Str(mode) if mode == "w" => SourceMode::Reset,
        _ => return QueueCall::Wrong("queue_set_srcid(): the mode is 'a' or 'w'".to_owned()),
    };
    match whole(row) {
        Some(row) => QueueCall::SetSource { sender, mode, row },
        None => QueueCall::Wrong("queue_set_srcid(): a row's number is whole, from 0".to_owned()),
    }
}
