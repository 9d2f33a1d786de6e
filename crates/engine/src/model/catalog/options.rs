//! Options of queues: their text form for records and SHOW CREATE TABLE, and their checks in CREATE TABLE.

use ::queue::{QUEUE_OPTIONS, Slot};
use relation::schema::{Column, ColumnType};

use super::Catalog;
use crate::command::{Definition, Kind, QueueOptions, WhenFull};
use crate::error::{Error, Result};
use crate::limits::{GROUPS_MAX, WAIT_US_MAX};

/// The options that are set, each with its value as CREATE TABLE takes it.
pub(super) fn pairs(options: &QueueOptions) -> Vec<(&'static str, String)> {
    let mut options = options.clone();
    let each = QUEUE_OPTIONS.iter();
    each.filter_map(|(name, slot)| Some((*name, written(slot(&mut options))?)))
        .collect()
}

/// The value of an option; `None`: it is not set.
fn written(slot: Slot<'_>) -> Option<String> {
    match slot {
        Slot::Time(us) => us.map(time),
        Slot::Count(count) => count.map(|count| count.to_string()),
        Slot::Number(number) | Slot::Size(number) => number.map(|number| number.to_string()),
        Slot::Column(name) | Slot::Queue(name) => name.clone(),
        Slot::Names(names) => (!names.is_empty()).then(|| names.join(",")),
        Slot::WhenFull(when) => {
            let named = WhenFull::NAMES.iter().find(|(of, _)| of == when);
            let is_set = *when != WhenFull::default();
            named.filter(|_| is_set).map(|(_, name)| (*name).to_owned())
        }
    }
}

/// Sets an option as [`pairs`] wrote it. False: no option of a queue has this name. `None`: the value is not valid.
pub(super) fn read_option(options: &mut QueueOptions, name: &str, value: &str) -> Option<bool> {
    let Some(slot) = options.slot(name) else {
        return Some(false);
    };
    match slot {
        Slot::Time(us) => *us = Some(time_us(value)?),
        Slot::Count(count) => *count = Some(value.parse().ok()?),
        Slot::Number(number) | Slot::Size(number) => *number = Some(value.parse().ok()?),
        Slot::Column(name) | Slot::Queue(name) => *name = Some(value.to_owned()),
        Slot::Names(names) => *names = value.split(',').map(str::to_owned).collect(),
        Slot::WhenFull(when) => {
            *when = WhenFull::NAMES.iter().find(|(_, name)| *name == value)?.0;
        }
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
    for (_, slot) in QUEUE_OPTIONS {
        match slot(options) {
            Slot::Column(name) | Slot::Queue(name) => {
                *name = name.as_ref().map(|name| name.to_lowercase());
            }
            Slot::Names(names) => names
                .iter_mut()
                .for_each(|name| *name = name.to_lowercase()),
            Slot::Time(_)
            | Slot::Count(_)
            | Slot::Number(_)
            | Slot::Size(_)
            | Slot::WhenFull(_) => {}
        }
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
    if options.unique_by.is_some() != options.unique_for_us.is_some() {
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
    let mut options = options.clone();
    for (name, slot) in QUEUE_OPTIONS {
        let number = match slot(&mut options) {
            Slot::Time(Some(us)) if *us > WAIT_US_MAX => {
                return Err(Error::Limit {
                    what: "seconds of a queue's option",
                    max: WAIT_US_MAX / 1_000_000,
                });
            }
            Slot::Count(count) => count.map(u64::from),
            Slot::Time(number) | Slot::Number(number) | Slot::Size(number) => *number,
            Slot::Column(_) | Slot::Queue(_) | Slot::Names(_) | Slot::WhenFull(_) => None,
        };
        if number == Some(0) {
            return Err(Error::invalid(format!("{name}= is at least 1")));
        }
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
    for (option, name) in options.clone().columns() {
        let columns = &mut definition.columns.iter();
        let column = columns.find(|column| column.name == name);
        let Some(column) = column else {
            return Err(Error::UnknownColumn {
                column: name,
                table: definition.name.clone(),
            });
        };
        let range = column.kind.range();
        let is_time = column.kind == ColumnType::Timestamp
            || range.is_some_and(|range| range.contains(&i64::MAX.into()));
        if option == "deliver_at" && !is_time {
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
