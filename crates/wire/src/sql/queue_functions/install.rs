//! Statements of Q4M's installation script. The functions are built in here, so the server answers OK and does nothing.

use crate::sql::parser::{Parser, Result};
use crate::sql::statement::Statement;

/// Names of Q4M's functions.
const FUNCTIONS: [&str; 7] = [
    "queue_wait",
    "queue_end",
    "queue_abort",
    "queue_rowid",
    "queue_set_srcid",
    "queue_compact",
    "queue_stats",
];

impl Parser<'_> {
    /// Parses `PLUGIN queue [SONAME 'x']`, from behind INSTALL or UNINSTALL.
    pub(in crate::sql) fn plugin(&mut self) -> Result<Statement> {
        self.expect_word("plugin")?;
        let from = self.clone();
        if self.name("a plugin")?.to_lowercase() != "queue" {
            return Err(from.not_yet("plugins; `queue` is built in"));
        }
        if self.take_word("soname") {
            self.string("a file's name in quotes")?;
        }
        self.end()?;
        Ok(Statement::Installed)
    }

    /// Parses `name RETURNS type SONAME 'x'`, from behind CREATE FUNCTION.
    pub(in crate::sql) fn create_function(&mut self) -> Result<Statement> {
        self.queue_function_name()?;
        self.expect_word("returns")?;
        if !self.take_any(&["int", "integer", "string", "real", "decimal"]) {
            return Err(self.unexpected("a type"));
        }
        self.expect_word("soname")?;
        self.string("a file's name in quotes")?;
        self.end()?;
        Ok(Statement::Installed)
    }

    /// Parses a function's name, from behind DROP FUNCTION.
    pub(in crate::sql) fn drop_function(&mut self) -> Result<Statement> {
        self.take_words(&["if", "exists"]);
        self.queue_function_name()?;
        self.end()?;
        Ok(Statement::Installed)
    }

    fn queue_function_name(&mut self) -> Result<()> {
        let from = self.clone();
        let name = self.name("a function")?.to_lowercase();
        if FUNCTIONS.contains(&name.as_str()) {
            return Ok(());
        }
        Err(from.not_yet("functions of one's own"))
    }
}
