//! The columns of an answer as members of JSON objects, which have each name once.

use std::collections::HashMap;

use relation::schema::ColumnType;
use relation::value::Value;
use session::errors::{self, Failure};

/// The names of the columns.
pub(super) struct Members {
    names: Vec<String>,
    /// For each column the place of the first one with its name, where that is another.
    firsts: Vec<Option<usize>>,
}

impl Members {
    /// `members`: the columns' names where headers do not tell them apart; empty: the headers do.
    pub(super) fn new(columns: &[(String, Option<ColumnType>)], members: Vec<String>) -> Members {
        let names = match members.is_empty() {
            true => columns.iter().map(|(header, _)| header.clone()).collect(),
            false => members,
        };
        let mut known: HashMap<&str, usize> = HashMap::new();
        let firsts = names.iter().enumerate().map(|(at, name)| {
            let first = *known.entry(name).or_insert(at);
            (first != at).then_some(first)
        });
        Members {
            firsts: firsts.collect(),
            names,
        }
    }

    /// As [`Members::new`], with the headers wherever each is there once.
    pub(super) fn of_table(
        columns: &[(String, Option<ColumnType>)],
        members: Vec<String>,
    ) -> Members {
        let headers = Members::new(columns, Vec::new());
        match headers.firsts.iter().any(Option::is_some) {
            true => Members::new(columns, members),
            false => headers,
        }
    }

    /// The names, in the order of the columns.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// Whether a row shows the column at `at`: it does not repeat the value of another one with its name.
    ///
    /// # Errors
    /// `INVALID` if that one has another value.
    pub(super) fn shows(&self, row: &[Value], at: usize) -> Result<bool, Failure> {
        match self.firsts.get(at).copied().flatten() {
            None => Ok(true),
            Some(first) if row.get(first) == row.get(at) => Ok(false),
            Some(_) => {
                let name = self.names.get(at).map_or("", String::as_str);
                let message =
                    format!("two columns of the answer are named '{name}': give one an alias");
                Err(Failure::new(errors::INVALID, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(headers: &[&str]) -> Vec<(String, Option<ColumnType>)> {
        let header = |header: &&str| ((*header).to_owned(), None);
        headers.iter().map(header).collect()
    }

    fn shown(members: &Members, row: &[i128]) -> Result<Vec<bool>, String> {
        let row: Vec<Value> = row.iter().map(|number| Value::Int(*number)).collect();
        let shown = (0..row.len()).map(|at| members.shows(&row, at));
        shown
            .collect::<Result<_, _>>()
            .map_err(|failure| failure.message)
    }

    #[test]
    fn a_column_that_is_there_twice_is_shown_once() {
        let members = Members::new(&columns(&["n", "id", "n"]), Vec::new());
        assert_eq!(shown(&members, &[1, 2, 1]), Ok(vec![true, true, false]));
        let refused = "two columns of the answer are named 'n': give one an alias";
        assert_eq!(shown(&members, &[1, 2, 3]), Err(refused.to_owned()));
    }

    #[test]
    fn columns_of_several_tables_have_their_own_names() {
        let own = || ["id", "b.id"].map(str::to_owned).to_vec();
        let members = Members::new(&columns(&["id", "id"]), own());
        assert_eq!(members.names().collect::<Vec<_>>(), ["id", "b.id"]);
        assert_eq!(shown(&members, &[1, 2]), Ok(vec![true, true]));
        let table = Members::of_table(&columns(&["id", "id"]), own());
        assert_eq!(table.names().collect::<Vec<_>>(), ["id", "b.id"]);
        let table = Members::of_table(&columns(&["id", "n"]), own());
        assert_eq!(table.names().collect::<Vec<_>>(), ["id", "n"]);
    }
}
