//! Statements about the session: SET, USE, transactions, KILL.

use relation::expression::{List, Variable, parse_list};
use relation::lexer::TokenKind;
use relation::value::Value;

use super::constants::variable;
use super::parser::{Parser, Result};
use super::statement::{Assignment, Scope, Statement};

impl Parser<'_> {
    /// Parses SET, from behind that word.
    pub(super) fn set(&mut self) -> Result<Statement> {
        if self.at_any(&["password", "role", "resource"]) {
            let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("SET {what}")));
        }
        let mut assignments = Vec::new();
        loop {
            assignments.push(self.assignment()?);
            self.listed(assignments.len())?;
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        self.end()?;
        Ok(Statement::Set(assignments))
    }

    fn assignment(&mut self) -> Result<Assignment> {
        if self.take_word("names") {
            return self.character_set("names");
        }
        if self.take_words(&["character", "set"]) || self.take_word("charset") {
            return self.character_set("character_set");
        }
        let (scope, name) = self.variable_name()?;
        if name == "transaction" {
            let before = self.clone();
            while !self.at_end() {
                self.next();
            }
            let value = Variable::One(Value::Str(self.written_since(&before)));
            return Ok(Assignment { scope, name, value });
        }
        if !self.take(TokenKind::Assign) {
            self.expect(TokenKind::Equal, "`=`")?;
        }
        let may_be_list = matches!(scope, Scope::User | Scope::Shared);
        let value = match may_be_list && self.peek() == TokenKind::Open {
            true => Variable::List(self.whole_numbers()?),
            false => Variable::One(self.set_value()?),
        };
        Ok(Assignment { scope, name, value })
    }

    /// The list of a variable.
    fn whole_numbers(&mut self) -> Result<List> {
        let from = self.position();
        let list = parse_list(self.lexer()).map_err(|error| self.lexer_error(error))?;
        let message = "a list takes whole numbers of 64 bits: SET @ids = (1, 5, 7)";
        list.shared().ok_or_else(|| self.error_at(from, message))
    }

    /// Parses the value of SET NAMES x [COLLATE y].
    fn character_set(&mut self, name: &str) -> Result<Assignment> {
        let value = Value::Str(self.word_or_string("a character set")?.to_lowercase());
        if self.take_word("collate") {
            self.word_or_string("a collation")?;
        }
        Ok(Assignment {
            scope: Scope::Session,
            name: name.to_owned(),
            value: Variable::One(value),
        })
    }

    fn variable_name(&mut self) -> Result<(Scope, String)> {
        if self.peek() == TokenKind::Variable {
            let written = String::from_utf8_lossy(self.peek_bytes()).into_owned();
            self.next();
            return Ok(variable(&written));
        }
        if self.at_word("persist") {
            return Err(self.not_yet("SET PERSIST: write the setting in seine.toml"));
        }
        let scope = if self.take_word("global") {
            Scope::Global
        } else {
            self.take_any(&["session", "local"]);
            Scope::Session
        };
        if scope == Scope::Global && self.peek() == TokenKind::Variable {
            return match self.variable_name()? {
                (Scope::User, name) => Ok((Scope::Shared, name)),
                (_, name) => Ok((Scope::Global, name)),
            };
        }
        Ok((scope, self.name("a variable")?.to_lowercase()))
    }

    /// A constant. A bare word, or any other text up to the next comma, is its text.
    fn set_value(&mut self) -> Result<Value> {
        let mut ahead = self.clone();
        if let Ok(value) = ahead.constant("a value")
            && (ahead.at_end() || ahead.peek() == TokenKind::Comma)
        {
            *self = ahead;
            return Ok(value);
        }
        let before = self.clone();
        self.skip_value()?;
        Ok(Value::Str(self.written_since(&before)))
    }

    /// Parses USE, from behind that word.
    pub(super) fn use_database(&mut self) -> Result<Statement> {
        let name = self.name("a database name")?;
        self.end()?;
        Ok(Statement::Use(name))
    }

    /// Parses the rest of BEGIN, START, COMMIT or ROLLBACK.
    pub(super) fn transaction(&mut self, statement: Statement) -> Result<Statement> {
        if statement == Statement::Rollback && self.at_word("to") {
            return Err(self.not_yet("savepoints"));
        }
        if statement == Statement::Begin && self.take_word("transaction") {
            // READ ONLY, READ WRITE and WITH CONSISTENT SNAPSHOT have no effect here.
            while self.take_any(&["read", "only", "write", "with", "consistent", "snapshot"]) {
                self.take(TokenKind::Comma);
            }
        }
        self.take_word("work");
        if statement != Statement::Begin {
            if self.take_word("and") && !self.take_words(&["no", "chain"]) {
                return Err(self.refused_word("AND", &["chain"], "CHAIN or NO CHAIN"));
            }
            if !self.take_words(&["no", "release"]) && self.at_word("release") {
                return Err(self.not_yet("RELEASE"));
            }
        }
        self.end()?;
        Ok(statement)
    }

    /// Parses BACKUP TO, from behind BACKUP.
    pub(super) fn backup(&mut self) -> Result<Statement> {
        self.expect_word("to")?;
        let to = self.string("the path of a new folder, in quotes")?;
        self.end()?;
        Ok(Statement::Backup { to })
    }

    /// Parses KILL, from behind that word.
    pub(super) fn kill(&mut self) -> Result<Statement> {
        let query_only = self.take_word("query");
        self.take_any(&["connection", "hard", "soft"]);
        let connection = self.integer("a connection's number")?;
        self.end()?;
        Ok(Statement::Kill {
            connection,
            query_only,
        })
    }
}
