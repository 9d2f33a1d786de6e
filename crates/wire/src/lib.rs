//! Pure codecs: MySQL packets, the SQL dialect, JSON bodies.
