//! Document batches against a snapshot of standing queries.
