//! The aggregates of SQL: a row of the table below for each. `rows/groups/states` has a type for each way to count them. docs/sql.md
//! lists all.
//!
//! To add an aggregate: a row here, a file under `rows/groups/states` with its `States`, and a row of docs/sql.md. The law
//! `aggregates_are_the_same_however_rows_are_split` then draws it.

/// What an aggregate gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gives {
    /// How many, as `bigint`.
    Count,
    /// A whole number where all are, else a double.
    Number,
    /// A text, however its arguments are stored.
    Text,
    /// One of the values of its argument.
    Argument,
}

/// What is between the brackets of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// `*`
    Star,
    /// `x`
    One,
    /// Several, and DISTINCT before them.
    Distinct,
    /// Several, whose texts it joins.
    Several,
}

/// A row of the table.
struct Row {
    /// Its name in SQL, in lower case, and others that mean the same.
    names: &'static [&'static str],
    takes: Takes,
    gives: Gives,
    /// Whether it adds the numbers of its argument. Those of dates are their digits.
    adds: bool,
    /// Whether its value depends on the order of a group's rows.
    is_ordered: bool,
}

macro_rules! aggregates {
    ($($(#[$doc:meta])* $kind:ident $(($of:ident))? : $names:expr, $takes:ident -> $gives:ident $(, adds: $adds:literal)? $(, ordered: $ordered:literal)?;)*) => {
        /// The kinds of aggregates.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum AggregateKind { $($(#[$doc])* $kind $(($of))?,)* }

        /// Each of them.
        pub(crate) static AGGREGATES: &[AggregateKind] = &[$(AggregateKind::$kind $(($of::new()))?,)*];

        impl AggregateKind {
            fn row(&self) -> Row {
                match self {
                    $(AggregateKind::$kind { .. } => Row {
                        names: &$names,
                        takes: Takes::$takes,
                        gives: Gives::$gives,
                        adds: false $(|| $adds)?,
                        is_ordered: false $(|| $ordered)?,
                    },)*
                }
            }
        }
    };
}

aggregates! {
    /// `COUNT(*)`
    Rows: ["count"], Star -> Count;
    /// `COUNT(DISTINCT x, y)`: distinct values, of rows where none is NULL.
    CountDistinct: ["count"], Distinct -> Count;
    /// `COUNT(x)`: rows whose x is not NULL.
    Count: ["count"], One -> Count;
    /// `SUM(x)`
    Sum: ["sum"], One -> Number, adds: true;
    /// `AVG(x)`
    Average: ["avg"], One -> Number, adds: true;
    /// `MIN(x)`
    Min: ["min"], One -> Argument;
    /// `MAX(x)`
    Max: ["max"], One -> Argument;
    /// `STDDEV(x)`, of a whole population.
    Deviation: ["stddev", "std", "stddev_pop"], One -> Number, adds: true;
    /// `VARIANCE(x)`, of a whole population.
    Variance: ["variance", "var_pop"], One -> Number, adds: true;
    /// `GROUP_CONCAT(x SEPARATOR ',')`, in the order of the rows.
    Concat(String): ["group_concat"], Several -> Text, ordered: true;
}

impl AggregateKind {
    /// Its name in SQL, in lower case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.row().names.first().copied().unwrap_or_default()
    }

    /// The aggregates of a name in lower case, which differ in what they take.
    pub(super) fn named(name: &str) -> impl Iterator<Item = &'static AggregateKind> {
        AGGREGATES
            .iter()
            .filter(move |kind| kind.row().names.contains(&name))
    }

    /// The names of all aggregates, those that mean the same included.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        AGGREGATES.iter().flat_map(|kind| kind.row().names).copied()
    }

    pub(super) fn takes(&self) -> Takes {
        self.row().takes
    }

    pub(crate) fn gives(&self) -> Gives {
        self.row().gives
    }

    /// Whether it adds the numbers of its argument. Those of dates are their digits.
    pub(crate) fn adds(&self) -> bool {
        self.row().adds
    }

    /// Whether its value depends on the order of a group's rows.
    pub(crate) fn is_ordered(&self) -> bool {
        self.row().is_ordered
    }
}

impl AggregateKind {
    /// Memory of what it points to, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            AggregateKind::Concat(separator) => separator.len(),
            AggregateKind::Rows
            | AggregateKind::CountDistinct
            | AggregateKind::Count
            | AggregateKind::Sum
            | AggregateKind::Average
            | AggregateKind::Min
            | AggregateKind::Max
            | AggregateKind::Deviation
            | AggregateKind::Variance => 0,
        }
    }
}
