use std::io::Cursor;

use super::{Lines, Source, TouchOptions, read_touches, time_of};
use crate::attribution::bounds::Unbounded;
use crate::attribution::channels::Naming;
use crate::attribution::events::{EventCounts, Events, Window};
use crate::attribution::figures::Places;
use crate::attribution::input::{read_cookies, read_paths};
use crate::attribution::model::{Model, Rule};
use crate::attribution::tally::{DAY_MS, Detail};

/// 2024-07-01.
const NOW_MS: i64 = 1_719_792_000_000;

fn sources(text: &[u8]) -> Vec<Source> {
    vec![Source {
        name: "file".to_owned(),
        read: Box::new(Cursor::new(text.to_vec())),
    }]
}

fn touches(text: &str, currency: Option<&str>) -> Result<(Events, Vec<Lines>, u64), String> {
    let mut events = Events::new(Naming::default());
    let options = TouchOptions {
        currency: currency.map(str::to_owned),
        now_ms: NOW_MS,
    };
    let mut places = Places::default();
    let sources = sources(text.as_bytes());
    let read = read_touches(sources, &mut events, &mut places, &options, &mut |_| {});
    read.map(|(lines, others)| (events, lines, others))
}

/// The paths of events as `a>b=money` in units of cents.
fn orders(events: Events) -> (Vec<String>, EventCounts) {
    let window = Window {
        window_ms: 45 * DAY_MS,
        is_single_order: false,
        requires_first: Vec::new(),
        from_ms: None,
        to_ms: None,
        factors: Default::default(),
    };
    let rule = |channels: &[String]| Rule {
        position: [4_000, 2_000, 4_000],
        half_life_ms: 1,
        is_direct: vec![false; channels.len()],
    };
    let attributed = events
        .attribute(
            &window,
            &[Model::First],
            Detail::Report { rows: 100 },
            rule,
            &Unbounded,
        )
        .unwrap();
    let listed = attributed.tally.listed();
    let orders = listed.iter().map(|order| {
        let touches = order.touches.iter();
        let names: Vec<&str> = touches
            .map(|(channel, _)| attributed.channels[usize::from(channel.0)].as_str())
            .collect();
        format!(
            "{}={}:{}",
            names.join(">"),
            order.value.0 / 10_000,
            order.id
        )
    });
    (orders.collect(), attributed.counts)
}

/// The reasons of the unknown lines.
fn reasons(lines: &[Lines]) -> Vec<(u64, &'static str)> {
    let examples = lines.iter().flat_map(|lines| &lines.examples);
    examples
        .map(|example| (example.line, example.why))
        .collect()
}

#[test]
fn csv_and_json_lines_say_the_same() {
    let csv = "visitor,time,source,medium,subcat,value,order\n\
               v,2024-06-29T09:00:00Z,google,cpc,,,\n\
               v,2024-06-29T11:31:18+02:00,,,,129.90,1042\n";
    let json = "{\"visitor\":\"v\",\"time\":1719651600,\"source\":\"google\",\"medium\":\"cpc\"}\n\n\
                {\"visitor\":\"v\",\"time\":\"2024-06-29 09:31:18\",\"value\":129.90,\"order\":1042,\"more\":[1]}\n";
    for text in [csv, json] {
        let (events, lines, _) = touches(text, None).unwrap();
        assert_eq!(reasons(&lines), []);
        assert_eq!(orders(events).0, ["google-cpc-(none)=12990:1042"]);
    }
}

