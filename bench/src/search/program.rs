//! Peers that are programs. `benchmarks/peers/search/README.md` describes their protocol.

use std::{
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use super::{answer_sum::AnswerSum, definition::Matching, report::Taken};
use crate::{
    error::{Error, Result},
    runs::Effort,
};

/// A running peer. Dropping it ends the program.
pub(crate) struct Program {
    pub(crate) name: String,
    /// The program's own description.
    pub(crate) about: String,
    child: Child,
    /// Its input; `None` once it is told to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts the shell command `command` with these arguments, and waits until the program is ready.
    pub(crate) fn start(name: &str, command: &str, arguments: &[&Path]) -> Result<Program> {
        let mut child = Command::new("sh")
            .arg("-c")
            .arg(format!("exec {command} \"$@\""))
            .arg(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Error::Peer(format!("{name}: no way to speak to it")));
        };
        let mut program = Program {
            name: name.to_owned(),
            about: String::new(),
            child,
            input: Some(input),
            output: BufReader::new(output),
        };
        let ready = program.line()?;
        program.about = ready.strip_prefix("ready ").unwrap_or(&ready).to_owned();
        Ok(program)
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(Error::Peer(format!("{}: it ended early", self.name)));
        }
        Ok(line.trim_end().to_owned())
    }

    /// Sends a text and a line break, and reads the line that answers it.
    pub(crate) fn tell(&mut self, text: &str) -> Result<String> {
        if let Some(input) = &mut self.input {
            input.write_all(text.as_bytes())?;
            input.write_all(b"\n")?;
            input.flush()?;
        }
        self.line()
    }

    /// Sends a command and reads its answer, which is a list of numbers.
    pub(crate) fn ask(&mut self, command: &str) -> Result<Vec<f64>> {
        let line = self.tell(command)?;
        let numbers: std::result::Result<Vec<f64>, _> = line.split(' ').map(str::parse).collect();
        numbers.map_err(|_| Error::Peer(format!("{}: {line:?} are not numbers", self.name)))
    }

    /// The total of each query.
    pub(super) fn totals(&mut self, matching: Matching) -> Result<Vec<AnswerSum>> {
        let totals = self.ask(&format!("totals {matching}"))?;
        let found = |total: f64| AnswerSum {
            total: Some(total as u64),
            rows: None,
        };
        Ok(totals.into_iter().map(found).collect())
    }

    /// Makes a run.
    pub(super) fn measure(
        &mut self,
        matching: Matching,
        clients: u32,
        effort: Effort,
    ) -> Result<Taken> {
        let told = self.ask(&format!(
            "measure {matching} {clients} {}",
            effort.seconds_min
        ))?;
        let [_, requests, seconds, median_ms, p99_ms] = told[..] else {
            return Err(Error::Peer(format!(
                "{}: five numbers were awaited",
                self.name
            )));
        };
        Ok(Taken {
            requests: requests as u64,
            seconds,
            mean_ms: f64::from(clients) * seconds * 1e3 / requests.max(1.0),
            median_ms,
            p95_ms: None,
            p99_ms,
        })
    }
}

impl Drop for Program {
    /// Closes its input, at which the program ends.
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::Program;
    use crate::{runs::Effort, search::definition::Matching};

    #[test]
    fn a_peer_is_spoken_to_line_by_line() {
        let script = "sh -c 'echo ready test 1; read a; echo 3 4; read b; echo 20 100 5 0.5 2'";
        let mut peer = Program::start("test", script, &[]).unwrap();
        assert_eq!(peer.about, "test 1");
        let totals = peer.totals(Matching::Any).unwrap();
        assert_eq!(
            totals.iter().map(|found| found.total).collect::<Vec<_>>(),
            [Some(3), Some(4)]
        );
        let run = peer.measure(Matching::Any, 2, Effort::default()).unwrap();
        assert_eq!((run.requests, run.rate()), (100, 20.0));
    }

    #[test]
    fn a_peer_that_ends_is_an_error() {
        let error = Program::start("test", "true", &[]).err().unwrap();
        assert!(error.to_string().contains("ended early"), "{error}");
    }
}
