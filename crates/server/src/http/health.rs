//! Health checks and metrics: /livez, /readyz, /metrics.

use std::fmt::Write;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::QueueReport;
use serde_json::json;

use super::reply::{self, Refusal};
use super::{Door, Guest, histograms};
use session::counters::{Sample, in_base_units};
use session::errors::{self, Failure};
use session::{Action, Deed};

/// GET /livez: always 200, since the process answers.
pub(super) async fn livez() -> Response {
    reply::json_bytes(StatusCode::OK, br#"{"status":"alive"}"#.to_vec())
}

/// GET /readyz: 200 if every statement is answered, writes included; else 503 with the reason. A 200 names the files that
/// searches found damaged: the rest is still served, so a load balancer should not leave for it.
pub(super) async fn readyz(State(door): State<Door>) -> Response {
    match door.server.ready() {
        Ok(()) => {
            let mut body = json!({"status": "ready"});
            let damaged = door.server.damaged_files();
            if !damaged.is_empty() {
                body["damaged"] = damaged.into();
            }
            reply::json_bytes(StatusCode::OK, body.to_string().into_bytes())
        }
        Err(failure) => {
            // Load balancers look for 503, whatever the reason.
            let kind = errors::Kind {
                status: 503,
                ..failure.kind
            };
            Refusal(Failure { kind, ..failure }).into_response()
        }
    }
}

/// GET /metrics: all numbers, in the text format of Prometheus.
pub(super) async fn metrics(State(door): State<Door>) -> Response {
    let mut text = exposition(&door.server.samples());
    let guest = Guest::new(&door.server);
    if let Ok(snapshot) = guest.snapshot(&guest.session, Action(Deed::Read, None)) {
        queues(&snapshot.queues(), guest.clock.unix_us(), &mut text);
    }
    if let Some(work) = guest.work() {
        histograms::expose(&mut text, work);
    }
    (
        [(
            header::CONTENT_TYPE,
            "text/plain; version=0.0.4; charset=utf-8",
        )],
        text,
    )
        .into_response()
}

/// The samples as text. Samples of one name with different labels are neighbours, so each name gets help and type once.
fn exposition(samples: &[Sample]) -> String {
    let mut text = String::new();
    let mut last = "";
    for sample in samples.iter().filter(|sample| !sample.metric.is_empty()) {
        let name = sample.metric.split('{').next().unwrap_or(sample.metric);
        if name != last {
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "# HELP {name} {}\n# TYPE {name} {}",
                sample.help,
                shape(name)
            );
            last = name;
        }
        let number = in_base_units(sample.metric, sample.value);
        let _ = writeln!(text, "{} {number}", sample.metric);
    }
    text
}

/// The Prometheus type of a metric: counters end in `_total`.
fn shape(name: &str) -> &'static str {
    match name.ends_with("_total") {
        true => "counter",
        false => "gauge",
    }
}

/// Appends the metrics of each queue and each consumer group, one metric after the other.
fn queues(reports: &[QueueReport], now_us: i64, text: &mut String) {
    let age_s = |oldest_us: i64| now_us.saturating_sub(oldest_us).max(0) as u64 / 1_000_000;
    let of_queue = |report: &QueueReport| {
        let oldest_s = report.oldest_us.map_or(0, age_s);
        [
            report.rows,
            report.owned,
            report.waiting,
            report.delayed,
            u64::from(report.paused),
            oldest_s,
            report.redelivered,
            report.restored,
        ]
    };
    let lines = reports.iter().map(|report| {
        let labels = format!("queue=\"{}\"", label(&report.queue));
        (labels, of_queue(report))
    });
    numbers(&OF_QUEUES, &lines.collect::<Vec<_>>(), text);
    let lines = reports.iter().flat_map(|report| {
        report.groups.iter().map(|group| {
            let (queue, name) = (label(&report.queue), label(&group.group));
            let labels = format!("queue=\"{queue}\",group=\"{name}\"");
            let paused = u64::from(group.is_paused);
            (labels, [group.rows, group.owned, paused, group.redelivered])
        })
    });
    numbers(&OF_GROUPS, &lines.collect::<Vec<_>>(), text);
}

/// Metrics of a queue, each `name help`. The order is that of the values in [`queues`].
const OF_QUEUES: [&str; 8] = [
    "seine_queue_depth Rows of a queue, owned ones included.",
    "seine_queue_owned Rows of a queue that somebody has.",
    "seine_queue_waiters Sessions that wait for a row of a queue.",
    "seine_queue_delayed Rows of a queue whose time has not come.",
    "seine_queue_paused 1 while no row of a queue is handed out.",
    "seine_queue_oldest_age_seconds Age of a queue's oldest row; 0: there is none.",
    "seine_queue_redelivered_total Rows of a queue handed out again.",
    "seine_queue_restored_total Times that a row of a queue was given back.",
];

/// Metrics of a consumer group, each `name help`. The order is that of the values in [`queues`].
const OF_GROUPS: [&str; 4] = [
    "seine_queue_group_depth Rows that a consumer group is not done with.",
    "seine_queue_group_owned Rows that somebody of a consumer group has.",
    "seine_queue_group_paused 1 while no row is handed out to a consumer group.",
    "seine_queue_group_redelivered_total Rows handed out again to a consumer group.",
];

/// Appends each metric with a line for each set of labels. Without labels it appends nothing.
fn numbers<const N: usize>(metrics: &[&str; N], lines: &[(String, [u64; N])], text: &mut String) {
    if lines.is_empty() {
        return;
    }
    for (index, metric) in metrics.iter().enumerate() {
        let name = metric.split(' ').next().unwrap_or(metric);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# HELP {metric}\n# TYPE {name} {}", shape(name));
        for (labels, values) in lines {
            let _ = writeln!(text, "{name}{{{labels}}} {}", values[index]);
        }
    }
}

/// The escaped value of a label.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}
