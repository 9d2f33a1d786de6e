//! All outputs of one document, hostile texts, and sizes.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::LazyLock;

use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::{
    Axis, Bars, Cell, Column, Curve, CurveKind, Curves, Document, Drawing, Fact, Group, Matrix,
    Multiples, Panel, Picture, Scale, Section, Table, Terminal, Unit,
};

fn terminal(width: usize) -> Terminal {
    Terminal {
        width,
        rows_max: usize::MAX,
        colour: false,
        ascii: false,
    }
}

/// Compares with a file of `src/golden`. `SEINE_GOLDEN=write` writes it.
#[track_caller]
fn check_golden(name: &str, output: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("src/golden")
        .join(name);
    if std::env::var("SEINE_GOLDEN").is_ok_and(|set| set == "write") {
        std::fs::write(&path, output).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert!(
        output == golden,
        "{name} differs; SEINE_GOLDEN=write writes it, git shows how"
    );
}

#[test]
fn every_output_of_the_example_is_as_it_was() {
    let document = Document::example();
    check_golden("example.txt", &document.text(&terminal(100)));
    let plain = Terminal {
        ascii: true,
        ..terminal(60)
    };
    check_golden("ascii.txt", &document.text(&plain));
    let coloured = Terminal {
        colour: true,
        ..terminal(80)
    };
    check_golden("colour.txt", &document.text(&coloured));
    check_golden("example.csv", &document.csv());
    check_golden("example.json", &document.json());
    check_golden("example.html", &document.html());
    for picture in document.pictures() {
        check_golden(&format!("{}.svg", picture.name), &picture.svg());
    }
}

/// `tests/clients/report.sh` opens this page and that of the example in a browser.
#[test]
fn a_page_of_hostile_texts_is_as_it_was() {
    let mut page = Document::default();
    for text in hostile().iter().filter(|text| text.len() < 1_000) {
        let mut document = document_of(text);
        page.title = document.title;
        page.notes.append(&mut document.notes);
        page.facts.append(&mut document.facts);
        page.sections.append(&mut document.sections);
    }
    check_golden("hostile.html", &page.html());
}

#[test]
fn plain_output_is_ascii() {
    let plain = Terminal {
        ascii: true,
        ..terminal(80)
    };
    let text = Document::example().text(&plain);
    assert!(text.is_ascii(), "{text}");
}

/// Texts that a log of strangers may hold.
fn hostile() -> Vec<String> {
    let texts = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'><svg onload=alert(1)>",
        "</style></title></textarea>-->",
        "\u{202e}gnp.exe\u{2066}",
        "a\0b\x1b[2J\x1b]0;title\x07",
        "\u{fffd}\u{feff}\u{2028}",
        "`${alert(1)}`&lt;&#60;",
        "]]><!--",
    ];
    let mut texts: Vec<String> = texts.map(str::to_owned).into();
    texts.push("w".repeat(10_000));
    texts
}

/// A document whose every text is `text`.
fn document_of(text: &str) -> Document {
    let name = || text.to_owned();
    let axis = || Axis::new(name(), Unit::Text, Scale::Linear);
    let points = vec![(1.0, 1.0), (2.0, 3.0)];
    let curve = || Curve {
        level: Some(2.0),
        ..Curve::new(name(), points.clone())
    };
    let curves = Curves {
        kind: CurveKind::Points,
        across: axis(),
        upward: axis(),
        curves: vec![curve(), curve()],
    };
    let group = Group {
        name: name(),
        values: vec![Some(1.0), None],
    };
    let bars = Bars {
        unit: Unit::Whole,
        series: vec![name(), name()],
        groups: vec![group],
    };
    let matrix = Matrix {
        unit: Unit::Whole,
        down: name(),
        across: name(),
        rows: vec![name()],
        columns: vec![name()],
        values: vec![vec![Some(1.0)]],
    };
    let panel = Panel {
        title: name(),
        caption: name(),
        points: points.clone(),
    };
    let multiples = Multiples {
        kind: CurveKind::Frequency,
        across: axis(),
        upward: axis(),
        panels: vec![panel],
    };
    let drawings = [
        Drawing::Curves(curves),
        Drawing::Bars(bars),
        Drawing::Matrix(matrix),
        Drawing::Multiples(multiples),
    ];
    let picture = |drawing| Picture::new(name(), name(), drawing);
    let table = Table {
        rows: vec![vec![text.into(), text.into()]],
        ..Table::new(
            name(),
            name(),
            vec![
                Column::new(name(), name(), Unit::Text),
                Column::new(name(), name(), Unit::Whole),
            ],
        )
    };
    Document {
        title: name(),
        notes: vec![name()],
        facts: vec![Fact::new(name(), name(), Unit::Whole, text)],
        sections: vec![Section {
            name: name(),
            title: name(),
            text: vec![name()],
            pictures: drawings.map(picture).into(),
            tables: vec![table],
        }],
    }
}

