//! The functions of expressions: their names, how many arguments they take, and which arguments are constants.
//!
//! Example: `SUBSTRING(title, 1, 3)` is [`Function::Substring`], which takes two or three arguments. `substr` and `mid` are
//! other names of it. The parser refuses `SUBSTRING(title)`, and `REGEX(title, '(')` since that is no regular expression.
//!
//! To add a function: a line of the table below, and an arm in the file of its kind under `call/`. docs/functions.md lists all;
//! a test compares it with the table.

use language::nearest::nearest;

use super::aggregate::AggregateKind;

/// Any number of arguments, up to the limit of an expression's nodes.
const ANY: usize = usize::MAX;

macro_rules! functions {
    ($($name:ident $least:literal $most:tt $($text:literal)|+;)*) => {
        /// A function. docs/functions.md says what each gives.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "docs/functions.md has a line for each")]
        pub enum Function {
            $($name,)*
        }

        /// Each function with the least and the greatest number of its arguments, and its names in lower case. The first name is
        /// the one by which it is written.
        const TABLE: &[(Function, usize, usize, &[&str])] = &[
            $((Function::$name, $least, $most, &[$($text),+]),)*
        ];
    };
}

functions! {
    Abs 1 1 "abs";
    Acos 1 1 "acos";
    Asin 1 1 "asin";
    Atan 1 1 "atan";
    Atan2 2 2 "atan2";
    Bigint 1 1 "bigint" | "integer" | "to_int64";
    Bitdot 2 ANY "bitdot";
    Case 2 ANY "case";
    Ceil 1 1 "ceil" | "ceiling";
    CharLength 1 1 "char_length" | "character_length";
    Coalesce 1 ANY "coalesce" | "ifnull";
    Concat 1 ANY "concat";
    ConcatWs 2 ANY "concat_ws";
    Contains 3 3 "contains";
    Cos 1 1 "cos";
    Crc32 1 1 "crc32";
    Date 1 2 "date";
    DateAdd 3 3 "date_add";
    DateSub 3 3 "date_sub";
    DateDiff 2 3 "datediff";
    DateFormat 2 3 "date_format";
    DateHistogram 2 2 "date_histogram";
    DateRange 2 ANY "date_range";
    DateRanges 2 ANY "date_ranges";
    CurDate 0 0 "curdate" | "current_date";
    Database 0 0 "database" | "schema";
    CurTime 0 0 "curtime" | "current_time";
    Day 1 2 "day" | "dayofmonth";
    DayName 1 2 "dayname";
    DayOfWeek 1 2 "dayofweek";
    DayOfYear 1 2 "dayofyear";
    Degrees 1 1 "degrees";
    Double 1 1 "double" | "float";
    Exp 1 1 "exp";
    Fibonacci 1 1 "fibonacci";
    Floor 1 1 "floor";
    FromUnixtime 1 3 "from_unixtime";
    Geodist 4 5 "geodist";
    Greatest 1 ANY "greatest";
    Hex 1 1 "hex";
    Histogram 2 2 "histogram";
    Hour 1 2 "hour";
    If 3 3 "if";
    Instr 2 2 "instr";
    Interval 2 ANY "interval";
    Least 1 ANY "least";
    Left 2 2 "left";
    Length 1 1 "length";
    Levenshtein 2 3 "levenshtein";
    Like 2 3 "like";
    Ln 1 1 "ln" | "log";
    LocalMoment 2 2 "local_moment";
    Locate 2 3 "locate";
    Log10 1 1 "log10";
    Log2 1 1 "log2";
    Lower 1 1 "lower" | "lcase";
    Lpad 3 3 "lpad";
    Ltrim 1 1 "ltrim";
    Max 2 2 "max";
    Min 2 2 "min";
    Minute 1 2 "minute";
    Month 1 2 "month";
    MonthName 1 2 "monthname";
    Now 0 0 "now" | "current_timestamp" | "localtime" | "localtimestamp" | "sysdate";
    NullIf 2 2 "nullif";
    Poly2d 1 ANY "poly2d" | "geopoly2d";
    Quarter 1 2 "quarter";
    Radians 1 1 "radians";
    Rand 0 2 "rand";
    Range 2 ANY "range";
    Ranges 2 ANY "ranges";
    Regex 2 2 "regex";
    Regexp 2 2 "regexp";
    Remap 4 4 "remap";
    Repeat 2 2 "repeat";
    Replace 3 3 "replace";
    Reverse 1 1 "reverse";
    Right 2 2 "right";
    Round 1 2 "round";
    Rpad 3 3 "rpad";
    Rtrim 1 1 "rtrim";
    Second 1 2 "second";
    Sign 1 1 "sign";
    Sin 1 1 "sin";
    Sint 1 1 "sint";
    Space 1 1 "space";
    Sqrt 1 1 "sqrt";
    Substring 2 3 "substring" | "substr" | "mid";
    SubstringIndex 3 3 "substring_index";
    Tan 1 1 "tan";
    Time 1 2 "time";
    TimeDiff 2 2 "timediff";
    ToString 1 1 "to_string";
    Trim 1 1 "trim";
    Uint 1 1 "uint";
    UnixTimestamp 0 2 "unix_timestamp";
    Upper 1 1 "upper" | "ucase";
    Week 1 2 "week";
    Weekday 1 2 "weekday";
    Year 1 2 "year";
    YearMonth 1 2 "yearmonth";
    YearMonthDay 1 2 "yearmonthday";
    YearWeek 1 2 "yearweek";
}

