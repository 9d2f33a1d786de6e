//! How fast statements with long lists are cut out of a text and parsed: `cargo run --release -p seine-wire --example list_speed`.
//! The argument is the number of ids; 1,000,000 without it. Prints for each form the median of the runs, in MB of text a second
//! and in nanoseconds an id.
#![expect(clippy::print_stdout, reason = "it prints its measure")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let count = std::env::args().nth(1).map(|argument| argument.parse());
    let count: u64 = count.transpose()?.unwrap_or(1_000_000);
    for (name, text) in forms(count) {
        let mut seconds = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let begun = Instant::now();
            let (one, _) = wire::sql::first(text.as_bytes()).ok_or("no statement")?;
            black_box(wire::sql::parse(one)?);
            seconds.push(begun.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        let median = seconds[RUNS / 2];
        println!(
            "{name:12} {:6.1} MB {:6.0} MB/s {:6.1} ns an id",
            text.len() as f64 / 1e6,
            text.len() as f64 / 1e6 / median,
            median * 1e9 / count as f64
        );
    }
    Ok(())
}

/// The forms of `seine bench select` that are one statement. The ids rise by 7, and so have up to seven digits.
fn forms(count: u64) -> Vec<(&'static str, String)> {
    let list = |each: &dyn Fn(u64) -> String, between: &str| {
        let all: Vec<String> = (1..=count).map(|id| each(7 * id)).collect();
        all.join(between)
    };
    let select = |condition: String| format!("SELECT * FROM t WHERE {condition}");
    let ids = list(&|id| id.to_string(), ",");
    let quoted = list(&|id| format!("me.id = '{id}'"), " OR ");
    let pairs = list(&|id| format!("({},{})", id / 10, id % 10), ",");
    let each_pair = |id: u64| format!("(k1={} AND k2={})", id / 10, id % 10);
    vec![
        ("in", select(format!("id IN ({ids})"))),
        ("or", select(list(&|id| format!("id={id}"), " OR "))),
        (
            "or-brackets",
            format!("SELECT me.id FROM t me WHERE ( ( {quoted} ) )"),
        ),
        ("pairs-in", select(format!("(k1,k2) IN ({pairs})"))),
        ("pairs-or", select(list(&each_pair, " OR "))),
        (
            "insert",
            format!(
                "INSERT INTO t (id) VALUES {}",
                list(&|id| format!("({id})"), ",")
            ),
        ),
    ]
}
