//! Conditions on the attributes of posts.

use super::Post;
use crate::{random::XorShift, workload::push_literal};

/// Draws a filter; every second query has none. The constants come from drawn posts.
pub(super) fn draw(posts: &[Post], random: &mut XorShift) -> String {
    if random.below(2) == 0 {
        return String::new();
    }
    let kind = random.below(6);
    let mut post = || &posts[random.below(posts.len())];
    match kind {
        0 => format!("score>{}", post().score),
        1 => format!("score<={}", post().score),
        2 => {
            let (a, b) = (post().score, post().score);
            format!("score BETWEEN {} AND {}", a.min(b), a.max(b))
        }
        3 => format!("ts>={}", post().seconds),
        4 => format!("sub<>{} AND score>{}", literal(&post().sub), post().score),
        _ => {
            let subs = [(); 3].map(|()| literal(&post().sub));
            format!("sub IN ({})", subs.join(","))
        }
    }
}

fn literal(text: &str) -> String {
    let mut quoted = String::new();
    push_literal(&mut quoted, text);
    quoted
}
