//! Statements about a table's files: FLUSH and OPTIMIZE.

use relation::lexer::TokenKind;

use super::parser::{Parser, Result};
use super::statement::Statement;

/// Objects beside tables that MySQL and Manticore FLUSH.
const FLUSH_LATER: [&str; 14] = [
    "attributes",
    "binary",
    "engine",
    "error",
    "general",
    "hostnames",
    "hosts",
    "logs",
    "manifest",
    "optimizer_costs",
    "privileges",
    "relay",
    "status",
    "user_resources",
];

impl Parser<'_> {
    /// Parses FLUSH, from behind that word.
    pub(super) fn flush(&mut self) -> Result<Statement> {
        self.take_any(&["no_write_to_binlog", "local"]); // MySQL's, for its replicas
        if !self.at_any(&["table", "tables", "ramchunk", "rtindex"]) {
            return Err(self.refused_word("FLUSH", &FLUSH_LATER, "TABLE"));
        }
        let may_be_all = self.at_word("tables");
        self.next();
        let mut tables = Vec::new();
        if !(may_be_all && self.at_end()) {
            tables.push(self.table()?);
            while self.take(TokenKind::Comma) {
                tables.push(self.table()?);
                self.listed(tables.len())?;
            }
        }
        self.end()?;
        Ok(Statement::Flush { tables })
    }

    /// Parses OPTIMIZE, from behind that word.
    pub(super) fn optimize(&mut self) -> Result<Statement> {
        self.take_any(&["no_write_to_binlog", "local"]);
        if !self.take_any(&["table", "index"]) {
            return Err(self.unexpected("TABLE"));
        }
        let table = self.table()?;
        if self.take_word("option") {
            self.optimize_option()?;
            while self.take(TokenKind::Comma) {
                self.optimize_option()?;
            }
        }
        self.end()?;
        Ok(Statement::Optimize { table })
    }

    /// Accepts Manticore's options whose effect is the default here: the statement waits, and leaves one segment for each shard.
    fn optimize_option(&mut self) -> Result<()> {
        let is_cutoff = self.at_word("cutoff");
        if !self.take_any(&["cutoff", "sync"]) {
            return Err(self.unexpected("sync or cutoff"));
        }
        self.expect(TokenKind::Equal, "`=`")?;
        match (self.integer("1")?, is_cutoff) {
            (1, _) => Ok(()),
            (_, true) => Err(self.not_yet("OPTIMIZE TABLE that leaves several segments a shard")),
            (_, false) => Err(self.not_yet("OPTIMIZE TABLE that does not wait")),
        }
    }
}
