//! Followers: clients that are shown messages as they are taken.
//!
//! # Example
//! A client follows `web*` and reads slowly. Messages of `web`, `website` and `mail` are taken:
//!
//! | taken | waits for the client | skipped |
//! |---|---|---|
//! | `web`: 600 KiB | 600 KiB | 0 |
//! | `mail`: 1 message | 600 KiB | 0 |
//! | `website`: 10 messages of 60 KiB | 7 of them more: 1,020 KiB | 3 |
//! | the client reads | nothing | it is told of 3 |
//!
//! Invariants: a follower never holds a sender back; messages are shown after their sync, those of one connection in their order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use collect::Incoming;
use tokio::sync::Notify;

/// Followers at a time.
const FOLLOWERS_MAX: usize = 32;
/// Bytes that wait for one follower.
const WAITING_BYTES_MAX: usize = 1 << 20;
/// A longer message is shown up to here. Bytes.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// All followers of a server.
#[derive(Default)]
pub(crate) struct Followers {
    count: AtomicUsize,
    all: Mutex<Vec<Arc<Follower>>>,
}

struct Follower {
    /// A category, or the beginning of categories.
    name: Vec<u8>,
    is_prefix: bool,
    waiting: Mutex<Waiting>,
    came: Notify,
}

/// Messages that wait for a follower, in order; the skipped ones came behind them.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) messages: Vec<Shown>,
    bytes: usize,
    pub(crate) skipped: u64,
}

/// A message as it is shown.
pub(crate) struct Shown {
    pub(crate) category: Box<[u8]>,
    /// At most [`SHOWN_BYTES_MAX`].
    pub(crate) body: Box<[u8]>,
    /// Length of the whole message, in bytes.
    pub(crate) length: usize,
}

/// One follower, until it is dropped.
pub(crate) struct Following {
    followers: Arc<Followers>,
    follower: Arc<Follower>,
}

impl Followers {
    /// Follows a category, or with a `*` at the end all whose names begin so. `None`: there are [`FOLLOWERS_MAX`].
    pub(crate) fn follow(self: &Arc<Self>, category: &str) -> Option<Following> {
        let prefix = category.strip_suffix('*');
        let follower = Arc::new(Follower {
            name: prefix.unwrap_or(category).into(),
            is_prefix: prefix.is_some(),
            waiting: Mutex::default(),
            came: Notify::new(),
        });
        let mut all = self.all();
        if all.len() >= FOLLOWERS_MAX {
            return None;
        }
        all.push(Arc::clone(&follower));
        self.count.store(all.len(), Ordering::Relaxed);
        Some(Following {
            followers: Arc::clone(self),
            follower,
        })
    }

    /// Shows messages that were taken, but those whose category has no store. Cost: one load while nobody follows.
    pub(crate) fn offer<'m>(
        &self,
        messages: impl Iterator<Item = Incoming<'m>> + Clone,
        has_store: impl Fn(&[u8]) -> bool,
    ) {
        if self.count.load(Ordering::Relaxed) == 0 {
            return;
        }
        for follower in self.all().iter() {
            let mut waiting = lock(&follower.waiting);
            for message in messages.clone() {
                if follower.follows(message.category) && has_store(message.category) {
                    waiting.add(&message);
                }
            }
            follower.came.notify_one();
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Follower>>> {
        lock(&self.all)
    }
}

impl Follower {
    fn follows(&self, category: &[u8]) -> bool {
        match self.is_prefix {
            true => category.starts_with(&self.name),
            false => category == self.name,
        }
    }
}

impl Waiting {
    fn add(&mut self, message: &Incoming<'_>) {
        let shown = message.body.get(..SHOWN_BYTES_MAX).unwrap_or(message.body);
        let bytes = size_of::<Shown>() + message.category.len() + shown.len();
        if self.skipped > 0 || self.bytes + bytes > WAITING_BYTES_MAX {
            self.skipped += 1;
            return;
        }
        self.bytes += bytes;
        self.messages.push(Shown {
            category: message.category.into(),
            body: shown.into(),
            length: message.body.len(),
        });
    }

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.skipped == 0
    }
}

impl Following {
    /// Waits until something may wait.
    pub(crate) async fn came(&self) {
        self.follower.came.notified().await;
    }

    /// Takes what waits.
    pub(crate) fn take(&self) -> Waiting {
        std::mem::take(&mut *lock(&self.follower.waiting))
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let mut all = self.followers.all();
        all.retain(|other| !Arc::ptr_eq(other, &self.follower));
        self.followers.count.store(all.len(), Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(followers: &Followers, messages: &[(&str, usize)]) {
        let bodies: Vec<Vec<u8>> = messages
            .iter()
            .map(|(_, length)| vec![b'x'; *length])
            .collect();
        let offered = messages.iter().zip(&bodies);
        let offered =
            offered.map(|((category, _), body)| Incoming::from((category.as_bytes(), &body[..])));
        followers.offer(offered, |category| category != b"dropped");
    }

    #[test]
    fn a_follower_gets_its_categories_in_order_and_is_told_what_it_was_too_slow_for() {
        let followers = Arc::new(Followers::default());
        offer(&followers, &[("web", 1)]);
        let [all, web, prefix] = ["*", "web", "we*"].map(|name| followers.follow(name).unwrap());
        offer(
            &followers,
            &[("web", 1), ("mail", 2), ("dropped", 9), ("wefts", 3)],
        );
        let lengths = |waiting: Waiting| -> Vec<usize> {
            assert_eq!(waiting.skipped, 0);
            waiting.messages.iter().map(|shown| shown.length).collect()
        };
        assert_eq!(lengths(all.take()), [1, 2, 3]);
        assert_eq!(lengths(web.take()), [1]);
        assert_eq!(lengths(prefix.take()), [1, 3]);
        for _ in 0..100 {
            offer(&followers, &[("web", 100_000)]);
        }
        offer(&followers, &[("web", 1)]);
        let slow = web.take();
        assert_eq!(slow.messages.len() as u64 + slow.skipped, 101);
        assert!(slow.bytes <= WAITING_BYTES_MAX && slow.messages.len() > 10);
        assert!(
            slow.messages
                .iter()
                .all(|shown| shown.length == 100_000 && shown.body.len() == 65_536)
        );
        assert!(web.take().is_empty());
    }

    #[test]
    fn a_follower_that_goes_gives_its_place_to_another() {
        let followers = Arc::new(Followers::default());
        let mut all: Vec<Following> = (0..FOLLOWERS_MAX)
            .map(|_| followers.follow("a").unwrap())
            .collect();
        assert!(followers.follow("a").is_none());
        all.pop();
        assert!(followers.follow("a").is_some());
        drop(all);
        assert_eq!(followers.count.load(Ordering::Relaxed), 0);
    }
}
