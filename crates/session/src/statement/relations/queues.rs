//! Queues and their groups, and Q4M's status.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use engine::QueueReport;
use relation::value::Value;

use super::{Asked, NUMBER, Relation, Rows, named, number, text};
use crate::errors::Failure;

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "system.queues",
        columns: named!(
            queue, group, rows: NUMBER, owned: NUMBER, waiting: NUMBER, delayed: NUMBER,
            redelivered: NUMBER, restored: NUMBER, oldest_s: NUMBER, paused,
        ),
        asks: None,
        rows: queues,
    },
    Relation {
        name: "system.engine_queue_status",
        columns: named!(type, name, status),
        asks: None,
        rows: engine_status,
    },
];

/// A row for each queue, and one for each of its groups.
fn queues(asked: &Asked<'_>) -> Result<Rows, Failure> {
    let now_us = asked.node.clock.unix_us();
    asked.gather(asked.queues()?, |report| Ok(lines(report, now_us)))
}

/// A queue's row and a row for each of its groups. What does not apply is NULL.
fn lines(report: QueueReport, now_us: i64) -> Rows {
    let yes = |is: bool| text(if is { "YES" } else { "NO" });
    let age = |oldest_us: i64| number(now_us.saturating_sub(oldest_us).max(0) / 1_000_000);
    let mut lines = vec![vec![
        text(&*report.queue),
        text(""),
        number(report.rows),
        number(report.owned),
        number(report.waiting),
        number(report.delayed),
        number(report.redelivered),
        number(report.restored),
        report.oldest_us.map_or(Value::Null, age),
        yes(report.paused),
    ]];
    lines.extend(report.groups.into_iter().map(|group| {
        vec![
            text(&*report.queue),
            text(group.group),
            number(group.rows),
            number(group.owned),
            Value::Null,
            Value::Null,
            number(group.redelivered),
            Value::Null,
            Value::Null,
            yes(group.is_paused),
        ]
    }));
    lines
}

/// Q4M's text, with the numbers of it that this server has.
fn engine_status(asked: &Asked<'_>) -> Result<Rows, Failure> {
    let node = asked.node;
    let engine = node.engine()?.status();
    let counters = &node.counters;
    let calls = [
        ("queue_wait", &counters.queue_waits),
        ("queue_end", &counters.queue_ends),
        ("queue_abort", &counters.queue_aborts),
        ("queue_rowid", &counters.queue_rowids),
        ("queue_set_srcid", &counters.queue_set_srcids),
    ]
    .map(|(name, counter)| (name, counter.load(Ordering::Relaxed)));
    let mut lines = String::new();
    section(
        &mut lines,
        "I/O calls",
        &[
            ("sys_write", engine.batches_total),
            ("sys_sync", engine.syncs_total),
        ],
    );
    section(
        &mut lines,
        "Writer thread",
        &[
            ("append", engine.queue_put_total),
            ("remove", engine.queue_ended_total),
        ],
    );
    let mut high = vec![
        ("rows_written", engine.queue_put_total),
        ("rows_removed", engine.queue_ended_total),
    ];
    high.extend(calls);
    section(&mut lines, "High-level stats", &high);
    Ok(vec![vec![text("QUEUE"), text(""), text(lines)]])
}

fn section(lines: &mut String, title: &str, numbers: &[(&str, u64)]) {
    // Writing into a String cannot fail.
    let _ = write!(lines, "\n{title}\n------------------------------------\n");
    for (name, number) in numbers {
        let _ = writeln!(lines, "{name:<16} {number:>20}");
    }
}
