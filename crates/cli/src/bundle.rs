//! The bundled posts, for the demo. `bench` has this file as a module, too. `crates/cli/data/README.md` names their source.

/// NDJSON, compressed by zstd.
pub(crate) static POSTS: &[u8] = include_bytes!("../data/posts.ndjson.zst");
