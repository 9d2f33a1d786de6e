use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use disk::{Disk, MemoryDisk};
use proptest::prelude::*;
use relation::codec::Reader;
use relation::expression::Expression;
use relation::schema::{Column, ColumnType};
use relation::value::Value;

use super::*;
use crate::lane::{DeliveryCount, EVERY_ROW};
use crate::line::Found;
use crate::queue::scope;
use crate::row_view::{Predicate, RowView};

/// The oracle: rows in order, each free or taken.
#[derive(Default)]
struct Model {
    rows: VecDeque<(RowNumber, i128)>,
    taken: BTreeSet<RowNumber>,
    next: RowNumber,
}

/// The row of a search that was not stopped.
fn row_of(found: Found) -> Option<RowNumber> {
    match found {
        Found::Row(row) => Some(row),
        Found::None => None,
        Found::NotYet => panic!("no units are counted"),
    }
}

/// Rows without keys, times and conditions.
struct Blind;

impl RowView for Blind {
    fn accepts(&self, _: &Predicate, _: RowNumber) -> Result<bool> {
        Ok(true)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(u16),
    Take,
    /// The n-th taken row, given back.
    GiveBack(usize),
    /// The n-th row, removed.
    Remove(usize),
    Sweep,
    Fold,
    /// Many small folds, so that there is something to merge. The rows are removed while the merge runs.
    Merge(Vec<usize>),
    /// Rows removed and pushed, then all of it undone.
    Undone {
        remove: Vec<usize>,
        push: u16,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..50u16).prop_map(Step::Push),
        1 => (3000..6000u16).prop_map(Step::Push),
        8 => Just(Step::Take),
        3 => any::<usize>().prop_map(Step::GiveBack),
        8 => any::<usize>().prop_map(Step::Remove),
        2 => Just(Step::Sweep),
        2 => Just(Step::Fold),
        1 => proptest::collection::vec(any::<usize>(), 0..9).prop_map(Step::Merge),
        1 => (proptest::collection::vec(any::<usize>(), 0..4), 0..5000u16)
            .prop_map(|(remove, push)| Step::Undone { remove, push }),
    ]
}

fn columns() -> Vec<Column> {
    vec![Column {
        name: "n".to_owned(),
        kind: ColumnType::Bigint,
        nullable: false,
        default: None,
        keyed: false,
    }]
}

fn push(backlog: &mut Backlog, count: u16) {
    for _ in 0..count {
        let value = i128::from(backlog.next().0) * 3;
        backlog.push(&[Value::Int(value)]);
    }
}

struct Pair {
    disk: Arc<dyn Disk>,
    backlog: Backlog,
    lane: Lane,
    model: Model,
    folds: u32,
}

impl Pair {
    fn new() -> Pair {
        let model = Model {
            next: RowNumber(1),
            ..Model::default()
        };
        Pair {
            disk: Arc::new(MemoryDisk::new()),
            backlog: Backlog::new(),
            lane: Lane::new(),
            model,
            folds: 0,
        }
    }

