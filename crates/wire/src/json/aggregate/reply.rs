//! Writes the groups of an aggregation.

use std::collections::HashSet;

use super::{Aggregation, Named, Range, Shape};
use crate::json::reply::{Cell, SearchReply, Writer};

/// The buckets of one aggregation, in the order of its groups: for each [`group`](Self::group), then its parts, each begun and ended,
/// then [`group_end`](Self::group_end). Without [`end`](Self::end) the reply is no JSON.
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
        Buckets::opened(of, &mut reply.json)
    }

    fn opened(of: &'a Aggregation, json: &mut Writer) -> Buckets<'a> {
        json.name(&of.name).open("{");
        if let Some(meta) = &of.meta {
            json.name("meta").number(meta);
        }
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

    /// Opens the bucket of a group, with its columns in the order of the FACET, but for the keys around it. False: the group has no
    /// bucket.
    ///
    /// # Errors
    /// A message: the buckets are members of an object, and two keys, as 1 and `"1"`, give one name.
    pub fn group(&mut self, cells: &[Cell<'_>], reply: &mut SearchReply) -> Result<bool, String> {
        let json = &mut reply.json;
        let keys = match &self.of.shape {
            Shape::Value => {
                json.name("value").cell(cell(cells, 0));
                return Ok(false);
            }
            Shape::Key | Shape::Ranges(_) => 1,
            Shape::Moment { .. } => 2,
            Shape::Composite(sources) => sources.len(),
            Shape::Facet(others) => 1 + others.len(),
        };
        if let Shape::Ranges(ranges) = &self.of.shape {
            // Of a document outside of all ranges the index is −1.
            let Cell::Int(index) = cell(cells, 0) else {
                return Ok(false);
            };
            let Some(range) = usize::try_from(index)
                .ok()
                .and_then(|index| ranges.get(index))
            else {
                return Ok(false);
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
        for (named, place) in self.of.values.iter().zip(keys..) {
            named.write(cell(cells, place), json);
        }
        Ok(true)
    }

    /// Closes the bucket of the last group.
    pub fn group_end(&self, reply: &mut SearchReply) {
        reply.json.close("}");
    }

    /// The name of a group's bucket, which no bucket before it has.
    fn member_name(&mut self, cells: &[Cell<'_>]) -> Result<String, String> {
        let is_moment = matches!(self.of.shape, Shape::Moment { .. });
        let name = member_name(cell(cells, usize::from(is_moment)));
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
    pub fn end(self, reply: &mut SearchReply) {
        self.closed(&mut reply.json);
    }

    fn closed(mut self, json: &mut Writer) {
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
        let Shape::Composite(sources) = &self.of.shape else {
            let key = cell(cells, 0);
            let Shape::Moment { is_utc } = self.of.shape else {
                json.name("key").cell(key);
                return;
            };
            match (key, cell(cells, 1)) {
                (Cell::Int(seconds), Cell::Str(text)) if self.of.in_milliseconds => {
                    json.name("key").cell(Cell::Int(seconds * 1_000));
                    let (text, zone) = match is_utc {
                        true => (text, "Z"),
                        false => text.split_at(text.rfind(['+', '-']).unwrap_or(text.len())),
                    };
                    json.name("key_as_string")
                        .string(&format!("{text}.000{zone}"));
                }
                (key, text) => {
                    json.name("key").cell(key);
                    json.name("key_as_string").cell(text);
                }
            }
            return;
        };
        let from = json.name("key").out.len();
        json.open("{");
        for (source, place) in sources.iter().zip(0..) {
            let key = match cell(cells, place) {
                Cell::Int(seconds) if source.is_in_milliseconds => Cell::Int(seconds * 1_000),
                key => key,
            };
            json.name(&source.name).cell(key);
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
            for named in &self.of.values {
                named.write(Cell::Null, json);
            }
            for part in &self.of.parts {
                Buckets::opened(part, json).closed(json);
            }
            json.close("}");
        }
    }
}

impl Named {
    fn write(&self, value: Cell<'_>, json: &mut Writer) {
        json.name(&self.name).open("{");
        if let Some(meta) = &self.meta {
            json.name("meta").number(meta);
        }
        json.name("value").cell(value);
        json.close("}");
    }
}

impl Range {
    fn write(&self, is_keyed: bool, json: &mut Writer) {
        if !is_keyed {
            json.name("key").string(&self.key);
        }
        for (name, end) in [("from", &self.from), ("to", &self.to)] {
            let Some(end) = end else { continue };
            json.name(name).number(&end.shown);
            // Without milliseconds a moment's text is shown in the place of its number.
            if let (Some(text), true) = (&end.text, end.shown.is_number()) {
                json.name(&format!("{name}_as_string")).string(text);
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
