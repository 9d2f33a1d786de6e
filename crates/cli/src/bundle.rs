//! The bundled posts, for the demo and the benchmarks; `crates/cli/data/README.md` tells where they come from.

/// NDJSON, compressed by zstd.
pub(crate) static POSTS: &[u8] = include_bytes!("../data/posts.ndjson.zst");
