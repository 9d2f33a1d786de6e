//! Histograms of the engine's work, for `/metrics`.

use std::fmt::Write;

use engine::{Histogram, Work};
use session::counters::in_base_units;

/// Appends the five histograms in the text format of Prometheus.
pub(super) fn expose(text: &mut String, work: &Work) {
    let batch = "Commands of a batch: what one turn of the engine's thread took.";
    let bytes = "Bytes of the records of a batch: one write of the journal.";
    let rows = "Rows that one sync of the journal made durable.";
    let sync = "Time of a sync of the journal.";
    let turn = "Time of a turn of the engine's thread, its sync included: what comes meanwhile waits for it.";
    expose_one(text, "seine_batch_commands", batch, &work.batch_commands);
    expose_one(text, "seine_batch_bytes", bytes, &work.batch_bytes);
    expose_one(text, "seine_sync_rows", rows, &work.sync_rows);
    expose_one(text, "seine_journal_sync_seconds", sync, &work.sync_us);
    expose_one(text, "seine_engine_turn_seconds", turn, &work.turn_us);
}

fn expose_one(text: &mut String, name: &str, help: &str, histogram: &Histogram) {
    let number = |value| in_base_units(name, value);
    // Writing into a String cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
    let ranges = histogram.at_most();
    let below = ranges.last().map_or(0, |(_, count)| *count);
    for (bound, count) in ranges {
        let _ = writeln!(text, "{name}_bucket{{le=\"{}\"}} {count}", number(bound));
    }
    // The engine counts meanwhile: keep the total from being less than the last bucket.
    let count = histogram.count().max(below);
    let _ = writeln!(
        text,
        "{name}_bucket{{le=\"+Inf\"}} {count}\n{name}_sum {}\n{name}_count {count}",
        number(histogram.sum())
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_in_seconds_and_every_histogram_ends_with_all() {
        let mut text = String::new();
        expose(&mut text, &Work::default());
        assert!(text.contains("seine_journal_sync_seconds_bucket{le=\"0.000050\"} 0\n"));
        assert!(text.contains("seine_batch_commands_bucket{le=\"1\"} 0\n"));
        assert_eq!(text.matches("le=\"+Inf\"").count(), 5);
    }
}
