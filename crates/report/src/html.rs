//! A report as one HTML file.
//!
//! It needs no network: style and script are inside, and a Content-Security-Policy allows these two by their hashes and nothing
//! else. It needs no script either: the script shows the values of a line below the pointer and sorts tables. The exact values of a
//! picture stand in a table below it; those of small multiples, by which a report may have thousands, only in the script's tips.
//!
//! Size: about 60 bytes for a cell of a table, at most 2 kB for a small picture.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

use crate::document::{Cell, Document, Drawing, Fact, Picture, Section, Table, Unit};
use crate::escape::{cut, markup, put, visible};
use crate::names::Names;
use crate::number::{Grouping, exact, shown};
use crate::svg::{LOOK, in_page};

const STYLE: &str = include_str!("html/page.css");
const SCRIPT: &str = include_str!("html/page.js");

/// Longer texts of cells, and of paragraphs, are folded: the reader opens them.
const CELL_CHARS_MAX: usize = 240;
const PARAGRAPH_CHARS_MAX: usize = 1_000;

/// Characters of a folded text that are shown.
const FOLDED_CHARS: usize = 100;

/// A report with fewer sections has no list of them.
const LISTED_SECTIONS_MIN: usize = 3;

/// A longer table scrolls in a window of its own; on paper it is whole.
const OPEN_ROWS_MAX: usize = 30;

impl Document {
    /// The report as one file.
    #[must_use]
    pub fn html(&self) -> String {
        let style = format!("{LOOK}\n{STYLE}");
        let title = markup(&self.title);
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'; script-src '{}'; \
             base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>{style}</style>\n</head>\n\
             <body>\n<header>\n<h1>{title}</h1>\n",
            hash(&style),
            hash(SCRIPT),
        );
        for note in &self.notes {
            put(
                &mut out,
                format_args!(
                    "<div class=\"text note\">{}</div>\n",
                    words(note, PARAGRAPH_CHARS_MAX)
                ),
            );
        }
        facts(&mut out, &self.facts);
        out += "</header>\n";
        let mut names = Names::without(&["tip"]);
        let ids: Vec<String> = self
            .sections
            .iter()
            .map(|section| names.next(&id(&section.name)))
            .collect();
        contents(&mut out, &self.sections, &ids);
        out += "<main>\n";
        for (part, id) in self.sections.iter().zip(&ids) {
            section(&mut out, part, id, &mut names);
        }
        put(
            &mut out,
            format_args!(
                "</main>\n<div id=\"tip\" hidden></div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
            ),
        );
        out
    }
}

/// Source of a style or a script, as a policy names it.
fn hash(text: &str) -> String {
    format!(
        "sha256-{}",
        STANDARD.encode(Sha256::digest(text.as_bytes()))
    )
}

/// A name as the id of an element.
fn id(name: &str) -> String {
    let safe = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '-'
        }
    };
    name.chars().map(safe).collect()
}

fn facts(out: &mut String, facts: &[Fact]) {
    if facts.is_empty() {
        return;
    }
    *out += "<dl class=\"facts\">\n";
    for fact in facts {
        put(
            out,
            format_args!(
                "<div><dt>{}</dt><dd{}>{}</dd></div>\n",
                markup(&fact.title),
                exact_title(&fact.value, fact.unit),
                markup(&shown(&fact.value, fact.unit, Grouping::ThinSpace)),
            ),
        );
    }
    *out += "</dl>\n";
}

fn contents(out: &mut String, sections: &[Section], ids: &[String]) {
    if sections.len() < LISTED_SECTIONS_MIN {
        return;
    }
    *out += "<nav aria-label=\"Contents\">\n";
    for (section, id) in sections.iter().zip(ids) {
        put(
            out,
            format_args!("<a href=\"#{id}\">{}</a>\n", markup(&section.title)),
        );
    }
    *out += "</nav>\n";
}

