//! Lists of queries, and what the log says that is no query.

use report::{Cell, Column, Section, Table, Unit, in_text};

use super::super::queries::{QueryCount, QueryOrder};
use super::super::source::InputReport;
use super::super::summary::Summary;
use super::{DocumentOptions, seconds};

pub(super) fn queries(summary: &Summary, options: &DocumentOptions) -> Section {
    let table = summary.queries();
    let text = if table.is_exact() {
        "Queries that differ only in blanks, case and literals are one. Each count is exact."
            .to_owned()
    } else {
        format!(
            "Queries that differ only in blanks, case and literals are one. The log has more of them than the report can hold: a \
             query that is not in the lists was asked at most {} times more than the last of them; a count may be too low by the \
             number beside it.",
            in_text(table.count_floor(), Unit::Whole)
        )
    };
    let list = |order| -> Vec<QueryCount> { table.top(order, options.top) };
    Section {
        name: "queries".to_owned(),
        title: "Queries".to_owned(),
        text: vec![text],
        pictures: Vec::new(),
        tables: vec![
            slowest(summary, options),
            query_table(
                "frequent",
                "Most frequent queries",
                list(QueryOrder::Count),
                options,
            ),
            query_table(
                "costly",
                "Queries with the most time in all",
                list(QueryOrder::Cost),
                options,
            ),
            query_table(
                "empty",
                "Queries that found nothing",
                list(QueryOrder::Nothing),
                options,
            ),
        ],
    }
}

fn slowest(summary: &Summary, options: &DocumentOptions) -> Table {
    let columns = vec![
        Column::new("seconds", "time", Unit::Seconds),
        Column::new("at", "at", Unit::Text),
        Column::new("server", "server", Unit::Text),
        Column::new("index", "index", Unit::Text),
        Column::new("line", "line", Unit::Whole),
        Column::new("query", "query", Unit::Text),
    ];
    let mut table = Table::new("slowest", "Slowest queries", columns);
    for query in summary.slowest().into_iter().take(options.top) {
        let mut at = Vec::new();
        query.time.write_rfc3339(&mut at);
        // The zone is that of the log, whatever it is.
        let at = String::from_utf8_lossy(&at[..23.min(at.len())]).replace('T', " ");
        table.rows.push(vec![
            seconds(query.real_us),
            at.into(),
            query.server.into(),
            query.index.into(),
            query.place.line.into(),
            options.words.show(&query.text).into(),
        ]);
    }
    table
}

fn query_table(
    name: &str,
    title: &str,
    queries: Vec<QueryCount>,
    options: &DocumentOptions,
) -> Table {
    let columns = vec![
        Column::new("count", "times", Unit::Whole),
        Column::new("count_error", "+ at most", Unit::Whole),
        Column::new("total_seconds", "time in all", Unit::Seconds),
        Column::new("total_error_seconds", "+ at most", Unit::Seconds),
        Column::new("mean_seconds", "mean", Unit::Seconds),
        Column::new("max_seconds", "max", Unit::Seconds),
        Column::new("empty", "found nothing", Unit::Whole),
        Column::new("query", "query", Unit::Text),
    ];
    let mut table = Table::new(name, title, columns);
    table.rows.extend(queries.into_iter().map(|query| {
        let text = options.words.show(&query.text);
        vec![
            query.count.into(),
            query.count_error.into(),
            seconds(query.sum_us),
            seconds(query.sum_error_us),
            seconds(query.sum_us / query.count.max(1)),
            seconds(query.max_us),
            query.nothing.into(),
            if text.is_empty() {
                "(no words)".into()
            } else {
                text.into()
            },
        ]
    }));
    table
}

pub(super) fn problems(
    summary: &Summary,
    inputs: &[InputReport],
    options: &DocumentOptions,
) -> Section {
    Section {
        name: "problems".to_owned(),
        title: "Errors, unknown lines and inputs".to_owned(),
        text: Vec::new(),
        pictures: Vec::new(),
        tables: vec![
            errors(summary, options),
            unknown(summary, inputs, options),
            input_table(inputs),
        ],
    }
}

fn errors(summary: &Summary, options: &DocumentOptions) -> Table {
    let columns = vec![
        Column::new("count", "times", Unit::Whole),
        Column::new("line", "first line", Unit::Whole),
        Column::new("message", "message", Unit::Text),
    ];
    let mut table = Table::new("errors", "Errors", columns);
    let mut errors: Vec<_> = summary.errors().iter().collect();
    errors.sort_by(|a, b| b.1.count.cmp(&a.1.count).then(a.0.cmp(b.0)));
    let rows = errors.into_iter().take(options.top);
    table.rows.extend(rows.map(|(message, error)| {
        vec![
            error.count.into(),
            error.first.line.into(),
            options.words.show_message(message).into(),
        ]
    }));
    if summary.other_errors() > 0 {
        table.rows.push(vec![
            summary.other_errors().into(),
            Cell::Nothing,
            "(other messages)".into(),
        ]);
    }
    table
}

fn unknown(summary: &Summary, inputs: &[InputReport], options: &DocumentOptions) -> Table {
    let columns = vec![
        Column::new("input", "input", Unit::Text),
        Column::new("line", "line", Unit::Whole),
        Column::new("text", "text", Unit::Text),
    ];
    let mut table = Table::new("unknown", "First lines of unknown form", columns);
    table
        .rows
        .extend(summary.examples().iter().map(|(place, example)| {
            let input = inputs
                .get(place.input as usize)
                .map_or(&example.server, |input| &input.name);
            vec![
                input.clone().into(),
                place.line.into(),
                options.words.show_line(&example.text).into(),
            ]
        }));
    table
}

fn input_table(inputs: &[InputReport]) -> Table {
    let columns = vec![
        Column::new("name", "input", Unit::Text),
        Column::new("server", "server", Unit::Text),
        Column::new("lines", "lines", Unit::Whole),
        Column::new("bytes", "bytes", Unit::Bytes),
        Column::new("cut", "ended early", Unit::Text),
    ];
    let mut table = Table::new("inputs", "Inputs", columns);
    table.rows.extend(inputs.iter().map(|input| {
        vec![
            input.name.as_str().into(),
            input.server.as_str().into(),
            input.lines.into(),
            input.bytes.into(),
            input.cut.clone().into(),
        ]
    }));
    table
}
