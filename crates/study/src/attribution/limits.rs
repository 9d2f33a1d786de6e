//! Limits of attribution. Each bounds memory or time. What is above one is refused by name, or left out and said.

/// Bytes of a line or of a record of CSV. The reading of a file ends at a longer record of CSV; a longer line is counted.
pub const RECORD_BYTES_MAX: usize = 1 << 20;
/// Bytes of a cookie: browsers keep no longer ones.
pub const COOKIE_BYTES_MAX: usize = 4_096;
/// Bytes of the name of a channel, before the maps and behind them.
pub const CHANNEL_BYTES_MAX: usize = 256;
/// Channels, behind the maps.
pub const CHANNELS_MAX: usize = 4_096;
/// Different names before the maps that are remembered. A later one is mapped each time.
pub const NAMES_MAX: usize = 1 << 16;
/// Rows of a file of maps.
pub const MAPS_MAX: usize = 10_000;
/// Bytes of an automaton's states of one regular expression.
pub const PATTERN_BYTES_MAX: usize = 4 << 20;
/// Touches and orders of all visitors: 16 bytes each.
pub const EVENTS_MAX: usize = 1 << 26;
/// Different visitors, and different ids of orders, each.
pub const IDS_MAX: usize = 1 << 25;
/// Bytes of the ids of visitors, and of orders, each.
pub const ID_BYTES_MAX: usize = 1 << 29;
/// Touches of one path. The oldest ones of a longer path do not count.
pub const PATH_TOUCHES_MAX: usize = 10_000;
/// Different paths that are told apart.
pub const PATHS_MAX: usize = 1 << 22;
/// Touches of those paths, together.
pub const PATHS_TOUCHES_MAX: usize = 1 << 27;
/// Different combinations of channels that are told apart.
pub const COMBINATIONS_MAX: usize = 1 << 20;
/// Pairs of day and channel with figures of their own.
pub const DAY_CHANNELS_MAX: usize = 200_000;
/// Numbers of touches with a row of their own. More touches count together.
pub const TOUCH_ROWS_MAX: usize = 100;
/// Days between first touch and order with a row of their own. Longer times count together.
pub const LAG_DAYS_MAX: usize = 366;
/// Rows of each list.
pub const ROWS_MAX: usize = 1_000_000;
/// Unknown lines that are kept as examples: the first ones.
pub const EXAMPLES_MAX: usize = 20;
/// Bytes of such an example.
pub const EXAMPLE_BYTES_MAX: usize = 256;
/// States of a Markov chain.
pub const STATES_MAX: usize = 200_000;
/// States up to which a chain is solved by elimination. A larger one is solved by iteration.
pub const DENSE_STATES_MAX: usize = 768;
/// Passes of the iteration over a chain. A chain that needs more is refused.
pub const PASSES_MAX: usize = 20_000;
/// Channels of the exact Shapley value: 2^20 sets.
pub const SHAPLEY_CHANNELS_MAX: usize = 20;
/// Milliseconds by which the clock of a visitor may be ahead.
pub const AHEAD_MS_MAX: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of the id of an order or a visitor that is recorded.
pub const RECORDED_ID_BYTES_MAX: usize = 128;
/// Seconds for which a touch or an order may have been under way: as long as the old library's cookie lives.
pub const RECORDED_AGE_S_MAX: i64 = 180 * 86_400;
/// Days before an order in which its first touch is looked for, as in reports.
pub const FIRST_TOUCH_DAYS: i64 = 45;

const _: () = assert!(
    CHANNELS_MAX <= u16::MAX as usize,
    "a channel's id has 16 bits"
);
const _: () = assert!(
    EVENTS_MAX <= u32::MAX as usize / 2,
    "an event names an order by 31 bits"
);
const _: () = assert!(
    PATHS_TOUCHES_MAX <= u32::MAX as usize,
    "places of paths have 32 bits"
);
