//! INSERT and REPLACE in all their forms.

use relation::expression::{Expression, evaluate_constant};
use relation::lexer::TOO_MUCH_WORK;
use relation::lexer::TokenKind;
use relation::request::{Assignment, Insert, Known, inserted_name};
use relation::value::Value;

use super::error::{ErrorKind, SyntaxError};
use super::parser::{Parser, Result};
use super::statement::{Statement, Timed};
use super::values;

impl Parser<'_> {
    /// Parses INSERT or REPLACE, from behind that word.
    pub(super) fn insert(&mut self, replace: bool) -> Result<Statement> {
        self.take_any(&["low_priority", "high_priority", "delayed"]);
        let ignores = !replace && self.take_word("ignore");
        self.take_word("into");
        let table = self.table()?;
        let mut insert = Insert {
            table,
            columns: self.insert_columns()?,
            rows: Vec::new(),
            replace,
        };
        let (mut select, mut timed) = (None, Vec::new());
        if insert.columns.is_none() && self.take_word("set") {
            timed = self.set_row(&mut insert)?;
            if replace && self.at_word("where") {
                return Ok(self.partial(insert)?.timed(timed));
            }
        } else if self.at_word("select") {
            self.take_word("select");
            let first = self.select_body()?;
            select = Some(Box::new(self.union_or_end(first, false)?));
        } else if self.at_any(&["table"]) || self.peek() == TokenKind::Open {
            let form = String::from_utf8_lossy(self.peek_bytes()).to_uppercase();
            return Err(self.not_yet(format!("INSERT … {form}")));
        } else {
            if !self.at_any(&["values", "value"]) {
                return Err(self.unexpected("VALUES"));
            }
            let behind = self.position() + self.peek_bytes().len();
            let scanned = values::rows(self.text(), behind, self.room(), self.work)?;
            self.restart(scanned.end, scanned.room);
            insert.rows = scanned.rows;
            timed = scanned.timed;
        }
        let updates = match replace || select.is_some() {
            true => None,
            false => self.on_duplicate(&insert.table)?,
        };
        self.end()?;
        let known = updates.or(ignores.then_some(Known::Ignore));
        let statement = match (select, known) {
            (Some(select), known) => Statement::InsertSelect {
                insert,
                known,
                select,
            },
            (None, Some(known)) => Statement::Upsert { insert, known },
            (None, None) => Statement::Insert(insert),
        };
        Ok(statement.timed(timed))
    }

    /// The list of columns in brackets; `None`: there is none, or it is `()`.
    fn insert_columns(&mut self) -> Result<Option<Vec<String>>> {
        let before = self.clone();
        if !self.take(TokenKind::Open) {
            return Ok(None);
        }
        if self.take(TokenKind::Close) {
            return Ok(None);
        }
        if self.at_word("select") {
            *self = before;
            return Ok(None);
        }
        let mut columns = Vec::new();
        loop {
            columns.push(self.column()?);
            self.listed(columns.len())?;
            if self.take(TokenKind::Close) {
                return Ok(Some(columns));
            }
            self.expect(TokenKind::Comma, "`,` or `)`")?;
        }
    }

    /// `column = constant, …` behind SET, as columns and one row. Gives the values that need the moment.
    fn set_row(&mut self, insert: &mut Insert) -> Result<Vec<Timed>> {
        let (mut columns, mut row, mut timed) = (Vec::new(), Vec::new(), Vec::new());
        let mut work = self.work;
        loop {
            columns.push(self.column()?);
            self.listed(columns.len())?;
            self.expect(TokenKind::Equal, "`=`")?;
            let position = self.position();
            let value = self.expression(&mut |_, _| Ok(None))?;
            if value.first_column().is_some() {
                return Err(self.error_at(position, "a value of INSERT is a constant"));
            }
            if value.is_of_the_moment() {
                let place = row.len();
                timed.push(Timed {
                    row: 0,
                    place,
                    value,
                });
                row.push(Value::Null);
            } else {
                let value = evaluate_constant(&value, &mut work);
                row.push(value.ok_or_else(|| {
                    SyntaxError::new(ErrorKind::Limit, TOO_MUCH_WORK, self.text(), position)
                })?);
            }
            if !self.take(TokenKind::Comma) {
                break;
            }
        }
        insert.columns = Some(columns);
        insert.rows = vec![row];
        Ok(timed)
    }

    /// `WHERE id = n` behind REPLACE … SET: the other columns of that row keep their values.
    fn partial(&mut self, mut insert: Insert) -> Result<Statement> {
        let position = self.position();
        let (matching, filter) = self.filter()?;
        self.end()?;
        let ids = filter.as_ref().and_then(relation::bind::Ids::of);
        let [id] = ids.as_ref().map_or(&[][..], |ids| &ids.ids[..]) else {
            return Err(self.error_at(position, "REPLACE … SET takes WHERE id = n"));
        };
        let is_whole = ids.as_ref().is_some_and(|ids| ids.are_all_wanted);
        let columns = insert.columns.get_or_insert_default();
        if matching.is_some() || !is_whole || columns.iter().any(|column| column == "id") {
            return Err(self.error_at(position, "REPLACE … SET takes WHERE id = n"));
        }
        columns.push("id".to_owned());
        for row in &mut insert.rows {
            row.push(Value::Int(i128::from(*id)));
        }
        Ok(Statement::Upsert {
            insert,
            known: Known::Keep,
        })
    }

    /// `[AS new] ON DUPLICATE KEY UPDATE column = expression, …`; `None`: the text goes on otherwise, or ends.
    fn on_duplicate(&mut self, table: &str) -> Result<Option<Known>> {
        let mut alias = None;
        if self.take_word("as") {
            alias = Some(self.name("a name of the new row")?.to_lowercase());
        }
        if !self.take_words(&["on", "duplicate", "key", "update"]) {
            return match alias {
                Some(_) => Err(self.unexpected("ON DUPLICATE KEY UPDATE")),
                None => Ok(None),
            };
        }
        self.tables = [table.to_owned()].into();
        let mut set = Vec::new();
        loop {
            let (column, path) = self.place()?;
            self.expect(TokenKind::Equal, "`=`")?;
            let value = self.expression(&mut |name, lexer| inserted_value(name, lexer))?;
            let value = value.map_columns(&mut |of| renamed(of, alias.as_deref()));
            set.push(Assignment {
                column,
                path,
                value,
            });
            self.listed(set.len())?;
            if !self.take(TokenKind::Comma) {
                return Ok(Some(Known::Update(set)));
            }
        }
    }
}

/// `VALUES(column)`, from behind its opening bracket.
fn inserted_value(
    name: &str,
    lexer: &mut relation::lexer::Lexer<'_>,
) -> std::result::Result<Option<Expression>, relation::lexer::SyntaxError> {
    if !name.eq_ignore_ascii_case("values") {
        return Ok(None);
    }
    let token = lexer.next();
    let column = lexer.name(&token)?;
    if !lexer.take(TokenKind::Close) {
        return Err(lexer.unexpected("`)`"));
    }
    let name = inserted_name(&column.to_lowercase());
    Ok(Some(Expression::Column(name)))
}

/// `new.column`, where `new` is the name of the row that was to be inserted.
fn renamed(of: Expression, alias: Option<&str>) -> Expression {
    use relation::json::JsonStep;
    match of {
        Expression::Path { column, steps } if Some(column.as_str()) == alias => match &steps[..] {
            [JsonStep::Key(name)] => Expression::Column(inserted_name(&name.to_lowercase())),
            _ => Expression::Path { column, steps },
        },
        other => other,
    }
}
