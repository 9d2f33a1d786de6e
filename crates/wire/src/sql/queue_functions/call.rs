//! CALL QUEUE_NEXT and the other procedures of queues.

use relation::lexer::TokenKind;
use relation::value::Value;

use super::{WAIT_US_DEFAULT, microseconds, sources, wait_source, whole};
use crate::sql::parser::{Parser, Result};
use crate::sql::statement::{QueueNext, Statement};

/// An argument with its byte offset. A list in brackets has several values.
struct Argument {
    at: usize,
    name: Option<String>,
    values: Vec<Value>,
}

impl Parser<'_> {
    /// Parses a queue procedure, from behind CALL and its name; `None`: the name is no queue procedure.
    pub(in crate::sql) fn call_queue(
        &mut self,
        procedure: &str,
        from: usize,
    ) -> Result<Option<Statement>> {
        let known = [
            "queue_next",
            "queue_done",
            "queue_pause",
            "queue_resume",
            "queue_purge",
        ];
        if !known.contains(&procedure) {
            return Ok(None);
        }
        let (given, options) = self.queue_arguments()?;
        self.end()?;
        let mut group = None;
        for option in options {
            match (option.name.as_deref(), option.values.as_slice()) {
                (Some("group"), [Value::Str(name)]) => group = Some(name.to_lowercase()),
                (Some("group"), _) => {
                    return Err(self.error_at(option.at, "expected a group's name in quotes"));
                }
                (name, _) => {
                    let name = name.unwrap_or_default();
                    let message = format!("no option '{name}': there is group");
                    return Err(self.error_at(option.at, message));
                }
            }
        }
        let statement = match procedure {
            "queue_next" => self.queue_next(from, &given, group)?,
            "queue_done" if given.is_empty() && group.is_none() => Statement::QueueDone,
            "queue_done" => return Err(self.error_at(from, "QUEUE_DONE() takes no argument")),
            "queue_purge" if group.is_some() => {
                return Err(
                    self.error_at(from, "QUEUE_PURGE() takes no group: it empties the queue")
                );
            }
            "queue_purge" => Statement::QueuePurge {
                table: self.one_queue(from, &given)?,
            },
            _ => Statement::QueuePause {
                table: self.one_queue(from, &given)?,
                group,
                paused: procedure == "queue_pause",
            },
        };
        Ok(Some(statement))
    }

    /// `QUEUE_NEXT('q' [, seconds [, rows]])`. A list in brackets names several sources.
    fn queue_next(
        &self,
        from: usize,
        given: &[Argument],
        group: Option<String>,
    ) -> Result<Statement> {
        let (first, rest) = match given {
            [first, rest @ ..] if rest.len() <= 2 => (first, rest),
            _ => {
                let message = "QUEUE_NEXT() expects a queue, or a list of them in brackets, and then seconds and rows if wanted";
                return Err(self.error_at(from, message));
            }
        };
        let sources = sources(&first.values).map_err(|message| self.error_at(first.at, message))?;
        let timeout_us = match rest.first() {
            None => WAIT_US_DEFAULT,
            Some(given) => one(given)
                .and_then(microseconds)
                .ok_or_else(|| self.error_at(given.at, "expected seconds to wait, from 0"))?,
        };
        let rows = match rest.get(1) {
            None => 1,
            Some(given) => one(given)
                .and_then(whole)
                .and_then(|rows| u32::try_from(rows).ok())
                .filter(|rows| *rows > 0)
                .ok_or_else(|| self.error_at(given.at, "expected a number of rows, from 1"))?,
        };
        Ok(Statement::QueueNext(QueueNext {
            sources,
            timeout_us,
            rows,
            group,
        }))
    }

    fn one_queue(&self, from: usize, given: &[Argument]) -> Result<String> {
        let source = match given {
            [one] => match one.values.as_slice() {
                [Value::Str(text)] => wait_source(text).ok(),
                _ => None,
            },
            _ => None,
        };
        source
            .filter(|source| source.condition.is_none())
            .map(|source| source.table)
            .ok_or_else(|| self.error_at(from, "expected one argument, a queue's name in quotes"))
    }

    /// Parses arguments in brackets: those by position, and those by name (`name='x'`, or `'x' AS name` as in CALL PQ). Without
    /// arguments the brackets may be left out.
    fn queue_arguments(&mut self) -> Result<(Vec<Argument>, Vec<Argument>)> {
        let (mut by_place, mut by_name) = (Vec::new(), Vec::new());
        if self.at_end() {
            return Ok((by_place, by_name));
        }
        self.expect(TokenKind::Open, "`(`")?;
        while !self.take(TokenKind::Close) {
            let mut given = self.queue_argument()?;
            if self.take_word("as") {
                given.name = Some(self.name("an option")?.to_lowercase());
            }
            if given.name.is_some() {
                by_name.push(given);
            } else {
                by_place.push(given);
            }
            if self.peek() != TokenKind::Close {
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        }
        Ok((by_place, by_name))
    }

    fn queue_argument(&mut self) -> Result<Argument> {
        let at = self.position();
        let mut ahead = self.clone();
        let mut name = None;
        if ahead.peek() == TokenKind::Word {
            let written = ahead.name("an option")?.to_lowercase();
            if ahead.take(TokenKind::Equal) {
                *self = ahead;
                name = Some(written);
            }
        }
        let mut values = Vec::new();
        if self.take(TokenKind::Open) {
            loop {
                values.push(self.constant("a constant")?);
                if self.take(TokenKind::Close) {
                    break;
                }
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        } else {
            values.push(self.constant("a constant")?);
        }
        Ok(Argument { at, name, values })
    }
}

/// The value of an argument; `None`: it is a list.
fn one(given: &Argument) -> Option<&Value> {
    match given.values.as_slice() {
        [value] => Some(value),
        _ => None,
    }
}
