//! SHOW and DESCRIBE.

use query::lexer::TokenKind;

use super::parser::{OBJECTS_LATER, Parser, Result};
use super::statement::{ShowList, Statement};
use super::statement_of;

/// Words behind SHOW that are refused as "not yet".
const LATER: [&str; 15] = [
    "profiles",
    "agent",
    "queries",
    "settings",
    "binary",
    "binlog",
    "master",
    "replica",
    "replicas",
    "slave",
    "open",
    "privileges",
    "user",
    "users",
    "relaylog",
];

impl Parser<'_> {
    /// Parses SHOW, from behind that word.
    pub(super) fn show(&mut self) -> Result<Statement> {
        self.take_word("extended");
        let full = self.take_word("full");
        self.take_any(&["global", "session", "local", "storage"]);
        let statement = self.show_what(full)?;
        if self.at_word("where") {
            return Err(self.not_yet("WHERE in this SHOW"));
        }
        self.end()?;
        Ok(statement)
    }

    fn show_what(&mut self, full: bool) -> Result<Statement> {
        if self.take_word("tables") {
            self.skip_database()?;
            return Ok(Statement::ShowTables {
                like: self.like()?,
                full,
            });
        }
        if self.take_any(&["columns", "fields"]) {
            return self.show_columns(full);
        }
        if self.take_word("table") || self.take_index_before_name() {
            return self.show_table();
        }
        if self.take_word("create") {
            if !self.take_word("table") {
                return Err(self.refused_word("SHOW CREATE", &OBJECTS_LATER, "TABLE"));
            }
            return Ok(Statement::ShowCreateTable {
                table: self.table()?,
            });
        }
        if self.take_any(&["index", "indexes", "keys"]) {
            if !self.take_any(&["from", "in"]) {
                return Err(self.unexpected("FROM"));
            }
            let table = self.table()?;
            self.skip_database()?;
            return Ok(Statement::ShowIndexes { table });
        }
        if let Some(statement) = self.show_of_last()? {
            return Ok(statement);
        }
        if self.take_word("version") {
            return Ok(Statement::ShowVersion);
        }
        if self.take_word("status") {
            return Ok(Statement::ShowStatus { like: self.like()? });
        }
        if self.take_word("variables") {
            let like = self.like()?;
            let (matching, filter) = self.filter()?;
            if matching.is_some() {
                return Err(self.not_yet("MATCH in SHOW VARIABLES"));
            }
            return Ok(Statement::ShowVariables { like, filter });
        }
        if self.take_any(&["databases", "schemas"]) {
            return Ok(Statement::ShowDatabases { like: self.like()? });
        }
        if self.at_any(&["warnings", "errors", "count"]) {
            return self.show_warnings();
        }
        if self.take_word("queues") {
            return Ok(Statement::ShowQueues { like: self.like()? });
        }
        if self.take_word("engine") {
            let engine = self.clone();
            if self.take_words(&["queue", "status"]) {
                return Ok(Statement::ShowEngineQueueStatus);
            }
            return Err(engine.not_yet("SHOW ENGINE of anything but QUEUE STATUS"));
        }
        let list = self.show_list()?;
        Ok(Statement::Show {
            list,
            like: self.like()?,
        })
    }

    /// What is shown of the statement before.
    fn show_of_last(&mut self) -> Result<Option<Statement>> {
        Ok(if self.take_word("meta") {
            Some(Statement::ShowMeta { like: self.like()? })
        } else if self.take_word("plan") {
            Some(Statement::ShowPlan { like: self.like()? })
        } else if self.take_word("profile") {
            Some(Statement::ShowProfile { like: self.like()? })
        } else if self.take_word("scroll") {
            Some(Statement::ShowScroll)
        } else {
            None
        })
    }

    fn show_list(&mut self) -> Result<ShowList> {
        if self.take_word("engines") {
            return Ok(ShowList::Engines);
        }
        if self.take_words(&["character", "set"]) || self.take_word("charset") {
            return Ok(ShowList::CharacterSets);
        }
        if self.take_word("collation") {
            return Ok(ShowList::Collations);
        }
        if self.take_word("plugins") {
            return Ok(ShowList::Plugins);
        }
        if self.take_any(&["processlist", "threads"]) {
            return Ok(ShowList::Processes);
        }
        if self.take_word("triggers") {
            self.skip_database()?;
            return Ok(ShowList::Triggers);
        }
        if self.take_word("events") {
            self.skip_database()?;
            return Ok(ShowList::Events);
        }
        if self.take_words(&["procedure", "status"]) || self.take_words(&["function", "status"]) {
            return Ok(ShowList::Routines);
        }
        if self.take_word("grants") {
            if self.take_word("for") {
                while !self.at_end() {
                    self.next();
                }
            }
            return Ok(ShowList::Grants);
        }
        if self.at_any(&LATER) {
            let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("SHOW {what}")));
        }
        Err(self.unexpected("what to show, e.g. TABLES, STATUS or META"))
    }

    /// Takes INDEX before a table's name: Manticore's older word for TABLE. `SHOW INDEX FROM t` is MySQL's and not meant here.
    fn take_index_before_name(&mut self) -> bool {
        let mut ahead = self.clone();
        let found = ahead.take_word("index") && !ahead.at_end() && !ahead.at_any(&["from", "in"]);
        if found {
            *self = ahead;
        }
        found
    }

    /// Parses SHOW COLUMNS FROM t [FROM db] [LIKE].
    fn show_columns(&mut self, full: bool) -> Result<Statement> {
        if !self.take_any(&["from", "in"]) {
            return Err(self.unexpected("FROM"));
        }
        let table = self.table()?;
        self.skip_database()?;
        let like = self.like()?;
        Ok(if full {
            Statement::ShowFullColumns { table, like }
        } else {
            let documents = false;
            Statement::Describe {
                table,
                like,
                documents,
            }
        })
    }

    /// Parses SHOW TABLE STATUS … or SHOW TABLE t STATUS.
    fn show_table(&mut self) -> Result<Statement> {
        let mut ahead = self.clone();
        if ahead.take_word("status")
            && (ahead.at_end() || ahead.at_any(&["from", "in", "like", "where"]))
        {
            *self = ahead;
            self.skip_database()?;
            return Ok(Statement::ShowTablesStatus { like: self.like()? });
        }
        let table = self.table()?;
        if self.take_word("settings") {
            return Ok(Statement::ShowTableSettings { table });
        }
        if self.take_word("indexes") {
            let like = self.like()?;
            return Ok(Statement::ShowTableIndexes { table, like });
        }
        self.expect_word("status")?;
        let like = self.like()?;
        Ok(Statement::ShowTableStatus { table, like })
    }

    /// Parses SHOW WARNINGS [LIMIT …], SHOW ERRORS and SHOW COUNT(*) WARNINGS.
    fn show_warnings(&mut self) -> Result<Statement> {
        let count = self.take_word("count");
        if count {
            self.expect(TokenKind::Open, "`(`")?;
            self.expect(TokenKind::Star, "`*`")?;
            self.expect(TokenKind::Close, "`)`")?;
        }
        if !self.take_any(&["warnings", "errors"]) {
            return Err(self.unexpected("WARNINGS"));
        }
        if self.take_word("limit") {
            self.integer("a number of rows")?;
            if self.take(TokenKind::Comma) || self.take_word("offset") {
                self.integer("a number of rows")?;
            }
        }
        Ok(Statement::ShowWarnings { count })
    }

    /// Skips FROM db: there is one namespace, so the name does not matter.
    fn skip_database(&mut self) -> Result<()> {
        if self.take_any(&["from", "in"]) {
            self.name("a database name")?;
        }
        Ok(())
    }

    fn like(&mut self) -> Result<Option<String>> {
        if !self.take_word("like") {
            return Ok(None);
        }
        self.string("a pattern in quotes").map(Some)
    }

    /// Parses what stands behind EXPLAIN: a SELECT, UPDATE or DELETE, `QUERY t 'text'`, or a table as behind DESCRIBE.
    pub(super) fn explain(&mut self) -> Result<Statement> {
        let mut ahead = self.clone();
        if ahead.take_word("query") && matches!(ahead.peek(), TokenKind::Word | TokenKind::Quoted) {
            let table = ahead.table()?;
            let text = ahead.string("the text of a query, in quotes")?;
            if ahead.at_word("option") {
                return Err(ahead.not_yet("OPTION of EXPLAIN QUERY"));
            }
            ahead.end()?;
            *self = ahead;
            return Ok(Statement::ExplainQuery { table, text });
        }
        if self.at_any(&["format", "partitions"]) {
            return Err(self.not_yet("FORMAT and PARTITIONS of EXPLAIN"));
        }
        let mut ahead = self.clone();
        if ahead.take_any(&["analyze", "extended"]) && !ahead.at_end() {
            *self = ahead;
        }
        let what = "EXPLAIN of anything but a SELECT on tables, an UPDATE or a DELETE";
        if self.at_any(&["insert", "replace"]) {
            return Err(self.not_yet(what));
        }
        let is_statement = self.at_any(&["select", "update", "delete"]);
        if is_statement || self.peek() == TokenKind::Open {
            let from = self.clone();
            let explained = statement_of(self)?;
            let is_change = matches!(explained, Statement::Update(_) | Statement::Delete(_));
            return match is_change || explained.is_select() {
                true => Ok(Statement::Explain(Box::new(explained))),
                false => Err(from.not_yet(what)),
            };
        }
        self.describe()
    }

    /// Parses DESCRIBE, DESC or EXPLAIN of a table, from behind that word.
    pub(super) fn describe(&mut self) -> Result<Statement> {
        let table = self.table()?;
        let documents = self.take_word("table");
        let like = match self.peek() {
            TokenKind::Word if self.at_word("like") => self.like()?,
            TokenKind::String => Some(self.string("a pattern")?),
            TokenKind::Word | TokenKind::Quoted => Some(self.column()?),
            _ => None,
        };
        self.end()?;
        Ok(Statement::Describe {
            table,
            like,
            documents,
        })
    }
}
