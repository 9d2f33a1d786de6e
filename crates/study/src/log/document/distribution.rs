//! Distributions as rows and curves.

use report::{
    Axis, Cell, Column, Curve, CurveKind, Curves, Drawing, Picture, Scale, Section, Table, Unit,
};

use super::super::bands::{bands, intervals};
use super::super::histogram::Histogram;
use super::super::summary::{BandCost, Summary, WORD_CLASSES};
use super::share;

/// The limits of the study: name of the column, title, microseconds.
pub(super) const LIMITS: [(&str, &str, u64); 4] = [
    ("within_1ms_share", "≤ 1 ms", 1_000),
    ("within_10ms_share", "≤ 10 ms", 10_000),
    ("within_100ms_share", "≤ 100 ms", 100_000),
    ("within_500ms_share", "≤ 500 ms", 500_000),
];

/// Microseconds as seconds.
pub(crate) fn seconds(us: u64) -> Cell {
    Cell::Decimal(us as f64 / 1e6)
}

/// The columns of a distribution: queries, times, shares within [`LIMITS`].
pub(crate) fn columns_of_times() -> Vec<Column> {
    let times = [
        ("mean_seconds", "mean"),
        ("p50_seconds", "median"),
        ("p90_seconds", "90 %"),
        ("p99_seconds", "99 %"),
        ("max_seconds", "max"),
    ];
    let mut columns = vec![Column::new("queries", "queries", Unit::Whole)];
    columns.extend(times.map(|(name, title)| Column::new(name, title, Unit::Seconds)));
    columns.extend(LIMITS.map(|(name, title, _)| Column::new(name, title, Unit::Share)));
    columns
}

/// The cells below [`columns_of_times`].
pub(crate) fn cells_of_times(times: &Histogram) -> Vec<Cell> {
    let quantile = |share| times.quantile_us(share).map_or(Cell::Nothing, seconds);
    let mut cells = vec![
        Cell::from(times.count()),
        times.mean_us().map(|us| us / 1e6).into(),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99),
        if times.count() > 0 {
            seconds(times.max_us())
        } else {
            Cell::Nothing
        },
    ];
    cells.extend(LIMITS.map(|(_, _, us)| Cell::from(times.share_within(us))));
    cells
}

/// The axis of times, by their logarithm.
pub(crate) fn seconds_axis() -> Axis {
    Axis::new("response time", Unit::Seconds, Scale::Log10)
}

/// The share of queries within each interval's upper edge.
pub(crate) fn cumulative_curve(name: &str, times: &Histogram, whole_ms: bool) -> Curve {
    let total = times.count() as f64;
    let mut below = 0;
    let points = intervals(times, whole_ms).into_iter().map(|interval| {
        below += interval.count;
        (interval.high_us as f64 / 1e6, below as f64 / total)
    });
    Curve::new(name, points.collect())
}

/// The section of all queries: curves, intervals and bands.
pub(super) fn section(summary: &Summary) -> Section {
    let whole_ms = summary.counts().has_whole_ms();
    let times = summary.times();
    let frequency = intervals(&times, whole_ms);
    let points = frequency.iter().map(|interval| {
        let middle = (interval.low_us as f64 * interval.high_us as f64).sqrt();
        (middle / 1e6, interval.density)
    });
    let curves = |kind, upward, curve| {
        Drawing::Curves(Curves {
            kind,
            across: seconds_axis(),
            upward,
            curves: vec![curve],
        })
    };
    let cumulative = curves(
        CurveKind::Cumulative,
        Axis::shares("share answered within"),
        cumulative_curve("all queries", &times, whole_ms),
    );
    let density = curves(
        CurveKind::Frequency,
        Axis::new("share of the queries a decade", Unit::Share, Scale::Linear),
        Curve::new("all queries", points.collect()),
    );
    let mut text = vec!["A bin has two significant digits and holds its upper edge: shares within 1, 10, 100 and 500 ms are exact.".to_owned()];
    if whole_ms {
        text.push("The log counts whole milliseconds: 0.000 is below 1 ms.".to_owned());
    }
    Section {
        name: "times".to_owned(),
        title: "Response times".to_owned(),
        text,
        pictures: vec![
            Picture::new(
                "cumulative",
                "Share of queries answered within a time",
                cumulative,
            ),
            Picture::new("frequency", "How often times occur", density),
        ],
        tables: vec![
            times_table(&times, whole_ms),
            bands_table(summary, &times, whole_ms),
        ],
    }
}

