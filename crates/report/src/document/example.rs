//! A document with each kind of table and picture, for examples and tests.

use super::{
    Axis, Bars, Cell, Column, Curve, CurveKind, Curves, Document, Drawing, Fact, Group, Matrix,
    Multiples, Panel, Picture, Scale, Section, Table, Unit,
};

impl Document {
    /// A report about an invented query log: 1,200,000 queries of 2 servers and 6 indexes. It holds each kind of cell, table and
    /// picture, and texts that an output must escape.
    #[must_use]
    pub fn example() -> Document {
        Document {
            title: "Query log of an example".to_owned(),
            notes: vec![
                "Invented figures. Times are those of the server, without the network.".to_owned(),
            ],
            facts: vec![
                Fact::new("queries", "queries", Unit::Whole, 1_200_000_u32),
                Fact::new("median_seconds", "median", Unit::Seconds, 0.004_7),
                Fact::new("p99_seconds", "99 % within", Unit::Seconds, 0.48),
                Fact::new("empty_share", "without a result", Unit::Share, 0.062_5),
                Fact::new("log_bytes", "read", Unit::Bytes, 184_320_000_u64),
            ],
            sections: vec![overall(), by_words(), by_hour(), by_index(), slowest()],
        }
    }
}

/// Upper bounds of bins, ten to the decade, from 0.1 ms to 10 s.
fn bounds() -> Vec<f64> {
    (0..=50)
        .map(|step| 10_f64.powf(-4.0 + f64::from(step) / 10.0))
        .collect()
}

/// Share of the values at or below each bound, of a distribution with this median; `spread` is its width in decades.
fn cumulative(median: f64, spread: f64) -> Vec<(f64, f64)> {
    let share = |bound: &f64| {
        let distance = (bound / median).log10() / spread;
        (*bound, 1.0 / (1.0 + (-distance).exp()))
    };
    bounds().iter().map(share).collect()
}

/// Count of the values of each bin.
fn frequency(median: f64, spread: f64, count: f64) -> Vec<(f64, f64)> {
    let shares = cumulative(median, spread);
    let bins = shares.windows(2);
    bins.map(|pair| (pair[1].0, ((pair[1].1 - pair[0].1) * count).round()))
        .collect()
}

fn seconds() -> Axis {
    Axis::new("time of a query", Unit::Seconds, Scale::Log10)
}

fn overall() -> Section {
    let two = [("web-1", 0.003, 0.35), ("web-2", 0.009, 0.45)];
    let curve = |(name, median, spread)| Curve::new(name, cumulative(median, spread));
    let shares = Curves {
        kind: CurveKind::Cumulative,
        across: seconds(),
        upward: Axis::shares("queries answered within"),
        curves: two.map(curve).into(),
    };
    let mut frequencies = frequency(0.003, 0.2, 900_000.0);
    for (bin, (_, slow)) in frequencies.iter_mut().zip(frequency(0.3, 0.12, 300_000.0)) {
        bin.1 += slow;
    }
    let bins = Curves {
        kind: CurveKind::Frequency,
        across: seconds(),
        upward: Axis::new("queries", Unit::Whole, Scale::Linear),
        curves: vec![Curve::new("all", frequencies)],
    };
    Section {
        name: "times".to_owned(),
        title: "Times of queries".to_owned(),
        text: vec![
            "Three of four queries are answered within 10 ms; a second band lies at 300 ms."
                .to_owned(),
        ],
        pictures: vec![
            Picture::new(
                "times_cumulative",
                "Share of queries answered within a time",
                Drawing::Curves(shares),
            ),
            Picture::new("times_frequency", "Queries by time", Drawing::Curves(bins)),
        ],
        tables: Vec::new(),
    }
}

fn by_words() -> Section {
    let group = |name: &str, median, slowest| Group {
        name: name.to_owned(),
        values: vec![Some(median), slowest],
    };
    let bars = Bars {
        unit: Unit::Seconds,
        series: vec!["median".to_owned(), "95 % within".to_owned()],
        groups: vec![
            group("1 word", 0.002, Some(0.011)),
            group("2 words", 0.003, Some(0.019)),
            group("3 to 5 words", 0.008, Some(0.061)),
            group("6 to 50 words", 0.047, Some(0.312)),
            group("above 50", 0.021, None),
        ],
    };
    let points = |automatic| Curve {
        name: format!("{} clients", if automatic { 8 } else { 1 }),
        points: [1.0, 4.0, 16.0, 64.0]
            .map(|batch: f64| {
                (
                    batch,
                    900.0 * batch.sqrt() + if automatic { 700.0 } else { 0.0 },
                )
            })
            .into(),
        level: automatic.then_some(7_400.0),
    };
    let rates = Curves {
        kind: CurveKind::Points,
        across: Axis::new("batch", Unit::Whole, Scale::Log10),
        upward: Axis::new("queries per second", Unit::Whole, Scale::Linear),
        curves: vec![points(false), points(true)],
    };
    Section {
        name: "words".to_owned(),
        title: "By number of words".to_owned(),
        text: Vec::new(),
        pictures: vec![
            Picture::new(
                "words_times",
                "Time by number of words",
                Drawing::Bars(bars),
            ),
            Picture::new("batch_rates", "Rate by batch", Drawing::Curves(rates)),
        ],
        tables: Vec::new(),
    }
}

