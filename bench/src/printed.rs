//! Figures as text, as CSV and as pictures, by the crate `report`.

use report::{
    Axis, Column, Curve, CurveKind, Curves, Drawing, Picture, Scale, Table, Terminal, Unit,
};

/// No terminal: a table is as wide as its texts.
const UNBOUNDED: Terminal = Terminal {
    width: u16::MAX as usize,
    rows_max: usize::MAX,
    colour: false,
    ascii: false,
};

/// Lines with headers and rows; columns are aligned at the right.
pub(crate) fn aligned<H: AsRef<str>>(headers: &[H], rows: &[Vec<String>]) -> String {
    table(headers, rows).text(&UNBOUNDED)
}

/// CSV, separated by `;`: the version and the notes in lines that begin with `#`, then the headers, then the rows. A tag becomes
/// the last column.
pub(crate) fn csv<H: AsRef<str>>(
    name: &str,
    notes: &[String],
    headers: &[H],
    rows: &[Vec<String>],
    tag: Option<&str>,
) -> String {
    let mut text = format!("# {name}, seine {}\n", env!("CARGO_PKG_VERSION"));
    for note in notes {
        text += &format!("# {note}\n");
    }
    let mut table = table(headers, rows);
    if let Some(tag) = tag {
        table.columns.push(column("tag"));
        for row in &mut table.rows {
            row.push(tag.into());
        }
    }
    text + &table.csv(';')
}

/// Figures come as texts with the digits that they are good for. A column of figures may hold words, such as `auto`.
fn table<H: AsRef<str>>(headers: &[H], rows: &[Vec<String>]) -> Table {
    let columns = headers.iter().map(|header| column(header.as_ref()));
    let cells = |row: &Vec<String>| row.iter().map(|text| text.as_str().into()).collect();
    Table {
        rows: rows.iter().map(cells).collect(),
        ..Table::new("figures", "", columns.collect())
    }
}

fn column(name: &str) -> Column {
    Column::new(name, name, Unit::Whole)
}

/// Axis of rates, from 0.
pub(crate) fn rates(title: impl Into<String>) -> Axis {
    Axis::new(title, Unit::Decimal { places: 0 }, Scale::Linear)
}

/// Axis of seconds by their logarithm, between the two powers of ten that hold all of these times. Pictures with one axis compare by
/// eye.
pub(crate) fn seconds(times: impl Iterator<Item = f64>) -> Axis {
    let powers = times.map(|time| time.max(1e-9).log10());
    let (low, high) = powers.fold((0.0_f64, f64::MIN), |(low, high), power| {
        (low.min(power), high.max(power))
    });
    let least = low.floor() as i32;
    let most = (high.ceil() as i32).max(least + 1);
    Axis::new("seconds", Unit::Seconds, Scale::Log10)
        .within(power_of_ten(least), power_of_ten(most))
}

fn power_of_ten(power: i32) -> f64 {
    10_f64.powi(power)
}

/// An SVG picture of curves over a varied number, which is drawn by its logarithm.
pub(crate) fn svg(title: String, across: &str, upward: Axis, curves: Vec<Curve>) -> String {
    let curves = Curves {
        kind: CurveKind::Points,
        across: Axis::new(across, Unit::Whole, Scale::Log10),
        upward,
        curves,
    };
    Picture::new("curves", title, Drawing::Curves(curves)).svg()
}

#[cfg(test)]
mod tests;
