//! Horizontal bars, each with its value behind it.

use unicode_width::UnicodeWidthStr;

use super::{Style, Terminal, padded};
use crate::document::{Bars, Group};
use crate::escape::put;
use crate::number::{Grouping, number_shown};

/// Widest bar, so that the values stay near their names.
const BAR_MAX: usize = 80;

pub(super) fn draw(bars: &Bars, terminal: &Terminal) -> String {
    let columns = terminal.columns();
    let groups = bars.groups.iter();
    let names: Vec<String> = groups
        .map(|group| terminal.cut(&group.name, columns / 4))
        .collect();
    let series: Vec<String> = match bars.series.len() {
        0 | 1 => vec![String::new()],
        _ => (bars.series.iter())
            .map(|name| terminal.cut(name, columns / 5))
            .collect(),
    };
    let value_of = |group: &Group, series: usize| {
        let value = group.values.get(series).copied().flatten();
        value.filter(|value| value.is_finite())
    };
    let told = |value: Option<f64>| match value {
        Some(value) => {
            let shown = number_shown(value, bars.unit, Grouping::Comma);
            terminal.cut(&shown, columns / 3)
        }
        None => terminal.clean("–"),
    };
    let numbers: Vec<Vec<Option<f64>>> = (bars.groups.iter())
        .map(|group| {
            (0..series.len())
                .map(|number| value_of(group, number))
                .collect()
        })
        .collect();
    let values: Vec<String> = numbers.iter().flatten().map(|value| told(*value)).collect();
    let longest = numbers
        .iter()
        .flatten()
        .flatten()
        .copied()
        .fold(f64::MIN_POSITIVE, f64::max);
    let (name_width, series_width) = (widest(&names), widest(&series));
    let left = name_width
        + 1
        + if series_width > 0 {
            series_width + 1
        } else {
            0
        };
    let room = columns
        .saturating_sub(left + widest(&values) + 1)
        .min(BAR_MAX);
    let mut out = String::new();
    for (group, name) in numbers.iter().zip(&names) {
        for (number, (value, series_name)) in group.iter().zip(&series).enumerate() {
            let name = if number == 0 { name.as_str() } else { "" };
            put(&mut out, format_args!("{} ", padded(name, name_width)));
            if series_width > 0 {
                put(
                    &mut out,
                    format_args!("{} ", padded(series_name, series_width)),
                );
            }
            let part = value.map_or(0.0, |value| (value / longest).clamp(0.0, 1.0));
            let bar = terminal.bar(part, room);
            out += &terminal.styled(Style::Series(number), &bar);
            let space = if bar.is_empty() { "" } else { " " };
            put(&mut out, format_args!("{space}{}\n", told(*value)));
        }
    }
    out
}

fn widest(texts: &[String]) -> usize {
    texts.iter().map(|text| text.width()).max().unwrap_or(0)
}
