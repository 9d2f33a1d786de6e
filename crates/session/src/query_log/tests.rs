use study::log::{Entry, SortMode};

use super::*;

const CLIENT: (u64, &str) = (7, "127.0.0.1");

fn log(table: Option<&str>) -> (Arc<QueryLog>, Entries) {
    let log = Arc::<QueryLog>::default();
    let entries = log.begin(table.map(str::to_owned)).unwrap();
    (log, entries)
}

/// A search with `statement` that ends now.
fn search(log: &Arc<QueryLog>, statement: &str, table: &str) {
    let said = Some(Said::new(statement.as_bytes()));
    let since = (Clock::start(), 0);
    drop(Pending::begin(log, since, CLIENT, said, |told| {
        tell_percolation(table, told);
    }));
}

fn statements(last: impl Iterator<Item = Logged>) -> Vec<String> {
    let text = |logged: Logged| {
        let text = logged.get().entry().statement.map(|text| text.to_vec());
        String::from_utf8(text.unwrap_or_default()).unwrap()
    };
    last.map(text).collect()
}

#[test]
fn the_last_entries_are_known_before_and_behind_the_writer() {
    let (log, entries) = log(None);
    search(&log, "one", "posts");
    assert_eq!(statements(log.last()), ["one"]);
    search(&log, "two", "posts");
    let taken = |entries: &Entries| {
        let block = entries.next().unwrap();
        let of = |logged: LoggedAt<'_>| logged.entry().statement.unwrap().to_vec();
        block.iter().map(of).collect::<Vec<_>>()
    };
    // The look at "one" has ended its block.
    assert_eq!(taken(&entries), [b"one"]);
    assert_eq!(taken(&entries), [b"two"]);
    assert!(entries.next().is_none());
    search(&log, "three", "posts");
    assert_eq!(statements(log.last()), ["three", "two", "one"]);
}

#[test]
fn only_so_many_entries_are_kept_and_the_rest_is_lost() {
    let (log, entries) = log(None);
    let text = "x".repeat(LOGGED_TEXT_BYTES_MAX + 1);
    let (mut taken, many) = (0, 3 * LOGGED_WAITING_BYTES_MAX / LOGGED_TEXT_BYTES_MAX);
    for _ in 0..many {
        search(&log, &text, "posts");
    }
    while let Some(block) = entries.next() {
        taken += block.len();
        for logged in block.iter() {
            let entry = logged.entry();
            assert_eq!(entry.statement.unwrap().len(), LOGGED_TEXT_BYTES_MAX);
            assert_eq!(entry.cut_bytes, Some(text.len() as u64));
        }
    }
    assert!(taken * LOGGED_TEXT_BYTES_MAX < LOGGED_WAITING_BYTES_MAX);
    assert_eq!(taken + log.lost() as usize, many);
    let last = log.last().count();
    assert!(last > 0 && last * LOGGED_TEXT_BYTES_MAX < LOGGED_LAST_BYTES_MAX);
    for at in 0..2 * LOGGED_LAST_MAX {
        search(&log, &at.to_string(), "posts");
        while at % 100 == 0 && entries.next().is_some() {}
    }
    let last = statements(log.last());
    let wanted = (LOGGED_LAST_MAX..2 * LOGGED_LAST_MAX).rev();
    assert_eq!(last, wanted.map(|at| at.to_string()).collect::<Vec<_>>());
}

#[test]
fn each_text_comes_back_and_searches_on_the_own_table_are_none() {
    let (log, entries) = log(Some("said"));
    search(&log, "mine", "said");
    assert!(entries.next().is_none());
    let mut pending = Pending::begin(&log, (Clock::start(), 0), CLIENT, None, |told| {
        for (text, bytes) in [
            (Text::Tables, "posts,news"),
            (Text::Query, ""),
            (Text::Ranker, "bm25"),
            (Text::Comment, "mine"),
        ] {
            told.add(text, bytes.as_bytes());
        }
    })
    .unwrap();
    pending.found(3);
    pending.failed("no");
    pending.failed("later");
    drop(pending);
    let block = entries.next().unwrap();
    let entry = block.iter().next().unwrap().entry();
    assert_eq!(&*entry.tables, b"posts,news");
    let texts = [&entry.query, &entry.ranker, &entry.comment, &entry.client];
    let texts = texts.map(|text| text.as_deref().unwrap());
    assert_eq!(texts, [&b""[..], b"bm25", b"mine", b"127.0.0.1"]);
    assert_eq!((entry.statement, entry.group_by), (None, None));
    assert_eq!(
        (entry.error.as_deref(), entry.found),
        (Some(&b"no"[..]), None)
    );
}

/// A number of an entry, and where a reader of the log finds it.
type Place = (Number, fn(&Entry<'_>) -> Option<u64>);

#[test]
fn each_number_comes_back_whatever_its_size_and_none_stays_none() {
    let places: [Place; 12] = [
        (Number::RealUs, |entry| entry.real_us),
        (Number::QueuedUs, |entry| entry.queued_us),
        (Number::Found, |entry| entry.found),
        (Number::Returned, |entry| entry.returned),
        (Number::Offset, |entry| entry.window.map(|it| it.0)),
        (Number::Limit, |entry| entry.window.map(|it| it.1)),
        (Number::Filters, |entry| entry.filters),
        (Number::Threads, |entry| entry.threads),
        (Number::CutBytes, |entry| entry.cut_bytes),
        (Number::Faults, |entry| entry.faults),
        (Number::ReadBytes, |entry| entry.read_bytes),
        (Number::Connection, |entry| entry.connection),
    ];
    let mut block = Block::default();
    let sizes = [0, 1, 127, 128, 1 << 32, u64::MAX - 1, u64::MAX];
    for size in sizes {
        let mut told = Told::new(b"SELECT 1".to_vec(), 8);
        for (at, (number, _)) in (0..).zip(places) {
            told.set(number, Some(size - at.min(size)));
        }
        told.set(Number::Threads, None);
        told.add(Text::Error, b"no");
        assert!(block.push(&told, Clock::start()) <= told.bytes_max());
    }
    for (size, logged) in sizes.into_iter().zip(block.iter()) {
        let entry = logged.entry();
        for (at, (number, get)) in (0..).zip(places) {
            let wanted = (number != Number::Threads).then(|| size - at.min(size));
            assert_eq!(get(&entry), wanted, "{number:?} of {size}");
        }
        assert_eq!(entry.statement.as_deref(), Some(&b"SELECT 1"[..]));
        assert_eq!(entry.error.as_deref(), Some(&b"no"[..]));
        assert_eq!((entry.mode, entry.sort), (None, None));
    }
    for mode in MatchMode::ALL {
        assert_eq!(MatchMode::ALL[mode as usize], mode);
    }
    for sort in SortMode::ALL {
        assert_eq!(SortMode::ALL[sort as usize], sort);
    }
}
