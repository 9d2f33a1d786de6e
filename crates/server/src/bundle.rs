//! The bundled posts, for the demo and the benchmarks; `crates/server/data/README.md` tells where they come from.

/// NDJSON, compressed by zstd.
pub static POSTS: &[u8] = include_bytes!("../data/posts.ndjson.zst");
