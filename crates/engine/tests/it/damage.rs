//! What damage of one file costs, for every kind of file; and what a table of standing queries does without some of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use disk::{Disk, FaultDisk, MemoryDisk, everything_kept};
use engine::inspect::{Cost, FILE_KINDS, check, kind_of, repair, table_of_costs};
use engine::{
    Control, Error, Now, OnDamage, Options, PqDocument, PqRequest, PqScratch, Reply, Searched,
};
use relation::request::Select;
use relation::source::Asked;

use crate::driver::{Driver, options};
use crate::statement::{Statement, command, options_of, parse};

/// Rows of each table in one file, so that most of a file is far from its ends.
const ROWS: u64 = 300;

const TABLES: [&str; 4] = ["posts", "alerts", "hits", "jobs"];

fn small(disk: &MemoryDisk) -> Options {
    Options {
        journal_segment_bytes: 64 << 10,
        ..options(Arc::new(disk.clone()))
    }
}

fn values(row: impl Fn(u64) -> String) -> String {
    (1..=ROWS).map(row).collect::<Vec<_>>().join(", ")
}

/// A directory with a file of every kind.
fn written() -> MemoryDisk {
    let disk = MemoryDisk::new();
    let mut driver = Driver::open(small(&disk), Now::default()).unwrap();
    let queries = values(|id| {
        format!("({id}, 'word{id} -dog -longword{id} -longerword{id} -thelongestword{id}')")
    });
    let posts = values(|id| format!("({id}, 'word{id} and a text of some words', {id})"));
    let jobs = values(|id| format!("({id}, 'job {id}')"));
    for line in [
        "create search posts (body text, n int)",
        "create queue hits (query_id bigint, doc_id bigint)",
        "create pq alerts on posts into hits",
        "create queue jobs (id int, label string)",
        &format!("insert alerts (id, query) values {queries}"),
        &format!("insert posts (id, body, n) values {posts}"),
        &format!("insert jobs (id, label) values {jobs}"),
        "checkpoint",
        "delete posts where id < 20",
        "update posts set n = 9999 where id > 280",
        "replace alerts (id, query) values (5, 'cow')",
        "delete jobs where id = 2",
        "checkpoint",
        "insert jobs (id, label) values (900, 'last')",
        "insert posts (id, body, n) values (900, 'a dog', 9)",
        // Nothing proves the frame of the very last sync: it is cut as if it were torn. No row is lost with this one.
        "pause hits",
    ] {
        driver.run(command(line)).unwrap();
    }
    drop(driver);
    // The journal's first files went with the checkpoints. A spare one is made at most.
    if !files(&disk).iter().any(|path| path.ends_with(".spare")) {
        let name = "journal/00000000000000ff-00000000000000aa.spare";
        let spare = disk.create(name).unwrap();
        spare.set_len(64 << 10).unwrap();
    }
    disk
}

fn files(disk: &dyn Disk) -> Vec<String> {
    let (mut folders, mut found) = (vec![String::new()], Vec::new());
    while let Some(folder) = folders.pop() {
        for name in disk.list(&folder).unwrap() {
            let path = format!("{folder}/{name}");
            let path = path.trim_start_matches('/').to_owned();
            match disk.list(&path) {
                Ok(_) => folders.push(path),
                Err(_) => found.push(path),
            }
        }
    }
    found.sort();
    found
}

fn copy(disk: &MemoryDisk) -> MemoryDisk {
    FaultDisk::over(disk).crash(everything_kept)
}

/// The rows of all tables, and whether an answer said that rows are missing, or was refused.
#[derive(PartialEq)]
struct Seen {
    rows: Vec<String>,
    says_so: bool,
}

fn seen(driver: &mut Driver) -> Seen {
    let mut seen = Seen {
        rows: Vec::new(),
        says_so: false,
    };
    for table in TABLES {
        let answer = match table {
            "posts" => {
                let text =
                    "select id, body, n from posts match 'words | dog' order by id limit 100000";
                let Statement::Select(select) = parse(text) else {
                    panic!("a SELECT")
                };
                let control = Control {
                    on_damage: OnDamage::Skip,
                    ..Control::default()
                };
                let snapshot = driver.handle.snapshot();
                snapshot.select(&select, &options_of(&select), &control)
            }
            table => {
                let columns = if table == "alerts" {
                    "id, query, hits"
                } else {
                    "*"
                };
                let read = command(&format!("read {columns} from {table}"));
                match driver.ask(u64::MAX, read).take().unwrap() {
                    Ok(Reply::Rows(answer)) => Ok(answer),
                    Ok(Reply::Reading(reading)) => reading.run(&Control::default()),
                    Ok(other) => panic!("{other:?}"),
                    Err(error) => Err(error),
                }
            }
        };
        let damaged = match answer {
            Ok(answer) => {
                let damaged = answer.rows.damaged();
                for row in answer.rows {
                    match row {
                        Ok(row) => seen.rows.push(format!("{table} {row:?}")),
                        Err(_) => seen.says_so = true,
                    }
                }
                !damaged.files().is_empty()
            }
            Err(Error::Corrupt { .. }) => true,
            Err(other) => panic!("{table}: {other:?}"),
        };
        seen.says_so |= damaged;
    }
    seen
}

