//! Reports for terminals: aligned tables, and pictures of block characters.
//!
//! No line of a picture or a text is wider than the terminal, from 20 columns on. A table leaves out columns of numbers
//! that do not fit. Texts of strangers are shown by [`visible`](crate::escape::visible), so no character of them moves the cursor.

mod bars;
mod curves;
mod matrix;
mod multiples;
mod sample;
mod table;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::document::{Document, Drawing, Fact, Picture, Section};
use crate::escape::{put, visible};
use crate::number::{Grouping, shown};

/// Least width that pictures keep to.
const WIDTH_MIN: usize = 20;

/// The terminal that a report is for. The caller knows it, and whether NO_COLOR is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns; below 20, the report is for 20.
    pub width: usize,
    /// Most rows of a table; the others are counted.
    pub rows_max: usize,
    /// Whether headings and curves have colours (ANSI's sixteen).
    pub colour: bool,
    /// Whether all characters are ASCII. Others are then shown as escapes.
    pub ascii: bool,
}

/// How a text stands out.
#[derive(Clone, Copy)]
enum Style {
    Heading,
    Quiet,
    /// Colour of a series.
    Series(usize),
}

impl Document {
    /// The report as lines of text. Each ends in `\n`.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let mut out = terminal.heading(&self.title, '━', '=');
        for note in &self.notes {
            out += &terminal.paragraph(note);
        }
        if !self.facts.is_empty() {
            out.push('\n');
            facts(&mut out, &self.facts, terminal);
        }
        for section in &self.sections {
            out.push('\n');
            out += &section.text(terminal);
        }
        out
    }
}

impl Section {
    fn text(&self, terminal: &Terminal) -> String {
        let mut out = terminal.heading(&self.title, '─', '-');
        let begin = out.len();
        for paragraph in &self.text {
            out += &terminal.paragraph(paragraph);
        }
        for picture in &self.pictures {
            if out.len() > begin {
                out.push('\n');
            }
            out += &picture.text(terminal);
        }
        // A heading without rows tells nothing here; the other forms keep it for programs.
        for table in self.tables.iter().filter(|table| !table.rows.is_empty()) {
            if out.len() > begin {
                out.push('\n');
            }
            if table.title != self.title {
                out += &terminal.title(&table.title);
            }
            out += &table.text(terminal);
        }
        out
    }
}

impl Picture {
    /// The title and the picture.
    #[must_use]
    pub fn text(&self, terminal: &Terminal) -> String {
        let drawn = match &self.drawing {
            Drawing::Curves(curves) => curves::draw(curves, terminal),
            Drawing::Bars(bars) => bars::draw(bars, terminal),
            Drawing::Matrix(matrix) => matrix::draw(matrix, terminal),
            Drawing::Multiples(multiples) => multiples::draw(multiples, terminal),
        };
        terminal.title(&self.title) + &drawn
    }
}

fn facts(out: &mut String, facts: &[Fact], terminal: &Terminal) {
    let titles: Vec<String> = facts
        .iter()
        .map(|fact| terminal.cut(&fact.title, terminal.columns() / 2))
        .collect();
    let widest = titles.iter().map(|title| title.width()).max().unwrap_or(0);
    for (fact, title) in facts.iter().zip(&titles) {
        let room = terminal.columns() - widest - 4;
        let value = terminal.cut(&shown(&fact.value, fact.unit, Grouping::Comma), room);
        put(out, format_args!("  {}  {value}\n", padded(title, widest)));
    }
}

impl Terminal {
    fn columns(&self) -> usize {
        self.width.max(WIDTH_MIN)
    }

    /// The text in characters of this terminal, without those that move the cursor.
    fn clean(&self, text: &str) -> String {
        let text = visible(text)
            .replace('\u{a0}', " ")
            .replace('\u{202f}', ",");
        if !self.ascii {
            return text;
        }
        let mut out = String::new();
        for c in text.chars() {
            match c {
                'µ' => out.push('u'),
                '…' => out.push('~'),
                '–' => out.push('-'),
                _ if c.is_ascii() => out.push(c),
                _ => put(&mut out, format_args!("\\u{{{:x}}}", u32::from(c))),
            }
        }
        out
    }