/// Functions of MySQL and Manticore that expressions do not have yet, separated by blanks.
const LATER: &str = "
    ascii bin cast connection_id convert convert_tz cot
    elt exist extract field find_in_set format found_rows highlight insert isnull json_extract knn knn_dist last_day
    last_insert_id md5 min_top_sortval min_top_weight packedfactors row_count sha1 sha2 sleep snippet snippets str_to_date
    to_days truncate user utc_timestamp uuid version query zonespanlist rankfactors bm25f";

/// Names that stand for more than a function of values, each in its place of a statement.
const ELSEWHERE: [&str; 18] = [
    "all",
    "any",
    "groupby",
    "idiv",
    "indexof",
    "match",
    "mod",
    "now",
    "pow",
    "power",
    "queue_abort",
    "queue_compact",
    "queue_end",
    "queue_rowid",
    "queue_set_srcid",
    "queue_stats",
    "queue_wait",
    "weight",
];

impl Function {
    /// The function of a name in lower case. LIKE, REGEXP and CASE have no brackets and are no names.
    pub(super) fn named(name: &str) -> Option<Function> {
        let (function, ..) = TABLE.iter().find(|(.., names)| names.contains(&name))?;
        (!function.is_operator()).then_some(*function)
    }

    /// Whether its value is of the moment of its statement: it gets it from [`super::Moment`] before the first row.
    pub(super) fn is_of_the_moment(self) -> bool {
        matches!(
            self,
            Function::Now
                | Function::CurDate
                | Function::CurTime
                | Function::Database
                | Function::Rand
        )
    }

    /// Whether its name alone, without brackets, is a call.
    pub(super) fn is_bare(name: &str) -> bool {
        let names = [
            "current_timestamp",
            "current_date",
            "current_time",
            "localtime",
            "localtimestamp",
        ];
        names.contains(&name)
    }

    /// Whether it is written between or before its arguments, or never, instead of a name with brackets.
    pub(super) fn is_operator(self) -> bool {
        matches!(
            self,
            Function::Like | Function::Regexp | Function::Case | Function::LocalMoment
        )
    }

    /// All functions, in the order of the table.
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Function> {
        TABLE.iter().map(|(function, ..)| *function)
    }

    /// The least and the greatest number of its arguments.
    pub(super) fn arity(self) -> (usize, usize) {
        let line = TABLE.iter().find(|(function, ..)| *function == self);
        line.map_or((0, ANY), |(_, least, most, _)| (*least, *most))
    }

