//! The open transactions.

use engine::{Command, Reply};
use relation::value::Value;

use super::server::nothing;
use super::{NUMBER, Relation, Rows, named, number, text};
use crate::errors::Failure;

pub(super) const RELATIONS: &[Relation] = &[Relation {
    name: "system.transactions",
    columns: named!(id: NUMBER, seconds: NUMBER, statements: NUMBER, ends: NUMBER, bytes: NUMBER, refused),
    asks: Some((|| Command::Transactions, transactions)),
    rows: nothing,
}];

fn transactions(reply: Reply) -> Result<Rows, Failure> {
    let Reply::Transactions(mut open) = reply else {
        return Err(crate::statement::unexpected());
    };
    open.sort_unstable_by_key(|of| of.session);
    let rows = open.into_iter().map(|of| {
        vec![
            number(of.session.0),
            number(of.age_us / 1_000_000),
            number(of.statements),
            number(of.ends),
            number(of.bytes),
            of.refused.map_or(Value::Null, text),
        ]
    });
    Ok(rows.collect())
}
