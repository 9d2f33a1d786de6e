//! The parser of SHOW, DESCRIBE and EXPLAIN. `statement/show.rs` has the words of each SHOW.

use relation::lexer::TokenKind;

use super::parser::{CATALOGS_LATER, OBJECTS_LATER, Parser, RELATIONS, Result};
use super::statement::{Of, SHOWS, Show, ShowKind, Statement};
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
        let plain = self.clone();
        let is_full = self.take_word("full");
        self.take_any(&["global", "session", "local", "storage"]);
        let found = match is_full {
            true => plain.show_words().or_else(|| self.show_words()),
            false => self.show_words(),
        };
        let Some((ahead, kind, of, table)) = found else {
            return Err(self.no_show());
        };
        *self = ahead;
        let table = match of {
            Of::Table if !self.take_any(&["from", "in"]) => return Err(self.unexpected("FROM")),
            Of::Table | Of::Name => Some(self.table_read()?),
            Of::Nothing | Of::Database | Of::Within | Of::Limit | Of::Anything => table,
        };
        let mut database = None;
        match of {
            Of::Table | Of::Database => database = self.database()?,
            Of::Limit if self.take_word("limit") => self.skip_limit()?,
            Of::Anything => {
                while !self.at_end() {
                    self.next();
                }
            }
            Of::Nothing | Of::Name | Of::Within | Of::Limit => {}
        }
        let table = match (&database, table) {
            (Some(database), Some(table)) if !table.contains('.') => {
                Some(format!("{database}.{table}"))
            }
            (_, table) => table,
        };
        self.show_which(kind, table, database)
    }

    /// The row of [`SHOWS`] whose words are next, the parser behind them, and the table's name among them.
    fn show_words(&self) -> Option<(Self, ShowKind, Of, Option<String>)> {
        SHOWS.iter().find_map(|(kind, of, all)| {
            all.iter().find_map(|words| {
                let (mut ahead, mut table) = (self.clone(), None);
                for word in words.split(' ') {
                    let is_there = match word {
                        "" => false,
                        "t" if ahead.at_end() || ahead.at_any(&["from", "in"]) => false,
                        "t" => {
                            table = ahead.table_read().ok();
                            table.is_some()
                        }
                        "count(*)" => {
                            let brackets = [TokenKind::Open, TokenKind::Star, TokenKind::Close];
                            ahead.take_word("count")
                                && brackets.into_iter().all(|it| ahead.take(it))
                        }
                        word => ahead.take_word(word),
                    };
                    if !is_there {
                        return None;
                    }
                }
                Some((ahead, *kind, *of, table))
            })
        })
    }

    /// Parses `[LIKE …] [WHERE …]`.
    fn show_which(
        &mut self,
        kind: ShowKind,
        table: Option<String>,
        database: Option<String>,
    ) -> Result<Statement> {
        let like = match self.take_word("like") {
            true => Some(self.string("a pattern in quotes")?),
            false => None,
        };
        let (matching, filter) = self.filter()?;
        if matching.is_some() {
            return Err(self.not_yet("MATCH in SHOW"));
        }
        self.end()?;
        Ok(Statement::Show(Show {
            kind,
            table,
            database,
            like,
            filter,
        }))
    }

    /// The error of words that are no SHOW.
    fn no_show(&self) -> super::SyntaxError {
        let mut ahead = self.clone();
        if ahead.take_word("create") {
            return ahead.refused_word("SHOW CREATE", &OBJECTS_LATER, "TABLE");
        }
        if ahead.take_word("count") {
            return ahead.unexpected("`(*) WARNINGS`");
        }
        if ahead.take_word("engine") {
            return ahead.not_yet("SHOW ENGINE of anything but QUEUE STATUS");
        }
        if ahead.take_any(&["table", "index"]) && ahead.table_read().is_ok() {
            return ahead.unexpected("STATUS");
        }
        if self.at_any(&LATER) {
            let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return self.not_yet(format!("SHOW {what}"));
        }
        self.unexpected("what to show, e.g. TABLES, STATUS or META")
    }

    /// Parses `[FROM db]`: gives the name of a database of system relations.
    fn database(&mut self) -> Result<Option<String>> {
        if !self.take_any(&["from", "in"]) {
            return Ok(None);
        }
        let name = self.name("a database name")?.to_lowercase();
        if CATALOGS_LATER.contains(&name.as_str()) {
            return Err(self.not_yet(format!("tables of {name}")));
        }
        Ok(RELATIONS.contains(&name.as_str()).then_some(name))
    }

    /// Parses what stands behind EXPLAIN: a SELECT, UPDATE or DELETE, `QUERY t 'text'`, or a table as behind DESCRIBE.
    pub(super) fn explain(&mut self) -> Result<Statement> {
        let mut ahead = self.clone();
        if ahead.take_word("query") && matches!(ahead.peek(), TokenKind::Word | TokenKind::Quoted) {
            let table = ahead.table_read()?;
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
        let table = Some(self.table_read()?);
        let kind = match self.take_word("table") {
            true => ShowKind::Documents,
            false => ShowKind::Columns,
        };
        let like = match self.peek() {
            TokenKind::Word if self.at_word("like") => return self.show_which(kind, table, None),
            TokenKind::String => Some(self.string("a pattern")?),
            TokenKind::Word | TokenKind::Quoted => Some(self.column()?),
            _ => None,
        };
        self.end()?;
        Ok(Statement::Show(Show {
            kind,
            table,
            database: None,
            like,
            filter: None,
        }))
    }
}
