//! The binary `seine`.

fn main() {}
