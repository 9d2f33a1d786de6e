//! How fast analysis is: `cargo run --release -p seine-language --example analysis_speed < posts.txt`, one text a line. Arguments are
//! settings, such as `morphology=stem_en index_sp=1`.
#![expect(clippy::print_stdout, reason = "it prints its measure")]

use std::io::Read;
use std::time::Instant;

use language::analysis::{Analyzer, Settings, Words};

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut settings = Settings::default();
    for argument in std::env::args().skip(1) {
        let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
        match settings.set(name, value) {
            Some(Ok(())) => {}
            Some(Err(why)) => return Err(std::io::Error::other(why)),
            None => return Err(std::io::Error::other(format!("no setting {name}"))),
        }
    }
    let (analyzer, mut words) = (Analyzer::new(settings), Words::new());
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
