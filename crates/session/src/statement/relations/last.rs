//! What is told of the session's last statement.

use super::{Asked, NUMBER, Relation, Rows, named, number, text};
use crate::errors::{self, Failure};
use crate::profiled::Profiled;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "system.meta",
        columns: named!(variable_name, value),
        asks: None,
        rows: |asked| Ok(pairs(asked.session.meta.lines.iter().cloned())),
    },
    Relation {
        name: "system.plan",
        columns: named!(variable, value),
        asks: None,
        rows: |asked| {
            let profiled = asked.session.profiled.iter();
            let trees = profiled.flat_map(Profiled::trees);
            Ok(pairs(
                trees.map(|tree| ("transformed_tree".to_owned(), tree)),
            ))
        },
    },
    Relation {
        name: "system.profile",
        columns: named!(status, duration, switches: NUMBER, percent),
        asks: None,
        rows: profile,
    },
    Relation {
        name: "system.scroll",
        columns: named!(scroll_token),
        asks: None,
        rows: |asked| {
            let token = asked.session.scroll.iter();
            Ok(token.map(|token| vec![text(token)]).collect())
        },
    },
    Relation {
        name: "system.warnings_count",
        columns: named!(count: NUMBER),
        asks: None,
        rows: |asked| Ok(vec![vec![number(asked.session.warning_count())]]),
    },
    Relation {
        name: "system.warnings",
        columns: named!(level, code: NUMBER, message),
        asks: None,
        rows: |asked| {
            let code = i64::from(errors::WARNING_ERRNO);
            let warnings = asked.session.warnings.iter();
            let row = |message: &String| vec![text("Warning"), number(code), text(message)];
            Ok(warnings.map(row).collect())
        },
    },
];

/// Rows of names and values.
pub(super) fn pairs(rows: impl Iterator<Item = (String, String)>) -> Rows {
    let row = |(name, value): (String, String)| vec![text(name), text(value)];
    rows.map(row).collect()
}

/// The steps of the last SELECT that was profiled, in Manticore's columns.
fn profile(asked: &Asked<'_>) -> Result<Rows, Failure> {
    let times = asked.session.profiled.iter().flat_map(Profiled::times);
    let times: Vec<_> = times.collect();
    let all = times.last().map_or(1, |(.., us)| *us).max(1);
    let rows = times.into_iter().map(|(name, count, us)| {
        vec![
            text(name),
            text(format!("{:.6}", us as f64 / 1e6)),
            number(count),
            text(format!("{:.2}", us as f64 * 100.0 / all as f64)),
        ]
    });
    Ok(rows.collect())
}
