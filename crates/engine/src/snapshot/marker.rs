//! The words of rows that made a MATCH find them, for highlights.

use std::ops::Range;
use std::sync::Arc;

use language::analysis::Analyzer;
use language::highlight::ranges_within;
use language::meter::Meter;
use language::tree::Node;
use relation::options::Options;
use relation::schema::text_names;

use super::Snapshot;
use super::select::query_of;
use crate::error::{Error, Result};

/// Finds the words of a MATCH in texts of a search table.
pub struct Marker {
    /// `None`: no word is asked for.
    root: Option<Node>,
    analyzer: Arc<Analyzer>,
    fields: Vec<String>,
}

impl Marker {
    /// Names of the table's text columns, in their order.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// The bytes of the words that stand in the text of a field as the MATCH demands: rising and apart from each other. Cost: as
    /// [`ranges_within`]. Of no use once the meter has stopped.
    #[must_use]
    pub fn marks(&self, field: usize, text: &str, meter: &dyn Meter) -> Vec<Range<usize>> {
        match (&self.root, u8::try_from(field)) {
            (Some(root), Ok(field)) => ranges_within(root, field, text, &self.analyzer, meter),
            _ => Vec::new(),
        }
    }
}

impl Snapshot {
    /// The marker of a MATCH over a search table, or over several as one. An empty text marks nothing.
    ///
    /// # Errors
    /// `NoSuchTable`; `Invalid` for another kind of table; `Query`.
    pub fn marker(&self, table: &str, text: &str, options: &Options) -> Result<Marker> {
        let Some(view) = self.searched(table)? else {
            return Err(Error::invalid(format!("'{table}' is not a search table")));
        };
        let fields = text_names(&view.definition.columns);
        let query = match text.is_empty() {
            true => None,
            false => Some(query_of(text, options, &view)?),
        };
        Ok(Marker {
            root: query.map(|query| query.root),
            analyzer: Arc::clone(&view.analyzer),
            fields: fields.into_iter().map(str::to_owned).collect(),
        })
    }
}
