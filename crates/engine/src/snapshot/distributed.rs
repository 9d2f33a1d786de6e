//! Distributed tables: several search tables as one.

use std::sync::Arc;

use super::{SearchView, Snapshot, View};
use crate::command::Kind;
use crate::error::{Error, Result};

impl Snapshot {
    /// The rows that a SELECT on this name searches: those of a search table, or of all tables of a distributed table or of
    /// `FROM a, b`, whose rows are then ranked as rows of one table. `None` for a pq table or queue. The checkpoint of a joined view is the
    /// lowest of its tables.
    ///
    /// # Errors
    /// Those of [`Snapshot::definition`].
    pub(super) fn searched(&self, name: &str) -> Result<Option<Arc<SearchView>>> {
        let definition = self.definition(name)?;
        match &definition.kind {
            Kind::Search(_) => self.search_view(name).map(Some),
            Kind::Distributed { locals } => {
                let views: Result<Vec<_>> =
                    locals.iter().map(|name| self.search_view(name)).collect();
                let views = views?;
                let tables: Vec<_> = views.iter().map(|view| Arc::clone(&view.rows)).collect();
                let rows = index::Snapshot::join(&tables);
                let (Some(rows), Some(first)) = (rows, views.first()) else {
                    return Err(Error::internal("a distributed table without tables"));
                };
                Ok(Some(Arc::new(SearchView {
                    analyzer: Arc::clone(&first.analyzer),
                    rows,
                    shards: views
                        .iter()
                        .flat_map(|view| &view.shards)
                        .copied()
                        .collect(),
                    folded: views.iter().map(|view| view.folded).min().unwrap_or(0),
                    definition,
                })))
            }
            Kind::Percolate { .. } | Kind::Queue(_) => Ok(None),
        }
    }

    fn search_view(&self, name: &str) -> Result<Arc<SearchView>> {
        match self.view(name)? {
            View::Search(view) => Ok(Arc::clone(view)),
            _ => Err(Error::internal("a search table is none")),
        }
    }
}