    /// The name by which it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        let line = TABLE.iter().find(|(function, ..)| *function == self);
        line.and_then(|(.., names)| names.first()).unwrap_or(&"")
    }

    /// All names, in lower case.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE
            .iter()
            .filter(|(function, ..)| !function.is_operator())
            .flat_map(|(.., names)| names.iter().copied())
    }

    /// The places of the arguments of which its value is one, of `count` arguments. None: it makes a value of its own.
    pub(super) fn gives_back(self, count: usize) -> Vec<usize> {
        match self {
            Function::If => vec![1, 2],
            Function::Case => {
                let values = (0..count).filter(|place| place % 2 == 1);
                let other = (count % 2 == 1).then(|| count - 1);
                values.chain(other).collect()
            }
            Function::Coalesce => (0..count).collect(),
            // Of a single list they give an item.
            Function::Greatest | Function::Least | Function::Max | Function::Min if count > 1 => {
                (0..count).collect()
            }
            Function::NullIf => vec![0],
            Function::Remap => vec![1],
            _ => Vec::new(),
        }
    }

    /// Whether it gives back an argument without a look at its value.
    pub(super) fn chooses(self) -> bool {
        matches!(
            self,
            Function::If | Function::Case | Function::Coalesce | Function::Remap
        )
    }

    /// Whether its arguments are texts, as a client sees them.
    pub(super) fn reads_texts(self) -> bool {
        use Function as F;
        matches!(
            self,
            F::CharLength
                | F::Concat
                | F::ConcatWs
                | F::Crc32
                | F::Instr
                | F::Left
                | F::Length
                | F::Levenshtein
                | F::Like
                | F::Locate
                | F::Lower
                | F::Lpad
                | F::Ltrim
                | F::Regex
                | F::Regexp
                | F::Repeat
                | F::Replace
                | F::Reverse
                | F::Right
                | F::Rpad
                | F::Rtrim
                | F::Substring
                | F::SubstringIndex
                | F::ToString
                | F::Trim
                | F::Upper
        )
    }

    /// Whether it compares its arguments with each other.
    pub(super) fn compares(self) -> bool {
        use Function as F;
        matches!(
            self,
            F::Greatest | F::Interval | F::Least | F::Max | F::Min | F::NullIf
        )
    }

    /// Whether its first argument is a moment.
    pub(super) fn reads_moments(self) -> bool {
        use Function as F;
        self.takes_zone()
            || matches!(
                self,
                F::DateAdd
                    | F::DateDiff
                    | F::DateFormat
                    | F::DateHistogram
                    | F::DateRange
                    | F::DateRanges
                    | F::DateSub
                    | F::TimeDiff
            )
    }

    /// Whether its arguments are numbers, as those of ABS.
    pub(super) fn reads_numbers(self) -> bool {
        let buckets = matches!(self, Function::Histogram | Function::Range);
        let reads_others = self.reads_moments() || self.reads_texts() || self.compares() || buckets;
        self.gives_number() && !reads_others
    }

    /// Whether its value is a number or NULL.
    pub(super) fn gives_number(self) -> bool {
        use Function as F;
        let names = matches!(self, F::Date | F::DayName | F::MonthName | F::Time);
        self.takes_zone() && !names
            || matches!(
                self,
                F::Abs
                    | F::Acos
                    | F::Asin
                    | F::Atan
                    | F::Atan2
                    | F::Bigint
                    | F::Bitdot
                    | F::Ceil
                    | F::CharLength
                    | F::Contains
                    | F::Cos
                    | F::Crc32
                    | F::DateDiff
                    | F::DateRange
                    | F::Degrees
                    | F::Double
                    | F::Exp
                    | F::Fibonacci
                    | F::Floor
                    | F::Geodist
                    | F::Histogram
                    | F::Instr
                    | F::Interval
                    | F::Length
                    | F::Levenshtein
                    | F::Like
                    | F::Ln
                    | F::Locate
                    | F::Log10
                    | F::Log2
                    | F::Radians
                    | F::Rand
                    | F::Range
                    | F::Regex
                    | F::Regexp
                    | F::Round
                    | F::Sign
                    | F::Sin
                    | F::Sint
                    | F::Sqrt
                    | F::Tan
                    | F::Uint
            )
    }

    /// Whether its value is a text or NULL.
    #[must_use]
    pub fn gives_text(self) -> bool {
        self.gives_date() || self.reads_texts() && !self.gives_number()
    }

    /// Whether its value is the text of a moment.
    pub(super) fn gives_date(self) -> bool {
        matches!(
            self,
            Function::Date | Function::DateFormat | Function::FromUnixtime
        )
    }

    /// Whether its second and last argument is a time zone.
    pub(super) fn takes_zone(self) -> bool {
        use Function as F;
        matches!(
            self,
            F::Date
                | F::Day
                | F::DayName
                | F::DayOfWeek
                | F::DayOfYear
                | F::Hour
                | F::Minute
                | F::Month
                | F::MonthName
                | F::Quarter
                | F::Second
                | F::Time
                | F::UnixTimestamp
                | F::Week
                | F::Weekday
                | F::Year
                | F::YearMonth
                | F::YearMonthDay
                | F::YearWeek
        )
    }
}

/// The message that refuses a function, by its lower-case name.
pub(super) fn refusal(name: &str) -> String {
    if LATER.split_ascii_whitespace().any(|later| later == name) {
        return format!("not yet: the function {name}()");
    }
    if ELSEWHERE.contains(&name) || AggregateKind::names().any(|own| own == name) {
        return format!("{name}() cannot stand here");
    }
    if Function::named(name).is_some_and(Function::is_of_the_moment) {
        return format!("{name}() is of the moment of its statement, and cannot stand here");
    }
    let known = ELSEWHERE.into_iter().chain(AggregateKind::names());
    let known = known.chain(Function::names());
    let meant = nearest(name, known);
    let meant = meant.map_or_else(String::new, |meant| format!(", did you mean {meant}()?"));
    format!("no function '{name}'{meant}")
}
