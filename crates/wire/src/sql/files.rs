//! Statements about how a table lies in files: FLUSH and OPTIMIZE.

use query::lexer::TokenKind;

use super::parser::{Parser, Result};
use super::statement::Statement;

impl Parser<'_> {
    /// Behind FLUSH.
    pub(super) fn flush(&mut self) -> Result<Statement> {
        self.take_any(&["no_write_to_binlog", "local"]); // MySQL's, for its replicas
        if !self.at_any(&["table", "tables", "ramchunk", "rtindex"]) {
            let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("FLUSH {what}")));
        }
        let may_be_all = self.at_word("tables");
        self.next();
        let mut tables = Vec::new();
        if !(may_be_all && self.at_end()) {
            tables.push(self.table()?);
            while self.take(TokenKind::Comma) {
                tables.push(self.table()?);
            }
        }
        self.end()?;
        Ok(Statement::Flush { tables })
    }

    /// Behind OPTIMIZE.
    pub(super) fn optimize(&mut self) -> Result<Statement> {
        self.take_any(&["no_write_to_binlog", "local"]);
        if !self.take_any(&["table", "index"]) {
            return Err(self.unexpected("TABLE"));
        }
        let table = self.table()?;
        if self.take_word("option") {
            self.expect_word("sync")?;
            self.expect(TokenKind::Equal, "`=`")?;
            if self.integer("1")? != 1 {
                return Err(self.not_yet("OPTIMIZE TABLE that does not wait"));
            }
        }
        self.end()?;
        Ok(Statement::Optimize { table })
    }
}
