//! The engine through its public interface.

mod crash;
mod driver;
mod faults;
mod laws;
mod model;
mod scripts;
mod statement;
mod workload;