fn by_hour() -> Section {
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let value = |day: usize, hour: u32| {
        let by_day = if day > 4 { 0.5 } else { 1.0 };
        let wave = ((f64::from(hour) - 15.0) / 24.0 * std::f64::consts::TAU).cos();
        let is_missing = day == 6 && hour == 3;
        (!is_missing).then_some((by_day * (5_200.0 + 4_800.0 * wave)).round())
    };
    let matrix = Matrix {
        unit: Unit::Whole,
        down: "weekday".to_owned(),
        across: "hour".to_owned(),
        rows: days.map(str::to_owned).into(),
        columns: (0..24).map(|hour| hour.to_string()).collect(),
        values: (0..days.len())
            .map(|day| (0..24).map(|hour| value(day, hour)).collect())
            .collect(),
    };
    Section {
        name: "hours".to_owned(),
        title: "By weekday and hour".to_owned(),
        text: Vec::new(),
        pictures: vec![Picture::new(
            "hours",
            "Queries by weekday and hour",
            Drawing::Matrix(matrix),
        )],
        tables: Vec::new(),
    }
}

fn by_index() -> Section {
    let indexes = [
        ("posts", 0.003, 640_000_u32),
        ("users", 0.001, 310_000),
        ("images", 0.02, 120_000),
        ("news", 0.006, 80_000),
    ];
    let rare = [("archive", 0.35, 41_200), ("old \"names\"", 0.04, 8_800)];
    let all = || indexes.iter().chain(&rare);
    let panel = |(name, median, count): &(&str, f64, u32)| Panel {
        title: (*name).to_owned(),
        caption: format!("{count} queries"),
        points: cumulative(*median, 0.3),
    };
    let multiples = Multiples {
        kind: CurveKind::Cumulative,
        across: seconds(),
        upward: Axis::shares("queries answered within"),
        panels: all().map(panel).collect(),
    };
    let columns = vec![
        Column::new("name", "index", Unit::Text),
        Column::new("queries", "queries", Unit::Whole),
        Column::new("share", "of all", Unit::Share),
        Column::new("median_seconds", "median", Unit::Seconds),
        Column::new("words_mean", "words", Unit::Decimal { places: 2 }),
        Column::new("size_bytes", "size", Unit::Bytes),
    ];
    let row = |(name, median, count): &(&str, f64, u32)| -> Vec<Cell> {
        let size = (*count > 100_000).then_some(u64::from(*count) * 431);
        vec![
            (*name).into(),
            (*count).into(),
            (f64::from(*count) / 1_200_000.0).into(),
            (*median).into(),
            (1.0 + median.sqrt() * 7.0).into(),
            size.into(),
        ]
    };
    let rows = all().map(row).collect();
    Section {
        name: "by_index".to_owned(),
        title: "By index".to_owned(),
        text: vec!["The busiest first.".to_owned()],
        pictures: vec![Picture::new(
            "index_times",
            "Share of queries answered within a time, by index",
            Drawing::Multiples(multiples),
        )],
        tables: vec![Table {
            rows,
            ..Table::new("indexes", "Indexes", columns)
        }],
    }
}

fn slowest() -> Section {
    let columns = vec![
        Column::new("query", "query", Unit::Text),
        Column::new("count", "count", Unit::Whole),
        Column::new("longest_seconds", "longest", Unit::Seconds),
        Column::new("threads", "threads", Unit::Whole),
    ];
    let rows = vec![
        vec![
            "\"star wars\" | trek".into(),
            12_u32.into(),
            2.75.into(),
            "auto".into(),
        ],
        vec![
            "<script>alert(1)</script>".into(),
            3_u32.into(),
            1.5.into(),
            4_u32.into(),
        ],
        vec![
            "кошки & собаки; 猫".into(),
            1_u32.into(),
            0.999.into(),
            Cell::Nothing,
        ],
        vec![
            "#tag, with a comma\nand a second line".into(),
            1_u32.into(),
            f64::NAN.into(),
            1_u32.into(),
        ],
    ];
    Section {
        name: "slowest".to_owned(),
        title: "Slowest queries".to_owned(),
        text: Vec::new(),
        pictures: Vec::new(),
        tables: vec![Table {
            rows,
            ..Table::new("slowest_queries", "Slowest queries", columns)
        }],
    }
}