#[test]
fn lines_of_another_form_are_counted_and_never_guessed() {
    let text = "visitor,time,channel,value,currency\n\
                ,2024-06-29,a,,\n\
                v,yesterday,a,,\n\
                v,2024-06-29,a,5,\n\
                v,2024-06-29,,,\n\
                v,2024-06-29,,5 EUR,\n\
                v,2034-06-29,a,,\n\
                v,2024-06-29,a,,\n";
    let (_, lines, _) = touches(text, None).unwrap();
    assert_eq!(lines[0].count, 7);
    assert_eq!(
        reasons(&lines),
        [
            (2, "no visitor"),
            (3, "not a time such as 2024-06-29T09:00:00Z or 1719652678"),
            (4, "a touch and an order in one line"),
            (5, "neither a channel nor money"),
            (6, "not a number such as 12.50"),
            (7, "a time in the future"),
        ]
    );
    let (_, lines, _) = touches("{\"visitor\":1\n{\"visitor\":[],\"time\":1}\n{}\n", None).unwrap();
    assert_eq!(lines[0].unknown, 3);
}

#[test]
fn two_currencies_are_refused_unless_one_is_named() {
    let text = "visitor,time,channel,value,currency\nv,1,a,,\nv,2,,5,EUR\nv,3,,7,USD\n";
    let refused = touches(text, None).map(|_| ()).unwrap_err();
    assert!(
        refused.starts_with("file:4: orders are in EUR and in USD"),
        "{refused}"
    );
    let (events, _, others) = touches(text, Some("USD")).unwrap();
    assert_eq!(others, 1);
    assert_eq!(orders(events).0, ["a=700:"]);
}

#[test]
fn a_quote_that_is_not_closed_ends_the_reading_and_not_the_memory() {
    let mut text = b"visitor,time,channel\nv,1,a\nv,2,\"a".to_vec();
    text.resize(4 << 20, b'x');
    let text = String::from_utf8(text).unwrap();
    let (_, lines, _) = touches(&text, None).unwrap();
    assert_eq!(lines[0].count, 1);
    assert!(
        lines[0].cut.as_ref().unwrap().contains("longer than 1 MiB"),
        "{lines:?}"
    );
}

#[test]
fn times_are_seconds_or_of_rfc_3339() {
    for (text, wanted) in [
        ("1719652678", Some(1_719_652_678_000)),
        ("1719652678.5", Some(1_719_652_678_500)),
        ("2024-06-29", Some(1_719_619_200_000)),
        ("2024-06-29T02:00:00+02:00", Some(1_719_619_200_000)),
        ("", None),
        ("29.06.2024", None),
        ("2024-06-31", None),
        ("-5", None),
    ] {
        assert_eq!(time_of(text.as_bytes()), wanted, "{text}");
    }
}

fn cookies(text: &[u8]) -> (Events, Vec<Lines>, u64) {
    let mut events = Events::new(Naming::default());
    let mut places = Places::default();
    let read = read_cookies(sources(text), &mut events, &mut places, NOW_MS, &mut |_| {});
    let (lines, cut) = read.unwrap();
    (events, lines, cut)
}

#[track_caller]
fn check_cookie(text: &str, wanted: &[&str]) {
    let (events, lines, _) = cookies(text.as_bytes());
    assert_eq!(reasons(&lines), []);
    assert_eq!(orders(events).0, wanted, "{text}");
}

#[track_caller]
fn refuse_cookie(text: &str, why: &str) {
    let (_, lines, _) = cookies(text.as_bytes());
    assert_eq!(reasons(&lines), [(1, why)], "{text}");
}

const COOKIE: &str = "__ORD!1042!129.90!1719652678*google!cpc!!1719652001*__ORD!987!20!1718000000*news!email!june!1717990000";

#[test]
fn a_cookie_is_an_order_with_its_touches_and_older_orders_do_not_count() {
    let wanted = ["news-email-june>google-cpc-(none)=12990:1042"];
    check_cookie(COOKIE, &wanted);
    check_cookie(&format!("\"{COOKIE}\",17"), &wanted);
    check_cookie(&format!("{COOKIE},17"), &wanted);
    check_cookie(&format!("{COOKIE}\t17"), &wanted);
    check_cookie(
        &format!("# a report\n\nEvent Label,Total Events\n{COOKIE}\n"),
        &wanted,
    );
}