    /// The clean text in at most `columns` columns; a cut one ends in `…`.
    fn cut(&self, text: &str, columns: usize) -> String {
        let text = self.clean(text);
        if text.width() <= columns {
            return text;
        }
        let mut out = String::new();
        let mut room = columns.saturating_sub(1);
        for c in text.chars() {
            let width = c.width().unwrap_or(0);
            if width > room {
                break;
            }
            room -= width;
            out.push(c);
        }
        if columns > 0 {
            out.push(if self.ascii { '~' } else { '…' });
        }
        out
    }

    fn styled(&self, style: Style, text: &str) -> String {
        const SERIES: [&str; 6] = ["34", "33", "36", "35", "32", "31"];
        let code = match style {
            Style::Heading => "1",
            Style::Quiet => "2",
            Style::Series(series) => SERIES[series % SERIES.len()],
        };
        match self.colour && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }

    fn heading(&self, text: &str, line: char, ascii_line: char) -> String {
        let text = self.cut(text, self.columns());
        let line = if self.ascii { ascii_line } else { line };
        let under = line.to_string().repeat(text.width());
        format!(
            "{}\n{}\n",
            self.styled(Style::Heading, &text),
            self.styled(Style::Quiet, &under)
        )
    }

    fn title(&self, text: &str) -> String {
        self.styled(Style::Heading, &self.cut(text, self.columns())) + "\n"
    }

    /// Lines of words; a word that is wider than a line is cut.
    fn paragraph(&self, text: &str) -> String {
        let (mut out, mut line) = (String::new(), String::new());
        for word in self.clean(text).split(' ') {
            let word = self.cut(word, self.columns());
            if !line.is_empty() && line.width() + 1 + word.width() > self.columns() {
                out += line.trim_end();
                out.push('\n');
                line.clear();
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += &word;
        }
        out + line.trim_end() + "\n"
    }

    /// Names of series, each behind its mark, in lines.
    fn legend(&self, names: &[&str]) -> String {
        let marked = names.iter().enumerate();
        let items = marked.map(|(series, name)| (Style::Series(series), self.mark(series), *name));
        self.marked(&items.collect::<Vec<_>>())
    }

    /// Texts, each behind its mark, in lines. A text and its mark stay together.
    fn marked(&self, items: &[(Style, char, &str)]) -> String {
        let (mut out, mut column) = (String::new(), 0);
        for (style, mark, text) in items {
            let text = self.cut(text, self.columns() - 2);
            let width = text.width() + 2;
            if column > 0 && column + 2 + width > self.columns() {
                out.push('\n');
                column = 0;
            }
            if column > 0 {
                out += "  ";
                column += 2;
            }
            out += &self.styled(*style, &mark.to_string());
            put(&mut out, format_args!(" {text}"));
            column += width;
        }
        out + "\n"
    }

    /// The character of a series.
    fn mark(&self, series: usize) -> char {
        const MARKS: [char; 8] = ['●', '▲', '■', '◆', '○', '△', '□', '◇'];
        const ASCII: [char; 8] = ['*', 'o', '+', 'x', '#', '@', '%', '&'];
        let marks = if self.ascii { ASCII } else { MARKS };
        marks[series % marks.len()]
    }

    /// A horizontal bar of `part` (0 … 1) of `columns`, without spaces behind it.
    fn bar(&self, part: f64, columns: usize) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        if self.ascii {
            return "#".repeat((part * columns as f64).round() as usize);
        }
        let eighths = (part * columns as f64 * 8.0).round() as usize;
        "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
    }

    /// A column of one character, as high as `part` (0 … 1) of it. Only 0 is empty.
    fn step(&self, part: f64) -> char {
        const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        const ASCII: [char; 9] = [' ', '.', ':', '-', '=', '+', '*', '%', '#'];
        let steps = if self.ascii { ASCII } else { BLOCKS };
        steps[((part * 8.0).ceil() as usize).min(8)]
    }
}

/// The text with spaces behind it.
fn padded(text: &str, columns: usize) -> String {
    text.to_owned() + &" ".repeat(columns.saturating_sub(text.width()))
}

/// The text with spaces before it.
fn right(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(text.width())) + text
}
