//! Drives one engine step by step. Only this file knows how to open an engine and send it commands.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use disk::Disk;
use engine::{
    Background, Command, Control, Engine, Envelope, Error, Interrupt, MadeRows, Now, Options,
    Recovered, Reply, SessionId, Write,
};

/// Asks again and again until there is an answer. Fails, naming the fact, after 30 seconds.
#[track_caller]
pub fn until<T>(fact: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "30 seconds, and not yet: {fact}");
    }
}

/// The answer to a command; empty until the engine answers.
#[derive(Clone, Default)]
pub struct Pending(Arc<Mutex<Option<Result<Reply, Error>>>>);

impl Pending {
    /// A command that answers here.
    fn envelope(
        &self,
        session: SessionId,
        command: Command,
        interrupt: Option<Arc<Interrupt>>,
        made: Vec<Option<MadeRows>>,
    ) -> Envelope {
        let answer = self.clone();
        Envelope {
            session,
            command,
            interrupt,
            made,
            reply: Box::new(move |outcome| *answer.0.lock().unwrap() = Some(outcome)),
        }
    }

    /// The answer, once.
    pub fn take(&self) -> Option<Result<Reply, Error>> {
        self.0.lock().unwrap().take()
    }

    /// Whether an answer is there that the test has not taken.
    pub fn is_answered(&self) -> bool {
        self.0.lock().unwrap().is_some()
    }
}

pub struct Driver {
    pub engine: Engine,
    pub options: Options,
    pub recovered: Recovered,
    pub handle: engine::Handle,
    _mailbox: engine::Mailbox,
    pub now: Now,
    /// Every other INSERT, and step of a load, comes with rows made beforehand.
    pub makes_rows: bool,
    sent: u64,
}

/// Small in everything, so that tests cross every border.
pub fn options(disk: Arc<dyn Disk>) -> Options {
    Options {
        background: Background::Inline,
        journal_segment_bytes: 256 << 10,
        memory_bytes: 64 << 20,
        ..Options::new(disk)
    }
}

impl Driver {
    pub fn open(options: Options, now: Now) -> Result<Driver, Error> {
        let opened = Engine::open(options.clone(), now)?;
        Ok(Driver::of(opened, options, now))
    }

    pub fn of((engine, recovered): (Engine, Recovered), options: Options, now: Now) -> Driver {
        let (handle, mailbox) = engine.mailbox();
        Driver {
            engine,
            options,
            recovered,
            handle,
            _mailbox: mailbox,
            now,
            makes_rows: true,
            sent: 0,
        }
    }

    /// Memory that the engine may take, in bytes.
    pub fn memory(&self) -> u64 {
        self.options.memory_bytes
    }

    /// Ends the engine as a crash of the process does, and opens it again.
    pub fn reopen(self) -> Result<Driver, Error> {
        let (options, now) = (self.options.clone(), self.now);
        drop(self);
        Driver::open(options, now)
    }

    /// Sends the commands as one batch. Some answers come at once; others stay pending.
    pub fn batch(&mut self, commands: Vec<(SessionId, Command)>) -> Vec<Pending> {
        self.batch_until(commands, None)
    }

    fn batch_until(
        &mut self,
        commands: Vec<(SessionId, Command)>,
        interrupt: Option<Arc<Interrupt>>,
    ) -> Vec<Pending> {
        let mut pending = Vec::new();
        let mut batch = Vec::new();
        for (session, command) in commands {
            let answer = Pending::default();
            pending.push(answer.clone());
            let made = self.made(&command);
            batch.push(answer.envelope(session, command, interrupt.clone(), made));
        }
        let _ = self.engine.step(batch, self.now); // replies say it
        pending
    }

    /// The rows of the INSERTs of every other command, in the table as readers see it.
    fn made(&mut self, command: &Command) -> Vec<Option<MadeRows>> {
        self.sent += 1;
        if !self.makes_rows || self.sent.is_multiple_of(2) {
            return Vec::new();
        }
        let snapshot = self.handle.snapshot();
        let made = snapshot.make_rows(command, &|_| true, &Interrupt::default());
        made.expect("nobody stops it")
    }

    /// Sends one command, with these rows.
    pub fn ask_made(
        &mut self,
        session: u64,
        command: Command,
        made: Vec<Option<MadeRows>>,
    ) -> Pending {
        let answer = Pending::default();
        let envelope = answer.envelope(SessionId(session), command, None, made);
        let _ = self.engine.step(vec![envelope], self.now); // the reply says it
        answer
    }

    /// Sends one command that the interrupt may stop.
    pub fn ask_until(
        &mut self,
        session: u64,
        command: Command,
        interrupt: Arc<Interrupt>,
    ) -> Pending {
        let commands = vec![(SessionId(session), command)];
        self.batch_until(commands, Some(interrupt)).remove(0)
    }

    /// Sends one command as a batch.
    pub fn ask(&mut self, session: u64, command: Command) -> Pending {
        self.batch(vec![(SessionId(session), command)]).remove(0)
    }

    /// Sends one command of session 1, which the engine must answer at once. Rows that it does not choose itself are chosen here.
    pub fn run(&mut self, command: Command) -> Result<Reply, Error> {
        self.run_behind(1, command, |_| {})
    }

    /// The same, of any session. `between` is called behind each plan.
    pub fn run_behind(
        &mut self,
        session: u64,
        mut command: Command,
        mut between: impl FnMut(&mut Driver),
    ) -> Result<Reply, Error> {
        let is_within = matches!(command, Command::Within(_) | Command::Commit);
        loop {
            match self.ask(session, command).take().expect("an answer") {
                Ok(Reply::Plan(planning)) => {
                    let planned = planning.run(&Control::default());
                    between(self);
                    command = match is_within {
                        true => Command::Within(Box::new(Command::Write(Write::Planned(planned?)))),
                        false => Command::Write(Write::Planned(planned?)),
                    };
                }
                outcome => return outcome,
            }
        }
    }

    pub fn tick(&mut self, us: u64) {
        self.now.steady_us += us;
        self.now.unix_us += us as i64;
        let _ = self.engine.step(Vec::new(), self.now);
    }
}
