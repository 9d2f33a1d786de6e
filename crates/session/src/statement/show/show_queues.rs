//! SHOW QUEUES and SHOW ENGINE QUEUE STATUS.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use engine::{QueueReport, Snapshot};

use super::super::Outcome;
use super::matching;
use crate::errors::Failure;
use crate::node::Node;

/// Headers of SHOW QUEUES.
const HEADERS: [&str; 10] = [
    "Queue",
    "Group",
    "Rows",
    "Owned",
    "Waiting",
    "Delayed",
    "Redelivered",
    "Restored",
    "Oldest_s",
    "Paused",
];

/// SHOW QUEUES: a line for each queue, and one for each of its groups.
pub(super) fn queues(snapshot: &Snapshot, now_us: i64, like: Option<String>) -> Outcome {
    let rows = snapshot
        .queues()
        .into_iter()
        .flat_map(|report| lines(report, now_us));
    matching(&HEADERS, rows.collect(), like)
}

/// Cells of a queue's line and of a line for each of its groups. A cell that does not apply is empty.
fn lines(report: QueueReport, now_us: i64) -> Vec<Vec<String>> {
    let yes = |is: bool| if is { "YES" } else { "NO" }.to_owned();
    let age = |oldest_us: i64| (now_us.saturating_sub(oldest_us).max(0) / 1_000_000).to_string();
    let mut lines = vec![vec![
        report.queue.to_string(),
        String::new(),
        report.rows.to_string(),
        report.owned.to_string(),
        report.waiting.to_string(),
        report.delayed.to_string(),
        report.redelivered.to_string(),
        report.restored.to_string(),
        report.oldest_us.map(age).unwrap_or_default(),
        yes(report.paused),
    ]];
    lines.extend(report.groups.into_iter().map(|group| {
        vec![
            report.queue.to_string(),
            group.group,
            group.rows.to_string(),
            group.owned.to_string(),
            String::new(),
            String::new(),
            group.redelivered.to_string(),
            String::new(),
            String::new(),
            yes(group.is_paused),
        ]
    }));
    lines
}

/// SHOW ENGINE QUEUE STATUS: Q4M's text, with the numbers of it that this server has.
pub(super) fn engine_status(node: &Node) -> Result<Outcome, Failure> {
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
    Ok(matching(&["Type", "Name", "Status"], vec![row], None))
}

fn section(text: &mut String, title: &str, numbers: &[(&str, u64)]) {
    // Writing into a String cannot fail.
    let _ = write!(text, "\n{title}\n------------------------------------\n");
    for (name, number) in numbers {
        let _ = writeln!(text, "{name:<16} {number:>20}");
    }
}
