//! Test programs: cargo builds them. They run without cargo, so that a test that takes too long can be ended.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::copy::Copy;

/// Time between two looks at a running test.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A test, and its program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    /// Folder of the crate.
    folder: String,
    /// Whether the program is the crate's `tests/it`; false: its library.
    is_it: bool,
    /// Name of the test within the program: `receipts::name`.
    test: String,
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    Failed,
    TooLate,
}

impl Program {
    /// The program of a test in the form of SAFETY.md.
    pub(super) fn of(test: &str) -> Result<Program, String> {
        let wrong = || format!("expected crates/NAME/(src|tests/it)/….rs::TEST, found {test}");
        let (path, name) = test.split_once(".rs::").ok_or_else(wrong)?;
        let mut parts = path.split('/');
        let (crates, of) = (parts.next(), parts.next().ok_or_else(wrong)?);
        let is_it = match (crates, parts.next()) {
            (Some("crates"), Some("src")) => false,
            (Some("crates"), Some("tests")) if parts.next() == Some("it") => true,
            _ => return Err(wrong()),
        };
        let mut modules: Vec<&str> = parts.filter(|part| *part != "mod").collect();
        if !is_it && !modules.contains(&"tests") {
            modules.push("tests"); // a module at the end of the tested file
        }
        modules.push(name);
        Ok(Program {
            folder: format!("crates/{of}"),
            is_it,
            test: modules.join("::"),
        })
    }

    /// Builds the program. Gives its path, or the compiler's output.
    pub(super) fn build(&self, copy: &Copy) -> io::Result<Result<PathBuf, String>> {
        let kind: &[&str] = if self.is_it {
            &["--test", "it"]
        } else {
            &["--lib"]
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["test", "--no-run"])
            .args(kind)
            .current_dir(copy.tree.join(&self.folder))
            .env("CARGO_TARGET_DIR", &copy.target)
            .output()?;
        let said = String::from_utf8_lossy(&built.stderr).into_owned();
        if !built.status.success() {
            return Ok(Err(said));
        }
        match executable(&said) {
            Some(path) => Ok(Ok(path.into())),
            None => Err(io::Error::other(format!("cargo named no program:\n{said}"))),
        }
    }

    /// Runs the test for at most `most`. Its output goes to `mutate/output` in the target folder.
    pub(super) fn run(&self, copy: &Copy, program: &Path, most: Duration) -> io::Result<Ended> {
        let output = copy.target.with_file_name("output");
        let mut child = Command::new(program)
            .args(["--exact", &self.test])
            .current_dir(copy.tree.join(&self.folder))
            .stdout(File::create(&output)?)
            .stderr(Stdio::null())
            .spawn()?;
        let Some(status) = ended_within(&mut child, most)? else {
            child.kill()?;
            child.wait()?;
            return Ok(Ended::TooLate);
        };
        let said = std::fs::read_to_string(&output)?;
        match status.success() {
            true if said.contains("test result: ok. 1 passed") => Ok(Ended::Passed),
            true => Err(io::Error::other(format!("no test is called {}", self.test))),
            false => Ok(Ended::Failed),
        }
    }
}

/// The path in cargo's line `Executable tests/it/main.rs (PATH)`.
fn executable(said: &str) -> Option<&str> {
    let mut lines = said.lines();
    let line = lines.find(|line| line.trim_start().starts_with("Executable "))?;
    line.rsplit_once('(')?.1.strip_suffix(')')
}

fn ended_within(child: &mut Child, most: Duration) -> io::Result<Option<ExitStatus>> {
    let began = Instant::now();
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() || began.elapsed() >= most {
            return Ok(ended);
        }
        thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_found_in_its_program() {
        let program = |folder: &str, is_it, test: &str| {
            Ok(Program {
                folder: folder.to_owned(),
                is_it,
                test: test.to_owned(),
            })
        };
        assert_eq!(
            Program::of("crates/engine/tests/it/receipts.rs::late"),
            program("crates/engine", true, "receipts::late")
        );
        assert_eq!(
            Program::of("crates/journal/src/tests/crash.rs::cut"),
            program("crates/journal", false, "tests::crash::cut")
        );
        assert_eq!(
            Program::of("crates/engine/src/mailbox/commands.rs::last"),
            program("crates/engine", false, "mailbox::commands::tests::last")
        );
        for wrong in [
            "xtask/src/lib.rs::a",
            "crates/engine/benches/a.rs::b",
            "crates/engine/src/a.rs",
        ] {
            assert!(Program::of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn cargo_says_where_the_program_is() {
        let said = "   Compiling a\n  Executable unittests src/lib.rs (/t/deps/a-1)\n";
        assert_eq!(executable(said), Some("/t/deps/a-1"));
        assert_eq!(executable("   Compiling a\n"), None);
    }
}
