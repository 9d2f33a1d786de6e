//! A grid of fields by shades.

use unicode_width::UnicodeWidthStr;

use super::{Style, Terminal, padded};
use crate::document::{Axis, Matrix, Scale};
use crate::number::short;
use crate::ruler::{Ruler, Start};

/// Widest field.
const FIELD_MAX: usize = 8;

/// Shades from 0 to the highest value. A field of 0 has the first.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];
const ASCII: [char; 5] = ['.', ':', '+', '*', '#'];

pub(super) fn draw(matrix: &Matrix, terminal: &Terminal) -> String {
    let shades = if terminal.ascii { ASCII } else { SHADES };
    let names: Vec<String> = matrix
        .rows
        .iter()
        .map(|name| terminal.cut(name, terminal.columns() / 4))
        .collect();
    let down = terminal.cut(&matrix.down, terminal.columns() / 4);
    let left = names
        .iter()
        .chain([&down])
        .map(|name| name.width())
        .max()
        .unwrap_or(0)
        + 1;
    let room = terminal.columns() - left;
    let longest = matrix
        .columns
        .iter()
        .map(|name| terminal.clean(name).width())
        .max()
        .unwrap_or(1);
    let fit = room / matrix.columns.len().max(1);
    let field = fit.clamp(1, FIELD_MAX).min(longest.max(2) + 1);
    let shown = matrix.columns.len().min(room / field);
    let values = matrix.values.iter().flatten().flatten().copied();
    let axis = Axis::new("", matrix.unit, Scale::Linear);
    let ruler = Ruler::new(&axis, Start::Zero, values);
    let head = padded(&down, left) + &columns(matrix, field, shown, terminal);
    let mut out = terminal.styled(Style::Quiet, &head) + "\n";
    for (row, name) in names.iter().enumerate() {
        let shade = |column: usize| match matrix.value(row, column) {
            None => ' ',
            Some(value) => shade_of(ruler.part(value), shades),
        };
        let fields = (0..shown).flat_map(|column| std::iter::repeat_n(shade(column), field));
        let fields: String = fields.collect();
        out += &padded(name, left);
        out += &terminal.styled(Style::Series(0), fields.trim_end());
        out.push('\n');
    }
    if shown < matrix.columns.len() {
        let more = format!("{} more columns do not fit", matrix.columns.len() - shown);
        out += &terminal.paragraph(&more);
    }
    out + &legend(&ruler, matrix, shades, terminal)
}

/// Each shade with the highest value that it stands for.
fn legend(ruler: &Ruler, matrix: &Matrix, shades: [char; 5], terminal: &Terminal) -> String {
    let last = (shades.len() - 1) as f64;
    let most = |number: usize| short(ruler.value(number as f64 / last), matrix.unit);
    let most: Vec<String> = (0..shades.len()).map(most).collect();
    let items = shades.iter().zip(&most);
    let items = items.map(|(shade, most)| (Style::Series(0), *shade, most.as_str()));
    terminal.marked(&items.collect::<Vec<_>>())
}

fn shade_of(part: f64, shades: [char; 5]) -> char {
    shades[(part * (shades.len() - 1) as f64).ceil() as usize]
}

/// The names of columns that do not touch the name before them.
fn columns(matrix: &Matrix, field: usize, shown: usize, terminal: &Terminal) -> String {
    let mut out = String::new();
    for (number, name) in matrix.columns[..shown].iter().enumerate() {
        let name = terminal.clean(name);
        let begin = number * field;
        let is_inside = begin + name.width() <= shown * field;
        if is_inside && (out.is_empty() || out.width() < begin) {
            out = padded(&out, begin) + &name;
        }
    }
    out
}
