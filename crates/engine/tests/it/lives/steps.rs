//! The steps of an engine's life: commands, background work, failures and crashes.

use std::io::ErrorKind;

use disk::Call;
use proptest::prelude::*;

use super::RESHAPED;
use crate::power::{PowerCut, power_cut};
use crate::twin::{FED, LANES, LOADS, QUEUES, STANDING};

/// Which calls of a piece of background work fail.
#[derive(Clone, Copy, Debug)]
pub struct Failing {
    pub call: Call,
    pub nth: u64,
    /// The next call fails too.
    pub twice: bool,
    pub kind: ErrorKind,
}

#[derive(Clone, Debug)]
pub enum Step {
    Post {
        ids: Vec<u64>,
        word: usize,
        replace: bool,
    },
    Unpost {
        id: u64,
    },
    /// Adds `n` to the column `n` of the rows below an id.
    Update {
        id: u64,
        n: u8,
    },
    Keep {
        ages: Vec<u8>,
    },
    /// `table`: one of [`STANDING`].
    Query {
        table: usize,
        id: u64,
        word: usize,
    },
    Unquery {
        table: usize,
        id: u64,
    },
    /// The hits of the stored documents.
    Backfill {
        table: usize,
        id: u64,
    },
    /// TRUNCATE of documents or standing queries.
    Empty {
        table: usize,
    },
    Put {
        queue: usize,
        keys: Vec<u8>,
    },
    Lease {
        lane: usize,
        rows: u32,
        seconds: u64,
    },
    Done {
        which: usize,
    },
    /// Acknowledges a delivery and takes the next row, in one command.
    Next {
        which: usize,
        lane: usize,
    },
    Extend {
        which: usize,
        seconds: u64,
    },
    Return {
        which: usize,
        delay_s: u64,
    },
    Wait {
        session: u64,
        queue: usize,
    },
    End {
        session: u64,
    },
    Abort {
        session: u64,
    },
    Close {
        session: u64,
    },
    Delete {
        queue: usize,
        key: u8,
    },
    /// DELETE … ORDER BY … LIMIT.
    DeleteFirst {
        queue: usize,
        rows: u64,
    },
    Truncate {
        queue: usize,
    },
    Purge {
        queue: usize,
    },
    /// Pauses a consumer group if the queue has groups, else the queue.
    Pause {
        lane: usize,
        paused: bool,
    },
    Relay {
        sender: u8,
        row: u64,
    },
    Alter {
        adds: bool,
    },
    /// ALTER of documents; `table`: one of [`super::RESHAPED`].
    Reshape {
        table: usize,
        adds: bool,
    },
    /// A statement of a session's transaction: changes of `posts` and `plain`, and rows that it takes.
    Within {
        session: u64,
        statement: usize,
        id: u64,
    },
    EndTransaction {
        session: u64,
        stores: bool,
    },
    Load {
        load: usize,
        queue: bool,
    },
    EndLoad {
        load: usize,
        queue: bool,
    },
    ForgetLoads {
        queue: bool,
    },
    /// A unit of several changes. If `refused`, its last member is refused.
    Unit {
        id: u64,
        key: u8,
        refused: bool,
    },
    /// A new table. For a search table, the sync of its folder fails `failures` times before.
    Create {
        kind: usize,
        failures: u64,
    },
    /// `both`: also the table made after it.
    Drop {
        which: usize,
        both: bool,
    },
    /// A new name, or if `both` and there are two, the names of two swapped.
    Rename {
        which: usize,
        both: bool,
    },
    Fill {
        which: usize,
    },
    Tick {
        seconds: u64,
    },
    Flush {
        table: usize,
    },
    Compact {
        queue: usize,
    },
    Optimize,
    /// Collected messages of these lengths, and rows made of messages: the table's place in [`FED`], and the row's word. If
    /// `refused`, the last rows are.
    Collect {
        lengths: Vec<u16>,
        fed: Vec<(usize, usize)>,
        refused: bool,
    },
    /// The collector has brought the first `count` calls to its stores.
    Note {
        count: usize,
    },
    Checkpoint,
    Backup,
    /// Pieces of held work.
    Work {
        folds: u32,
        merges: u32,
    },
    Copy,
    Fail(Failing),
    Kill,
    PowerCut {
        cut: PowerCut,
        goes_on: bool,
    },
}

