//! The crate from outside, in a process of its own.

#![allow(clippy::unwrap_used)]

#[cfg(target_os = "linux")]
mod open_files;
