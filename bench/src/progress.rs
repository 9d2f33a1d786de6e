//! A line of progress on standard error. Nothing if that is not a terminal.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

const WIDTH: usize = 30;
const REDRAWN_EVERY: Duration = Duration::from_millis(100);

/// The line. Dropping it clears the line.
pub(crate) struct Progress {
    shown: bool,
    drawn: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(wanted: bool) -> Progress {
        Progress {
            shown: wanted && std::io::stderr().is_terminal(),
            drawn: None,
        }
    }

    /// Shows the current work, and its done share from 0 to 1.
    pub(crate) fn show(&mut self, doing: &str, done: f64) {
        let recent = self
            .drawn
            .is_some_and(|drawn| drawn.elapsed() < REDRAWN_EVERY);
        if !self.shown || recent {
            return;
        }
        self.drawn = Some(Instant::now());
        let filled = (done.clamp(0.0, 1.0) * WIDTH as f64) as usize;
        let bar = format!("{}{}", "=".repeat(filled), " ".repeat(WIDTH - filled));
        draw(&format!("[{bar}] {doing}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn.is_some() {
            draw("");
        }
    }
}

/// Replaces the text of the line. Ignores a terminal that is gone: the measurement goes on.
fn draw(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "\r\x1b[K{text}");
    let _ = stderr.flush();
}
