//! Costs of a run: syncs by the server's count, processor time by the kernel's.

use std::time::Duration;

use client::Client;

use super::{Contender, Door};
use crate::{percolate::cell, process::Process, runs::Run};

/// Names of the sync counters of MySQL-protocol servers.
const SYNC_COUNTERS: [&str; 2] = ["journal_syncs", "Innodb_os_log_fsyncs"];

/// Reads counters before and after a run. Counters that a server lacks are left out.
pub(super) struct Meter {
    client: Option<Client>,
    server: Option<Process>,
    before: Usage,
}

#[derive(Clone, Copy, Default)]
struct Usage {
    syncs: Option<f64>,
    server: Option<Duration>,
    client: Option<Duration>,
}

impl Meter {
    pub(super) fn begin(contender: &Contender) -> Meter {
        let is_sql = contender.door.is_sql();
        // A PostgreSQL works in a process per connection; the one that listens only starts them.
        let is_one_process = contender.door != Door::Postgres;
        let mut meter = Meter {
            client: is_sql.then(|| contender.server.connect().ok()).flatten(),
            server: is_one_process
                .then(|| Process::listening(&contender.server.addr))
                .flatten(),
            before: Usage::default(),
        };
        meter.before = meter.read();
        meter
    }

    /// Starts anew: the work so far was preparation.
    pub(super) fn again(&mut self) {
        self.before = self.read();
    }

    fn read(&mut self) -> Usage {
        Usage {
            syncs: self.client.as_mut().and_then(syncs),
            server: self.server.as_ref().and_then(Process::processor),
            client: Process::own().processor(),
        }
    }

    /// Costs since the start.
    pub(super) fn spent(&mut self) -> Spent {
        let (before, after) = (self.before, self.read());
        let time = |before: Option<Duration>, after: Option<Duration>| {
            Some(after?.saturating_sub(before?).as_secs_f64())
        };
        Spent {
            syncs: before
                .syncs
                .zip(after.syncs)
                .map(|(before, after)| after - before),
            server_s: time(before.server, after.server),
            client_s: time(before.client, after.client),
            resident_bytes: self.server.as_ref().and_then(Process::resident_bytes),
        }
    }
}

/// Costs of a run; `None` for a cost that is not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    syncs: Option<f64>,
    server_s: Option<f64>,
    client_s: Option<f64>,
    resident_bytes: Option<u64>,
}

impl Spent {
    /// Adds the costs of another part of the run.
    pub(super) fn add(&mut self, other: Spent) {
        let sum = |one: Option<f64>, other: Option<f64>| Some(one.unwrap_or(0.0) + other?);
        self.syncs = sum(self.syncs, other.syncs);
        self.server_s = sum(self.server_s, other.server_s);
        self.client_s = sum(self.client_s, other.client_s);
        self.resident_bytes = other.resident_bytes;
    }

    /// Adds the costs of a message to the run's facts.
    pub(super) fn tell(&self, run: &mut Run) {
        let each = |whole: Option<f64>, unit: f64| {
            whole.map(|whole| whole * unit / run.elements.max(1) as f64)
        };
        let facts = [
            ("syncs/msg", each(self.syncs, 1.0)),
            ("server us/msg", each(self.server_s, 1e6)),
            ("client us/msg", each(self.client_s, 1e6)),
        ];
        let known = facts
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        run.facts.extend(known.collect::<Vec<_>>());
    }

    /// Adds the server's processor load and memory to the run's facts.
    pub(super) fn tell_load(&self, run: &mut Run) {
        let seconds = run.elapsed.as_secs_f64().max(1e-9);
        if let Some(server_s) = self.server_s {
            run.facts.push(("server cores", server_s / seconds));
        }
        if let Some(bytes) = self.resident_bytes {
            run.facts.push(("server MiB", bytes as f64 / 1_048_576.0));
        }
    }
}

fn syncs(client: &mut Client) -> Option<f64> {
    SYNC_COUNTERS.iter().find_map(|name| {
        let answer = client.query(&format!("SHOW STATUS LIKE '{name}'")).ok()?;
        cell(answer.rows.first()?, 1)?.parse().ok()
    })
}
