//! - `cargo xtask tidy` checks the rules of the tree.
//! - `cargo xtask ci` runs everything that must pass before a merge.
//! - `cargo xtask mutate` plants bugs and shows which test sees each.
//! - `cargo xtask count` counts the lines of code of a tree.

use std::path::Path;
use std::process::{Command, ExitCode};

use xtask::{mutate, tidy};

const USAGE: &str = "usage: cargo xtask tidy | ci | mutate [NAME…] | count [TREE]";

/// Cargo commands that must pass before a merge, the quickest to fail first.
const CI: [&[&str]; 6] = [
    &["fmt", "--all", "--check"],
    &["fmt", "--check", "--manifest-path", BENCH],
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ],
    &[
        "clippy",
        "--no-deps",
        "--all-targets",
        "--locked",
        "--manifest-path",
        BENCH,
        "--",
        "-D",
        "warnings",
    ],
    &["test", "--workspace"],
    &["test", "--locked", "--manifest-path", BENCH],
];

/// The benchmarks, a workspace of its own.
const BENCH: &str = "bench/Cargo.toml";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let passed = match arguments[..] {
        ["tidy"] => tidy(),
        ["ci"] => tidy() && CI.iter().all(|arguments| cargo(arguments)),
        ["mutate", ref names @ ..] => mutated(names),
        ["count"] => counted(&tidy::workspace_root()),
        ["count", tree] => counted(Path::new(tree)),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn tidy() -> bool {
    match tidy::check(&tidy::workspace_root()) {
        Ok(problems) if problems.is_empty() => true,
        Ok(problems) => {
            for problem in &problems {
                say(&problem.to_string());
            }
            false
        }
        Err(error) => {
            say(&format!("the tree could not be read: {error}"));
            false
        }
    }
}

fn counted(tree: &Path) -> bool {
    match tidy::count(tree) {
        Ok(crates) => {
            crates
                .iter()
                .for_each(|(name, lines)| say(&format!("{lines:7} {name}")));
            say(&format!("{:7} in all", crates.values().sum::<usize>()));
            true
        }
        Err(error) => {
            say(&format!("the tree could not be read: {error}"));
            false
        }
    }
}

fn mutated(names: &[&str]) -> bool {
    let outcome = mutate::run(&tidy::workspace_root(), names, &mut say);
    outcome.unwrap_or_else(|error| {
        say(&error.to_string());
        false
    })
}

/// How much of their work long tests do: four times as much as at a desk.
const TEST_TIMES: &str = "4";

fn cargo(arguments: &[&str]) -> bool {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    say(&format!("cargo {}", arguments.join(" ")));
    let status = Command::new(Path::new(&cargo))
        .args(arguments)
        .current_dir(tidy::workspace_root())
        .env("SEINE_TEST_TIMES", TEST_TIMES)
        .status();
    matches!(status, Ok(status) if status.success())
}

#[expect(
    clippy::print_stderr,
    reason = "a chore talks to the person who ran it"
)]
fn say(line: &str) {
    eprintln!("{line}");
}
