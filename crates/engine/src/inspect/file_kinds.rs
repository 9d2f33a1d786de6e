//! The kinds of files in a data directory, and what damage of one file of each kind costs. SAFETY.md shows this table, and a test
//! damages a file of every kind and compares.
//!
//! To add a kind: add it to [`FILE_KINDS`], write a file of it in the directory that `crates/engine/tests/it/damage.rs` makes, and
//! copy the table that its test prints into SAFETY.md. A file that is of no kind here fails that test.

/// A kind of file.
pub struct FileKind {
    /// Its name in SAFETY.md.
    pub name: &'static str,
    /// Whether a path below the data directory is that of such a file.
    is_of: fn(&str) -> bool,
    /// What one flipped byte costs.
    pub flipped: Cost,
    /// What one torn page of 4,096 bytes costs.
    pub torn: Cost,
    /// What it costs that the file is missing.
    pub missing: Cost,
}

/// What damage costs, and which data are meant. In this order each costs more than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Another copy is read, or nobody needs the file.
    Nothing,
    /// The server starts. It answers without these data and says so, or refuses. `seine repair` brings all of it back.
    UntilRepair(&'static str),
    /// The server starts. It answers without these data and says so, or refuses. `seine repair` names them: they are lost.
    Lost(&'static str),
    /// The server does not start before `seine repair`, which names these data: they are lost.
    StopsAndLost(&'static str),
    /// Neither a start nor a repair goes on.
    Everything,
}

impl Cost {
    /// The cost in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Cost::Nothing => "nothing".to_owned(),
            Cost::UntilRepair(data) => format!("{data}, until a repair"),
            Cost::Lost(data) => data.to_string(),
            Cost::StopsAndLost(data) => format!("**no start**; {data}"),
            Cost::Everything => "**everything**: only a backup helps".to_owned(),
        }
    }
}

const SEARCHES: Cost = Cost::UntilRepair("the segment in searches");
const QUERIES: Cost = Cost::Lost("the queries of some 4 KiB");
const QUEUE_ROWS: Cost = Cost::Lost("the rows there; of hits those of one command");
const RECORDS: Cost = Cost::StopsAndLost("the records of one frame");

/// All kinds but those of the collector, which are in `collected/`.
pub const FILE_KINDS: [FileKind; 15] = [
    FileKind {
        name: "`manifest`",
        is_of: |path| path == "manifest",
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::Everything,
    },
    FileKind {
        name: "`journal/*.journal`",
        is_of: |path| path.starts_with("journal/") && path.ends_with(".journal"),
        flipped: RECORDS,
        torn: RECORDS,
        missing: Cost::StopsAndLost("its records"),
    },
    FileKind {
        name: "`journal/*.spare`",
        is_of: |path| path.starts_with("journal/") && path.ends_with(".spare"),
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::Nothing,
    },
    FileKind {
        name: "`spare`, `lock`",
        is_of: |path| matches!(path, "spare" | "lock"),
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::Nothing,
    },
    FileKind {
        name: "`segment-*/commit`",
        is_of: |path| is_in_segment(path, "commit"),
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::Lost("the segment's documents"),
    },
    FileKind {
        name: "`segment-*/rows`",
        is_of: |path| is_in_segment(path, "rows"),
        flipped: Cost::Lost("the documents of a block of 16 KiB; until a repair the segment"),
        torn: Cost::Lost("the documents of a block of 16 KiB; until a repair the segment"),
        missing: Cost::Lost("the segment's documents"),
    },
    FileKind {
        name: "`segment-*/dictionary`",
        is_of: |path| is_in_segment(path, "dictionary"),
        flipped: SEARCHES,
        torn: SEARCHES,
        missing: SEARCHES,
    },
    FileKind {
        name: "`segment-*/words`",
        is_of: |path| is_in_segment(path, "words"),
        flipped: SEARCHES,
        torn: SEARCHES,
        missing: SEARCHES,
    },
    FileKind {
        name: "`segment-*/postings`",
        is_of: |path| is_in_segment(path, "postings"),
        flipped: SEARCHES,
        torn: SEARCHES,
        missing: SEARCHES,
    },
    FileKind {
        name: "`segment-*/positions`",
        is_of: |path| is_in_segment(path, "positions"),
        flipped: SEARCHES,
        torn: SEARCHES,
        missing: SEARCHES,
    },
    FileKind {
        name: "`segment-*/deleted-*`",
        is_of: |path| is_in_segment(path, "deleted-"),
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::Lost("deletions: deleted documents are back; until a repair the segment"),
    },
    FileKind {
        name: "`segment-*/changed-*`",
        is_of: |path| is_in_segment(path, "changed-"),
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::Lost("values that UPDATE set; until a repair the segment"),
    },
    FileKind {
        name: "`*.queries`",
        is_of: |path| path.ends_with(".queries"),
        flipped: QUERIES,
        torn: QUERIES,
        missing: Cost::StopsAndLost("its standing queries"),
    },
    FileKind {
        name: "`*.hits`",
        is_of: |path| path.ends_with(".hits"),
        flipped: Cost::Nothing,
        torn: Cost::Nothing,
        missing: Cost::StopsAndLost("counts of hits up to its record"),
    },
    FileKind {
        name: "`*.rows`",
        is_of: |path| path.ends_with(".rows"),
        flipped: QUEUE_ROWS,
        torn: QUEUE_ROWS,
        missing: Cost::StopsAndLost("its queue rows"),
    },
];

/// Whether a path is that of a file of a segment whose name begins like this.
fn is_in_segment(path: &str, name: &str) -> bool {
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let folder = parts.next().unwrap_or_default();
    folder.starts_with("segment-") && file.starts_with(name)
}

/// The kind of a file by its path below the data directory; `None` for a file that belongs to none.
#[must_use]
pub fn kind_of(path: &str) -> Option<&'static FileKind> {
    FILE_KINDS.iter().find(|kind| (kind.is_of)(path))
}

/// The table of SAFETY.md, a line for each kind.
#[must_use]
pub fn table_of_costs() -> String {
    let mut table =
        "| file | one flipped byte | one torn page | missing |\n|---|---|---|---|\n".to_owned();
    for kind in &FILE_KINDS {
        let costs = [kind.flipped, kind.torn, kind.missing].map(|cost| cost.words());
        table += &format!("| {} | {} |\n", kind.name, costs.join(" | "));
    }
    table
}