/// What a damaged directory lacks, in the words of the register but without the data's name.
fn cost(disk: &MemoryDisk, before: &Seen, damage: &str, wrong: &mut Vec<String>) -> Cost {
    let given: Arc<dyn Disk> = Arc::new(disk.clone());
    let mut check_that = |is_right: bool, what: &str| {
        if !is_right {
            wrong.push(format!("{damage}: {what}"));
        }
    };
    let served = Driver::open(small(&copy(disk)), Now::default());
    let starts = served.is_ok();
    if let Ok(mut driver) = served {
        let served = seen(&mut driver);
        let is_whole = served.rows == before.rows;
        check_that(
            is_whole || served.says_so,
            "an answer lacks rows in silence",
        );
        if is_whole && !served.says_so {
            return Cost::Nothing;
        }
    }
    let repaired = match repair(&given, &mut |_| {}) {
        Ok(Some(repaired)) => repaired,
        Ok(None) => {
            check_that(false, "nothing to repair");
            return Cost::Nothing;
        }
        Err(_) => {
            check_that(!starts, "a start goes on and no repair");
            return Cost::Everything;
        }
    };
    let again = check(&given, &mut |_| {}).unwrap();
    check_that(
        again.faults.is_empty(),
        &format!("still faulty: {:?}", again.faults),
    );
    let mut driver = Driver::open(small(disk), Now::default()).unwrap();
    let after = seen(&mut driver);
    check_that(!after.says_so, "still damaged after the repair");
    let is_whole = after.rows == before.rows;
    check_that(
        is_whole || !repaired.losses.is_empty(),
        "a loss that nothing names",
    );
    match (starts, is_whole && repaired.losses.is_empty()) {
        (true, true) => Cost::UntilRepair(""),
        (true, false) => Cost::Lost(""),
        (false, _) => Cost::StopsAndLost(""),
    }
}

/// The cost without the name of the data.
fn bare(cost: Cost) -> Cost {
    match cost {
        Cost::Nothing => Cost::Nothing,
        Cost::UntilRepair(_) => Cost::UntilRepair(""),
        Cost::Lost(_) => Cost::Lost(""),
        Cost::StopsAndLost(_) => Cost::StopsAndLost(""),
        Cost::Everything => Cost::Everything,
    }
}

/// Places in the first, the middle and the last page of a file.
fn places(length: u64) -> Vec<u64> {
    let pages = length.div_ceil(4096).max(1);
    let pages = [0, pages / 2, pages - 1];
    let all = pages
        .iter()
        .flat_map(|page| [40, 2_000].map(|at| page * 4096 + at));
    let mut all: Vec<u64> = all.filter(|at| *at < length).collect();
    all.dedup();
    all
}

/// A file of each kind: the one that holds most, and of the journal the last one with frames, whose records are in no other file.
fn one_of_each_kind(disk: &MemoryDisk) -> Vec<String> {
    let mut fullest: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for path in files(disk) {
        let kind = kind_of(&path).unwrap_or_else(|| panic!("{path} is of no kind"));
        let bytes = disk.open(&path).unwrap().map().unwrap();
        let held = bytes.iter().filter(|byte| **byte != 0).count();
        let most = fullest.entry(kind.name).or_default();
        let is_needed = path.ends_with(".journal") && held > 0;
        if is_needed || held >= most.0 {
            *most = (held, path);
        }
    }
    fullest.into_values().map(|(_, path)| path).collect()
}

