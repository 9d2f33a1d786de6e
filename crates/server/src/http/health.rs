//! Health and numbers.

use std::fmt::Write;

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

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
    let text = exposition(&door.node.samples());
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
