//! Shows hits while the posts stream. It reads them from the table `hits`, as any client would.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use client::Client;

use super::queries::{BODY, SHOWN, SUB, Saved};
use super::screen::Screen;
use super::{Result, failed, marks};

/// Time between two looks at the table `hits`.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Most lines shown after a look.
const LOOK_LINES: usize = 3;

/// The newest hit of each query in a look: community and body of the post, by query id.
type Newest = BTreeMap<usize, (String, String)>;

/// A reader of the table `hits`, and its progress.
pub(super) struct Watch<'a> {
    saved: &'a [Saved],
    looked_at: Option<Instant>,
    /// Hits of posts up to this id have been shown or skipped.
    seen_to: u64,
    looks: usize,
}

impl<'a> Watch<'a> {
    pub(super) fn new(saved: &'a [Saved]) -> Watch<'a> {
        Watch {
            saved,
            looked_at: None,
            seen_to: 0,
            looks: 0,
        }
    }

    /// Looks, if the last look is [`LOOK_EVERY`] ago. `stored_to` is the id of the last stored post.
    pub(super) fn look(
        &mut self,
        screen: &mut Screen,
        client: &mut Client,
        stored_to: u64,
    ) -> Result<()> {
        if self.looked_at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return Ok(());
        }
        let newest = self.newest(client)?;
        self.seen_to = stored_to;
        self.looked_at = Some(Instant::now());
        self.looks += 1;
        // Show other queries each time.
        let lines = LOOK_LINES.min(newest.len());
        let skip = self.looks * LOOK_LINES % newest.len().max(1);
        for (id, (sub, body)) in newest.iter().cycle().skip(skip).take(lines) {
            if let Some(query) = self.saved.get(id - 1) {
                show(screen, query, sub, body);
            }
        }
        Ok(())
    }

    fn newest(&self, client: &mut Client) -> Result<Newest> {
        let sql = format!(
            "SELECT query_id, sub, body FROM hits WHERE query_id <= {SHOWN} AND doc_id > {}",
            self.seen_to
        );
        let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
        let mut newest = Newest::new();
        let mut keep = |row: &[Option<&[u8]>]| {
            if let [Some(query), Some(sub), Some(body)] = row
                && let Ok(id) = text(query).parse()
            {
                newest.insert(id, (text(sub), text(body)));
            }
        };
        client
            .query_rows(&sql, &mut keep)
            .map_err(failed("reading hits"))?;
        Ok(newest)
    }
}

/// A line such as `hit  "star wars"  movies: the new *Star* *Wars* film`.
fn show(screen: &mut Screen, query: &Saved, sub: &str, body: &str) {
    let line = format!("{sub}: {body}");
    let shift = sub.len() + 2;
    let in_body = marks::of(&query.root, BODY, body);
    let mut marks = marks::of(&query.root, SUB, sub);
    marks.extend(
        in_body
            .into_iter()
            .map(|mark| mark.start + shift..mark.end + shift),
    );
    screen.hit(&query.text, &line, &marks);
}