impl Step {
    /// Whether an engine may refuse the step for lack of memory. It never refuses a step that frees memory.
    pub fn takes_memory(&self) -> bool {
        matches!(
            self,
            Step::Post { .. }
                | Step::Update { .. }
                | Step::Query { .. }
                | Step::Backfill { .. }
                | Step::Put { .. }
                | Step::Collect { .. }
                | Step::Lease { .. }
                | Step::Relay { .. }
                | Step::Load { .. }
                | Step::Unit { .. }
                | Step::Fill { .. }
        )
    }
}

/// Fewer than `end` steps of four kinds, with uneven weights that are drawn for each sequence. So two rare steps of one kind
/// often meet.
pub fn steps(end: usize) -> impl Strategy<Value = Vec<Step>> {
    let kinds = [
        [8, 2, 2, 6],
        [2, 12, 1, 6],
        [3, 3, 6, 8],
        [6, 1, 1, 12],
        [1, 8, 1, 12],
    ];
    let sequences = kinds.map(|[documents, queues, tables, work]| {
        let step = prop_oneof![
            documents => document_step(),
            queues => queue_step(),
            tables => table_step(),
            work => work_step(),
        ];
        proptest::collection::vec(step, 1..end)
    });
    proptest::strategy::Union::new(sequences)
}

/// The same, and before each step one of the Scribe door or its collector. Apart from [`steps`], whose cases do not change
/// with these.
pub fn collecting_steps(end: usize) -> impl Strategy<Value = Vec<Step>> {
    let lengths = proptest::collection::vec(0..3_000u16, 0..4);
    let fed = proptest::collection::vec((0..FED.len(), 0..3usize), 0..4);
    let call = (lengths, fed, proptest::bool::weighted(0.1));
    let collecting = prop_oneof![
        3 => call.prop_map(|(lengths, fed, refused)| Step::Collect { lengths, fed, refused }),
        2 => (0..4usize).prop_map(|count| Step::Note { count }),
    ];
    let collecting = proptest::collection::vec(collecting, end);
    (steps(end), collecting).prop_map(|(steps, collecting)| {
        let pairs = collecting.into_iter().zip(steps);
        pairs.flat_map(|(collect, step)| [collect, step]).collect()
    })
}

/// A change of search and pq tables.
fn document_step() -> impl Strategy<Value = Step> {
    let standing = || prop_oneof![2 => Just(0), 1 => 0..STANDING.len()];
    prop_oneof![
        6 => (proptest::collection::vec(1..20u64, 1..4), 0..3usize, any::<bool>())
            .prop_map(|(ids, word, replace)| Step::Post { ids, word, replace }),
        2 => (1..20u64).prop_map(|id| Step::Unpost { id }),
        3 => (1..20u64, 0..3u8).prop_map(|(id, n)| Step::Update { id, n }),
        4 => proptest::collection::vec(0..90u8, 1..4).prop_map(|ages| Step::Keep { ages }),
        3 => (standing(), 1..4u64, 0..3usize).prop_map(|(table, id, word)| Step::Query { table, id, word }),
        1 => (standing(), 1..4u64).prop_map(|(table, id)| Step::Unquery { table, id }),
        1 => (standing(), 1..4u64).prop_map(|(table, id)| Step::Backfill { table, id }),
        1 => (0..STANDING.len() + 2).prop_map(|table| Step::Empty { table }),
        2 => (1..20u64, 0..6u8, any::<bool>()).prop_map(|(id, key, refused)| Step::Unit { id, key, refused }),
        1 => (0..LOADS.len(), any::<bool>()).prop_map(|(load, queue)| Step::Load { load, queue }),
        3 => (1..25u64).prop_map(|seconds| Step::Tick { seconds }),
        2 => (0..RESHAPED.len(), prop::bool::weighted(0.6)).prop_map(|(table, adds)| Step::Reshape { table, adds }),
        5 => (0..2u64, 0..6usize, 1..20u64)
            .prop_map(|(session, statement, id)| Step::Within { session, statement, id }),
        3 => (0..2u64, prop::bool::weighted(0.8)).prop_map(|(session, stores)| Step::EndTransaction { session, stores }),
    ]
}

