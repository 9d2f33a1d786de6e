//! A message on its way to a store, and the time at which a store acts.

/// A message as its sender gave it. Both parts are bytes, not text; both may be empty and may hold NUL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Name of the category. Never empty here: the door drops messages without one.
    pub category: &'a [u8],
    /// Text or binary.
    pub body: &'a [u8],
}

/// A message on its way in, with its origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<'a> {
    /// Name of the category; empty and bad names are counted and dropped.
    pub category: &'a [u8],
    /// Text or binary.
    pub body: &'a [u8],
    /// The host that the message names, or else the client's address without a port.
    pub host: &'a str,
    /// The time that the message names, or else the time of its arrival. Seconds since 1970-01-01 UTC.
    pub unix_s: i64,
    /// The body is a line, and its last line feed was given by a door of Seine or is told to be its end. A store that ends each
    /// message with a line feed gives it no second one. `false` for clients of Scribe, whose messages stay as they are.
    pub is_line: bool,
}

/// Category and body of a message of unknown origin.
impl<'a> From<(&'a [u8], &'a [u8])> for Incoming<'a> {
    fn from((category, body): (&'a [u8], &'a [u8])) -> Incoming<'a> {
        Incoming {
            category,
            body,
            host: "",
            unix_s: 0,
            is_line: false,
        }
    }
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
