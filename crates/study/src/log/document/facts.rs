//! Single figures of a log, and what a reader must know before them.

use report::{Fact, Unit, in_text};

use super::super::source::InputReport;
use super::super::summary::Summary;
use super::distribution::LIMITS;
use super::{DocumentOptions, fact, seconds, share};
use crate::log::anonymous::Words;

pub(super) fn facts(summary: &Summary) -> Vec<Fact> {
    let counts = summary.counts();
    let times = summary.times();
    let quantile = |share| times.quantile_us(share).map(|us| us as f64 / 1e6);
    let mut facts = vec![
        fact("queries", "queries", Unit::Whole, counts.queries),
        fact("lines", "lines", Unit::Whole, counts.lines),
        fact(
            "server_count",
            "servers",
            Unit::Whole,
            summary.servers().len(),
        ),
        fact(
            "index_count",
            "indexes",
            Unit::Whole,
            summary.indexes().len(),
        ),
        fact(
            "mean_seconds",
            "mean",
            Unit::Seconds,
            times.mean_us().map(|us| us / 1e6),
        ),
        fact("p50_seconds", "median", Unit::Seconds, quantile(0.5)),
        fact("p90_seconds", "90 % within", Unit::Seconds, quantile(0.9)),
        fact("p99_seconds", "99 % within", Unit::Seconds, quantile(0.99)),
        fact(
            "total_seconds",
            "time in all",
            Unit::Seconds,
            seconds(times.sum_us()),
        ),
    ];
    facts.extend(
        LIMITS.map(|(name, title, us)| fact(name, title, Unit::Share, times.share_within(us))),
    );
    facts.push(fact(
        "empty_share",
        "found nothing",
        Unit::Share,
        share(counts.nothing, counts.queries),
    ));
    let distinct = if summary.queries().is_exact() {
        "different queries"
    } else {
        "different queries that are held"
    };
    facts.push(fact(
        "distinct_queries",
        distinct,
        Unit::Whole,
        summary.queries().len(),
    ));
    for (name, title, count) in [
        ("failed_statements", "failed statements", counts.failed),
        ("other_statements", "other statements", counts.others),
        ("outside_filter", "outside the filter", counts.outside),
        ("unknown_lines", "lines of unknown form", counts.unknown),
        ("lost_lines", "lines that were lost", counts.lost),
        ("too_long_lines", "lines that are too long", counts.too_long),
        ("cut_statements", "statements that are cut", counts.cut),
    ] {
        facts.push(fact(name, title, Unit::Whole, count));
    }
    facts
}

pub(super) fn notes(
    summary: &Summary,
    inputs: &[InputReport],
    options: &DocumentOptions,
) -> Vec<String> {
    let counts = summary.counts();
    let mut notes = Vec::new();
    if let Some((from, to)) = counts.span {
        let text = |minute| super::rate::time_text(minute);
        notes.push(format!(
            "From {} to {}, by the clock of the log.",
            text(from.minute()),
            text(to.minute())
        ));
    }
    if counts.unknown > 0 {
        notes.push(format!(
            "{} of {} lines are of unknown form and are not counted as queries.",
            in_text(counts.unknown, Unit::Whole),
            in_text(counts.lines, Unit::Whole)
        ));
    }
    if counts.lost > 0 {
        notes.push(format!(
            "{} queries are missing: the server could not write their lines.",
            in_text(counts.lost, Unit::Whole)
        ));
    }
    let cut = inputs.iter().filter(|input| input.cut.is_some()).count();
    if cut > 0 {
        notes.push(format!(
            "{cut} of {} inputs ended early; what was read before counts.",
            inputs.len()
        ));
    }
    if matches!(options.words, Words::Hashed(_)) {
        notes.push("Words of queries are shown as hashes.".to_owned());
    }
    notes
}
