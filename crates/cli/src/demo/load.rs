//! Inserts the posts, shows the hits as the server records them, and kills the server half-way.

use std::thread;
use std::time::{Duration, Instant};

use client::Client;

use super::account::Account;
use super::child::Server;
use super::count::{self, Counted};
use super::home::Home;
use super::posts::{BATCH_POSTS, Batch, Posts};
use super::queries::Saved;
use super::screen::{Screen, grouped};
use super::sending::Sending;
use super::watch::Watch;
use super::{Checks, Failure, Result};

/// Time after sending a batch at which the server is killed. The reply to 500 posts takes longer.
const KILL_AFTER: Duration = Duration::from_millis(3);

/// The stream of posts: posts sent, posts acknowledged, times.
pub(super) struct Load<'a> {
    account: Account,
    /// The posts go over the Scribe door.
    collects: bool,
    watch: Watch<'a>,
    acknowledged: u64,
    statements: u64,
    /// Sum of the times from sending a batch to its OK.
    inserting: Duration,
    /// Count of syncs of killed servers. The running server counts its own.
    syncs_before: u64,
    /// Time from the kill to the first answer of the new server.
    back_after: Duration,
}

impl<'a> Load<'a> {
    pub(super) fn new(saved: &'a [Saved], account: Account, collects: bool) -> Load<'a> {
        Load {
            account,
            collects,
            watch: Watch::new(saved),
            acknowledged: 0,
            statements: 0,
            inserting: Duration::ZERO,
            syncs_before: 0,
            back_after: Duration::ZERO,
        }
    }

    /// Sends all posts. Kills the server while the batch in the middle is being stored.
    pub(super) fn run(
        &mut self,
        screen: &mut Screen,
        checks: &mut Checks,
        home: &Home,
        server: &mut Server,
        posts: &mut Posts,
    ) -> Result<()> {
        let total = posts.total();
        let middle = total.div_ceil(BATCH_POSTS) / 2;
        let mut client = server.connect()?;
        let mut sending = Sending::open(server, self.collects)?;
        for (index, batch) in posts.enumerate() {
            let batch = batch?;
            if index == middle {
                (client, sending) =
                    self.crash(screen, checks, home, server, (client, sending), batch)?;
            } else {
                self.send(&mut sending, &batch)?;
            }
            self.watch.look(screen, &mut client, self.acknowledged)?;
            let note = format!(
                "{} posts acknowledged, {} a second",
                grouped(self.acknowledged),
                grouped(self.per_second())
            );
            screen.progress(self.acknowledged as usize, total, &note);
            if screen.is_closed() {
                return Err(Failure::closed());
            }
        }
        Ok(())
    }

    /// Compares the server's rows with the account.
    pub(super) fn settle(
        &self,
        screen: &mut Screen,
        checks: &mut Checks,
        client: &mut Client,
    ) -> Result<Counted> {
        let counted = Counted::take(client, &self.account, self.acknowledged)?;
        screen.print(&format!("all {} posts sent", grouped(self.acknowledged)));
        counted.check(screen, checks);
        counted.check_sample(screen, checks);
        Ok(counted)
    }

    /// Acknowledged posts per second of inserting.
    pub(super) fn per_second(&self) -> u64 {
        (self.acknowledged as f64 / self.inserting.as_secs_f64().max(1e-9)) as u64
    }

    pub(super) fn statements(&self) -> u64 {
        self.statements
    }

    pub(super) fn back_after(&self) -> Duration {
        self.back_after
    }

    /// Count of syncs of killed servers.
    pub(super) fn syncs_before(&self) -> u64 {
        self.syncs_before
    }

    fn send(&mut self, sending: &mut Sending, batch: &Batch) -> Result<()> {
        let sent = Instant::now();
        sending.send(batch)?;
        self.inserting += sent.elapsed();
        self.statements += 1;
        self.enter(batch);
        Ok(())
    }

    fn enter(&mut self, batch: &Batch) {
        self.acknowledged += batch.len() as u64;
        self.account.enter(batch.clone());
    }

    /// Sends a batch, kills the server during it, starts it again, and counts. Gives the new connections.
    fn crash(
        &mut self,
        screen: &mut Screen,
        checks: &mut Checks,
        home: &Home,
        server: &mut Server,
        (mut client, mut sending): (Client, Sending),
        batch: Batch,
    ) -> Result<(Client, Sending)> {
        self.syncs_before += count::syncs(&mut client)?;
        let sent = Batch::clone(&batch);
        let on_its_way = thread::spawn(move || sending.send(&sent).is_ok());
        thread::sleep(KILL_AFTER);
        let killed = Instant::now();
        server.kill_and_restart(home)?;
        let mut client = server.connect()?;
        let mut sending = Sending::open(server, self.collects)?;
        let there = self.count_of(&mut client, &batch)?;
        self.back_after = killed.elapsed();
        let answered = on_its_way.join().unwrap_or(false);

        screen.print(&format!(
            "SIGKILL with a batch of {} on its way; the server is back after {:.2} s",
            batch.len(),
            self.back_after.as_secs_f64()
        ));
        let whole = batch.len() as u64;
        let fate = match (answered, there) {
            (true, n) if n == whole => "it was acknowledged, and is there",
            (false, n) if n == whole => "it was not acknowledged yet, and is there whole",
            (false, 0) => "it was not acknowledged, and nothing of it is there: sent again",
            _ => "it is there in part",
        };
        checks.see(screen, there == whole || (there == 0 && !answered), fate);
        if there == whole {
            self.enter(&batch);
        }
        Counted::take(&mut client, &self.account, self.acknowledged)?.check(screen, checks);
        if there == 0 {
            self.send(&mut sending, &batch)?;
        }
        Ok((client, sending))
    }

    /// Count of the batch's posts that are stored.
    fn count_of(&self, client: &mut Client, batch: &Batch) -> Result<u64> {
        let (Some(first), Some(last)) = (batch.first(), batch.last()) else {
            return Ok(0);
        };
        let sql = format!(
            "SELECT COUNT(*) FROM posts WHERE id BETWEEN {} AND {}",
            first.id, last.id
        );
        count::number(client, &sql)
    }
}
