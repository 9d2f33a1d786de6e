//! Counters of the engine, for SHOW STATUS and /metrics.

/// What the engine has done since it was opened, and what it holds now. Counters only rise; times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineStatus {
    /// Commands decided, refused ones included.
    pub commands_total: u64,
    /// Commands refused.
    pub commands_refused_total: u64,
    /// Records appended to the journal.
    pub records_total: u64,
    /// Bytes of those records.
    pub record_bytes_total: u64,
    /// Batches: turns of the engine's thread, with or without a record.
    pub batches_total: u64,
    /// Syncs of the journal.
    pub syncs_total: u64,
    /// Time spent in those syncs.
    pub sync_us_total: u64,
    /// Rows inserted, replaced or deleted by synced records: divided by syncs, rows a sync.
    pub rows_synced_total: u64,
    /// Records appended and not yet synced: those of tables that do not wait for it.
    pub unsynced_records: u64,
    /// Time that writes waited for a segment of the journal to be prepared.
    pub journal_stall_us_total: u64,
    /// Turns of the engine's thread that took more than 10 ms.
    pub stalls_total: u64,
    /// Records applied again at the start.
    pub replayed_records: u64,
    /// Records read at the start that every view already held.
    pub skipped_records: u64,
    /// Messages collected.
    pub messages_total: u64,
    /// Collected messages that the collector has not noted.
    pub messages_pending: u64,
    /// Bytes of the collected messages that the collector has not noted.
    pub messages_pending_bytes: u64,
    /// Documents inserted or replaced.
    pub documents_total: u64,
    /// Documents deleted.
    pub documents_deleted_total: u64,
    /// Documents changed by UPDATE.
    pub documents_updated_total: u64,
    /// Pairs of document and standing query, of inserts and of CALL PQ by snapshots of this engine.
    pub hits_total: u64,
    /// Standing queries tried on those documents.
    pub candidates_total: u64,
    /// Steps that matching the documents of inserts took: counted work, some nanoseconds each.
    pub matching_steps_total: u64,
    /// Statements refused because their standing queries take more steps than a statement may.
    pub costly_total: u64,
    /// Standing queries held now.
    pub queries: u64,
    /// Segments sealed.
    pub seals_total: u64,
    /// Folds of standing queries and queues into files.
    pub folds_total: u64,
    /// Seals and folds that failed; they are tried again, and the journal holds what they would have.
    pub fold_errors_total: u64,
    /// Manifests written.
    pub checkpoints_total: u64,
    /// Merges of search tables' segments.
    pub segment_merges_total: u64,
    /// Rows of the tables that an ALTER TABLE writes again now.
    pub altering_rows: u64,
    /// Those of them that it has written.
    pub altered_rows: u64,
    /// Files of queue rows merged into fewer, or into smaller ones.
    pub queue_merges_total: u64,
    /// Rows put into queues.
    pub queue_put_total: u64,
    /// Rows handed to a session by `queue_wait`.
    pub queue_taken_total: u64,
    /// Rows deleted by `queue_end`, by the next `queue_wait` or by DELETE.
    pub queue_ended_total: u64,
    /// Rows given back by `queue_abort` or by a closed session.
    pub queue_aborted_total: u64,
    /// Rows whose lease ended before a worker ended them.
    pub queue_lapsed_total: u64,
    /// Rows that were delivered too often and went to the dead, or were dropped where there is no queue for them.
    pub queue_dead_total: u64,
    /// Rows that a full queue dropped for newer ones.
    pub queue_dropped_total: u64,
    /// Rows that were not inserted because their key was there within the window.
    pub queue_duplicates_total: u64,
    /// Waits that ran out of time.
    pub queue_timeouts_total: u64,
    /// Sessions that wait now.
    pub queue_waiting: u64,
    /// Rows of all queues now, owned ones included.
    pub queue_rows: u64,
    /// Memory of queue rows that are in no file yet.
    pub queue_bytes: u64,
    /// Memory of what is known of queue rows beside them: leases, delivery counts, delays, keys.
    pub queue_marks_bytes: u64,
    /// Memory of standing queries, by estimate, in bytes.
    pub query_bytes: u64,
    /// Memory of what merges of standing queries make, beside.
    pub query_merging_bytes: u64,
    /// Memory of documents that are in no segment yet.
    pub tail_bytes: u64,
    /// Position of the last record applied.
    pub position: u64,
    /// Lowest position that the journal must keep records above of.
    pub checkpoint_position: u64,
    /// Bytes of the journal's files.
    pub journal_bytes: u64,
    /// True while the device has no room for writes.
    pub disk_full: bool,
}

impl EngineStatus {
    /// What is left of the memory of rows and standing queries, `memory_bytes` in all.
    #[must_use]
    pub fn memory_left(&self, memory_bytes: u64) -> u64 {
        let queues = self.queue_bytes + self.queue_marks_bytes;
        let queries = self.query_bytes + self.query_merging_bytes;
        memory_bytes.saturating_sub(self.tail_bytes + queues + queries)
    }
}
