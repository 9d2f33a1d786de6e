//! Standing queries of a person at a terminal: of a file, or one.

use std::collections::BTreeMap;
use std::sync::Arc;

use language::analysis::Analyzer;
use language::tree::Node;
use percolate::{QuerySet, Snapshot, StandingQuery};

/// Name of the only field, which is the line.
const FIELD: &str = "line";

/// Compiled queries.
pub(crate) struct Queries {
    pub(crate) snapshot: Arc<Snapshot>,
    /// Warnings of queries that probably mean something else than intended, with their lines.
    pub(crate) warnings: Vec<String>,
    roots: BTreeMap<u64, Node>,
}

impl Queries {
    /// Parses a query, or `id TAB query`, from each line. Skips empty lines.
    ///
    /// # Errors
    /// A message for every bad line, with the line and the byte in its query.
    pub(crate) fn read(bytes: &[u8]) -> Result<Queries, Vec<String>> {
        let mut set = QuerySet::new();
        let (mut roots, mut lines) = (BTreeMap::new(), BTreeMap::new());
        let (mut warnings, mut bad) = (Vec::new(), Vec::new());
        for (number, line) in (1_u64..).zip(bytes.split(|byte| *byte == b'\n')) {
            let Ok(line) = std::str::from_utf8(line) else {
                bad.push(format!("line {number}: not UTF-8"));
                continue;
            };
            if line.trim().is_empty() {
                continue;
            }
            let (id, text) = parted(line).unwrap_or((number, line.trim()));
            let parsed = match language::parse(text, &[FIELD], &Analyzer::default()) {
                Ok(parsed) => parsed,
                Err(error) => {
                    bad.push(format!("line {number}: {error}"));
                    continue;
                }
            };
            if let Some(other) = lines.insert(id, number) {
                bad.push(format!(
                    "line {number}: id {id} is that of line {other} too"
                ));
            }
            let said = parsed.warnings.iter();
            warnings.extend(said.map(|warning| format!("line {number}: {warning}")));
            let query = StandingQuery {
                id,
                text: text.into(),
                ..StandingQuery::default()
            };
            set.insert(Arc::new(query), &parsed.root, None);
            roots.insert(id, parsed.root);
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        Ok(Queries {
            snapshot: set.snapshot(),
            warnings,
            roots,
        })
    }

    /// The parsed tree of a query.
    pub(crate) fn root(&self, id: u64) -> Option<&Node> {
        self.roots.get(&id)
    }
}

/// Splits `id TAB query`; `None`: the line has no such id.
fn parted(line: &str) -> Option<(u64, &str)> {
    let (id, text) = line.split_once('\t')?;
    Some((id.trim().parse().ok()?, text.trim()))
}
