//! Health and numbers.

use std::fmt::Write;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::QueueReport;

use super::Door;
use super::reply::{self, Refusal};
use crate::errors::{self, Failure};
use crate::status::{Sample, Shape};

/// Whether the process answers at all: always 200.
pub async fn livez() -> Response {
    reply::json_bytes(StatusCode::OK, br#"{"status":"alive"}"#.to_vec())
}

/// Whether statements are answered, writes included: 200, or 503 with the reason.
pub async fn readyz(State(door): State<Door>) -> Response {
    match door.node.ready() {
        Ok(()) => reply::json_bytes(StatusCode::OK, br#"{"status":"ready"}"#.to_vec()),
        Err(failure) => {
            // A load balancer looks for 503, whatever the reason.
            let kind = errors::Kind {
                status: 503,
                ..failure.kind
            };
            Refusal(Failure { kind, ..failure }).into_response()
        }
    }
}

/// Every number, in the text format of Prometheus.
pub async fn metrics(State(door): State<Door>) -> Response {
    let mut text = exposition(&door.node.samples());
    if let Ok(engine) = door.node.engine() {
        queues(&engine.snapshot().queues(), &mut text);
        crate::status::work::expose(&mut text, engine.work());
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

/// Help and type once a name; samples that differ in labels only stand next to each other in the table.
fn exposition(samples: &[Sample]) -> String {
    let mut text = String::new();
    let mut last = "";
    for sample in samples.iter().filter(|sample| !sample.metric.is_empty()) {
        let name = sample.metric.split('{').next().unwrap_or(sample.metric);
        if name != last {
            let shape = match sample.shape {
                Shape::Counter => "counter",
                Shape::Gauge => "gauge",
            };
            // Writing into a String cannot fail.
            let _ = writeln!(text, "# HELP {name} {}\n# TYPE {name} {shape}", sample.help);
            last = name;
        }
        let _ = writeln!(text, "{} {}", sample.metric, sample.number());
    }
    text
}

/// What each queue holds, one metric after the other.
fn queues(reports: &[QueueReport], text: &mut String) {
    type Number = fn(&QueueReport) -> u64;
    let metrics: [(&str, &str, &str, Number); 4] = [
        (
            "seine_queue_depth",
            "gauge",
            "Rows of a queue, owned ones included.",
            |queue| queue.rows,
        ),
        (
            "seine_queue_owned",
            "gauge",
            "Rows of a queue that somebody has.",
            |queue| queue.owned,
        ),
        (
            "seine_queue_waiters",
            "gauge",
            "Sessions that wait for a row of a queue.",
            |queue| queue.waiting,
        ),
        (
            "seine_queue_restored_total",
            "counter",
            "Times that a row of a queue was given back.",
            |queue| queue.restored,
        ),
    ];
    for (name, shape, help, number) in metrics {
        if reports.is_empty() {
            return;
        }
        // Writing into a String cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {shape}");
        for report in reports {
            let queue = label(&report.queue);
            let _ = writeln!(text, "{name}{{queue=\"{queue}\"}} {}", number(report));
        }
    }
}

/// A label's value, escaped.
fn label(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}