/// A step with rows of queues, most often of queues that keep more than rows.
fn queue_step() -> impl Strategy<Value = Step> {
    let queue = || prop_oneof![2 => 0..QUEUES.len(), 2 => Just(1), 1 => Just(2)];
    let lane = || prop_oneof![1 => 0..LANES.len(), 1 => Just(1)];
    let session = || 1..4u64;
    let keys = proptest::collection::vec(0..6u8, 1..4);
    prop_oneof![
        10 => (queue(), keys).prop_map(|(queue, keys)| Step::Put { queue, keys }),
        8 => (lane(), 1..4u32, 1..30u64).prop_map(|(lane, rows, seconds)| Step::Lease { lane, rows, seconds }),
        7 => (0..4usize).prop_map(|which| Step::Done { which }),
        2 => (0..4usize, lane()).prop_map(|(which, lane)| Step::Next { which, lane }),
        1 => (0..4usize, 0..20u64).prop_map(|(which, seconds)| Step::Extend { which, seconds }),
        3 => (0..4usize, 0..10u64).prop_map(|(which, delay_s)| Step::Return { which, delay_s }),
        2 => (session(), queue()).prop_map(|(session, queue)| Step::Wait { session, queue }),
        1 => session().prop_map(|session| Step::End { session }),
        1 => session().prop_map(|session| Step::Abort { session }),
        1 => session().prop_map(|session| Step::Close { session }),
        1 => (queue(), 0..6u8).prop_map(|(queue, key)| Step::Delete { queue, key }),
        1 => (queue(), 1..3u64).prop_map(|(queue, rows)| Step::DeleteFirst { queue, rows }),
        3 => queue().prop_map(|queue| Step::Truncate { queue }),
        1 => queue().prop_map(|queue| Step::Purge { queue }),
        1 => (lane(), any::<bool>()).prop_map(|(lane, paused)| Step::Pause { lane, paused }),
        1 => queue().prop_map(|queue| Step::Compact { queue }),
        1 => any::<bool>().prop_map(|queue| Step::ForgetLoads { queue }),
        1 => (0..2u8, 1..30u64).prop_map(|(sender, row)| Step::Relay { sender, row }),
        1 => (0..LOADS.len(), any::<bool>()).prop_map(|(load, queue)| Step::EndLoad { load, queue }),
        2 => (1..25u64).prop_map(|seconds| Step::Tick { seconds }),
    ]
}

/// Tables that come, change and go.
fn table_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => any::<bool>().prop_map(|adds| Step::Alter { adds }),
        3 => (0..3usize, 0..3u64).prop_map(|(kind, failures)| Step::Create { kind, failures }),
        2 => (0..4usize, any::<bool>()).prop_map(|(which, both)| Step::Drop { which, both }),
        3 => (0..4usize).prop_map(|which| Step::Fill { which }),
        2 => (0..4usize, any::<bool>()).prop_map(|(which, both)| Step::Rename { which, both }),
    ]
}

/// A step with files, a failure, or the end of a life.
fn work_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..16usize).prop_map(|table| Step::Flush { table }),
        3 => Just(Step::Optimize),
        1 => Just(Step::Checkpoint),
        4 => Just(Step::Backup),
        16 => (0..4u32, 0..3u32).prop_map(|(folds, merges)| Step::Work { folds, merges }),
        3 => Just(Step::Copy),
        3 => failing().prop_map(Step::Fail),
        1 => Just(Step::Kill),
        4 => (power_cut(), prop::bool::weighted(0.3)).prop_map(|(cut, goes_on)| Step::PowerCut { cut, goes_on }),
    ]
}

fn failing() -> impl Strategy<Value = Failing> {
    let calls = [
        Call::Rename,
        Call::Rename,
        Call::Create,
        Call::Write,
        Call::Sync,
        Call::SyncDir,
        Call::Remove,
    ];
    let kinds = [ErrorKind::Other, ErrorKind::StorageFull];
    let (call, kind) = (
        proptest::sample::select(calls.to_vec()),
        proptest::sample::select(kinds.to_vec()),
    );
    (call, 1..4u64, any::<bool>(), kind).prop_map(|(call, nth, twice, kind)| Failing {
        call,
        nth,
        twice,
        kind,
    })
}