/// Each element and attribute that a markup holds, read by the rules of XML; fails where it is none.
fn elements(markup: &str) -> HashSet<String> {
    let mut rest = markup;
    let mut found = HashSet::new();
    while let Some(begin) = rest.find('<') {
        assert!(
            !rest[..begin].contains('>'),
            "a bracket outside of an element: {}",
            &rest[..begin]
        );
        let end = begin + rest[begin..].find('>').unwrap();
        let element = &rest[begin + 1..end];
        let mut parts = element.split('"');
        let mut words = parts.next().unwrap().split_whitespace();
        let tag = words
            .next()
            .unwrap_or_default()
            .trim_start_matches('/')
            .trim_end_matches('/')
            .to_owned();
        found.extend(words.map(|word| format!("{tag} {}", word.trim_end_matches(['=', '/']))));
        for outside in parts.skip(1).step_by(2) {
            let words = outside.split_whitespace();
            found.extend(words.map(|word| format!("{tag} {}", word.trim_end_matches(['=', '/']))));
        }
        found.insert(tag);
        rest = &rest[end + 1..];
    }
    found
}

/// The body of a page, without its script.
fn body(html: &str) -> &str {
    let begin = html.find("<body>").unwrap();
    &html[begin..html.rfind("<script>").unwrap()]
}

#[test]
fn texts_of_strangers_add_no_element_and_no_attribute() {
    let expected = harmless(|document| elements(body(&document.html())));
    for text in hostile() {
        let document = document_of(&text);
        let html = document.html();
        assert!(elements(body(&html)).is_subset(&expected), "{text}");
        assert_eq!(html.matches("<script").count(), 1, "{text}");
        for (number, picture) in document.pictures().enumerate() {
            let expected = harmless(|document| drawn(document.pictures().nth(number).unwrap()));
            assert!(
                drawn(picture).is_subset(&expected),
                "{text}: {}",
                picture.svg()
            );
        }
    }
}

fn drawn(picture: &Picture) -> HashSet<String> {
    let svg = picture.svg();
    elements(&svg[svg.find("</style>").unwrap() + "</style>".len()..])
}

/// What documents of a short, a wide and a long harmless text have: long texts are folded, wide labels are turned.
fn harmless(of: impl Fn(&Document) -> HashSet<String>) -> HashSet<String> {
    let texts = ["x".to_owned(), "a label ".repeat(4), "a text ".repeat(50)];
    texts
        .iter()
        .flat_map(|text| of(&document_of(text)))
        .collect()
}

#[test]
fn no_character_of_a_stranger_moves_the_cursor_or_turns_the_text() {
    for text in hostile() {
        let document = document_of(&text);
        let svgs: String = document.pictures().map(Picture::svg).collect();
        for output in [document.text(&terminal(80)), document.html(), svgs] {
            let moves = |c: char| {
                (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c)
            };
            assert!(!output.contains(moves), "{text:?}");
        }
    }
}

