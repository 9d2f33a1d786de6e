//! SELECT without a table, such as `SELECT @@version_comment`: clients send it when they connect.

use relation::expression::{Kept, kept_without_table, value_of_its_moment};
use relation::limits::CONSTANT_WORK_MAX;
use relation::value::Value;
use wire::sql::Constant;

use super::{Outcome, variables};
use crate::VERSION;
use crate::clock::civil;
use crate::errors::{self, Failure};
use crate::node::Node;
use crate::session::Session;

/// Answers with one row: the value of each item under its name.
pub(super) fn select(
    node: &Node,
    session: &Session,
    items: Vec<(String, Constant)>,
) -> Result<Outcome, Failure> {
    let mut columns = Vec::with_capacity(items.len());
    let mut row = Vec::with_capacity(items.len());
    let mut kept = Vec::with_capacity(items.len());
    let mut work = CONSTANT_WORK_MAX;
    for (name, constant) in items {
        kept.push(match &constant {
            Constant::Expression(written) => kept_without_table(written),
            _ => Kept::Unknown, // its value tells
        });
        row.push(value(node, session, constant, &mut work)?);
        columns.push((name, None));
    }
    let mut outcome = Outcome::shown(columns, vec![row]);
    if let Outcome::Rows(found) = &mut outcome {
        found.answer.kept = kept;
    }
    Ok(outcome)
}

/// Whether an item may take long: an expression that calls a function.
pub(super) fn may_take_long(items: &[(String, Constant)]) -> bool {
    items.iter().any(|(_, item)| match item {
        Constant::Expression(expression) => expression.may_take_long(),
        Constant::Variable { .. }
        | Constant::Database
        | Constant::User
        | Constant::CurrentUser
        | Constant::Version
        | Constant::ConnectionId
        | Constant::LastInsertId
        | Constant::RowCount
        | Constant::FoundRows
        | Constant::UtcTimestamp => false,
    })
}

/// `work`: what expressions may still take.
fn value(
    node: &Node,
    session: &Session,
    constant: Constant,
    work: &mut usize,
) -> Result<Value, Failure> {
    let text = |text: &str| Value::Str(text.to_owned());
    let account = || Value::Str(format!("{}@{}", session.user, session.host));
    let unix_s = node.clock.unix_us().div_euclid(1_000_000);
    Ok(match constant {
        Constant::Variable { scope, name } => variables::read(node, session, scope, &name)?,
        Constant::Database => session.database.clone().map_or(Value::Null, Value::Str),
        Constant::User | Constant::CurrentUser => account(),
        Constant::Version => text(VERSION),
        Constant::ConnectionId => Value::Int(i128::from(session.id.0)),
        Constant::LastInsertId => session.last_insert_id(),
        Constant::RowCount => Value::Int(i128::from(session.row_count)),
        Constant::FoundRows => Value::Int(i128::from(session.found_rows)),
        Constant::UtcTimestamp => Value::Str(civil(unix_s)),
        Constant::Expression(expression) => {
            value_of_its_moment(&expression, work).ok_or_else(too_much_work)?
        }
    })
}

pub(super) fn too_much_work() -> Failure {
    let message = "the items take too much work without a table: SELECT fewer at a time";
    Failure::new(errors::LIMIT, message.to_owned())
}