    fn play(&mut self, step: Step) {
        match step {
            Step::Push(count) => {
                push(&mut self.backlog, count);
                for _ in 0..count {
                    self.model
                        .rows
                        .push_back((self.model.next, i128::from(self.model.next.0) * 3));
                    self.model.next = self.model.next.plus(1);
                }
            }
            Step::Take => {
                let free = |(row, _): &&(RowNumber, i128)| !self.model.taken.contains(row);
                let want = self.model.rows.iter().find(free).map(|(row, _)| *row);
                let got = row_of(self.lane.peek(EVERY_ROW, &self.backlog, &Blind).unwrap());
                assert_eq!(got, want);
                if let Some(row) = got {
                    self.lane.hold(row, Holder::Session(SessionId(1)));
                }
                self.model.taken.extend(want);
            }
            Step::GiveBack(n) => {
                if let Some(row) = self
                    .model
                    .taken
                    .iter()
                    .copied()
                    .nth(n % self.model.taken.len().max(1))
                {
                    self.model.taken.remove(&row);
                    assert!(self.lane.give_back(row, &self.backlog, &Blind));
                }
            }
            Step::Remove(n) => {
                if let Some((row, _)) = self.nth(n) {
                    self.model.rows.retain(|(other, _)| *other != row);
                    self.model.taken.remove(&row);
                    assert!(self.backlog.remove(row));
                    assert!(!self.backlog.remove(row), "a row goes once");
                }
            }
            Step::Sweep => self.backlog.sweep(),
            Step::Fold => self.fold(),
            Step::Merge(meanwhile) => {
                for _ in 0..16 {
                    self.play(Step::Push(3));
                    self.fold();
                }
                assert!(self.merge(&meanwhile));
            }
            Step::Undone {
                remove,
                push: count,
            } => {
                let next = self.backlog.next();
                let rows: BTreeSet<RowNumber> = remove
                    .iter()
                    .filter_map(|n| self.nth(*n))
                    .map(|(row, _)| row)
                    .collect();
                for row in &rows {
                    assert!(self.backlog.remove(*row));
                }
                push(&mut self.backlog, count);
                for row in rows {
                    self.backlog.restore(row);
                }
                self.backlog.truncate(next);
            }
        }
    }

    fn nth(&self, n: usize) -> Option<(RowNumber, i128)> {
        self.model
            .rows
            .get(n % self.model.rows.len().max(1))
            .copied()
    }

    fn fold(&mut self) {
        self.folds += 1;
        let job = FoldJob {
            disk: Arc::clone(&self.disk),
            dir: "tables/1".to_owned(),
            name: format!("{}.rows", self.folds),
            chunks: self.backlog.share(),
        };
        match job.run().unwrap() {
            Some(file) => self.backlog.install(file),
            None => self.backlog.abandon_fold(),
        }
    }

    /// One merge, if anything is worth merging; the rows are removed while it runs.
    fn merge(&mut self, meanwhile: &[usize]) -> bool {
        let Some(candidates) = self.backlog.begin_merge() else {
            return false;
        };
        for n in meanwhile {
            self.play(Step::Remove(*n));
            self.play(Step::Sweep);
        }
        self.folds += 1;
        let job = MergeRowsJob {
            disk: Arc::clone(&self.disk),
            dir: "tables/1".to_owned(),
            name: format!("{}.rows", self.folds),
            parts: candidates.parts,
        };
        self.backlog.end_merge(job.run().unwrap());
        true
    }

