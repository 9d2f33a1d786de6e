//! CALL PQ, CALL PQ_BACKFILL and CALL ATTRIBUTION. The module `queue` has the procedures of queues.

mod options;

use relation::lexer::TokenKind;
use relation::value::Value;

use super::error::{ErrorKind, SyntaxError};
use super::parser::{Parser, Result};
use super::statement::{AttributionCall, PqOptions, Statement};
use crate::limits::ATTRIBUTION_OPTIONS_MAX;

/// An argument of CALL.
enum Argument {
    One(Value),
    List(Vec<Value>),
}

impl Parser<'_> {
    /// Parses CALL, from behind that word. `in_small`: the word is written in lower case.
    pub(super) fn call(&mut self, in_small: bool) -> Result<Statement> {
        let from = self.position();
        let written = self.name("a procedure")?;
        let procedure = written.to_lowercase();
        match procedure.as_str() {
            "pq" => self.call_pq(from, in_small && written == procedure),
            "pq_backfill" => self.call_pq_backfill(from),
            "attribution" => self.call_attribution(from),
            "suggest" | "qsuggest" | "snippets" | "keywords" | "autocomplete" => {
                Err(self.not_yet(format!("CALL {}", procedure.to_uppercase())))
            }
            queue => self
                .call_queue(queue, from)?
                .ok_or_else(|| self.error_at(from, format!("no procedure '{procedure}'"))),
        }
    }

    fn call_pq(&mut self, from: usize, in_small: bool) -> Result<Statement> {
        let mut set = Vec::new();
        let mut options = PqOptions::default();
        let positional = self.arguments(|name, argument| {
            options::set(&mut options, &name, argument)?;
            set.push(name);
            Ok(())
        })?;
        let Ok([(table_at, table), (documents_at, documents)]) = <[_; 2]>::try_from(positional)
        else {
            let message = "PQ() expects exactly 2 arguments (table, document(s))";
            return Err(self.refused_at(from, message));
        };
        let table = table_name(table)
            .ok_or_else(|| self.refused_at(table_at, "PQ() argument 1 must be a string"))?;
        let documents = documents_of(documents).ok_or_else(|| {
            let message = "PQ() argument 2 must be a string or a string list";
            self.refused_at(documents_at, message)
        })?;
        // A public stress-tester writes the call exactly so, and reads a column `Documents`.
        options.capital = in_small && set == ["docs_json", "docs"] && !options.docs_json;
        Ok(Statement::CallPq {
            table,
            documents,
            options,
        })
    }

    /// `PQ_BACKFILL('table', query id [, days])`.
    fn call_pq_backfill(&mut self, from: usize) -> Result<Statement> {
        let positional = self.arguments(|name, _| Err(format!("unknown option {name}")))?;
        let mut given = positional.into_iter().map(|(_, argument)| argument);
        let table = given.next().and_then(table_name);
        let id = given.next().map(whole);
        let days = given.next().map(whole);
        match (table, id, days, given.next()) {
            (Some(table), Some(Some(id)), None, None) => Ok(Statement::PqBackfill {
                table,
                id,
                days: None,
            }),
            (Some(table), Some(Some(id)), Some(Some(days)), None) if days > 0 => {
                Ok(Statement::PqBackfill {
                    table,
                    id,
                    days: Some(days),
                })
            }
            _ => {
                let message = "PQ_BACKFILL() expects a table, a query's id and, if not all documents, days from 1";
                Err(self.refused_at(from, message))
            }
        }
    }

    /// `ATTRIBUTION('table' [, value AS option, …])`. The session knows the options.
    fn call_attribution(&mut self, from: usize) -> Result<Statement> {
        let mut options: Vec<(String, Vec<String>)> = Vec::new();
        let positional = self.arguments(|name, argument| {
            if options.iter().any(|(other, _)| *other == name) {
                return Err(format!("option {name} is given twice"));
            }
            if options.len() == ATTRIBUTION_OPTIONS_MAX {
                return Err(format!("more than {ATTRIBUTION_OPTIONS_MAX} options"));
            }
            let texts = texts_of(argument);
            let texts = texts
                .ok_or_else(|| format!("option {name} is a text, a number or a list of them"))?;
            options.push((name, texts));
            Ok(())
        })?;
        let mut given = positional.into_iter().map(|(_, argument)| argument);
        match (given.next().and_then(table_name), given.next()) {
            (Some(table), None) => Ok(Statement::CallAttribution(AttributionCall {
                table,
                options,
            })),
            (Some(_) | None, Some(_) | None) => {
                let message = "ATTRIBUTION() expects the name of a table as a text, then options such as 'markov,linear' AS model";
                Err(self.refused_at(from, message))
            }
        }
    }

    /// Parses arguments to the statement's end. Gives those without a name, each with its byte offset. Calls `set` for those with
    /// a name; its error is reported at that argument.
    fn arguments(
        &mut self,
        mut set: impl FnMut(String, Argument) -> std::result::Result<(), String>,
    ) -> Result<Vec<(usize, Argument)>> {
        self.expect(TokenKind::Open, "`(`")?;
        let mut positional = Vec::new();
        while !self.take(TokenKind::Close) {
            let at = self.position();
            let argument = self.argument()?;
            if self.take_word("as") {
                let name = self.name("an option")?.to_lowercase();
                set(name, argument).map_err(|message| self.refused_at(at, message))?;
            } else {
                positional.push((at, argument));
            }
            if self.peek() != TokenKind::Close {
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        }
        self.end()?;
        Ok(positional)
    }

    fn argument(&mut self) -> Result<Argument> {
        if !self.take(TokenKind::Open) {
            return self.constant("a constant").map(Argument::One);
        }
        let mut list = Vec::new();
        loop {
            list.push(self.constant("a constant")?);
            if self.take(TokenKind::Close) {
                return Ok(Argument::List(list));
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
    }

    /// An error whose message Sphinx's clients know: it is shown without its position.
    fn refused_at(&self, position: usize, message: impl Into<String>) -> SyntaxError {
        let message = message.into();
        let kind = match message.contains(": not yet: ") {
            true => ErrorKind::NotYet,
            false => ErrorKind::Argument,
        };
        let message = message.replacen(": not yet: ", ": ", 1);
        SyntaxError::new(kind, message, self.text(), position)
    }
}

/// A table's name, in lower case, without a database.
fn table_name(argument: Argument) -> Option<String> {
    let Argument::One(Value::Str(name)) = argument else {
        return None;
    };
    let name = name.rsplit('.').next().unwrap_or_default();
    Some(name.trim_matches('`').to_lowercase())
}

fn documents_of(argument: Argument) -> Option<Vec<Vec<u8>>> {
    let list = match argument {
        Argument::One(value) => vec![value],
        Argument::List(list) => list,
    };
    let bytes = |value| match value {
        Value::Str(text) => Some(text.into_bytes()),
        Value::Bytes(bytes) => Some(bytes),
        _ => None,
    };
    list.into_iter().map(bytes).collect()
}

/// The texts of constants: a number as it is shown. `None`: one is NULL or bytes.
fn texts_of(argument: Argument) -> Option<Vec<String>> {
    let list = match argument {
        Argument::One(value) => vec![value],
        Argument::List(list) => list,
    };
    let text = |value: Value| match value {
        Value::Str(text) => Some(text),
        Value::Int(_) | Value::Float(_) => Some(value.to_string()),
        Value::Null | Value::Bytes(_) | Value::Set(_) | Value::Json(_) => None,
    };
    list.into_iter().map(text).collect()
}

/// A whole number from 0.
fn whole(argument: Argument) -> Option<u64> {
    match argument {
        Argument::One(Value::Int(number)) => u64::try_from(number).ok(),
        _ => None,
    }
}
