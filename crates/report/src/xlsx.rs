//! A workbook of a document (ECMA-376, Office Open XML): a sheet for each table.
//!
//! ```text
//! [Content_Types].xml, _rels/.rels                 the same in each workbook
//! xl/workbook.xml, xl/_rels/workbook.xml.rels      names of the sheets
//! xl/styles.xml                                    a format for each unit
//! xl/worksheets/sheet1.xml                         title, notes and facts
//! xl/worksheets/sheet2.xml …                       the values of pictures and the tables, as in CSV
//! ```
//!
//! - A number is a cell of a number, with the format of its column. A whole number above 2^53 is a text, since programs keep a
//!   number as a `double`.
//! - A text is a cell of a text, whatever it begins with: the writer has no cell of a formula.
//! - Equal documents give equal bytes: no time and no name of a machine is in them.

mod archive;
mod sheet;

use std::fmt;
use std::io::{self, Write};

use crate::document::{Cell, Column, Document, Table, Unit};
use crate::escape::{markup, visible};
use archive::Archive;
use sheet::{has_long_text, sheet};

/// Rows of a sheet, with that of the names.
pub const SHEET_ROWS_MAX: usize = 1_048_576;

/// Columns of a sheet.
pub const SHEET_COLUMNS_MAX: usize = 16_384;

/// Characters of the name of a sheet.
const NAME_CHARS_MAX: usize = 31;

/// Why there is no workbook.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkbookError {
    /// A table has more rows or columns than a sheet.
    Table {
        /// The name that the table has in CSV.
        name: String,
        /// Rows without that of the names.
        rows: usize,
        /// Columns, each with a name.
        columns: usize,
    },
    /// The sheets have more than 4 GiB.
    Size,
}

impl fmt::Display for WorkbookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkbookError::Table {
                name,
                rows,
                columns,
            } => write!(
                f,
                "the table {name} has {rows} rows and {columns} columns, and a sheet holds {} and {SHEET_COLUMNS_MAX}",
                SHEET_ROWS_MAX - 1
            ),
            WorkbookError::Size => f.write_str("the sheets have more than 4 GiB"),
        }
    }
}

impl std::error::Error for WorkbookError {}

/// The archive is written into memory, where only its size can be wrong.
impl From<io::Error> for WorkbookError {
    fn from(_: io::Error) -> WorkbookError {
        WorkbookError::Size
    }
}

/// The namespaces of relations: of what they are, and of the parts that list them.
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006/relationships";

const TYPES: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">"#,
    r#"<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>"#,
    r#"<Default Extension="xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"#,
    r#"<Override PartName="/xl/workbook.xml" "#,
    r#"ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>"#,
    r#"<Override PartName="/xl/styles.xml" "#,
    r#"ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>"#,
);

const RELATIONS: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"#,
    r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">"#,
    r#"<Relationship Id="rId1" Target="xl/workbook.xml" "#,
    r#"Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>"#,
);

impl Document {
    /// The document as the bytes of an `.xlsx` file. Its first sheet has title, notes and facts; then each picture's values and each
    /// table have a sheet with the name that they have in CSV, without the characters that no sheet's name has.
    ///
    /// # Errors
    /// A table that no sheet holds, or more than 4 GiB.
    pub fn xlsx(&self) -> Result<Vec<u8>, WorkbookError> {
        let mut tables = vec![self.about()];
        for section in &self.sections {
            tables.extend(section.pictures.iter().map(|picture| picture.values()));
            tables.extend(section.tables.iter().cloned());
        }
        if tables.iter().any(has_long_text) {
            let note = "a cell holds 32,767 characters: longer texts are cut, and end in …";
            tables[0].rows.push(vec!["note".into(), note.into()]);
        }
        let mut archive = Archive::default();
        archive.part("[Content_Types].xml", |out| out.write_all(TYPES.as_bytes()))?;
        archive.part("_rels/.rels", |out| out.write_all(RELATIONS.as_bytes()))?;
        let names = sheet_names(&tables);
        archive.part("xl/workbook.xml", |out| workbook(&names, out))?;
        archive.part("xl/_rels/workbook.xml.rels", |out| {
            relations(names.len(), out)
        })?;
        archive.part("xl/styles.xml", styles)?;
        for (at, table) in tables.iter().enumerate() {
            if table.rows.len() >= SHEET_ROWS_MAX || table.columns.len() > SHEET_COLUMNS_MAX {
                return Err(WorkbookError::Table {
                    name: table.name.clone(),
                    rows: table.rows.len(),
                    columns: table.columns.len(),
                });
            }
            let path = format!("xl/worksheets/sheet{}.xml", at + 1);
            archive.part(&path, |out| sheet(table, out))?;
        }
        Ok(archive.finish()?)
    }

