//! A message on its way to a store, and the time at which a store acts.

/// A message as its sender gave it. Both parts are bytes, not text; both may be empty and may hold NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Name of the category. Never empty here: the door drops messages without one.
    pub category: &'a [u8],
    /// Text or binary.
    pub body: &'a [u8],
}

/// The time, given by the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    /// Wall clock: microseconds since 1970-01-01 UTC. File names and rotation go by it, in local time.
    pub unix_us: i64,
    /// Local time minus UTC at that moment. Seconds.
    pub utc_offset_s: i32,
    /// A clock that never goes back, in microseconds. Intervals go by it.
    pub steady_us: u64,
}
