//! Texts that a request of JSON sends for a json column.
//!
//! Example: `{"j": "5"}` and `{"j": "abc"}` store these texts, which `j = '5'` and `j = 'abc'` find. `{"j": "{\"a\": 1}"}` stores the
//! object, since clients of Manticore send documents so. In SQL each text for a json column is JSON.

use engine::Write;
use relation::expression::Expression;
use relation::request::{Assignment, Insert, Update};
use relation::schema::ColumnType;

use crate::node::Node;

/// Makes JSON strings of the texts of a write that are set as a whole json column.
pub fn of_write(node: &Node, write: &mut Write) {
    match write {
        Write::Insert(insert) | Write::Upsert { insert, .. } => of_insert(node, insert),
        Write::Update(update) => of_update(node, update),
        Write::Delete(_) | Write::Planned(_) | Write::Backfill(_) => {}
    }
}

/// Makes JSON strings of the texts that an INSERT sets as a whole json column.
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

/// As [`of_insert`], of an UPDATE.
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
