//! Options of queues: their text form for records and SHOW CREATE TABLE, and their checks in CREATE TABLE.

use query::schema::{Column, ColumnType};

use super::Catalog;
use crate::command::{Definition, Kind, QueueOptions, WhenFull};
use crate::error::{Error, Result};
use crate::limits::{GROUPS_MAX, WAIT_US_MAX};

/// The options that are set, each with its value as CREATE TABLE takes it.
pub(super) fn pairs(options: &QueueOptions) -> Vec<(&'static str, String)> {
    let mut pairs = Vec::new();
    let mut put = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value)));
    put("visible_again", options.visible_again_us.map(time));
    put(
        "max_deliveries",
        options.max_deliveries.map(|most| most.to_string()),
    );
    put("dead", options.dead.clone());
    let groups = (!options.groups.is_empty()).then(|| options.groups.join(","));
    put("groups", groups);
    put("rows_max", options.rows_max.map(|most| most.to_string()));
    put("bytes_max", options.bytes_max.map(|most| most.to_string()));
    let drops = options.when_full == WhenFull::DropOldest;
    put("when_full", drops.then(|| "drop_oldest".to_owned()));
    put("order_by", options.order_by.clone());
    put("unique_by", options.unique_by.clone());
    let window = (options.unique_for_us > 0).then(|| time(options.unique_for_us));
    put("unique_for", window);
    put("deliver_at", options.deliver_at.clone());
    pairs
}

/// Sets an option as [`pairs`] wrote it. False: no option of a queue has this name. `None`: the value is not valid.
pub(super) fn read_option(options: &mut QueueOptions, name: &str, value: &str) -> Option<bool> {
    let text = || Some(value.to_owned());
    match name {
        "visible_again" => options.visible_again_us = Some(time_us(value)?),
        "max_deliveries" => options.max_deliveries = Some(value.parse().ok()?),
        "dead" => options.dead = text(),
        "groups" => options.groups = value.split(',').map(str::to_owned).collect(),
        "rows_max" => options.rows_max = Some(value.parse().ok()?),
        "bytes_max" => options.bytes_max = Some(value.parse().ok()?),
        "when_full" if value == "drop_oldest" => options.when_full = WhenFull::DropOldest,
        "when_full" => return None,
        "order_by" => options.order_by = text(),
        "unique_by" => options.unique_by = text(),
        "unique_for" => options.unique_for_us = time_us(value)?,
        "deliver_at" => options.deliver_at = text(),
        _ => return Some(false),
    }
    Some(true)
}

/// Microseconds in the largest unit that gives a whole number, of `s`, `ms` and `us`.
fn time(us: u64) -> String {
    match us {
        _ if us.is_multiple_of(1_000_000) => format!("{}s", us / 1_000_000),
        _ if us.is_multiple_of(1000) => format!("{}ms", us / 1000),
        _ => format!("{us}us"),
    }
}

