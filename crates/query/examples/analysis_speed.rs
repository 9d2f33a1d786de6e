//! How fast analysis is: `cargo run --release -p seine-query --example analysis_speed < posts.txt`, one text a line.
#![expect(clippy::print_stdout, reason = "it prints its measure")]

use std::io::Read;
use std::time::Instant;

use query::analysis::{Analyzer, Words};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let lines: Vec<&str> = text.lines().collect();
    let (analyzer, mut words) = (Analyzer::default(), Words::new());
    for _ in 0..7 {
        let start = Instant::now();
        let mut count = 0;
        for line in &lines {
            words.clear();
            words.push_field(&analyzer, 0, line);
            count += words.len();
        }
        let seconds = start.elapsed().as_secs_f64();
        let (ns, mb) = (
            seconds * 1e9 / lines.len() as f64,
            text.len() as f64 / seconds / 1e6,
        );
        println!("{count} words, {ns:.0} ns a text, {mb:.0} MB/s");
    }
    Ok(())
}
