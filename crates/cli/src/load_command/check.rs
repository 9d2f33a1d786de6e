//! Checks rows before they are sent. Its errors name the line and the byte of the file, which the server does not know.

use std::collections::BTreeMap;

use client::{Client, QueryResult};
use language::Syntax;
use language::analysis::{Analyzer, Settings};
use language::tree::Node;
use relation::schema::ColumnType;
use wire::sql::{CreateTable, Statement};

use super::Result;
use super::report::Report;
use super::row::Row;

/// Facts about the table.
pub(super) struct Checker {
    /// For each column whether it takes other values than texts.
    numbers: BTreeMap<String, bool>,
    /// How standing queries are parsed; `None`: no pq table.
    language: Option<Language>,
}

/// Fields, syntax and analysis of a pq table's queries.
struct Language {
    fields: Vec<String>,
    analyzer: Analyzer,
    syntax: Syntax,
}

impl Checker {
    /// Asks the server about the table.
    pub(super) fn new(client: &mut Client, table: &str) -> Result<Checker> {
        let created = create_table(client, table)?;
        let numbers = created.columns.iter().map(|column| {
            let takes_texts = column.kind.family().takes_texts();
            (column.name.clone(), !takes_texts)
        });
        let numbers = [("id".to_owned(), true)].into_iter().chain(numbers);
        let numbers = numbers.collect();
        let language = match option(&created, "type") {
            Some("pq" | "percolate") => Some(Language::new(client, &created)?),
            _ => None,
        };
        Ok(Checker { numbers, language })
    }

    /// Whether a column takes numbers, dates or other values that are no texts.
    pub(super) fn is_number(&self, column: &str) -> bool {
        self.numbers.get(column).copied().unwrap_or(false)
    }

    /// Parses the text of a standing query.
    ///
    /// # Errors
    /// The reason, with the byte in the query.
    pub(super) fn check(
        &self,
        row: &Row,
        line: u64,
        report: &mut Report,
    ) -> std::result::Result<(), String> {
        let (Some(language), Some(text)) = (&self.language, row.text("query")) else {
            return Ok(());
        };
        let fields: Vec<&str> = language.fields.iter().map(String::as_str).collect();
        let parsed = language.syntax.parse(text, &fields, &language.analyzer);
        let parsed = parsed.map_err(|error| format!("query: {error}"))?;
        for warning in &parsed.warnings {
            report.warned(line, warning);
        }
        if parsed.root.necessary() == Node::All {
            report.without_word();
        }
        Ok(())
    }
}

impl Language {
    fn new(client: &mut Client, created: &CreateTable) -> Result<Language> {
        // A pq table with on= has the columns and the analysis of the tables that it names.
        let first = option(created, "on").and_then(|names| names.split(',').next());
        let documents = match first {
            Some(name) => create_table(client, name.trim())?,
            None => created.clone(),
        };
        let texts = documents.columns.iter();
        let texts = texts.filter(|column| column.kind == ColumnType::Text);
        let mut settings = Settings::default();
        for (name, value) in &documents.options {
            // Other options do not matter here, and the server has accepted the values.
            let _ = settings.set(name, value);
        }
        let syntax = match option(created, "syntax") {
            Some("lucene") => Syntax::Lucene,
            _ => Syntax::Sphinx,
        };
        Ok(Language {
            fields: texts.map(|column| column.name.clone()).collect(),
            analyzer: Analyzer::new(settings),
            syntax,
        })
    }
}

fn create_table(client: &mut Client, table: &str) -> Result<CreateTable> {
    let shown: QueryResult = client.query(&format!("SHOW CREATE TABLE `{table}`"))?;
    let text = shown.rows.first().and_then(|row| row.get(1)?.clone());
    let text = String::from_utf8(text.unwrap_or_default())?;
    let Ok(Statement::CreateTable(created)) = wire::sql::parse(text.as_bytes()) else {
        let message = format!("the server's definition of '{table}' is not understood: {text}");
        return Err(message.into());
    };
    Ok(created)
}

fn option<'a>(created: &'a CreateTable, name: &str) -> Option<&'a str> {
    let mut options = created.options.iter();
    let found = options.find(|(other, _)| other == name);
    found.map(|(_, value)| value.as_str())
}