    /// Title, notes and facts as a table: name, value, and what it is in words.
    fn about(&self) -> Table {
        let column = |name: &str| Column::new(name, name, Unit::Text);
        let columns = vec![column("name"), column("value"), column("about")];
        let mut table = Table::new("about", "About", columns);
        let mut row = |name: &str, value: Cell, about: &str| {
            table.rows.push(vec![name.into(), value, about.into()]);
        };
        row("title", self.title.as_str().into(), "");
        for note in &self.notes {
            row("note", note.as_str().into(), "");
        }
        for fact in &self.facts {
            row(&fact.name, fact.value.clone(), &fact.title);
        }
        table
    }
}

/// Names of sheets: without the characters that they may not have, cut, and each once, whatever its letters' case.
fn sheet_names(tables: &[Table]) -> Vec<String> {
    let mut taken: Vec<String> = vec!["history".to_owned()]; // a program keeps it for itself
    let mut names = Vec::with_capacity(tables.len());
    for table in tables {
        let is_allowed = |c: &char| !matches!(c, '[' | ']' | ':' | '*' | '?' | '/' | '\\' | '\'');
        let shown = visible(&table.name);
        let plain: String = shown.chars().filter(is_allowed).collect();
        let plain = match plain.trim() {
            "" => "table",
            plain => plain,
        };
        let mut number = 1;
        let name = loop {
            let end = match number {
                1 => String::new(),
                number => format!("_{number}"),
            };
            // Characters are counted as UTF-16 does.
            let mut room = NAME_CHARS_MAX - end.len();
            let fits = |c: &char| {
                let left = room.checked_sub(c.len_utf16());
                room = left.unwrap_or(0);
                left.is_some()
            };
            let name = plain.chars().take_while(fits).collect::<String>() + &end;
            if !taken.contains(&name.to_lowercase()) {
                break name;
            }
            number += 1;
        };
        taken.push(name.to_lowercase());
        names.push(name);
    }
    names
}

fn workbook(names: &[String], out: &mut dyn Write) -> io::Result<()> {
    let main = sheet::MAIN;
    write!(
        out,
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><workbook xmlns="{main}" xmlns:r="{OFFICE}"><sheets>"#
    )?;
    for (at, name) in names.iter().enumerate() {
        let (name, number) = (markup(name), at + 1);
        write!(
            out,
            r#"<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>"#
        )?;
    }
    out.write_all(b"</sheets></workbook>")
}

fn relations(sheets: usize, out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><Relationships xmlns="{PACKAGE}">"#
    )?;
    for number in 1..=sheets {
        write!(
            out,
            r#"<Relationship Id="rId{number}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>"#
        )?;
    }
    let number = sheets + 1;
    write!(
        out,
        r#"<Relationship Id="rId{number}" Type="{OFFICE}/styles" Target="styles.xml"/></Relationships>"#
    )
}

/// The formats, by the number that [`sheet::format_of`] gives, and bold as the last one.
fn styles(out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        r#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?><styleSheet xmlns="{}"><numFmts count="9">"#,
        sheet::MAIN
    )?;
    for places in 1..=9_usize {
        let (id, zeros) = (sheet::DECIMAL_FORMAT + places, "0".repeat(places));
        write!(
            out,
            r##"<numFmt numFmtId="{id}" formatCode="#,##0.{zeros}"/>"##
        )?;
    }
    out.write_all(
        concat!(
            r#"</numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>"#,
            r#"<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>"#,
            r#"<fills count="2"><fill><patternFill patternType="none"/></fill>"#,
            r#"<fill><patternFill patternType="gray125"/></fill></fills>"#,
            r#"<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"#,
            r#"<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>"#,
        )
        .as_bytes(),
    )?;
    let formats = sheet::formats();
    write!(out, r#"<cellXfs count="{}">"#, formats.len() + 1)?;
    for id in &formats {
        write!(
            out,
            r#"<xf numFmtId="{id}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>"#
        )?;
    }
    out.write_all(
        concat!(
            r#"<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>"#,
            r#"<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>"#,
        )
        .as_bytes(),
    )
}

#[cfg(test)]
mod tests;
