//! Filters of standing queries: conditions on the attributes of a document, in the words of WHERE.

use std::sync::Arc;

use relation::expression::{self, Expression, Prepared, Unprepared};
use relation::lexer::{Lexer, TokenKind};
use relation::schema::{Column, ColumnType};

/// Why a filter is refused, in words.
pub(crate) enum Refused {
    /// A constant that the type of the column beside it does not read.
    Constant(String),
    /// The syntax, an unknown column, what is not built yet.
    Other(String),
}

/// Reads the filter of a standing query; `None` for a blank one. `columns`: those of the documents. A column's slot is
/// its place among them; that of `id` is behind them all.
///
/// # Errors
/// [`Refused`].
pub(crate) fn read(text: &str, columns: &[Column]) -> Result<Option<Arc<Prepared>>, Refused> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut lexer = Lexer::new(text.as_bytes());
    let asked = expression::parse(&mut lexer).map_err(|error| Refused::Other(error.to_string()))?;
    if lexer.peek().kind != TokenKind::End {
        let unexpected = lexer.unexpected("the end of the filter");
        return Err(Refused::Other(unexpected.to_string()));
    }
    let prepared = Prepared::typed(&asked, &|name| slot(name, columns));
    let prepared = prepared.map_err(|error| match error {
        Unprepared::UnknownColumn(name) => {
            Refused::Other(format!("no column '{name}' in the documents"))
        }
        Unprepared::Constant(what) => Refused::Constant(what.into()),
        Unprepared::Invalid(what) => Refused::Other(what.into()),
    })?;
    Ok(Some(Arc::new(prepared.for_many())))
}

/// A filter that accepts no document.
pub(crate) fn never() -> Arc<Prepared> {
    let nothing = Expression::Truth(false);
    let prepared = Prepared::new(&nothing, &|_| None);
    Arc::new(prepared.unwrap_or_else(|_| Prepared::of_slot(usize::MAX))) // it names no column
}

fn slot(name: &str, columns: &[Column]) -> Option<(usize, ColumnType)> {
    if name == "id" {
        return Some((columns.len(), ColumnType::Bigint));
    }
    let place = columns.iter().position(|column| column.name == name)?;
    Some((place, columns[place].kind))
}
