//! Documents at rest: tail, segments, rows, search.