#[test]
fn a_page_names_each_figure_and_refers_to_nothing_outside() {
    let html = Document::example().html();
    let unnamed = html.split("<svg").skip(1).filter(|svg| {
        let tag = svg.split('>').next().unwrap();
        !(tag.contains("role=\"img\"") && tag.contains("aria-label=\"")
            || tag.contains("aria-hidden=\"true\""))
    });
    assert_eq!(unnamed.count(), 0);
    for outside in ["http:", "https:", "src=", "url(", "@import", "style=\""] {
        let places: Vec<_> = html
            .match_indices(outside)
            .map(|(at, _)| &html[at..(at + 40).min(html.len())])
            .collect();
        let is_namespace = |place: &&str| place.starts_with("http://www.w3.org/2000/svg");
        assert!(places.iter().all(is_namespace), "{places:?}");
    }
    let mut ids: Vec<&str> = html
        .split(" id=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "{ids:?}");
}

#[test]
fn fifteen_servers_and_180_indexes_are_below_8_mb() {
    let points = |number: u32| {
        let bins = (0..60_u32).map(|bin| {
            let noise = f64::from((bin * 7_919 + number * 104_729) % 1_000) / 1_000.0;
            (
                10_f64.powf(-4.0 + f64::from(bin) / 10.0),
                (1e6 * noise * noise).round(),
            )
        });
        bins.collect::<Vec<_>>()
    };
    let panel = |number: u32| Panel {
        title: format!(
            "server-{}.example: index_of_posts_{}",
            number / 180,
            number % 180
        ),
        caption: "1.2 M queries, p99 40 ms".to_owned(),
        points: points(number),
    };
    let multiples = Multiples {
        kind: CurveKind::Frequency,
        across: Axis::new("time", Unit::Seconds, Scale::Log10),
        upward: Axis::new("queries", Unit::Whole, Scale::Linear),
        panels: (0..15 * 180).map(panel).collect(),
    };
    let columns = (0..12).map(|number| Column::new(format!("c{number}"), "seconds", Unit::Seconds));
    let row = |number: u32| {
        (0..12)
            .map(|column| Cell::Decimal(f64::from(number * 12 + column) / 7e4))
            .collect()
    };
    let table = Table {
        rows: (0..15 * 180).map(row).collect(),
        ..Table::new("all", "All", columns.collect())
    };
    let document = |pictures| Document {
        sections: vec![Section {
            pictures,
            tables: vec![table.clone()],
            ..Section::default()
        }],
        ..Document::default()
    };
    let without = document(Vec::new()).html().len();
    let with = document(vec![Picture::new("m", "M", Drawing::Multiples(multiples))])
        .html()
        .len();
    assert!(
        (with - without) / 2_700 < 2_000,
        "{} bytes a picture",
        (with - without) / 2_700
    );
    assert!(with < 8_000_000, "{with} bytes");
}

/// The cells of a CSV as an independent reader sees them, by table.
fn read_csv(text: &str, separator: u8) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader
        .delimiter(separator)
        .comment(Some(b'#'))
        .has_headers(false)
        .flexible(true);
    let records = reader.from_reader(text.as_bytes()).into_records();
    records
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        Just(Cell::Nothing),
        any::<String>().prop_map(Cell::Text),
        "[a-z#,;\"\r\n ]{0,6}".prop_map(Cell::Text),
        any::<i64>().prop_map(Cell::Whole),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(Cell::Decimal),
    ]
}

fn table() -> impl Strategy<Value = Table> {
    let rows = (1..5_usize).prop_flat_map(|columns| {
        prop::collection::vec(prop::collection::vec(cell(), columns), 1..6)
    });
    rows.prop_map(|rows| {
        let units = [
            Unit::Text,
            Unit::Whole,
            Unit::Seconds,
            Unit::Share,
            Unit::Bytes,
        ];
        let columns =
            (0..rows[0].len()).map(|number| Column::new(format!("c{number}"), "C", units[number]));
        Table {
            rows: rows.clone(),
            ..Table::new("t", "T", columns.collect())
        }
    })
}

/// A line of points that never falls.
fn rising() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let steps = prop::collection::vec((0.01..5.0_f64, 0.0..1.0_f64), 2..300);
    steps.prop_map(|steps| {
        let total: f64 = steps.iter().map(|step| step.1).sum::<f64>().max(1e-9);
        let sums = steps.iter().scan((1e-3, 0.0), |at, step| {
            *at = (at.0 * (1.0 + step.0 / 5.0), at.1 + step.1);
            Some((at.0, (at.1 / total).min(1.0)))
        });
        sums.collect()
    })
}

fn cumulative(curves: Vec<Curve>) -> Picture {
    let curves = Curves {
        kind: CurveKind::Cumulative,
        across: Axis::new(
            "time of a query, with a title that is long",
            Unit::Seconds,
            Scale::Log10,
        ),
        upward: Axis::shares("share of all queries, with a title that is long"),
        curves,
    };
    Picture::new("c", "C", Drawing::Curves(curves))
}

#[track_caller]
fn check_width(text: &str, width: usize) {
    for line in text.lines() {
        assert!(line.width() <= width, "{} > {width}: {line}", line.width());
    }
}

