//! The posts: the bundled posts, which a thread unpacks, or a file of the user's.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use ruzstd::decoding::StreamingDecoder;
use serde::Deserialize;

use super::{Failure, Result, failed};
use crate::bundle;

/// Posts in one INSERT.
pub(super) const BATCH_POSTS: usize = 500;
/// Posts in the bundle.
pub(super) const BUNDLED_POSTS: usize = 100_000;
/// Batches that are unpacked ahead of the batch that is being sent.
const BATCHES_AHEAD: usize = 8;

/// A post. Its id is its number in the stream, from 1.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub(super) struct Post {
    #[serde(skip)]
    pub(super) id: u64,
    #[serde(alias = "text")]
    pub(super) body: String,
    #[serde(default)]
    pub(super) sub: String,
    #[serde(default = "Post::no_time")]
    pub(super) ts: String,
    #[serde(default)]
    pub(super) score: i32,
}

impl Post {
    fn no_time() -> String {
        "1970-01-01T00:00:00Z".to_owned()
    }
}

/// Up to [`BATCH_POSTS`] posts with ids that follow each other; never empty.
pub(super) type Batch = Arc<[Post]>;

/// A stream of batches.
pub(super) struct Posts {
    total: usize,
    bad: Vec<usize>,
    /// Batches that [`Posts::look_ahead`] has read and that are not taken yet.
    seen: std::collections::VecDeque<Batch>,
    coming: Receiver<Result<Batch>>,
}

impl Posts {
    /// The user's posts, or the bundled ones.
    pub(super) fn open(file: Option<&Path>) -> Result<Posts> {
        match file {
            None => Ok(Posts::bundled()),
            Some(path) => Posts::read(path),
        }
    }

    fn bundled() -> Posts {
        let (send, coming) = sync_channel(BATCHES_AHEAD);
        thread::spawn(move || {
            if let Err(failure) = unpack(&send) {
                // Fails if the demo has ended early.
                let _ = send.send(Err(failure));
            }
        });
        Posts {
            total: BUNDLED_POSTS,
            bad: Vec::new(),
            seen: Default::default(),
            coming,
        }
    }

    fn read(path: &Path) -> Result<Posts> {
        let text = std::fs::read(path).map_err(failed(path.display()))?;
        let (mut posts, mut bad) = (Vec::new(), Vec::new());
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice::<Post>(line) {
                Ok(post) => posts.push(Post {
                    id: posts.len() as u64 + 1,
                    ..post
                }),
                Err(_) => bad.push(index + 1),
            }
        }
        if posts.is_empty() {
            return Err(Failure(format!(
                "{}: no line of it is a post",
                path.display()
            )));
        }
        let seen = posts.chunks(BATCH_POSTS).map(Batch::from).collect();
        Ok(Posts {
            total: posts.len(),
            bad,
            seen,
            coming: sync_channel(0).1,
        })
    }

    /// Count of posts.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Numbers, from 1, of the lines of the user's file that are no posts.
    pub(super) fn bad(&self) -> &[usize] {
        &self.bad
    }

    /// At most `batches` first batches, without taking them from the stream.
    pub(super) fn look_ahead(&mut self, batches: usize) -> Result<Vec<Batch>> {
        while self.seen.len() < batches
            && let Ok(batch) = self.coming.recv()
        {
            self.seen.push_back(batch?);
        }
        Ok(self.seen.iter().take(batches).cloned().collect())
    }
}

impl Iterator for Posts {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Result<Batch>> {
        match self.seen.pop_front() {
            Some(batch) => Some(Ok(batch)),
            None => self.coming.recv().ok(),
        }
    }
}

/// Unpacks the bundle and sends it on, until its end or until the receiver is gone.
fn unpack(send: &SyncSender<Result<Batch>>) -> Result<()> {
    let doing = "the bundled posts cannot be read";
    let decoder = StreamingDecoder::new(bundle::POSTS).map_err(failed(doing))?;
    let mut batch = Vec::with_capacity(BATCH_POSTS);
    for (line, id) in BufReader::with_capacity(1 << 16, decoder).lines().zip(1..) {
        let post: Post =
            serde_json::from_str(&line.map_err(failed(doing))?).map_err(failed(doing))?;
        batch.push(Post { id, ..post });
        if batch.len() == BATCH_POSTS && send.send(Ok(std::mem::take(&mut batch).into())).is_err() {
            return Ok(());
        }
    }
    if !batch.is_empty() {
        let _ = send.send(Ok(batch.into()));
    }
    Ok(())
}