    fn compare(&self) {
        let rows: Vec<(RowNumber, i128)> = self
            .backlog
            .rows()
            .map(
                |row| match self.backlog.values(row, &columns()).unwrap().as_deref() {
                    Some([Value::Int(value)]) => (row, *value),
                    other => panic!("row {row}: {other:?}"),
                },
            )
            .collect();
        assert!(rows.iter().eq(&self.model.rows));
        assert_eq!(self.backlog.len(), rows.len() as u64);
        assert_eq!(self.backlog.next(), self.model.next);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn a_queue_does_what_the_textbook_queue_does(steps in proptest::collection::vec(step(), 1..60)) {
        let mut pair = Pair::new();
        for step in steps {
            pair.play(step);
        }
        pair.compare();
        pair.fold();
        pair.compare();
        let files = pair.backlog.files().map(|(file, removed)| {
            (ChunkFile::open(&*pair.disk, file.path()).unwrap(), removed.clone())
        });
        pair.backlog = Backlog::of_files(pair.model.next, files.collect());
        pair.lane = Lane::new();
        pair.model.taken.clear();
        pair.compare();
    }
}

#[test]
fn an_emptied_queue_keeps_neither_memory_nor_files() {
    let mut pair = Pair::new();
    pair.play(Step::Push(5000));
    pair.fold();
    pair.play(Step::Push(5000));
    for _ in 0..10_000 {
        pair.play(Step::Take);
        pair.play(Step::Remove(0));
    }
    pair.backlog.sweep();
    assert_eq!(pair.backlog.memory_bytes(), 0);
    assert_eq!(pair.backlog.files().count(), 0);
    assert_eq!(pair.backlog.take_unused_files(), ["tables/1/1.rows"]);
}

#[test]
fn rows_in_a_file_leave_memory() {
    let mut pair = Pair::new();
    pair.play(Step::Push(5000));
    assert!(pair.backlog.memory_bytes() > 5000);
    pair.fold();
    assert_eq!(pair.backlog.memory_bytes(), 0);
    pair.compare();
}

#[test]
fn many_files_become_one_and_a_sparse_one_becomes_small() {
    let mut pair = Pair::new();
    for _ in 0..16 {
        pair.play(Step::Push(500));
        pair.fold();
    }
    assert_eq!(pair.backlog.file_count(), 16);
    assert!(pair.merge(&[0, 7999, 300]));
    assert_eq!(pair.backlog.file_count(), 1);
    pair.compare();
    let large = pair.backlog.files().next().unwrap().0.bytes();
    for _ in 0..7800 {
        pair.play(Step::Remove(1)); // the first row stays, and pins the file
    }
    assert!(pair.merge(&[]));
    let small = pair.backlog.files().next().unwrap().0.bytes();
    assert!(small * 10 < large, "{small} of {large} bytes");
    pair.compare();
    assert!(!pair.merge(&[]), "nothing is left to do");
}

#[test]
fn the_fold_of_rows_that_were_replaced_meanwhile_is_not_taken_in() {
    let mut pair = Pair::new();
    pair.play(Step::Push(10));
    let job = FoldJob {
        disk: Arc::clone(&pair.disk),
        dir: "tables/1".to_owned(),
        name: "1.rows".to_owned(),
        chunks: pair.backlog.share(),
    };
    let file = job.run().unwrap().unwrap();
    pair.backlog = Backlog::new();
    pair.play(Step::Push(0));
    pair.backlog.install(file);
    assert_eq!(pair.backlog.len(), 0);
    assert_eq!(pair.backlog.take_unused_files(), ["tables/1/1.rows"]);
}

fn folded(count: u16) -> Pair {
    let mut pair = Pair::new();
    pair.play(Step::Push(count));
    pair.fold();
    pair
}

fn flip(pair: &Pair, at: u64) {
    let file = pair.disk.open("tables/1/1.rows").unwrap();
    let mut byte = [0];
    file.read_at(at, &mut byte).unwrap();
    file.write_at(at, &[byte[0] ^ 1]).unwrap();
}

/// The damaged copies of head and table in a file of 300 rows, and the rows that cannot be read.
fn found_wrong(pair: &Pair) -> (usize, usize) {
    let file = ChunkFile::open(&*pair.disk, "tables/1/1.rows").unwrap();
    let is_lost = |place: &u32| match file.values(*place, &columns()) {
        Ok(_) => false,
        Err(crate::Error::Corrupt { file, .. }) => file == "tables/1/1.rows",
        Err(other) => panic!("{other:?}"),
    };
    (file.damages().len(), (0..300).filter(is_lost).count())
}

#[test]
fn a_flipped_bit_costs_the_rows_of_its_entry_and_none_in_a_head_or_a_table() {
    let length = folded(300).backlog.files().next().unwrap().0.bytes();
    let tables = 3 * 4096; // a head, and two pages of a table, at both ends of the file
    let mut lost = 0;
    for at in (0..length).step_by(97) {
        let pair = folded(300);
        flip(&pair, at);
        let found = found_wrong(&pair);
        if (tables..length - tables).contains(&at) {
            assert!(found.0 == 0 && found.1 < 300, "byte {at}: {found:?}");
            lost += found.1;
        } else {
            assert_eq!(found, (1, 0), "byte {at}");
        }
    }
    assert!(lost > 0);
}

#[test]
fn a_torn_page_of_a_head_or_a_table_costs_nothing_also_where_numbers_have_gaps() {
    for has_gaps in [false, true] {
        let pair = folded(300);
        let file = pair.disk.open("tables/1/1.rows").unwrap();
        let mut bytes = file.map().unwrap().to_vec();
        let pages = bytes.len() / 4096;
        if has_gaps {
            // The last row is said to have a higher number.
            for page in [0, pages - 1] {
                let end = u64::from_le_bytes(bytes[24..32].try_into().unwrap());
                let at = page * 4096;
                bytes[at + 24..at + 32]
                    .copy_from_slice(&(end + u64::from(page == 0)).to_le_bytes());
                let sum = crc32c::crc32c(&bytes[at..at + 4092]);
                bytes[at + 4092..at + 4096].copy_from_slice(&sum.to_le_bytes());
            }
        }
        for page in [0, 1, 2, pages - 3, pages - 2, pages - 1] {
            let mut torn = bytes.clone();
            torn[page * 4096..(page + 1) * 4096].fill(0xee);
            file.write_at(0, &torn).unwrap();
            let (damaged, lost) = found_wrong(&pair);
            assert_eq!((damaged, lost), (1, 0), "page {page}");
        }
    }
}

#[test]
fn a_file_that_is_too_short_does_not_open() {
    let pair = folded(300);
    let file = pair.disk.open("tables/1/1.rows").unwrap();
    file.set_len(file.len().unwrap() - 1).unwrap();
    let error = ChunkFile::open(&*pair.disk, "tables/1/1.rows").err();
    assert!(
        matches!(error, Some(crate::Error::Corrupt { .. })),
        "{error:?}"
    );
}

#[test]
fn a_damaged_row_is_an_error_that_names_file_and_offset() {
    let pair = folded(10);
    flip(&pair, 2 * 4096 + 13); // behind the head and the only page of the table
    let damaged = ChunkFile::open(&*pair.disk, "tables/1/1.rows").unwrap();
    let error = (0..10)
        .find_map(|place| damaged.values(place, &columns()).err())
        .unwrap();
    let crate::Error::Corrupt { file, offset, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(file, "tables/1/1.rows");
    assert!((8192..=8192 + 13).contains(&offset), "{offset}");
}

/// Counts how often rows are asked. Its condition takes the rows whose number ends in 7.
#[derive(Default)]
struct Counting(std::cell::Cell<u32>);

impl RowView for Counting {
    fn accepts(&self, _: &Predicate, row: RowNumber) -> Result<bool> {
        self.0.set(self.0.get() + 1);
        Ok(row.0 % 10 == 7)
    }
}

#[test]
fn a_row_is_asked_once_a_condition_and_once_more_when_it_comes_back() {
    let (mut backlog, mut lane, view) = (Backlog::new(), Lane::new(), Counting::default());
    let condition = Expression::Column("n".to_owned());
    let columns = columns();
    let line = |lane: &mut Lane| {
        let make = |condition: &Expression| {
            let prepared = scope(&columns).condition(condition).unwrap().prepared;
            Ok(Predicate::new(condition.clone(), prepared))
        };
        lane.line(Some(&condition), make).unwrap()
    };
    push(&mut backlog, 1000);
    for expected in [7, 17, 27].map(RowNumber) {
        let same = line(&mut lane);
        let row = row_of(lane.peek(same, &backlog, &view).unwrap());
        assert_eq!(row, Some(expected));
        lane.hold(expected, Holder::Session(SessionId(1)));
    }
    assert_eq!(view.0.get(), 27);
    lane.give_back(RowNumber(7), &backlog, &view);
    assert_eq!(view.0.get(), 28);
    let same = line(&mut lane);
    assert_eq!(
        row_of(lane.peek(same, &backlog, &view).unwrap()),
        Some(RowNumber(7))
    );
    for row in 1..=1000 {
        if row % 10 == 7 {
            backlog.remove(RowNumber(row));
        }
    }
    for _ in 0..100 {
        assert_eq!(row_of(lane.peek(same, &backlog, &view).unwrap()), None);
    }
    assert_eq!(view.0.get(), 1000 - 27 + 28 - 97);
}

/// As [`Counting`], for a number of rows.
struct Few {
    counting: Counting,
    rows: std::cell::Cell<u32>,
}

impl RowView for Few {
    fn accepts(&self, predicate: &Predicate, row: RowNumber) -> Result<bool> {
        self.rows.set(self.rows.get() - 1);
        self.counting.accepts(predicate, row)
    }

    fn is_spent(&self) -> bool {
        self.rows.get() == 0
    }
}

#[test]
fn a_search_without_units_goes_on_where_it_stopped_and_passes_over_no_row_that_came_back() {
    let (mut backlog, mut lane) = (Backlog::new(), Lane::new());
    let columns = columns();
    let condition = Expression::Column("n".to_owned());
    let make = |condition: &Expression| {
        let prepared = scope(&columns).condition(condition).unwrap().prepared;
        Ok(Predicate::new(condition.clone(), prepared))
    };
    let line = lane.line(Some(&condition), make).unwrap();
    let view = Few {
        counting: Counting::default(),
        rows: std::cell::Cell::new(0),
    };
    push(&mut backlog, 20);
    let mut found = Vec::new();
    for _ in 0..5 {
        view.rows.set(4);
        let was_found = lane.peek(line, &backlog, &view).unwrap();
        if let Found::Row(row) = was_found {
            lane.hold(row, Holder::Session(SessionId(1)));
        }
        found.push(was_found);
        view.rows.set(0);
    }
    let row = |row: u64| Found::Row(RowNumber(row));
    let not_yet = Found::NotYet;
    assert_eq!(found, [not_yet, row(7), not_yet, not_yet, row(17)]);
    // Row 7 comes back while there are no units: it is asked by the next search.
    lane.give_back(RowNumber(7), &backlog, &view);
    assert_eq!(lane.peek(line, &backlog, &view).unwrap(), not_yet);
    assert!(lane.has_unasked(line, &backlog));
    view.rows.set(1);
    assert_eq!(lane.peek(line, &backlog, &view).unwrap(), row(7));
    lane.hold(RowNumber(7), Holder::Session(SessionId(1)));
    view.rows.set(10);
    assert_eq!(lane.peek(line, &backlog, &view).unwrap(), Found::None);
    assert!(!lane.has_unasked(line, &backlog));
    assert_eq!(view.counting.0.get(), 21, "each row once, and row 7 twice");
}

/// A queue with `groups` consumer groups, each with a lane; with none, the queue has one lane of its own.
fn table(groups: usize) -> Queue {
    let groups = (0..groups).map(|group| format!("g{group}")).collect();
    let options = QueueOptions {
        groups,
        ..QueueOptions::default()
    };
    Queue::new("q", &columns(), &options, Backlog::new(), 0)
}

#[derive(Clone, Debug)]
enum Taking {
    Push(u16),
    Take {
        lane: usize,
        rows: u32,
    },
    /// The n-th held row of a lane, given back.
    GiveBack {
        lane: usize,
        which: usize,
    },
    /// The n-th held row of a lane, ended.
    Done {
        lane: usize,
        which: usize,
    },
    /// The n-th row, removed; the removal is undone.
    Remove {
        which: usize,
        undone: bool,
    },
    Oldest(usize),
}

fn taking() -> impl Strategy<Value = Taking> {
    let (lane, which) = (|| 0..3usize, any::<usize>);
    prop_oneof![
        3 => (0..20u16).prop_map(Taking::Push),
        3 => (lane(), 0..9u32).prop_map(|(lane, rows)| Taking::Take { lane, rows }),
        2 => (lane(), which()).prop_map(|(lane, which)| Taking::GiveBack { lane, which }),
        3 => (lane(), which()).prop_map(|(lane, which)| Taking::Done { lane, which }),
        2 => (which(), any::<bool>()).prop_map(|(which, undone)| Taking::Remove { which, undone }),
        4 => (0..9usize).prop_map(Taking::Oldest),
    ]
}

proptest! {
    #[test]
    fn the_oldest_free_rows_are_the_first_that_no_lane_holds(
        groups in 0..4usize,
        steps in proptest::collection::vec(taking(), 1..60),
    ) {
        let (mut queue, now) = (table(groups), Now::default());
        for step in steps {
            let lanes = queue.lanes.len();
            let held = |queue: &Queue, lane: usize, which: usize| {
                let held = queue.lanes[lane % lanes].held();
                held.keys().nth(which % held.len().max(1)).copied()
            };
            match step {
                Taking::Push(count) => push(&mut queue.backlog, count),
                Taking::Take { lane, rows } => {
                    let holder = Holder::Session(SessionId(1));
                    queue.take((lane % lanes, EVERY_ROW), rows, holder, now).unwrap();
                }
                Taking::GiveBack { lane, which } => {
                    if let Some(row) = held(&queue, lane, which) {
                        queue.give_back(lane % lanes, row, now);
                    }
                }
                Taking::Done { lane, which } => {
                    if let Some(row) = held(&queue, lane, which) {
                        queue.done(lane % lanes, &[row]);
                        queue.let_go(lane % lanes, row);
                    }
                }
                Taking::Remove { which, undone } => {
                    let rows: Vec<RowNumber> = queue.backlog.rows().collect();
                    if let Some(row) = rows.get(which % rows.len().max(1)) {
                        queue.backlog.remove(*row);
                        prop_assert!(!queue.oldest_free(rows.len()).contains(row));
                        if undone {
                            queue.restore(*row);
                        }
                    }
                }
                Taking::Oldest(rows_max) => {
                    let is_free = |row: &RowNumber| queue.lanes.iter().all(|lane| !lane.held().contains_key(row));
                    let want: Vec<RowNumber> = queue.backlog.rows().filter(is_free).take(rows_max).collect();
                    prop_assert_eq!(queue.oldest_free(rows_max), want);
                }
            }
        }
    }
}

/// Manifests of earlier programs hold the lanes of the manifest's own position, above that of the files.
#[test]
fn marks_of_rows_that_a_replay_has_yet_to_bring_outlive_a_truncate() {
    let (mut queue, now) = (table(2), Now::default());
    let lane = &mut queue.lanes[0];
    lane.gate.acked.insert(2);
    lane.gate.delays.set(RowNumber(3), 7_000_000);
    let counted = DeliveryCount::recorded(4);
    lane.delivery_counts.insert(RowNumber(3), counted);
    push(&mut queue.backlog, 1);
    queue.clear(&[]);
    push(&mut queue.backlog, 2);
    queue.done(0, &[RowNumber(2)]);
    queue.note_returned(0, &[(RowNumber(3), 4)], 7_000_000);
    queue.opened(now);
    let lane = &queue.lanes[0];
    assert!(!queue.is_owed(0, RowNumber(2)) && queue.is_owed(1, RowNumber(2)));
    assert_eq!(lane.gate.delays.get(RowNumber(3)), Some(7_000_000));
    assert_eq!(lane.delivery_counts.get(&RowNumber(3)), Some(&counted));
}

#[test]
fn a_row_whose_removal_was_undone_is_again_the_oldest_free_one() {
    let (mut queue, now) = (table(0), Now::default());
    push(&mut queue.backlog, 3);
    let holder = Holder::Session(SessionId(1));
    queue.take((0, EVERY_ROW), 2, holder, now).unwrap();
    queue.give_back(0, RowNumber(1), now);
    queue.backlog.remove(RowNumber(1));
    assert_eq!(queue.oldest_free(3), [RowNumber(3)]);
    queue.restore(RowNumber(1));
    assert_eq!(queue.oldest_free(3), [1, 3].map(RowNumber));
}

#[test]
fn a_manifest_keeps_the_lanes_of_the_files_position() {
    let mut queue = table(2);
    push(&mut queue.backlog, 1);
    queue.done(0, &[RowNumber(1)]);
    let marks = |queue: &Queue| {
        let mut bytes = Vec::new();
        queue.put_kept(&mut bytes);
        let mut read = table(2);
        assert!(read.read_kept(&mut Reader::new(&bytes)).is_ok());
        read.lanes[0].gate.acked.iter().collect::<Vec<_>>()
    };
    assert_eq!(marks(&queue), [0; 0], "the files hold no record");
    queue.folded = queue.as_of(2);
    assert_eq!(marks(&queue), [1]);
}
