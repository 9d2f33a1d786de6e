//! The distributions of the engine's work, for `/metrics`.

use std::fmt::Write;

use engine::{Histogram, Work};

/// How the values of a histogram are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// As they are.
    Count,
    /// Microseconds, shown in seconds.
    Time,
}

/// Appends all of them in the text format of Prometheus.
pub(super) fn expose(text: &mut String, work: &Work) {
    let shown: [(&str, &str, Unit, &Histogram); 5] = [
        (
            "seine_batch_commands",
            "Commands of a batch: what one turn of the engine's thread took.",
            Unit::Count,
            &work.batch_commands,
        ),
        (
            "seine_batch_bytes",
            "Bytes of the records of a batch: one write of the journal.",
            Unit::Count,
            &work.batch_bytes,
        ),
        (
            "seine_sync_rows",
            "Rows that one sync of the journal made durable.",
            Unit::Count,
            &work.sync_rows,
        ),
        (
            "seine_journal_sync_seconds",
            "Time of a sync of the journal.",
            Unit::Time,
            &work.sync_us,
        ),
        (
            "seine_engine_turn_seconds",
            "Time of a turn of the engine's thread, its sync included: what comes meanwhile waits for it.",
            Unit::Time,
            &work.turn_us,
        ),
    ];
    for (name, help, unit, histogram) in shown {
        expose_one(text, name, help, unit, histogram);
    }
}

fn expose_one(text: &mut String, name: &str, help: &str, unit: Unit, histogram: &Histogram) {
    let number = |value: u64| match unit {
        Unit::Count => value.to_string(),
        Unit::Time => format!("{}.{:06}", value / 1_000_000, value % 1_000_000),
    };
    // Writing into a String cannot fail.
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
    let ranges = histogram.at_most();
    let below = ranges.last().map_or(0, |(_, count)| *count);
    for (bound, count) in ranges {
        let _ = writeln!(text, "{name}_bucket{{le=\"{}\"}} {count}", number(bound));
    }
    // Counted while others count: the whole is never less than its parts.
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