fn times_table(times: &Histogram, whole_ms: bool) -> Table {
    let columns = vec![
        Column::new("within_seconds", "within", Unit::Seconds),
        Column::new("queries", "queries", Unit::Whole),
        Column::new("share", "share", Unit::Share),
        Column::new("within_share", "share within", Unit::Share),
    ];
    let mut table = Table::new("times", "Response times", columns);
    let total = times.count();
    let mut below = 0;
    for interval in intervals(times, whole_ms) {
        below += interval.count;
        table.rows.push(vec![
            seconds(interval.high_us),
            interval.count.into(),
            share(interval.count, total),
            share(below, total),
        ]);
    }
    table
}

/// The bands, each beside the page faults and reads of its queries.
fn bands_table(summary: &Summary, times: &Histogram, whole_ms: bool) -> Table {
    let columns = vec![
        Column::new("above_seconds", "above", Unit::Seconds),
        Column::new("within_seconds", "within", Unit::Seconds),
        Column::new("peak_seconds", "peak within", Unit::Seconds),
        Column::new("queries", "queries", Unit::Whole),
        Column::new("share", "share", Unit::Share),
        Column::new(
            "faults_per_query",
            "major faults a query",
            Unit::Decimal { places: 2 },
        ),
        Column::new("read_bytes_per_query", "read a query", Unit::Bytes),
    ];
    let mut table = Table::new("bands", "Bands: peaks of the distribution", columns);
    let costs = summary.costs();
    for band in bands(times, whole_ms) {
        let mut cost = BandCost::default();
        let inside = costs
            .iter()
            .filter(|(us, _)| band.low_us < *us || band.low_us == 0);
        let last = band.high_us == times.max_us();
        inside
            .filter(|(us, _)| *us <= band.high_us || last)
            .for_each(|(_, bin)| cost.merge(bin));
        let mean = |sum: u64, queries: u64| (queries > 0).then(|| sum as f64 / queries as f64);
        table.rows.push(vec![
            seconds(band.low_us),
            seconds(band.high_us),
            seconds(band.peak_us.1),
            band.count.into(),
            share(band.count, times.count()),
            mean(cost.faults, cost.faults_told).into(),
            mean(cost.read_bytes, cost.reads_told).into(),
        ]);
    }
    table
}

/// Response times by number of words.
pub(super) fn by_words(summary: &Summary) -> Section {
    let whole_ms = summary.counts().has_whole_ms();
    let mut columns = vec![Column::new("words", "words", Unit::Text)];
    columns.extend(columns_of_times());
    let mut table = Table::new("words", "By number of query words", columns);
    let mut curves = Vec::new();
    for ((name, _, _), times) in WORD_CLASSES.iter().zip(summary.by_words()) {
        if times.count() == 0 {
            continue;
        }
        let mut row = vec![Cell::from(*name)];
        row.extend(cells_of_times(times));
        table.rows.push(row);
        curves.push(cumulative_curve(name, times, whole_ms));
    }
    Section {
        name: "words".to_owned(),
        title: "By number of query words".to_owned(),
        text: vec!["A word is a run of letters and digits; names of fields and numbers of operators do not count.".to_owned()],
        pictures: vec![cumulative_picture("by_words", "Share answered within a time, by number of words", curves)],
        tables: vec![table],
    }
}

/// Cumulative curves over the same axis.
pub(super) fn cumulative_picture(name: &str, title: &str, curves: Vec<Curve>) -> Picture {
    let drawing = Drawing::Curves(Curves {
        kind: CurveKind::Cumulative,
        across: seconds_axis(),
        upward: Axis::shares("share answered within"),
        curves,
    });
    Picture::new(name, title, drawing)
}