#[test]
fn damage_of_a_file_of_any_kind_costs_what_the_register_says() {
    let disk = written();
    let before = seen(&mut Driver::open(small(&copy(&disk)), Now::default()).unwrap());
    assert!(!before.says_so && before.rows.len() as u64 > 4 * ROWS - 30);
    let mut worst: BTreeMap<(&str, &str), Cost> = BTreeMap::new();
    let mut wrong = Vec::new();
    for path in one_of_each_kind(&disk) {
        let kind = kind_of(&path).unwrap();
        let mut note = |what: &'static str, damaged: &MemoryDisk, damage: &str| {
            let found = cost(damaged, &before, damage, &mut wrong);
            let most = worst.entry((kind.name, what)).or_insert(Cost::Nothing);
            *most = found.max(*most);
        };
        let bytes = disk.open(&path).unwrap().map().unwrap().to_vec();
        for at in places(bytes.len() as u64) {
            let damaged = copy(&disk);
            let file = damaged.open(&path).unwrap();
            file.write_at(at, &[bytes[at as usize] ^ 0x20]).unwrap();
            note("flipped", &damaged, &format!("{path}, byte {at}"));
        }
        let pages = bytes.len().div_ceil(4096);
        for page in (0..pages).step_by(1 + pages / 3) {
            let damaged = copy(&disk);
            let end = bytes.len().min((page + 1) * 4096);
            let torn = vec![0xee; end - page * 4096];
            let file = damaged.open(&path).unwrap();
            file.write_at(page as u64 * 4096, &torn).unwrap();
            note("torn", &damaged, &format!("{path}, page {page}"));
        }
        let damaged = copy(&disk);
        damaged.remove(&path).unwrap();
        note("missing", &damaged, &format!("{path} is missing"));
    }
    let found = |name, what| worst.get(&(name, what)).copied();
    let differs = FILE_KINDS.iter().flat_map(|kind| {
        let costs = [
            ("flipped", kind.flipped),
            ("torn", kind.torn),
            ("missing", kind.missing),
        ];
        let of_kind = costs.map(|(what, said)| (kind.name, what, bare(said)));
        of_kind
            .into_iter()
            .filter(|(name, what, said)| found(*name, *what) != Some(*said))
    });
    let differs: Vec<_> = differs.map(|said| (said, found(said.0, said.1))).collect();
    assert!(
        differs.is_empty() && wrong.is_empty(),
        "{wrong:#?}; the register says, and the test finds: {differs:#?}"
    );
}

#[test]
fn the_table_of_costs_is_in_the_document() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SAFETY.md");
    let document = std::fs::read_to_string(path).unwrap();
    let table = table_of_costs();
    assert!(document.contains(&table), "SAFETY.md lacks:\n{table}");
}

/// The directory with one byte of the first block of standing queries flipped; query 5 is in a later file.
fn without_some_queries() -> MemoryDisk {
    let disk = written();
    let queries = files(&disk)
        .into_iter()
        .filter(|path| path.ends_with(".queries"));
    let largest = queries.max_by_key(|path| disk.open(path).unwrap().len().unwrap());
    let file = disk.open(&largest.unwrap()).unwrap();
    let mut byte = [0];
    file.read_at(4096 + 100, &mut byte).unwrap();
    file.write_at(4096 + 100, &[byte[0] ^ 1]).unwrap();
    disk
}

