//! SELECT on search tables.

use std::sync::Arc;

use index::{Control, OnDamage};
use language::tree::{Outline, Query};
use percolate::StandingQuery;
use relation::bind::{IMPLICIT_LIMIT, implied};
use relation::options::{Options, Ranker};
use relation::request::Select;
use relation::schema::text_names;
use relation::scroll::Token;

use super::{SearchView, Snapshot, View};
use crate::command::{Answer, Damaged, Definition, Kind, Rows};
use crate::error::{Error, Result};
use crate::failure;

impl Snapshot {
    /// SELECT on a search or pq table. Queues are read by [`crate::Command::Read`], which takes pq tables too.
    ///
    /// Without LIMIT a MATCH gives 20 rows, with a warning where it finds more, and any other SELECT every row that it finds.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for a queue; `UnknownColumn`, `Query`, `NotYet`; `SearchMemory`; `Interrupted`;
    /// `Corrupt` of a segment, also while the rows are read.
    pub fn select(&self, select: &Select, options: &Options, control: &Control) -> Result<Answer> {
        let source = match self.search_source(&select.table)? {
            Some(source) => source,
            None => return self.standing_source(&select.table)?.select(select, control),
        };
        let view = &source.view;
        let name = view.definition.name.clone();
        let (mut bound, query) = source.bound(select, options, control)?;
        let refused = |error| failure::of_bind(&name, error);
        let is_implied = bound.page().map_err(refused)?;
        let answer = view.rows.stream(&bound, query.as_ref(), control);
        let answer = answer.map_err(failure::of_index)?;
        let damaged = Damaged::default();
        for index::Warning::Damaged { file, offset, what } in answer.warnings {
            let sentence = lacking(&name, &file, offset, what);
            damaged.add(file, sentence);
        }
        let mut warnings = query.map_or_else(Vec::new, |query| query.warnings);
        for index::Warning::Damaged { file, offset, what } in answer.damaged_keys {
            warnings.push(slow(&name, &file, offset, what));
        }
        if is_implied && answer.total_found > IMPLICIT_LIMIT {
            warnings.push(implied(answer.total_found));
        }
        let order = bound.scroll.as_ref().map(|page| page.order.clone());
        let token = order
            .zip(answer.last)
            .map(|(order, last)| Token { order, last }.encode());
        let scroll = token.transpose().map_err(Error::invalid)?;
        let skips = control.on_damage == OnDamage::Skip && !bound.is_lookup();
        let (table, noted) = (name.clone(), damaged.clone());
        let rows = answer.rows.filter_map(move |row| match row {
            Err(index::Error::Corrupt { file, offset, what }) if skips => {
                let sentence = lacking(&table, &file, offset, what);
                noted.add(file, sentence);
                None
            }
            row => Some(row.map_err(failure::of_index)),
        });
        Ok(Answer {
            columns: answer.columns,
            kept: bound.kept,
            rows: Rows::reading(rows).noting(damaged),
            total_found: answer.total_found,
            keywords: answer.keywords,
            warnings,
            partial: answer.partial,
            scroll,
        })
    }
}

/// The step of a profile whose detail is the tree of a MATCH.
pub const PARSE: &str = "parse";

/// Characters of a tree that a profile keeps.
const OUTLINE_CHARS_MAX: usize = 64 << 10;

/// What a profile tells of a parsed text.
pub(super) fn outlined(query: &Result<Query>, view: &SearchView) -> (Option<u64>, String) {
    let Ok(query) = query else {
        return (None, String::new());
    };
    let fields = text_names(&view.definition.columns);
    let mut outline = format!("{:#}", query.root.outline(&fields));
    if let Some((end, _)) = outline.char_indices().nth(OUTLINE_CHARS_MAX) {
        outline.truncate(end);
        outline.push('…');
    }
    (None, outline)
}

/// The warning of a whole answer for which a damaged key was of no use.
fn slow(table: &str, file: &str, offset: u64, what: &str) -> String {
    format!(
        "all rows of a segment were read: a KEY of table '{table}' cannot be used, file {file} is damaged at byte {offset}: \
         {what}; OPTIMIZE writes it again"
    )
}

/// The warning of an answer that lacks the rows of a damaged file.
fn lacking(table: &str, file: &str, offset: u64, what: &str) -> String {
    format!(
        "the answer is partial: rows of table '{table}' cannot be read, file {file} is damaged at byte {offset}: {what}"
    )
}

/// Parses the text of a MATCH: `match_mode` may rewrite it first, and `boolean_mode` and `not_terms_only_allowed` tell how to read
/// it.
pub(super) fn query_of(text: &str, options: &Options, view: &SearchView) -> Result<Query> {
    let fields = text_names(&view.definition.columns);
    let meant = options.match_mode.map(|mode| mode.query(text));
    let text = meant.as_deref().unwrap_or(text);
    language::parse_as(options.leniency, text, &fields, &view.analyzer).map_err(Error::Query)
}

impl Snapshot {
    /// The tree of a MATCH over a search table. Errors: `NoSuchTable`; `Invalid` for another kind of table; `Query`.
    pub fn outline(&self, table: &str, text: &str, options: &Options) -> Result<Outline> {
        let Some(view) = self.searched(table)? else {
            return Err(Error::invalid(format!("'{table}' is not a search table")));
        };
        let query = query_of(text, options, &view)?;
        let fields = text_names(&view.definition.columns);
        Ok(query.root.outline(&fields))
    }

    /// The ranker that a table sets. A distributed table has that of its local tables if all set the same, else none.
    pub(super) fn ranker_of(&self, table: &Definition) -> Option<Ranker> {
        let locals = match &table.kind {
            Kind::Search(options) => return options.ranker,
            Kind::Distributed { locals } => locals,
            Kind::Percolate { .. } | Kind::Queue(_) => return None,
        };
        let definitions = locals.iter().filter_map(|name| self.definition(name).ok());
        let mut rankers = definitions.map(|local| self.ranker_of(&local));
        let first = rankers.next()?;
        first.filter(|_| rankers.all(|other| other == first))
    }

    /// The queries of a pq table. With `ids`: the queries of these ids, in the order of `ids`; an id without a query is passed
    /// over. `None`: all of them, by rising id.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for a table of another type; `Corrupt` where one of these queries cannot be read.
    pub fn standing_queries(
        &self,
        table: &str,
        ids: Option<&[u64]>,
    ) -> Result<Vec<Arc<StandingQuery>>> {
        let View::Percolate(view) = self.view(table)? else {
            return Err(Error::invalid(format!("'{table}' is not a pq table")));
        };
        let (queries, name) = (&view.queries, &view.definition.name);
        match ids {
            Some(ids) => view.lost.check_ids(name, ids)?,
            None => view.lost.check(name)?,
        }
        Ok(match ids {
            Some(ids) => ids
                .iter()
                .filter_map(|id| queries.get(*id).cloned())
                .collect(),
            None => queries.iter().cloned().collect(),
        })
    }
}
