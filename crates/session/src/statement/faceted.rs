//! FACET: groups of the rows that a SELECT finds, as result sets behind its own.
//!
//! Example: `SELECT id FROM t WHERE MATCH('fox') LIMIT 2 FACET city FACET tags`.
//!
//! ```text
//! Execution::facets   one pass over the rows groups them by city and by each tag
//! Execution::select   the two best rows
//! Outcome::Several    the rows, the groups by city, the groups by tags
//! ```
//!
//! All of them read one snapshot, in one memory, until one switch stops them. SHOW META and FOUND_ROWS() tell of the SELECT.

use std::sync::Arc;

use relation::options::Options;
use relation::request::{Grouping, JoinedSelect, Select};
use wire::sql::Faceted;

use super::select::Shared;
use super::{Execution, FoundRows, Outcome, unexpected};
use crate::errors::Failure;

/// Copies of WHERE while the FACETs are made.
const FILTER_COPIES: u64 = 3;

impl Execution<'_> {
    /// Does a SELECT with FACETs. Nothing is sent before all of them are made.
    pub(super) async fn faceted(&mut self, faceted: Faceted) -> Result<Outcome, Failure> {
        let Faceted {
            select,
            grouping,
            facets,
        } = faceted;
        let table = select.table.clone();
        let options = Options::parse(&select.options);
        let mut options = options.map_err(|error| Failure::refused(error.to_string()))?;
        options.scroll = None; // it is the SELECT that is read in pages
        let seen = self.seen(&[&table]).await?;
        let search = self.begin_search(&table, &options);
        let held = Arc::new(self.node.budget.grant());
        if let Some(filter) = &select.filter {
            held.take(FILTER_COPIES * filter.memory() as u64)?;
        }
        let shared = Shared {
            seen,
            held: Arc::clone(&held),
            interrupt: Arc::clone(&search.interrupt),
        };
        let answers = self.facets(&select, facets, &options, &shared).await?;
        let outer = self.shared.replace(shared);
        let head = self.head(select, grouping).await;
        self.shared = outer;
        let mut head = head?;
        search.found();
        head.search = Some(search);
        let behind = answers.into_iter().map(|answer| FoundRows {
            answer,
            table: table.clone(),
            counted: false,
            search: None,
            held: Some(Arc::clone(&held)),
            is_costly: true,
            members: Vec::new(),
        });
        Ok(Outcome::Several(
            std::iter::once(head).chain(behind).collect(),
        ))
    }

    /// The rows of the SELECT itself.
    async fn head(
        &mut self,
        select: Select,
        grouping: Option<Grouping>,
    ) -> Result<FoundRows, Failure> {
        let outcome = match grouping {
            None => self.select(select).await?,
            Some(_) => {
                let joined = JoinedSelect::of(select);
                self.joined(JoinedSelect { grouping, ..joined }).await?
            }
        };
        match outcome {
            Outcome::Rows(found) => Ok(*found),
            _ => Err(unexpected()),
        }
    }
}
