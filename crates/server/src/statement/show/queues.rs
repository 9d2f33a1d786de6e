//! SHOW QUEUES and SHOW ENGINE QUEUE STATUS.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use engine::QueueReport;

use super::super::Outcome;
use super::{matching, table};
use crate::errors::Failure;
use crate::node::Node;

/// SHOW QUEUES: a line for each queue.
pub fn queues(node: &Node, like: Option<String>) -> Result<Outcome, Failure> {
    let headers = ["Queue", "Rows", "Owned", "Waiting", "Restored", "Paused"];
    let row = |report: QueueReport| {
        vec![
            report.queue,
            report.rows.to_string(),
            report.owned.to_string(),
            report.waiting.to_string(),
            report.restored.to_string(),
            if report.paused { "YES" } else { "NO" }.to_owned(),
        ]
    };
    let reports = node.engine()?.snapshot().queues();
    Ok(matching(
        &headers,
        reports.into_iter().map(row).collect(),
        like,
    ))
}

/// SHOW ENGINE QUEUE STATUS: Q4M's text, with those of its numbers that there are here.
pub fn engine_status(node: &Node) -> Result<Outcome, Failure> {
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
    let mut text = String::new();
    section(
        &mut text,
        "I/O calls",
        &[
            ("sys_write", engine.batches_total),
            ("sys_sync", engine.syncs_total),
        ],
    );
    section(
        &mut text,
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
    section(&mut text, "High-level stats", &high);
    let row = vec!["QUEUE".to_owned(), String::new(), text];
    Ok(table(&["Type", "Name", "Status"], vec![row]))
}

fn section(text: &mut String, title: &str, numbers: &[(&str, u64)]) {
    // Writing into a String cannot fail.
    let _ = write!(text, "\n{title}\n------------------------------------\n");
    for (name, number) in numbers {
        let _ = writeln!(text, "{name:<16} {number:>20}");
    }
}
