//! Servers, indexes, pairs of both, and sizes of indexes.

use std::cmp::Reverse;

use report::{
    Axis, Cell, Column, CurveKind, Drawing, Multiples, Panel, Picture, Section, Table, Unit,
    in_text,
};

use super::super::histogram::Histogram;
use super::super::sizes::{SIZE_CLASSES, size_class};
use super::super::summary::{Group, Summary};
use super::distribution::{
    cells_of_times, columns_of_times, cumulative_curve, cumulative_picture, seconds_axis,
};
use super::{DocumentOptions, share};

/// Least and most seconds on the axis of small pictures, so that they compare by eye.
const PANEL_SECONDS: (f64, f64) = (0.001, 10.0);

/// A row before it is a row: its names and what was answered.
struct Named<'s> {
    names: Vec<&'s str>,
    group: Group,
}

pub(super) fn servers(summary: &Summary, options: &DocumentOptions) -> Section {
    let groups = summary.servers().into_iter().map(|(name, group)| Named {
        names: vec![name],
        group,
    });
    let columns = vec![Column::new("name", "server", Unit::Text)];
    section(
        summary,
        options,
        ("servers", "By server"),
        columns,
        groups.collect(),
    )
}

pub(super) fn indexes(summary: &Summary, options: &DocumentOptions) -> Section {
    let groups = summary.indexes().into_iter().map(|(name, group)| Named {
        group: sized(name, group, options),
        names: vec![name],
    });
    let columns = vec![Column::new("name", "index", Unit::Text)];
    let mut section = section(
        summary,
        options,
        ("indexes", "By index"),
        columns,
        groups.collect(),
    );
    section
        .text
        .push("A query of several indexes counts below their list.".to_owned());
    section
}

pub(super) fn pairs(summary: &Summary, options: &DocumentOptions) -> Section {
    if summary.servers().len() < 2 {
        // The pairs would repeat the indexes.
        return Section::default();
    }
    let groups = summary
        .pairs()
        .into_iter()
        .map(|((server, index), group)| Named {
            names: vec![server, index],
            group: sized(index, group.clone(), options),
        });
    let columns = vec![
        Column::new("server", "server", Unit::Text),
        Column::new("index", "index", Unit::Text),
    ];
    section(
        summary,
        options,
        ("pairs", "By server and index"),
        columns,
        groups.collect(),
    )
}

/// The group with the size that the caller gave, or that the lines tell.
fn sized(name: &str, group: Group, options: &DocumentOptions) -> Group {
    let given = options.sizes.get(name).copied();
    Group {
        table_bytes: given.or(group.table_bytes),
        ..group
    }
}

/// A table of groups with the busiest first, and a small picture of each of the first.
fn section(
    summary: &Summary,
    options: &DocumentOptions,
    heading: (&str, &str),
    names: Vec<Column>,
    mut groups: Vec<Named<'_>>,
) -> Section {
    let whole_ms = summary.counts().has_whole_ms();
    let (name, title) = heading;
    groups.retain(|named| named.group.times.count() > 0);
    groups.sort_by(|a, b| {
        (Reverse(a.group.times.count()), &a.names).cmp(&(Reverse(b.group.times.count()), &b.names))
    });
    let mut columns = names;
    columns.extend(columns_of_times());
    columns.push(Column::new("empty_share", "empty", Unit::Share));
    columns.push(Column::new("bytes", "size", Unit::Bytes));
    let mut table = Table::new(name, title, columns);
    let mut panels = Vec::new();
    for Named { names, group } in &groups {
        let mut row: Vec<Cell> = names.iter().map(|name| Cell::from(*name)).collect();
        row.extend(cells_of_times(&group.times));
        row.push(share(group.nothing, group.times.count()));
        row.push(group.table_bytes.into());
        table.rows.push(row);
        if panels.len() < options.panels_max {
            panels.push(panel(&names.join(" "), &group.times, whole_ms));
        }
    }
    let mut text = Vec::new();
    if groups.len() > panels.len() {
        text.push(format!(
            "The {} busiest of {} have a picture; the table has all.",
            in_text(panels.len(), Unit::Whole),
            in_text(groups.len(), Unit::Whole)
        ));
    }
    let multiples = Drawing::Multiples(Multiples {
        kind: CurveKind::Cumulative,
        across: seconds_axis().within(PANEL_SECONDS.0, PANEL_SECONDS.1),
        upward: Axis::shares("share answered within"),
        panels,
    });
    Section {
        name: name.to_owned(),
        title: title.to_owned(),
        text,
        pictures: vec![Picture::new(
            format!("{name}_curves"),
            format!("Share answered within a time, {}", title.to_lowercase()),
            multiples,
        )],
        tables: vec![table],
    }
}

fn panel(title: &str, times: &Histogram, whole_ms: bool) -> Panel {
    let p99_s = times.quantile_us(0.99).unwrap_or(0) as f64 / 1e6;
    Panel {
        title: title.to_owned(),
        caption: format!(
            "{} queries, 99 % within {}",
            in_text(times.count(), Unit::Whole),
            in_text(p99_s, Unit::Seconds)
        ),
        points: cumulative_curve(title, times, whole_ms).points,
    }
}

/// Response times by size of the index.
pub(super) fn by_size(summary: &Summary, options: &DocumentOptions) -> Section {
    let mut classes = vec![(0_u64, Histogram::default()); SIZE_CLASSES.len()];
    let mut unknown = 0;
    for (name, group) in summary.indexes() {
        let group = sized(name, group, options);
        match group.table_bytes {
            Some(bytes) => {
                let (indexes, times) = &mut classes[size_class(bytes)];
                *indexes += 1;
                times.merge(&group.times);
            }
            None => unknown += group.times.count(),
        }
    }
    let mut columns = vec![
        Column::new("size", "size of the index", Unit::Text),
        Column::new("indexes", "indexes", Unit::Whole),
    ];
    columns.extend(columns_of_times());
    let mut table = Table::new("sizes", "By size of the index", columns);
    let mut curves = Vec::new();
    for ((name, _), (indexes, times)) in SIZE_CLASSES.iter().zip(&classes) {
        if times.count() == 0 {
            continue;
        }
        let mut row = vec![Cell::from(*name), (*indexes).into()];
        row.extend(cells_of_times(times));
        table.rows.push(row);
        curves.push(cumulative_curve(
            name,
            times,
            summary.counts().has_whole_ms(),
        ));
    }
    let text = (unknown > 0).then(|| {
        let unknown = in_text(unknown, Unit::Whole);
        format!("{unknown} queries are of indexes whose size is unknown.")
    });
    Section {
        name: "sizes".to_owned(),
        title: "By size of the index".to_owned(),
        text: text.into_iter().collect(),
        pictures: vec![cumulative_picture(
            "by_size",
            "Share answered within a time, by size of the index",
            curves,
        )],
        tables: vec![table],
    }
}
