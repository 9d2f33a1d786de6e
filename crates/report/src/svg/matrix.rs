//! A grid of fields, each as strong as its value.

use super::{Anchor, Drawn, WIDTH, fitted, label, text, text_width};
use crate::document::{Axis, Matrix, Scale};
use crate::escape::{markup, put};
use crate::number::{Grouping, number_shown, short};
use crate::ruler::{Ruler, Start};

/// Widest names of rows and of columns.
const NAMES_MAX: f64 = 220.0;
const COLUMN_NAMES_MAX: f64 = 130.0;

/// Widest field.
const FIELD_MAX: f64 = 72.0;

/// Height of a field.
const FIELD_HEIGHT: f64 = 26.0;

/// Fields of the legend.
const SHADES: u32 = 5;

/// Strength from which a field needs light letters.
const STRONG: f64 = 0.55;

/// Where the fields are.
struct Grid {
    left: f64,
    top: f64,
    field: f64,
    highest: Ruler,
}

pub(super) fn draw(matrix: &Matrix) -> Drawn {
    let mut elements = String::new();
    let widest = |names: &[String], most: f64| {
        let widths = names.iter().map(|name| text_width(&fitted(name, most)));
        widths.fold(0.0, f64::max)
    };
    let down = text_width(&fitted(&matrix.down, NAMES_MAX));
    let left = widest(&matrix.rows, NAMES_MAX).max(down) + 14.0;
    let count = matrix.columns.len().max(1) as f64;
    let field = ((WIDTH - left - 8.0) / count).min(FIELD_MAX);
    // Names that are wider than their field are turned, so that each can be read.
    let widest_column = widest(&matrix.columns, COLUMN_NAMES_MAX);
    let is_turned = widest_column + 4.0 > field
        && field >= 12.0
        && matrix.columns.iter().any(|name| !is_number(name));
    let (field, names_height) = match is_turned {
        false => (field, 18.0),
        true => {
            let beside = widest_column * 0.71 + 4.0;
            (field.min((WIDTH - left - beside) / count), beside + 10.0)
        }
    };
    let values = matrix.values.iter().flatten().flatten().copied();
    let grid = Grid {
        left,
        top: 22.0 + names_height,
        field,
        highest: Ruler::new(
            &Axis::new("", matrix.unit, Scale::Linear),
            Start::Zero,
            values,
        ),
    };
    text(
        &mut elements,
        (left, 14.0),
        "q",
        Anchor::Start,
        &label(&matrix.across, WIDTH - left),
    );
    text(
        &mut elements,
        (left - 8.0, grid.top - 6.0),
        "q",
        Anchor::End,
        &label(&matrix.down, NAMES_MAX),
    );
    column_names(&mut elements, &grid, &matrix.columns, is_turned);
    fields(&mut elements, &grid, matrix);
    let bottom = grid.top + matrix.rows.len() as f64 * FIELD_HEIGHT;
    shades(&mut elements, &grid, matrix, bottom + 14.0);
    Drawn {
        elements,
        height: bottom + 52.0,
    }
}

fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

fn column_names(out: &mut String, grid: &Grid, names: &[String], is_turned: bool) {
    let y = grid.top - 6.0;
    let mut free = f64::MIN;
    for (column, name) in names.iter().enumerate() {
        let middle = grid.left + (column as f64 + 0.5) * grid.field;
        if is_turned {
            let x = middle + 3.0;
            put(
                out,
                format_args!(
                    "<text class=\"q\" transform=\"translate({x:.1} {y:.1}) rotate(-45)\">{}</text>\n",
                    label(name, COLUMN_NAMES_MAX)
                ),
            );
            continue;
        }
        let half = text_width(&fitted(name, COLUMN_NAMES_MAX)) / 2.0;
        if middle - half >= free {
            free = middle + half + 4.0;
            text(
                out,
                (middle, y),
                "q",
                Anchor::Middle,
                &label(name, COLUMN_NAMES_MAX),
            );
        }
    }
}

fn fields(out: &mut String, grid: &Grid, matrix: &Matrix) {
    let values = || matrix.values.iter().flatten().flatten();
    let widest = values()
        .map(|value| text_width(&short(*value, matrix.unit)) * 10.0 / 12.0)
        .fold(0.0, f64::max);
    let has_room = widest + 4.0 <= grid.field;
    for (row, name) in matrix.rows.iter().enumerate() {
        let y = grid.top + row as f64 * FIELD_HEIGHT;
        text(
            out,
            (grid.left - 8.0, y + FIELD_HEIGHT / 2.0 + 4.0),
            "",
            Anchor::End,
            &label(name, NAMES_MAX),
        );
        for (column, column_name) in matrix.columns.iter().enumerate() {
            let Some(value) = matrix.value(row, column) else {
                continue;
            };
            let x = grid.left + column as f64 * grid.field;
            let strength = grid.highest.part(value);
            put(
                out,
                format_args!(
                    "<rect class=\"f s0\" fill-opacity=\"{:.2}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}, \
                     {}: {}</title></rect>\n",
                    strength * 0.96 + 0.04,
                    x + 0.5,
                    y + 0.5,
                    (grid.field - 1.0).max(0.5),
                    FIELD_HEIGHT - 1.0,
                    markup(name),
                    markup(column_name),
                    markup(&number_shown(value, matrix.unit, Grouping::ThinSpace)),
                ),
            );
            if has_room {
                let class = if strength > STRONG { "k x" } else { "k" };
                let place = (x + grid.field / 2.0, y + FIELD_HEIGHT / 2.0 + 3.5);
                text(
                    out,
                    place,
                    class,
                    Anchor::Middle,
                    &markup(&short(value, matrix.unit)),
                );
            }
        }
    }
}

/// The legend: shades from 0 to the highest value.
fn shades(out: &mut String, grid: &Grid, matrix: &Matrix, y: f64) {
    const SHADE_WIDTH: f64 = 48.0;
    for shade in 0..=SHADES {
        let part = f64::from(shade) / f64::from(SHADES);
        let x = grid.left + f64::from(shade) * SHADE_WIDTH;
        put(
            out,
            format_args!(
                "<rect class=\"f s0\" fill-opacity=\"{:.2}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{SHADE_WIDTH}\" height=\"10\"/>\n",
                part * 0.96 + 0.04
            ),
        );
        let name = markup(&short(grid.highest.value(part), matrix.unit));
        text(
            out,
            (x + SHADE_WIDTH / 2.0, y + 24.0),
            "q k",
            Anchor::Middle,
            &name,
        );
    }
}
