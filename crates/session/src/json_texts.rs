//! Texts that a request of JSON sends for a json column.
//!
//! Example: `{"j": "5"}` and `{"j": "abc"}` store these texts, which `j = '5'` and `j = 'abc'` find. `{"j": "{\"a\": 1}"}` stores the
//! object, since clients of Manticore send documents so. In SQL each text for a json column is JSON.

use engine::Command;
use query::expression::Expression;
use query::request::{Assignment, Insert, Update};
use query::schema::ColumnType;

use crate::node::Node;

/// Makes JSON strings of the texts of a command that are set as a whole json column.
pub fn of_command(node: &Node, command: &mut Command) {
    match command {
        Command::Insert(insert) => of_insert(node, insert),
        Command::Update(update) => of_update(node, update),
        Command::Many(commands) => {
            let commands = commands.iter_mut();
            commands.for_each(|command| of_command(node, command));
        }
        _ => {} // no other has values of JSON
    }
}

/// See [`of_command`].
pub fn of_insert(node: &Node, insert: &mut Insert) {
    let Some(named) = &insert.columns else {
        return; // documents name their columns
    };
    let json = json_columns(node, &insert.table);
    if json.is_empty() {
        return;
    }
    let places = named.iter().enumerate();
    let places = places.filter(|(_, name)| json.contains(name));
    for (place, _) in places {
        for row in &mut insert.rows {
            if let Some(value) = row.get_mut(place) {
                value.read_by(ColumnType::Json);
            }
        }
    }
}

/// See [`of_command`].
pub fn of_update(node: &Node, update: &mut Update) {
    let json = json_columns(node, &update.table);
    for Assignment {
        column,
        path,
        value,
    } in &mut update.set
    {
        if let (Expression::Literal(value), true) = (value, path.is_empty())
            && json.contains(column)
        {
            value.read_by(ColumnType::Json);
        }
    }
}

/// The names of a table's json columns; none of a table that is not there, for which the command is refused.
fn json_columns(node: &Node, table: &str) -> Vec<String> {
    let definition = node
        .engine()
        .and_then(|engine| Ok(engine.snapshot().definition(table)?));
    let columns = definition.iter().flat_map(|definition| &definition.columns);
    let json = columns.filter(|column| column.kind == ColumnType::Json);
    json.map(|column| column.name.clone()).collect()
}
