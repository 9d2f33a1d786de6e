//! CREATE TABLE and DROP TABLE.

use relation::lexer::TokenKind;
use relation::schema::{Column, ColumnType, TypeError, TypeSystem};
use relation::value::Value;

use super::key::Key;
use super::parser::{OBJECTS_LATER, Parser, Result};
use super::statement::{CreateTable, Statement};

/// First words of an index or a constraint.
const CONSTRAINTS: [&str; 9] = [
    "primary",
    "key",
    "unique",
    "index",
    "fulltext",
    "spatial",
    "foreign",
    "constraint",
    "check",
];

/// Column types of Manticore and MySQL that are missing here, or missing in search tables: refused as "not yet".
pub(super) const TYPES_NOT_YET: [&str; 2] = ["float_vector", "uuid"];

/// A column whose table's kind is not known yet. The kind decides what its type means.
pub(super) struct Draft {
    pub(super) column: Column,
    type_name: String,
    type_position: usize,
    args: Vec<u64>,
    unsigned: bool,
    /// A clause that only `id` of a search or pq table may have, PRIMARY KEY or AUTO_INCREMENT, and its place in the statement.
    pub(super) of_id: Option<(&'static str, usize)>,
}

/// Column definitions in brackets, and the keys among them.
#[derive(Default)]
struct Drafts {
    columns: Vec<Draft>,
    keys: Vec<Key>,
}

impl Parser<'_> {
    /// Parses CREATE TABLE or CREATE FUNCTION, from behind CREATE.
    pub(super) fn create(&mut self) -> Result<Statement> {
        if self.take_words(&["temporary", "table"]) {
            return self.create_temporary();
        }
        if !self.take_word("table") {
            if self.take_word("function") || self.take_words(&["aggregate", "function"]) {
                return self.create_function();
            }
            return Err(self.refused_word("CREATE", &OBJECTS_LATER, "TABLE"));
        }
        let if_not_exists = self.take_words(&["if", "not", "exists"]);
        let name = self.table()?;
        if self.take_word("like") {
            let like = self.like_table()?;
            return Ok(Statement::CreateLike {
                name,
                if_not_exists,
                like,
            });
        }
        if self.at_any(&["as", "select"]) {
            return Err(self.not_yet("CREATE TABLE from another table"));
        }
        let drafts = self.drafts()?;
        let options = self.table_options()?;
        if self.at_any(&["as", "select", "partition"]) {
            let what = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("CREATE TABLE … {what}")));
        }
        self.end()?;
        let is_queue = options.iter().any(|(name, value)| {
            matches!(name.as_str(), "engine" | "type") && value.eq_ignore_ascii_case("queue")
        });
        let columns = self.columns(drafts, is_queue)?;
        Ok(Statement::CreateTable(CreateTable {
            name,
            if_not_exists,
            columns,
            options,
        }))
    }

    /// Parses the table behind CREATE TABLE … LIKE.
    fn like_table(&mut self) -> Result<String> {
        let like = self.table()?;
        if self.at_word("with") {
            return Err(self.not_yet("LIKE … WITH DATA; INSERT … SELECT copies rows"));
        }
        self.end()?;
        Ok(like)
    }

    /// Column definitions in brackets; empty without brackets.
    fn drafts(&mut self) -> Result<Drafts> {
        let mut drafts = Drafts::default();
        if !self.take(TokenKind::Open) {
            return Ok(drafts);
        }
        loop {
            if let Some(key) = self.key()? {
                drafts.keys.push(key);
            } else {
                let position = self.position();
                let draft = self.draft()?;
                let mut others = drafts.columns.iter();
                if others.any(|other| other.column.name == draft.column.name) {
                    let message = format!("column '{}' is there twice", draft.column.name);
                    return Err(self.error_at(position, message));
                }
                drafts.columns.push(draft);
            }
            self.listed(drafts.columns.len() + drafts.keys.len())?;
            if self.take(TokenKind::Close) {
                return Ok(drafts);
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
    }

    /// Refuses a key or a constraint in place of a column.
    pub(super) fn refuse_key(&self) -> Result<()> {
        if self.at_any(&CONSTRAINTS) {
            return Err(self.no_constraint());
        }
        Ok(())
    }

    /// One column of ALTER TABLE.
    pub(super) fn altered_column(&mut self, is_queue: bool) -> Result<Column> {
        let draft = self.draft()?;
        if let Some((clause, position)) = draft.of_id {
            return Err(self.no_key(position, clause));
        }
        self.typed(draft, is_queue)
    }

    pub(super) fn draft(&mut self) -> Result<Draft> {
        self.refuse_key()?;
        let name = self.column()?;
        let type_position = self.position();
        let type_name = self.name("a type")?.to_lowercase();
        self.take_word("precision");
        let args = self.type_args(&type_name)?;
        let mut draft = Draft {
            column: Column {
                name,
                kind: ColumnType::Text,
                nullable: true,
                default: None,
                keyed: false,
            },
            type_name,
            type_position,
            args,
            unsigned: false,
            of_id: None,
        };
        while self.column_clause(&mut draft)? {}
        Ok(draft)
    }

    fn type_args(&mut self, type_name: &str) -> Result<Vec<u64>> {
        let mut args = Vec::new();
        if !self.take(TokenKind::Open) {
            return Ok(args);
        }
        if self.peek() == TokenKind::String {
            return Err(self.not_yet(format!("the column type {type_name}")));
        }
        loop {
            args.push(self.integer("a length")?);
            self.listed(args.len())?;
            if self.take(TokenKind::Close) {
                return Ok(args);
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
    }

    /// One clause behind the type; false at the column's end.
    fn column_clause(&mut self, draft: &mut Draft) -> Result<bool> {
        if self.take_words(&["not", "null"]) {
            draft.column.nullable = false;
        } else if self.take_word("null") {
            draft.column.nullable = true;
        } else if self.take_word("unsigned") {
            draft.unsigned = true;
        } else if self.take_word("signed") {
            draft.unsigned = false;
        } else if self.take_word("default") {
            if self.at_any(&["current_timestamp", "now"]) {
                return Err(self.not_yet("DEFAULT CURRENT_TIMESTAMP"));
            }
            draft.column.default = Some(self.constant("a constant")?);
        } else if self.take_words(&["character", "set"]) || self.take_any(&["charset", "collate"]) {
            self.word_or_string("a name")?;
        } else if self.take_word("comment") {
            self.string("a comment in quotes")?;
        } else if self.at_any(&["primary"]) {
            draft.of_id = Some(("PRIMARY KEY", self.position()));
            self.take_word("primary");
            if !self.take_word("key") {
                return Err(self.unexpected("KEY"));
            }
        } else if draft.type_name == "text" && self.take_any(&["indexed", "stored"]) {
            // A text is always indexed and stored here.
        } else if draft.type_name == "text" && self.at_word("attribute") {
            let what = "a text that is an attribute, too: add a column of type string";
            return Err(self.not_yet(what.to_owned()));
        } else if self.at_word("auto_increment") {
            draft.of_id = Some(("AUTO_INCREMENT", self.position()));
            self.take_word("auto_increment");
        } else if draft.type_name != "text" && self.take_word("attribute") {
            // Every column that is no text is an attribute here.
        } else if self.take_word("engine") {
            self.column_engine()?;
        } else if is_character(&draft.type_name) && self.take_word("binary") {
            // Accepted without effect: texts are compared by their bytes.
        } else if matches!(self.peek(), TokenKind::Comma | TokenKind::Close)
            || self.at_end()
            || self.at_any(&["first", "after"])
        {
            return Ok(false);
        } else if self.at_any(&CONSTRAINTS) || self.at_any(&["references", "serial"]) {
            return Err(self.no_constraint());
        } else if self.at_any(&[
            "zerofill",
            "generated",
            "as",
            "on",
            "invisible",
            "virtual",
            "indexed",
        ]) {
            let clause = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("the column clause {clause}")));
        } else {
            return Err(self.unexpected("`,` or `)`"));
        }
        Ok(true)
    }

    /// The refusal of the constraint at the next token; it names the constraint.
    fn no_constraint(&self) -> super::SyntaxError {
        let word = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
        let word = if word == "PRIMARY" {
            "PRIMARY KEY".to_owned()
        } else {
            word
        };
        self.no_key(self.position(), &word)
    }

    /// The refusal of a key or constraint.
    pub(super) fn no_key(&self, position: usize, word: &str) -> super::SyntaxError {
        let why = match word {
            "PRIMARY KEY" | "AUTO_INCREMENT" | "SERIAL" => {
                "search and pq tables have an implied unique `id`, queues have no key"
            }
            "CHECK" | "CONSTRAINT" | "FOREIGN" | "REFERENCES" => "constraints are not checked here",
            "UNIQUE" => {
                "ids are unique in search and pq tables, and a queue has the option unique_by"
            }
            "FULLTEXT" | "SPATIAL" => "every column can be searched or filtered without one",
            _ => "a queue has no keys, and a search table takes KEY (column) behind its columns",
        };
        self.not_yet_at(position, format!("{word} ({why}; leave it out)"))
    }

    /// `engine='rowwise'` and `'columnar'`: Manticore's two stores are one here.
    fn column_engine(&mut self) -> Result<()> {
        self.take(TokenKind::Equal);
        let engine = self.word_or_string("'rowwise' or 'columnar'")?;
        match engine.to_lowercase().as_str() {
            "rowwise" | "columnar" => Ok(()),
            other => Err(self.error(format!("no engine '{other}' of a column"))),
        }
    }

    /// The columns with the types of this kind of table; an implied `id` is left out.
    fn columns(&self, drafts: Drafts, is_queue: bool) -> Result<Vec<Column>> {
        let mut columns = Vec::with_capacity(drafts.columns.len());
        for draft in drafts.columns {
            if let Some((clause, position)) = draft.of_id
                && (is_queue || draft.column.name != "id")
            {
                return Err(self.no_key(position, clause));
            }
            let name = draft.type_name.as_str();
            if draft.column.name == "id" && !is_queue {
                if matches!(name, "bigint" | "int" | "integer") {
                    continue;
                }
                let message = "`id` is a bigint in every search and pq table";
                return Err(self.error_at(draft.type_position, message));
            }
            columns.push(self.typed(draft, is_queue)?);
        }
        for key in drafts.keys {
            if is_queue {
                return Err(self.no_key(key.position, key.word));
            }
            self.mark_key(key, &mut columns)?;
        }
        Ok(columns)
    }

    /// The column with the type that its written type means in a queue, or in another table.
    pub(super) fn typed(&self, mut draft: Draft, is_queue: bool) -> Result<Column> {
        let (system, table) = if is_queue {
            (TypeSystem::Queue, "queue")
        } else {
            (TypeSystem::Search, "search or pq table")
        };
        let name = draft.type_name.as_str();
        let kind = ColumnType::parse(name, &draft.args, draft.unsigned, system);
        if matches!(kind, Err(TypeError::Unknown)) && TYPES_NOT_YET.contains(&name) {
            return Err(self.not_yet(format!("the column type {name}")));
        }
        draft.column.kind = kind.map_err(|error| {
            let message = match error {
                TypeError::Unknown => format!("a {table} has no column type '{name}'"),
                _ => format!("bad length or UNSIGNED for the column type '{name}' of a {table}"),
            };
            self.error_at(draft.type_position, message)
        })?;
        if draft.column.default == Some(Value::Null) {
            draft.column.default = None;
        }
        Ok(draft.column)
    }

    /// Pairs name[=]value up to the end, with or without commas. A distributed table has several values of `local`.
    pub(super) fn table_options(&mut self) -> Result<Vec<(String, String)>> {
        let mut options: Vec<(String, String)> = Vec::new();
        while !self.at_end() && !self.at_any(&["as", "select", "partition"]) {
            self.take_word("default");
            let position = self.position();
            let name = if self.take_words(&["character", "set"]) {
                "charset".to_owned()
            } else {
                self.name("a table option")?.to_lowercase()
            };
            self.take(TokenKind::Equal);
            let value = self.word_or_string("a value")?;
            let may_repeat = matches!(name.as_str(), "local" | "agent");
            if !may_repeat && options.iter().any(|(other, _)| *other == name) {
                return Err(self.error_at(position, format!("option '{name}' is there twice")));
            }
            options.push((name, value));
            self.listed(options.len())?;
            self.take(TokenKind::Comma);
        }
        Ok(options)
    }

    /// A string's content, or a bare word or number as written.
    pub(super) fn word_or_string(&mut self, wanted: &str) -> Result<String> {
        match self.peek() {
            TokenKind::String => self.string(wanted),
            TokenKind::Integer | TokenKind::Decimal => {
                let written = String::from_utf8_lossy(self.peek_bytes()).into_owned();
                self.next();
                Ok(written)
            }
            _ => self.name(wanted),
        }
    }

    /// Parses DROP TABLE or DROP FUNCTION, from behind DROP.
    pub(super) fn drop(&mut self) -> Result<Statement> {
        let temporary = self.take_word("temporary");
        if !self.take_any(&["table", "tables"]) {
            if self.take_word("function") {
                return self.drop_function();
            }
            return Err(self.refused_word("DROP", &OBJECTS_LATER, "TABLE"));
        }
        let if_exists = self.take_words(&["if", "exists"]);
        let mut tables = vec![self.table()?];
        while self.take(TokenKind::Comma) {
            tables.push(self.table()?);
            self.listed(tables.len())?;
        }
        self.take_any(&["restrict", "cascade"]);
        self.end()?;
        Ok(Statement::DropTable {
            tables,
            temporary,
            if_exists,
        })
    }
}

/// Whether it is a type of characters: only such a type may have a character set or collation.
fn is_character(type_name: &str) -> bool {
    type_name.ends_with("char") || type_name.ends_with("text")
}
