//! CALL PQ.

use query::lexer::TokenKind;
use query::value::Value;

use super::parser::{Parser, Result};
use super::statement::{PqMode, PqOptions, Statement};

/// An argument of CALL.
enum Argument {
    One(Value),
    List(Vec<Value>),
}

impl Parser<'_> {
    /// Behind CALL.
    pub(super) fn call(&mut self) -> Result<Statement> {
        let from = self.position();
        let procedure = self.name("a procedure")?.to_lowercase();
        match procedure.as_str() {
            "pq" => {}
            "suggest" | "qsuggest" | "snippets" | "keywords" | "autocomplete" => {
                return Err(self.not_yet(format!("CALL {}", procedure.to_uppercase())));
            }
            _ => return Err(self.error_at(from, format!("no procedure '{procedure}'"))),
        }
        self.expect(TokenKind::Open, "`(`")?;
        let mut options = PqOptions::default();
        let mut positional = Vec::new();
        while !self.take(TokenKind::Close) {
            let at = self.position();
            let argument = self.argument()?;
            if self.take_word("as") {
                let name = self.name("an option")?.to_lowercase();
                set_option(&mut options, &name, argument)
                    .map_err(|message| self.error_at(at, message))?;
            } else {
                positional.push((at, argument));
            }
            if self.peek() != TokenKind::Close {
                self.expect(TokenKind::Comma, "`,` or `)`")?;
            }
        }
        self.end()?;
        let Ok([(table_at, table), (documents_at, documents)]) = <[_; 2]>::try_from(positional)
        else {
            let message = "PQ() expects exactly 2 arguments (table, document(s))";
            return Err(self.error_at(from, message));
        };
        let table = table_name(table)
            .ok_or_else(|| self.error_at(table_at, "PQ() argument 1 must be a string"))?;
        let documents = documents_of(documents).ok_or_else(|| {
            self.error_at(
                documents_at,
                "PQ() argument 2 must be a string or a string list",
            )
        })?;
        Ok(Statement::CallPq {
            table,
            documents,
            options,
        })
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
}

/// Lower case, without a database.
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

/// Sets one option, or says what is wrong with it in Manticore's words.
fn set_option(
    options: &mut PqOptions,
    name: &str,
    argument: Argument,
) -> std::result::Result<(), String> {
    let wrong_type = || format!("unexpected option {name} type");
    let Argument::One(value) = argument else {
        return Err(wrong_type());
    };
    let flag = match value {
        Value::Int(number) => Ok(number != 0),
        _ => Err(wrong_type()),
    };
    let text = match &value {
        Value::Str(text) => Ok(text.clone()),
        _ => Err(wrong_type()),
    };
    match name {
        "docs_json" => options.docs_json = flag?,
        "docs" => options.docs = flag?,
        "docs_id" => options.docs_id = Some(text?),
        "query" => options.query = flag?,
        "verbose" => options.verbose = flag?,
        "skip_bad_json" => options.skip_bad_json = flag?,
        "skip_empty" => options.skip_empty = flag?,
        "mode" => {
            options.mode = match text?.to_lowercase().as_str() {
                "sparsed" => PqMode::Sparsed,
                "sharded" => PqMode::Sharded,
                other => {
                    return Err(format!(
                        "unknown mode {other}. (Expected 'sparsed' or 'sharded')"
                    ));
                }
            }
        }
        "shift" => {
            let Value::Int(number) = value else {
                return Err(wrong_type());
            };
            options.shift = i64::try_from(number).map_err(|_| wrong_type())?;
        }
        _ => return Err(format!("unknown option {name}")),
    }
    Ok(())
}
