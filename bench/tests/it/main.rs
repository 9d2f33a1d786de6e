//! The benchmarks against a real server.
#![expect(
    clippy::unwrap_used,
    reason = "what a test needs and does not get is its failure"
)]

mod compare;
mod figures;
mod server;
