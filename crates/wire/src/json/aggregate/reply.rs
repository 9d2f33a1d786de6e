//! Writes the groups of an aggregation.

use std::collections::HashSet;

use super::{Aggregation, Range, Shape};
use crate::json::reply::{Cell, SearchReply, Writer};

/// The buckets of one aggregation, in the order of its groups. Without [`end`](Self::end) the reply is no JSON.
#[derive(Debug)]
pub struct Buckets<'a> {
    of: &'a Aggregation,
    /// The range whose bucket is next.
    range: usize,
    /// The keys of the last bucket, as JSON.
    last: Vec<u8>,
    /// Names of the buckets so far, if they are members of an object.
    names: HashSet<String>,
    /// Bytes of these names.
    name_bytes: usize,
}

impl<'a> Buckets<'a> {
    /// Begins the aggregation in the reply.
    pub fn begin(of: &'a Aggregation, reply: &mut SearchReply) -> Buckets<'a> {
        let json = &mut reply.json;
        json.name(&of.name).open("{");
        match (&of.shape, of.is_keyed) {
            (Shape::Value, _) => {}
            (_, true) => json.name("buckets").open("{"),
            (_, false) => json.name("buckets").open("["),
        }
        Buckets {
            of,
            range: 0,
            last: Vec::new(),
            names: HashSet::new(),
            name_bytes: 0,
        }
    }

    /// Memory of the names that it remembers, in bytes.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.name_bytes
    }

    /// Adds a group, with its columns in the order of the FACET.
    ///
    /// # Errors
    /// A message: the buckets are members of an object, and two keys, as 1 and `"1"`, give one name.
    pub fn group(&mut self, cells: &[Cell<'_>], reply: &mut SearchReply) -> Result<(), String> {
        let json = &mut reply.json;
        let keys = match &self.of.shape {
            Shape::Value => {
                json.name("value").cell(cell(cells, 0));
                return Ok(());
            }
            Shape::Key | Shape::Ranges(_) => 1,
            Shape::Moment => 2,
            Shape::Composite(names) => names.len(),
            Shape::Facet(others) => 1 + others.len(),
        };
        if let Shape::Ranges(ranges) = &self.of.shape {
            // Of a document outside of all ranges the index is −1.
            let Cell::Int(index) = cell(cells, 0) else {
                return Ok(());
            };
            let Some(range) = usize::try_from(index)
                .ok()
                .and_then(|index| ranges.get(index))
            else {
                return Ok(());
            };
            self.empty_ranges(ranges, index as usize, json);
            self.range = index as usize + 1;
            self.bucket(json, &range.key, |json| range.write(self.of.is_keyed, json));
        } else {
            let name = match self.of.is_keyed {
                true => self.member_name(cells)?,
                false => String::new(),
            };
            let mut last = std::mem::take(&mut self.last);
            self.bucket(json, &name, |json| self.key(cells, json, &mut last));
            self.last = last;
        }
        json.name("doc_count")
            .cell(cell(cells, cells.len().saturating_sub(1)));
        if let Shape::Facet(others) = &self.of.shape {
            for (name, place) in others.iter().zip(1..) {
                json.name(name).cell(cell(cells, place));
            }
        }
        for (name, place) in self.of.values.iter().zip(keys..) {
            json.name(name).open("{");
            json.name("value").cell(cell(cells, place));
            json.close("}");
        }
        json.close("}");
        Ok(())
    }

    /// The name of a group's bucket, which no bucket before it has.
    fn member_name(&mut self, cells: &[Cell<'_>]) -> Result<String, String> {
        let name = member_name(cell(cells, usize::from(self.of.shape == Shape::Moment)));
        self.name_bytes += size_of::<String>() + name.len();
        match self.names.insert(name.clone()) {
            true => Ok(name),
            false => Err(format!(
                "aggregation '{}': two buckets have the name '{name}': leave out keyed",
                self.of.name
            )),
        }
    }

    /// Ends the aggregation.
    pub fn end(mut self, reply: &mut SearchReply) {
        let json = &mut reply.json;
        if let Shape::Ranges(ranges) = &self.of.shape {
            self.empty_ranges(ranges, ranges.len(), json);
        }
        match (&self.of.shape, self.of.is_keyed) {
            (Shape::Value, _) => {}
            (_, true) => json.close("}"),
            (_, false) => json.close("]"),
        }
        if matches!(self.of.shape, Shape::Composite(_)) && !self.last.is_empty() {
            json.name("after_key").out.append(&mut self.last);
        }
        json.close("}");
    }

    /// Opens a bucket and writes its key.
    fn bucket(&self, json: &mut Writer, name: &str, key: impl FnOnce(&mut Writer)) {
        match self.of.is_keyed {
            true => json.name(name).open("{"),
            false => {
                json.item();
                json.open("{");
            }
        }
        key(json);
    }

    /// Writes the key of a group; of several keys also into `last`.
    fn key(&self, cells: &[Cell<'_>], json: &mut Writer, last: &mut Vec<u8>) {
        let Shape::Composite(names) = &self.of.shape else {
            json.name("key").cell(cell(cells, 0));
            if self.of.shape == Shape::Moment {
                json.name("key_as_string").cell(cell(cells, 1));
            }
            return;
        };
        let from = json.name("key").out.len();
        json.open("{");
        for (name, place) in names.iter().zip(0..) {
            json.name(name).cell(cell(cells, place));
        }
        json.close("}");
        last.clear();
        last.extend_from_slice(&json.out[from..]);
    }

    /// Writes the buckets of the ranges before `to` that no document is in.
    fn empty_ranges(&mut self, ranges: &[Range], to: usize, json: &mut Writer) {
        for range in ranges.get(self.range..to).unwrap_or_default() {
            self.bucket(json, &range.key, |json| range.write(self.of.is_keyed, json));
            json.name("doc_count").number(0);
            for name in &self.of.values {
                json.name(name).open("{");
                json.name("value").cell(Cell::Null);
                json.close("}");
            }
            json.close("}");
        }
    }
}

impl Range {
    fn write(&self, is_keyed: bool, json: &mut Writer) {
        if !is_keyed {
            json.name("key").string(&self.key);
        }
        for (name, end) in [("from", &self.from), ("to", &self.to)] {
            if let Some(end) = end {
                json.name(name).number(end);
            }
        }
    }
}

fn cell<'c>(cells: &[Cell<'c>], place: usize) -> Cell<'c> {
    cells.get(place).copied().unwrap_or(Cell::Null)
}

/// A key as the name of a member.
fn member_name(key: Cell<'_>) -> String {
    if let Cell::Str(text) = key {
        return text.to_owned();
    }
    let mut json = Writer::default();
    json.cell(key);
    let text = String::from_utf8_lossy(&json.out);
    text.trim_matches('"').to_owned()
}
