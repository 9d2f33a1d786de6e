//! What SHOW and DESCRIBE show. To add a SHOW: a row of the table below, and in `session` the relation whose columns it prints.

use relation::expression::Expression;

/// A SHOW or DESCRIBE.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// What is shown.
    pub kind: ShowKind,
    /// The table that it is of, in lower case, where the kind has one.
    pub table: Option<String>,
    /// The database that it is of, where that is one of system relations. There is one namespace, so any other name is ignored.
    pub database: Option<String>,
    /// LIKE, on the first column.
    pub like: Option<String>,
    /// WHERE, over the columns by their names in lower case.
    pub filter: Option<Expression>,
}

/// What stands behind the words of a SHOW.
#[derive(Clone, Copy, Debug)]
pub(in crate::sql) enum Of {
    /// LIKE and WHERE alone.
    Nothing,
    /// `[FROM db]`
    Database,
    /// `FROM t [FROM db]`
    Table,
    /// `t`
    Name,
    /// The table's name is in the words, at `t`.
    Within,
    /// `[LIMIT n]`, which changes nothing.
    Limit,
    /// What MySQL takes there, which changes nothing.
    Anything,
}

macro_rules! shows {
    ($($(#[$doc:meta])* $kind:ident: $of:ident $($words:literal)|+;)*) => {
        /// What a SHOW shows.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ShowKind { $($(#[$doc])* $kind,)* }

        /// Each SHOW: its words, and what stands behind them. The first row whose words are there is meant.
        pub(in crate::sql) const SHOWS: &[(ShowKind, Of, &[&str])] = &[$((ShowKind::$kind, Of::$of, &[$($words),+]),)*];

        impl ShowKind {
            /// Each of them.
            pub const ALL: &[ShowKind] = &[$(ShowKind::$kind,)*];
        }
    };
}

shows! {
    /// Tables and MySQL's word for their types.
    FullTables: Database "full tables";
    /// Tables and their types.
    Tables: Database "tables";
    /// MySQL's nine columns of a column.
    FullColumns: Table "full columns" | "full fields";
    /// MySQL's six columns of a column; DESCRIBE t and EXPLAIN t, too.
    Columns: Table "columns" | "fields";
    /// `DESC pq TABLE`: only the id and the document columns of a pq table.
    Documents: Nothing "";
    /// Numbers of a table.
    TableStatus: Within "table t status" | "index t status";
    /// The options of CREATE TABLE.
    TableSettings: Within "table t settings" | "index t settings";
    /// Manticore's list of keys.
    TableIndexes: Within "table t indexes" | "index t indexes";
    /// Tables, as MySQL's SHOW TABLE STATUS names them.
    TablesStatus: Database "table status";
    /// The statement that would make a table.
    CreateTable: Name "create table";
    /// The keys of a table, in MySQL's columns.
    Indexes: Table "index" | "indexes" | "keys";
    /// Numbers of this session's last SELECT or CALL PQ.
    Meta: Nothing "meta";
    /// The trees of the last SELECT that was profiled.
    Plan: Nothing "plan";
    /// The time that the last SELECT that was profiled took, by steps.
    Profile: Nothing "profile";
    /// The token of the page behind the last SELECT's.
    Scroll: Nothing "scroll";
    /// The server's version.
    Version: Nothing "version";
    /// The server's counters.
    Status: Nothing "status";
    /// The variables of the session, and the server's settings.
    Variables: Nothing "variables";
    /// The only database.
    Databases: Nothing "databases" | "schemas";
    /// Warnings of this session's last statement.
    Warnings: Limit "warnings" | "errors";
    /// How many they are.
    WarningsCount: Nothing "count(*) warnings" | "count(*) errors";
    /// Queues and their groups.
    Queues: Nothing "queues";
    /// Q4M's status.
    EngineQueueStatus: Nothing "engine queue status";
    /// The open transactions.
    Transactions: Nothing "transactions";
    /// Engines of tables.
    Engines: Nothing "engines";
    /// Character sets.
    CharacterSets: Nothing "character set" | "charset";
    /// Collations: one.
    Collations: Nothing "collation";
    /// Plugins: none.
    Plugins: Nothing "plugins";
    /// Connections and what they do.
    Processes: Nothing "processlist" | "threads";
    /// The last searches of the query log.
    SlowQueries: Nothing "slow queries";
    /// Triggers: none.
    Triggers: Database "triggers";
    /// Stored procedures and functions: none.
    Routines: Nothing "procedure status" | "function status";
    /// Events: none.
    Events: Database "events";
    /// Grants: none.
    Grants: Anything "grants";
}

impl ShowKind {
    /// Whether it tells of the statement before.
    #[must_use]
    pub fn looks_back(self) -> bool {
        matches!(
            self,
            ShowKind::Warnings
                | ShowKind::WarningsCount
                | ShowKind::Meta
                | ShowKind::Plan
                | ShowKind::Profile
                | ShowKind::Scroll
        )
    }
}