fn section(out: &mut String, section: &Section, section_id: &str, names: &mut Names) {
    put(
        out,
        format_args!(
            "<section id=\"{section_id}\">\n<h2>{}</h2>\n",
            markup(&section.title)
        ),
    );
    for paragraph in &section.text {
        put(
            out,
            format_args!(
                "<div class=\"text\">{}</div>\n",
                words(paragraph, PARAGRAPH_CHARS_MAX)
            ),
        );
    }
    for picture in &section.pictures {
        figure(out, picture, &names.next(&id(&picture.name)));
    }
    for part in &section.tables {
        let id = names.next(&id(&part.name));
        put(out, format_args!("<div class=\"table\" id=\"{id}\">\n"));
        if part.title != section.title {
            put(out, format_args!("<h3>{}</h3>\n", markup(&part.title)));
        }
        table(out, part);
        *out += "</div>\n";
    }
    *out += "</section>\n";
}

fn figure(out: &mut String, picture: &Picture, id: &str) {
    let title = markup(&picture.title);
    let drawing = in_page(picture, id);
    if matches!(picture.drawing, Drawing::Multiples(_)) {
        put(
            out,
            format_args!(
                "<div class=\"figure\" id=\"{id}\" role=\"group\" aria-label=\"{title}\">\n<h3>{title}</h3>\n{drawing}</div>\n"
            ),
        );
        return;
    }
    put(
        out,
        format_args!(
            "<figure id=\"{id}\">\n<figcaption>{title}</figcaption>\n{drawing}<details><summary>Exact values</summary>\n"
        ),
    );
    table(out, &picture.values());
    *out += "</details>\n</figure>\n";
}

fn table(out: &mut String, table: &Table) {
    let class = if table.rows.len() > OPEN_ROWS_MAX {
        "scroll long"
    } else {
        "scroll"
    };
    put(
        out,
        format_args!(
            "<div class=\"{class}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
            markup(&table.title)
        ),
    );
    for column in &table.columns {
        put(
            out,
            format_args!(
                "<th scope=\"col\"{}>{}</th>",
                class_of(column.unit),
                markup(&column.title)
            ),
        );
    }
    *out += "</tr></thead>\n<tbody>\n";
    for row in &table.rows {
        *out += "<tr>";
        for (number, column) in table.columns.iter().enumerate() {
            let cell = row.get(number).unwrap_or(&Cell::Nothing);
            let text = shown(cell, column.unit, Grouping::ThinSpace);
            let (class, title) = (class_of(column.unit), exact_title(cell, column.unit));
            put(
                out,
                format_args!("<td{class}{title}>{}</td>", words(&text, CELL_CHARS_MAX)),
            );
        }
        *out += "</tr>\n";
    }
    *out += "</tbody>\n</table></div>\n";
}

fn class_of(unit: Unit) -> &'static str {
    match unit {
        Unit::Text => "",
        Unit::Whole | Unit::Decimal { .. } | Unit::Share | Unit::Seconds | Unit::Bytes => {
            " class=\"n\""
        }
    }
}

/// All digits of a number, if the shown ones are fewer. Sorting reads them, too.
fn exact_title(cell: &Cell, unit: Unit) -> String {
    let is_shown = match cell {
        Cell::Nothing | Cell::Text(_) => true,
        Cell::Whole(_) => matches!(unit, Unit::Whole | Unit::Text),
        Cell::Decimal(_) => unit == Unit::Text || cell.number().is_none(),
    };
    if is_shown {
        String::new()
    } else {
        format!(" title=\"{}\"", exact(cell))
    }
}

/// A text, folded if it is longer than `chars_max`.
fn words(text: &str, chars_max: usize) -> String {
    if text.chars().nth(chars_max).is_none() {
        return markup(text);
    }
    let begin = markup(&cut(&visible(text), FOLDED_CHARS));
    format!(
        "<details><summary>{begin}</summary>{}</details>",
        markup(text)
    )
}