fn time_us(text: &str) -> Option<u64> {
    let (number, unit) = if let Some(number) = text.strip_suffix("us") {
        (number, 1)
    } else if let Some(number) = text.strip_suffix("ms") {
        (number, 1000)
    } else {
        (text.strip_suffix('s')?, 1_000_000)
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

/// Puts the names of the options in lower case, as they are stored: columns, groups and the queue of `dead=`.
pub(super) fn lower_case(options: &mut QueueOptions) {
    let named = [
        &mut options.dead,
        &mut options.order_by,
        &mut options.unique_by,
        &mut options.deliver_at,
    ];
    for name in named.into_iter().flatten().chain(&mut options.groups) {
        *name = name.to_lowercase();
    }
}

/// Refuses options that contradict each other, that exceed a limit, or that name a column which the queue does not have.
pub(super) fn check(definition: &Definition, options: &QueueOptions) -> Result<()> {
    check_numbers(options)?;
    check_groups(&options.groups)?;
    if options.dead.is_some() && options.max_deliveries.is_none() {
        return Err(Error::invalid(
            "dead= needs max_deliveries=: after so many deliveries a row goes there",
        ));
    }
    if options.unique_by.is_some() != (options.unique_for_us > 0) {
        return Err(Error::invalid(
            "unique_by= and unique_for= go together: a column, and for how long",
        ));
    }
    if options.when_full == WhenFull::DropOldest
        && options.rows_max.is_none()
        && options.bytes_max.is_none()
    {
        return Err(Error::invalid("when_full= needs rows_max= or bytes_max="));
    }
    if options.dead.as_ref() == Some(&definition.name) {
        return Err(Error::invalid("dead= names the queue itself"));
    }
    check_columns(definition, options)
}

fn check_numbers(options: &QueueOptions) -> Result<()> {
    let numbers = [
        ("visible_again", options.visible_again_us),
        ("max_deliveries", options.max_deliveries.map(u64::from)),
        ("rows_max", options.rows_max),
        ("bytes_max", options.bytes_max),
    ];
    if let Some((name, _)) = numbers.iter().find(|(_, number)| *number == Some(0)) {
        return Err(Error::invalid(format!("{name}= is at least 1")));
    }
    let times = [options.visible_again_us, Some(options.unique_for_us)];
    if times.into_iter().flatten().any(|us| us > WAIT_US_MAX) {
        return Err(Error::Limit {
            what: "seconds of a queue's option",
            max: WAIT_US_MAX / 1_000_000,
        });
    }
    Ok(())
}

fn check_groups(groups: &[String]) -> Result<()> {
    if groups.len() > GROUPS_MAX {
        return Err(Error::Limit {
            what: "consumer groups of a queue",
            max: GROUPS_MAX as u64,
        });
    }
    for (place, group) in groups.iter().enumerate() {
        if groups.iter().take(place).any(|before| before == group) {
            return Err(Error::invalid(format!("groups= names '{group}' twice")));
        }
        if group.is_empty() || group.contains(|c: char| c == ',' || c.is_control()) {
            return Err(Error::invalid(format!("groups= cannot name '{group}'")));
        }
    }
    Ok(())
}

/// Checks that the columns of `order_by=`, `unique_by=` and `deliver_at=` exist, and that the column of `deliver_at=` can hold a
/// time. Errors: `UnknownColumn`, `Invalid`.
pub(super) fn check_columns(definition: &Definition, options: &QueueOptions) -> Result<()> {
    let named = [&options.order_by, &options.unique_by, &options.deliver_at];
    for name in named.into_iter().flatten() {
        let column = definition
            .columns
            .iter()
            .find(|column| column.name == *name);
        let Some(column) = column else {
            return Err(Error::UnknownColumn {
                column: name.clone(),
                table: definition.name.clone(),
            });
        };
        let is_time = matches!(
            column.kind,
            ColumnType::Timestamp | ColumnType::Bigint | ColumnType::Integer { bytes: 8, .. }
        );
        if options.deliver_at.as_ref() == Some(name) && !is_time {
            return Err(Error::invalid(format!(
                "deliver_at='{name}' is neither a TIMESTAMP (seconds since 1970 UTC) nor a BIGINT (microseconds)"
            )));
        }
    }
    Ok(())
}

/// The definition of the queue that `dead=` names, if it does not exist yet: a queue with the same columns and no options. `None`
/// if it exists, or without `dead=`.
///
/// # Errors
/// `Invalid` if the name is taken by a table that cannot hold the rows.
pub(crate) fn missing_dead(catalog: &Catalog, queue: &Definition) -> Result<Option<Definition>> {
    let Kind::Queue(options) = &queue.kind else {
        return Ok(None);
    };
    let Some(name) = &options.dead else {
        return Ok(None);
    };
    match catalog.find(name).ok().and_then(|table| catalog.get(table)) {
        None => Ok(Some(Definition {
            name: name.clone(),
            kind: Kind::Queue(QueueOptions::default()),
            ..queue.clone()
        })),
        Some(dead) => check_dead(queue, dead).map(|()| None),
    }
}

/// Checks that rows of `queue` go into `dead`: it is a queue without `max_deliveries=`, and has every column of `queue`, of the
/// same type, nullable where that of `queue` is. Errors: `Invalid`.
pub(super) fn check_dead(queue: &Definition, dead: &Definition) -> Result<()> {
    let name = &dead.name;
    let Kind::Queue(options) = &dead.kind else {
        return Err(Error::invalid(format!("dead='{name}' is not a queue")));
    };
    if options.max_deliveries.is_some() {
        return Err(Error::invalid(format!(
            "dead='{name}' has max_deliveries= of its own"
        )));
    }
    let holds = |column: &&Column| {
        let theirs = dead
            .columns
            .iter()
            .find(|theirs| theirs.name == column.name);
        theirs.is_none_or(|theirs| {
            theirs.kind != column.kind || (column.nullable && !theirs.nullable)
        })
    };
    match queue.columns.iter().find(holds) {
        None => Ok(()),
        Some(column) => Err(Error::invalid(format!(
            "dead='{name}' cannot hold column '{}' of '{}'",
            column.name, queue.name
        ))),
    }
}
