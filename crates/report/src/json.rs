//! JSON: one object, as docs/report.md says. Keys stand in the order of the document.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::document::{Cell, Document, Table};
use crate::names::Names;

impl Document {
    /// The document in one line.
    #[must_use]
    pub fn json(&self) -> String {
        // Texts and finite numbers always have a form.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// The keys of a section's pictures and tables.
#[derive(serde::Serialize)]
struct Outline<'a> {
    title: &'a str,
    text: &'a [String],
    pictures: Vec<String>,
    tables: Vec<String>,
}

impl Serialize for Document {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut names = Names::without(&["title", "notes", "sections"]);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("title", &self.title)?;
        map.serialize_entry("notes", &self.notes)?;
        for fact in &self.facts {
            map.serialize_entry(&names.next(&fact.name), &fact.value)?;
        }
        let mut outlines = Vec::new();
        for section in &self.sections {
            let (mut pictures, mut tables) = (Vec::new(), Vec::new());
            for picture in &section.pictures {
                pictures.push(names.next(&picture.name));
                map.serialize_entry(&pictures[pictures.len() - 1], &picture.values())?;
            }
            for table in &section.tables {
                tables.push(names.next(&table.name));
                map.serialize_entry(&tables[tables.len() - 1], table)?;
            }
            outlines.push(Outline {
                title: &section.title,
                text: &section.text,
                pictures,
                tables,
            });
        }
        map.serialize_entry(
            "sections",
            &Sections {
                document: self,
                outlines,
            },
        )?;
        map.end()
    }
}

struct Sections<'a> {
    document: &'a Document,
    outlines: Vec<Outline<'a>>,
}

impl Serialize for Sections<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut names = Names::without(&[]);
        let mut map = serializer.serialize_map(Some(self.outlines.len()))?;
        for (section, outline) in self.document.sections.iter().zip(&self.outlines) {
            map.serialize_entry(&names.next(&section.name), outline)?;
        }
        map.end()
    }
}

impl Serialize for Table {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut names = Names::without(&[]);
        let keys: Vec<String> = self
            .columns
            .iter()
            .map(|column| names.next(&column.name))
            .collect();
        let mut list = serializer.serialize_seq(Some(self.rows.len()))?;
        for row in &self.rows {
            list.serialize_element(&Row { keys: &keys, row })?;
        }
        list.end()
    }
}

struct Row<'a> {
    keys: &'a [String],
    row: &'a [Cell],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.keys.len()))?;
        for (number, key) in self.keys.iter().enumerate() {
            map.serialize_entry(key, self.row.get(number).unwrap_or(&Cell::Nothing))?;
        }
        map.end()
    }
}

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Cell::Text(text) => serializer.serialize_str(text),
            Cell::Whole(number) => serializer.serialize_i64(*number),
            Cell::Nothing | Cell::Decimal(_) => match self.number() {
                Some(number) => serializer.serialize_f64(number),
                None => serializer.serialize_unit(),
            },
        }
    }
}