#[test]
fn cookies_that_are_forged_cut_or_of_another_form() {
    refuse_cookie(
        "v2.google.cpc.1",
        "a cookie that does not begin with __ORD!",
    );
    refuse_cookie(
        "google!cpc!!1719652001",
        "a cookie that does not begin with __ORD!",
    );
    refuse_cookie("__ORD!1!5!2034567890", "an order from the future");
    let bad = "a record without four fields and a time";
    refuse_cookie("__ORD!1!5", bad);
    refuse_cookie("__ORD!1!5!1719652678*goo!gle!cpc!!1719652001*a!b!c!1", bad);
    refuse_cookie("__ORD!1!5!1719652678*wow!!cpc!!1719652001", bad);
    // A name with `*` makes a record of one field in the midst.
    refuse_cookie("__ORD!1!5!1719652678*go*ogle!cpc!!1719652001", bad);
    refuse_cookie("__ORD!1!5 EUR!1719652678", "not a number such as 12.50");
    refuse_cookie(
        "__ORD!1!5!1719652678*a!b!c!1719652679",
        "records that are not from the youngest to the oldest",
    );
    let long = format!("__ORD!1!5!1719652678{}", "*a!b!c!1719652001".repeat(600));
    refuse_cookie(&long, "a cookie above 4,096 bytes");
}

#[test]
fn a_cut_last_record_does_not_count_and_the_others_do() {
    for end in [1, 5, 11, 12] {
        let cut = &COOKIE[..COOKIE.len() - end];
        let (events, lines, count) = cookies(cut.as_bytes());
        assert_eq!(lines[0].unknown, 0);
        let (orders, _) = orders(events);
        // A time with fewer digits is older than the window.
        let wanted = ["google-cpc-(none)=12990:1042"];
        assert_eq!(orders, wanted, "{cut}");
        assert_eq!(count, u64::from(end >= 10), "{cut}");
    }
}

#[test]
fn one_order_of_two_lines_counts_once() {
    let (events, _, _) = cookies(format!("{COOKIE}\n{COOKIE}\n").as_bytes());
    let (orders, counts) = orders(events);
    assert_eq!(orders.len(), 1);
    assert_eq!(counts.repeated_orders, 1);
}

#[test]
fn paths_are_added_up_and_bad_ones_are_counted() {
    let text = "path;total_conversions;total_conversion_value;total_null\n\
                a > b;1;2.5;3\n\
                a>b;1;0.25;\n\
                b;0;0;4\n\
                ;1;1;1\n\
                a > > b;1;1;1\n\
                a;-1;0;0\n\
                a;0;5;0\n\
                c;x;0;0\n";
    let counted = read_paths(sources(text.as_bytes()), Naming::default(), &mut |_| {}).unwrap();
    assert_eq!(counted.channels, ["a", "b"]);
    assert_eq!(counted.paths.len(), 2);
    let first = counted.paths.iter().next().unwrap().1;
    assert_eq!(
        (first.conversions.0, first.value.0, first.nulls.0),
        (2_000_000, 2_750_000, 3_000_000)
    );
    let lines: Vec<u64> = reasons(&counted.lines)
        .iter()
        .map(|(line, _)| *line)
        .collect();
    assert_eq!(lines, [5, 6, 7, 8, 9]);
    let refused = read_paths(sources(b"a,b\n1,2\n"), Naming::default(), &mut |_| {});
    assert!(refused.unwrap_err().contains("it has a, b"));
}

#[test]
fn bytes_of_strangers_never_panic() {
    let mut seed = 1_u64;
    for _ in 0..300 {
        let mut text = COOKIE.as_bytes().to_vec();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (seed >> 33) as usize % text.len();
            text[at] = (seed >> 25) as u8;
        }
        let (events, _, _) = cookies(&text);
        let _ = orders(events);
        let csv = [&b"visitor,time,channel,value\n"[..], &text].concat();
        let _ = touches(&String::from_utf8_lossy(&csv), None);
    }
}