#[test]
fn pictures_of_the_example_fit_every_width() {
    for width in 20..=200 {
        for ascii in [false, true] {
            let terminal = Terminal {
                ascii,
                ..terminal(width)
            };
            for picture in Document::example().pictures() {
                check_width(&picture.text(&terminal), width);
            }
        }
    }
}

/// A table of a name and `numbers` numbers, with `rows` rows.
fn wide_table(numbers: usize, rows: usize) -> Table {
    let mut columns = vec![Column::new("name", "name", Unit::Text)];
    columns.extend((1..=numbers).map(|number| {
        let name = format!("number{number}");
        Column::new(name.clone(), name, Unit::Whole)
    }));
    let mut table = Table::new("wide", "Wide", columns);
    table.rows = (0..rows)
        .map(|row| {
            let mut cells = vec![Cell::from("a name of some words")];
            cells.extend((0..numbers).map(|_| Cell::from(row as u64)));
            cells
        })
        .collect();
    table
}

#[test]
fn columns_of_numbers_that_do_not_fit_are_left_out_and_named() {
    let text = wide_table(4, 1).text(&terminal(40));
    let wanted = "name                  number1  number2
a name of some words        0        0
… 2 more columns: number3, number4
";
    assert_eq!(text, wanted);
    for width in 28..=200 {
        check_width(&wide_table(12, 3).text(&terminal(width)), width);
    }
}

#[test]
fn rows_above_the_bound_are_counted() {
    let bounded = Terminal {
        rows_max: 2,
        ..terminal(80)
    };
    let text = wide_table(1, 1_003).text(&bounded);
    assert_eq!(text.lines().count(), 4, "{text}");
    assert!(text.ends_with("… 1,001 more rows\n"), "{text}");
    let text = wide_table(1, 3).text(&bounded);
    assert!(text.ends_with("… 1 more row\n"), "{text}");
    let text = wide_table(1, 2).text(&bounded);
    assert!(!text.contains("more"), "{text}");
}

#[test]
fn pictures_of_hostile_texts_fit_every_width() {
    for text in hostile() {
        let document = document_of(&text);
        for width in (20..=200).step_by(7) {
            for picture in document.pictures() {
                check_width(&picture.text(&terminal(width)), width);
            }
        }
    }
}

#[test]
fn names_of_many_curves_do_not_lie_over_each_other() {
    let curves =
        (0..20).map(|number| Curve::new(format!("curve number {number}"), vec![(1.0, 0.5)]));
    let svg = cumulative(curves.collect()).svg();
    let mut places: Vec<(i64, f64, f64)> = Vec::new();
    let texts = svg
        .split("<text ")
        .skip(1)
        .filter_map(|text| text.split("</text>").next());
    for text in texts.filter(|text| text.contains(">curve number")) {
        let attribute = |name: &str| -> f64 {
            let (_, rest) = text.split_once(&format!("{name}=\"")).unwrap();
            rest.split('"').next().unwrap().parse().unwrap()
        };
        let (x, y) = (attribute("x"), attribute("y"));
        assert!(x + 6.9 * 15.0 < 760.0, "{text}");
        places.push((y as i64, x, x + 6.9 * 15.0));
    }
    places.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    assert_eq!(places.len(), 20);
    for pair in places.windows(2) {
        let is_apart =
            pair[0].0 + 14 <= pair[1].0 || pair[0].0 == pair[1].0 && pair[0].2 < pair[1].1;
        assert!(is_apart, "{pair:?}");
    }
}

#[test]
fn a_document_of_nothing_has_every_output() {
    let kinds = document_of("x").sections.remove(0).pictures;
    let emptied = kinds.into_iter().map(|picture| {
        let drawing = match picture.drawing {
            Drawing::Curves(curves) => Drawing::Curves(Curves {
                curves: Vec::new(),
                ..curves
            }),
            Drawing::Bars(bars) => Drawing::Bars(Bars {
                groups: Vec::new(),
                series: Vec::new(),
                ..bars
            }),
            Drawing::Matrix(matrix) => Drawing::Matrix(Matrix {
                rows: Vec::new(),
                columns: Vec::new(),
                values: Vec::new(),
                ..matrix
            }),
            Drawing::Multiples(multiples) => Drawing::Multiples(Multiples {
                panels: Vec::new(),
                ..multiples
            }),
        };
        Picture { drawing, ..picture }
    });
    let document = Document {
        sections: vec![Section {
            pictures: emptied.collect(),
            tables: vec![Table::default()],
            ..Section::default()
        }],
        ..Document::default()
    };
    assert!(document.html().ends_with("</html>\n"));
    assert!(
        document
            .pictures()
            .all(|picture| picture.svg().ends_with("</svg>\n"))
    );
    check_width(&document.text(&terminal(40)), 40);
    assert!(serde_json::from_str::<serde_json::Value>(&document.json()).is_ok());
    assert!(document.csv().starts_with("# \n"));
}