fn refused(driver: &mut Driver, line: &str) -> String {
    let answer = match driver.run(command(line)) {
        Err(Error::InMany { error, .. }) => Err(*error),
        answer => answer,
    };
    match answer {
        Err(Error::Corrupt { file, why, .. }) if file.ends_with(".queries") => why,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_table_without_some_of_its_queries_says_so_or_refuses_until_each_is_stored_or_deleted() {
    let disk = without_some_queries();
    let mut driver = Driver::open(small(&disk), Now::default()).unwrap();
    for insert in [
        "insert posts (id, body, n) values (2000, 'word1', 1)",
        "replace posts (id, body, n) values (30, 'word30', 1)",
        "many insert jobs (id) values (7); insert posts (id, body, n) values (2000, 'word1', 1)",
    ] {
        let why = refused(&mut driver, insert);
        assert!(why.starts_with("standing queries 1-4, 6-"), "{why}");
        assert!(why.contains("of table 'alerts' cannot be read"), "{why}");
    }
    refused(&mut driver, "read count from alerts");
    refused(&mut driver, "read * from alerts where id = 4");
    refused(&mut driver, "delete alerts where query = 'cow'");
    refused(&mut driver, "delete alerts");
    // A join would lack rows without a word.
    let asked = Asked {
        select: &Select::new("alerts", Vec::new()),
        options: &relation::options::Options::default(),
        needed: &[0],
    };
    let source = driver.handle.snapshot().source("alerts").unwrap();
    let located = source.locate(&asked, &Control::default());
    assert!(matches!(located, Err(Error::Corrupt { .. })));
    let answer = driver.run(command("insert alerts (id, query) values (4, 'cat')"));
    assert_eq!(answer.err(), Some(Error::DuplicateId { id: 4 }));
    let answer = driver.run(command("read id from alerts where id = 300"));
    assert!(matches!(answer, Ok(Reply::Rows(answer)) if answer.rows.damaged().files().is_empty()));
    let call = |driver: &Driver, whole| {
        let documents = [PqDocument::Text("word1 word300".to_owned())];
        let request = PqRequest {
            whole,
            ..PqRequest::new("alerts", &documents)
        };
        let snapshot = driver.handle.snapshot();
        snapshot.call_pq(&request, &mut PqScratch::default())
    };
    let answer = call(&driver, false).unwrap();
    let ids: Vec<u64> = answer.hits.rows().map(|(query, _)| query.id).collect();
    assert_eq!((ids, answer.damaged.files().len()), (vec![300], 1));
    assert!(matches!(call(&driver, true), Err(Error::Corrupt { .. })));
    // Neither a fold nor a start makes them forgotten, nor does a refused unit that stores one.
    let unit = "many replace alerts (id, query) values (1, 'cat'); insert posts (id, body, n) values (2000, 'word1', 1)";
    refused(&mut driver, unit);
    for id in 3_000..3_100 {
        let insert = format!("insert alerts (id, query) values ({id}, 'cat')");
        driver.run(command(&insert)).unwrap();
        if id % 3 == 0 {
            driver.run(command("checkpoint")).unwrap();
        }
    }
    let mut driver = driver.reopen().unwrap();
    let why = refused(
        &mut driver,
        "insert posts (id, body, n) values (2000, 'word1', 1)",
    );
    assert!(why.starts_with("standing queries 1-4, 6-"), "{why}");
    // Each lost query is stored again or deleted by its id.
    let last = why
        .split(['-', ' ', ','])
        .filter_map(|part| part.parse::<u64>().ok());
    let last = last.max().unwrap();
    driver
        .run(command("replace alerts (id, query) values (1, 'word1')"))
        .unwrap();
    driver.run(command("checkpoint")).unwrap();
    let mut driver = driver.reopen().unwrap();
    let why = refused(
        &mut driver,
        "insert posts (id, body, n) values (2000, 'word1', 1)",
    );
    assert!(why.starts_with("standing queries 2-4, 6-"), "{why}");
    for id in (2..=last).filter(|id| *id != 5) {
        let delete = command(&format!("delete alerts where id = {id}"));
        assert!(matches!(
            driver.run(delete),
            Ok(Reply::Done { affected: 1, .. })
        ));
    }
    for _ in 0..2 {
        let hits = call(&driver, true).unwrap();
        assert_eq!(hits.hits.len(), 2, "queries 1 and 300");
        driver
            .run(command(
                "replace posts (id, body, n) values (2000, 'word1', 1)",
            ))
            .unwrap();
        driver.run(command("checkpoint")).unwrap();
        driver = driver.reopen().unwrap();
    }
}

#[test]
fn a_repair_names_the_lost_queries_and_leaves_none_behind() {
    let disk = without_some_queries();
    let given: Arc<dyn Disk> = Arc::new(disk.clone());
    let found = check(&given, &mut |_| {}).unwrap();
    assert_eq!(found.faults.len(), 1, "{:?}", found.faults);
    let losses: Vec<String> = found.losses.iter().map(ToString::to_string).collect();
    assert!(
        losses.len() == 1 && losses[0].starts_with("alerts: standing queries 1-4, 6-"),
        "{losses:?}"
    );
    let repaired = repair(&given, &mut |_| {}).unwrap().unwrap();
    assert_eq!(
        (repaired.losses, repaired.faults),
        (found.losses, found.faults)
    );
    assert!(repaired.aside.iter().any(|path| path.ends_with(".queries")));
    assert_eq!(repair(&given, &mut |_| {}).unwrap(), None);
    let mut driver = Driver::open(small(&disk), Now::default()).unwrap();
    let insert = "insert posts (id, body, n) values (2000, 'word1 word300', 1)";
    driver.run(command(insert)).unwrap();
    let Ok(Reply::Rows(answer)) = driver.run(command("read count from alerts")) else {
        panic!("a count")
    };
    let count = answer.rows.map(Result::unwrap).next().unwrap()[0].to_string();
    assert!(
        (150..290).contains(&count.parse::<u64>().unwrap()),
        "{count} of 300"
    );
}
