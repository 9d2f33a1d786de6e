//! How large the tables of searches are: the log's thread looks, so that no search pays for it.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Instant;

use session::{Action, Deed, Session};

use crate::limits::QUERY_LOG_SIZES_FOR;
use crate::server::{OWN_SESSION, Server};

/// Bytes and parts of tables.
type Size = Option<(u64, u64)>;

/// The sizes of tables at one moment.
pub(super) struct Sizes {
    server: Weak<Server>,
    own: Session,
    known: BTreeMap<Vec<u8>, Size>,
    /// When the first of them was looked up.
    since: Instant,
}

impl Sizes {
    pub(super) fn new(server: Weak<Server>) -> Sizes {
        Sizes {
            server,
            own: Session::new(OWN_SESSION, String::new(), String::new(), None),
            known: BTreeMap::new(),
            since: Instant::now(),
        }
    }

    /// Bytes and parts of all tables of a list with commas; `None`: one of them is no search table.
    pub(super) fn of(&mut self, tables: &[u8]) -> Size {
        if let Some(known) = self.known.get(tables) {
            return *known;
        }
        let size = self.look(tables);
        self.known.insert(tables.to_vec(), size);
        size
    }

    fn look(&self, tables: &[u8]) -> Size {
        let server = self.server.upgrade()?;
        let snapshot = server.snapshot(&self.own, Action(Deed::Read, None)).ok()?;
        let names = std::str::from_utf8(tables).ok()?.split(',');
        let mut all = (0, 0);
        for name in names {
            let (bytes, parts) = snapshot.table_size(name)?;
            all = (all.0 + bytes, all.1 + parts);
        }
        Some(all)
    }

    /// Looks anew from now on, if the known sizes are old.
    pub(super) fn forget_old(&mut self) {
        if self.since.elapsed() > QUERY_LOG_SIZES_FOR {
            self.known.clear();
            self.since = Instant::now();
        }
    }
}