proptest! {
    #[test]
    fn csv_reads_back_as_its_cells(table in table(), semicolon: bool) {
        let separator = if semicolon { ';' } else { ',' };
        let lines = read_csv(&table.csv(separator), separator as u8);
        prop_assert_eq!(lines.len(), table.rows.len() + 1);
        for (line, row) in lines[1..].iter().zip(&table.rows) {
            prop_assert_eq!(line.len(), row.len());
            for (field, cell) in line.iter().zip(row) {
                match cell {
                    Cell::Nothing => prop_assert_eq!(field, ""),
                    Cell::Text(text) => prop_assert_eq!(field, text),
                    Cell::Whole(number) => prop_assert_eq!(field.parse::<i64>().unwrap(), *number),
                    Cell::Decimal(number) => prop_assert_eq!(field.parse::<f64>().unwrap(), *number),
                }
            }
        }
    }

    #[test]
    fn json_reads_back_as_its_cells(table in table()) {
        let document = Document {
            sections: vec![Section { tables: vec![table.clone()], ..Section::default() }],
            ..Document::default()
        };
        let json: serde_json::Value = serde_json::from_str(&document.json()).unwrap();
        for (number, row) in table.rows.iter().enumerate() {
            for (column, cell) in table.columns.iter().zip(row) {
                let value = &json["t"][number][&column.name];
                match cell {
                    Cell::Nothing => prop_assert!(value.is_null()),
                    Cell::Text(text) => prop_assert_eq!(value.as_str(), Some(text.as_str())),
                    Cell::Whole(number) => prop_assert_eq!(value.as_i64(), Some(*number)),
                    Cell::Decimal(number) => prop_assert_eq!(value.as_f64(), Some(*number)),
                }
            }
        }
    }

    #[test]
    fn curves_in_text_fit_their_width_and_never_fall(points in rising(), other in rising(), width in 20..200_usize) {
        let two = cumulative(vec![Curve::new("a", points.clone()), Curve::new("b", other)]);
        check_width(&two.text(&terminal(width)), width);
        let text = cumulative(vec![Curve::new("a", points)]).text(&terminal(width));
        check_width(&text, width);
        // The area of a single curve: in each column the count of characters that are not empty.
        let rows: Vec<Vec<char>> = (text.lines())
            .filter_map(|line| Some(line.split_once(['│', '┤'])?.1.chars().collect()))
            .collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let height = |column: usize| {
            let filled = rows.iter().filter_map(|row| row.get(column)).filter(|c| **c != ' ');
            filled.map(|c| u32::from(*c) - 0x2580).sum::<u32>()
        };
        let heights: Vec<u32> = (0..columns).map(height).collect();
        prop_assert!(heights.windows(2).all(|pair| pair[0] <= pair[1]), "{:?}\n{}", heights, text);
    }

    #[test]
    fn drawn_curves_never_fall(points in rising()) {
        let svg = cumulative(vec![Curve::new("a", points)]).svg();
        let line = svg.split("<polyline").nth(1).unwrap();
        let line = line.split("points=\"").nth(1).unwrap().split('"').next().unwrap();
        let places: Vec<(f64, f64)> = (line.split(' '))
            .map(|place| place.split_once(',').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        prop_assert!(places.windows(2).all(|pair| pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1), "{}", line);
    }

    #[test]
    fn any_text_is_escaped_everywhere(text in any::<String>()) {
        let document = document_of(&text);
        static HARMLESS: LazyLock<HashSet<String>> =
            LazyLock::new(|| harmless(|document| elements(body(&document.html()))));
        prop_assert!(elements(body(&document.html())).is_subset(&HARMLESS));
    }

    #[test]
    fn texts_of_many_scripts_fit_the_width(text in "[a-zß-ÿа-яא-ת一-龠ア-ン😀-😏\u{301}\u{202e} ]{0,60}", width in 20..120_usize) {
        for picture in document_of(&text).pictures() {
            check_width(&picture.text(&terminal(width)), width);
        }
    }
}
