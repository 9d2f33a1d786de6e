//! A log as jobs for connections.

use std::sync::Arc;

use study::log::frame::Framed;
use study::log::line::parse;
use study::log::replay::{Call, Due, Schedule, request};
use study::log::source::{InputReport, read_records};
use study::log::{Entry, Filter, Place};

use super::super::inputs::Opened;
use super::tallied::Shared;

/// A request of the log, and the line that it comes from.
pub(super) struct Job {
    /// Number of the entry in the log, from 1; entries that are not sent count, so that it is the same in each replay.
    pub(super) number: u64,
    pub(super) call: Call,
    /// The line, which the report of the answer needs.
    pub(super) record: Vec<u8>,
    pub(super) server: Arc<str>,
    pub(super) place: Place,
    /// Connection of the log, with its server.
    pub(super) connection: Option<(Arc<str>, u64)>,
}

/// Reads the log and gives each job, with its time after the first, to `send` until it answers `false`.
pub(super) fn read(
    opened: Opened,
    filter: &Filter,
    takes_bodies: bool,
    shared: &Shared<'_>,
    send: &mut dyn FnMut(Due<Job>) -> bool,
) -> Vec<InputReport> {
    let mut schedule = Schedule::default();
    let mut number = 0;
    let mut input = 0;
    let mut server: Arc<str> = "".into();
    let mut goes_on = true;
    let reports = read_records(opened.inputs, &mut |name, place, framed| {
        if *server != *name {
            server = name.into();
        }
        if place.input != input {
            input = place.input;
            schedule.begin_log();
        }
        let Framed::Text(record) = framed else {
            shared.tell(|told| told.unknown += 1);
            return true;
        };
        let Some((_, entry)) = parse(record) else {
            let is_blank = record.trim_ascii().is_empty();
            shared.tell(|told| told.unknown += u64::from(!is_blank));
            return true;
        };
        number += 1;
        if !filter.passes(name, &entry) {
            shared.tell(|told| told.outside += 1);
            return true;
        }
        let Some(call) = call_of(&entry, takes_bodies, shared) else {
            return true;
        };
        let real_us = i64::try_from(entry.real_us.unwrap_or(0)).unwrap_or(0);
        let began_us = entry
            .time
            .local_ms
            .saturating_mul(1_000)
            .saturating_sub(real_us);
        let job = Job {
            number,
            call,
            record: record.to_vec(),
            server: Arc::clone(&server),
            place,
            connection: entry
                .connection
                .map(|connection| (Arc::clone(&server), connection)),
        };
        schedule.push(began_us, 2 * record.len(), job);
        while let Some(due) = schedule.next(false) {
            goes_on = send(due);
            if !goes_on {
                return false;
            }
        }
        true
    });
    while goes_on && let Some(due) = schedule.next(true) {
        goes_on = send(due);
    }
    reports
}

/// What to send for an entry; `None`: nothing, and why is counted.
fn call_of(entry: &Entry<'_>, takes_bodies: bool, shared: &Shared<'_>) -> Option<Call> {
    let request = match request(entry) {
        Ok(request) => request,
        Err(reason) => {
            shared.tell(|told| *told.skipped.entry(reason).or_default() += 1);
            return None;
        }
    };
    if matches!(request.call, Call::Body { .. }) && !takes_bodies {
        shared.tell(|told| told.bodies_skipped += 1);
        return None;
    }
    if request.lacks_filters || request.lacks_order {
        shared.tell(|told| {
            told.without_filters += u64::from(request.lacks_filters);
            told.without_order += u64::from(request.lacks_order);
        });
    }
    Some(request.call)
}
