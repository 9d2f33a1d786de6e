//! Refusals of functions: a function of MySQL or Manticore gets another message than an unknown name.

use crate::options::nearest;

/// Functions of MySQL and Manticore that expressions do not have yet, separated by blanks.
const LATER: &str = "
    abs acos all any ascii asin atan atan2 avg bigint bin bitdot cast ceil ceiling char_length coalesce concat concat_ws
    connection_id contains convert cos cot crc32 curdate current_date current_time current_timestamp curtime database date
    date_add date_format date_histogram date_range date_sub datediff day dayname dayofmonth dayofweek dayofyear degrees double
    elt exist exp extract fibonacci field find_in_set float floor format found_rows from_unixtime geodist geopoly2d greatest
    group_concat groupby hex highlight histogram hour if ifnull indexof instr integer interval isnull json_extract knn_dist
    last_day last_insert_id lcase least left length levenshtein ln locate log log10 log2 lower lpad ltrim max md5 min
    min_top_sortval min_top_weight minute mod month now nullif packedfactors poly2d quarter query rand range regex remap
    repeat replace reverse right round row_count rpad rtrim second sha1 sha2 sign sin sint sleep snippet snippets space sqrt
    str_to_date substr substring substring_index sum sysdate tan time timediff to_days to_string trim truncate ucase uint
    unix_timestamp upper user utc_timestamp uuid version week weekday year yearmonth yearmonthday";

/// Functions that exist, each in its place of a statement.
const KNOWN: [&str; 13] = [
    "any",
    "count",
    "match",
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

/// The message that refuses a function, by its lower-case name.
pub(super) fn refusal(name: &str) -> String {
    if LATER.split_ascii_whitespace().any(|later| later == name) {
        return format!("not yet: the function {name}()");
    }
    if KNOWN.contains(&name) {
        return format!("{name}() cannot stand here");
    }
    let meant = nearest(name, KNOWN.into_iter());
    let meant = meant.map_or_else(String::new, |meant| format!(", did you mean {meant}()?"));
    format!("no function '{name}'{meant}")
}
