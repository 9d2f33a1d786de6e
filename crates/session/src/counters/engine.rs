//! The engine's numbers under their two names.

use engine::EngineStatus;

use super::Sample;

macro_rules! samples {
    ($($field:ident $status:literal $metric:literal $help:literal;)*) => {
        /// The engine's numbers, in the order of this table: field, name in SHOW STATUS, name in `/metrics`, help.
        pub fn samples(engine: &EngineStatus) -> Vec<Sample> {
            vec![$(Sample {
                status: $status,
                metric: $metric,
                help: $help,
                value: u64::from(engine.$field),
            }),*]
        }
    };
}

samples! {
    commands_total "engine_commands" "seine_commands_total" "Commands decided, refused ones included.";
    commands_refused_total "engine_commands_refused" "seine_commands_refused_total" "Commands refused.";
    records_total "journal_records" "seine_journal_records_total" "Records appended to the journal.";
    record_bytes_total "journal_record_bytes" "seine_journal_record_bytes_total" "Bytes of those records.";
    batches_total "engine_batches" "seine_batches_total" "Batches: turns of the engine's thread.";
    syncs_total "journal_syncs" "seine_journal_syncs_total" "Syncs of the journal.";
    sync_us_total "journal_sync_us" "seine_journal_sync_seconds_total" "Time spent in those syncs.";
    rows_synced_total "journal_rows_synced" "seine_rows_synced_total" "Rows that synced records changed.";
    unsynced_records "journal_unsynced_records" "seine_journal_unsynced_records" "Records of tables that do not wait for a sync, and that had none yet.";
    journal_stall_us_total "journal_stall_us" "seine_journal_stall_seconds_total" "Time that writes waited for a segment of the journal to be prepared.";
    stalls_total "engine_stalls" "seine_engine_stalls_total" "Turns of the engine's thread that took more than 10 ms.";
    position "journal_position" "seine_journal_position" "Position of the last record.";
    checkpoint_position "journal_checkpoint" "seine_journal_checkpoint_position" "The journal keeps the records above it.";
    journal_bytes "journal_bytes" "seine_journal_bytes" "Bytes of the journal's files.";
    replayed_records "recovery_replayed" "seine_recovery_records_replayed_total" "Records applied again at the start.";
    skipped_records "recovery_skipped" "seine_recovery_records_skipped_total" "Records read at the start that were in files already.";
    messages_total "messages_collected" "seine_messages_collected_total" "Messages that the Scribe door took into the journal.";
    messages_pending "messages_pending" "seine_messages_pending" "Collected messages that stores and spools do not have yet.";
    messages_pending_bytes "messages_pending_bytes" "seine_messages_pending_bytes" "Bytes of collected messages that stores and spools do not have yet.";
    fold_errors_total "fold_errors" "seine_fold_errors_total" "Seals and folds that failed; they are tried again.";
    checkpoints_total "checkpoints" "seine_checkpoints_total" "Manifests written.";
    disk_full "disk_full" "seine_disk_full" "1 while the device has no room for writes.";
    documents_total "documents" "seine_documents_total" "Documents inserted or replaced.";
    documents_deleted_total "documents_deleted" "seine_documents_deleted_total" "Documents deleted.";
    documents_updated_total "documents_updated" "seine_documents_updated_total" "Documents changed by UPDATE.";
    hits_total "hits" "seine_hits_total" "Hits: pairs of document and standing query.";
    candidates_total "candidates" "seine_candidates_total" "Standing queries tried on documents.";
    matching_steps_total "matching_steps" "seine_matching_steps_total" "Counted work of matching inserted documents, in steps of some nanoseconds.";
    costly_total "matching_refused" "seine_matching_refused_total" "Statements refused because standing queries take more steps on them than a statement may.";
    queries "standing_queries" "seine_standing_queries" "Standing queries held.";
    tail_bytes "tail_bytes" "seine_tail_bytes" "Memory of documents that are in no segment yet.";
    seals_total "seals" "seine_seals_total" "Segments sealed.";
    folds_total "folds" "seine_folds_total" "Folds of standing queries and queues into files.";
    segment_merges_total "segment_merges" "seine_segment_merges_total" "Merges of search tables' segments into fewer or smaller ones.";
    altering_rows "alter_rows" "seine_alter_rows" "Rows of the tables that an ALTER TABLE writes again now.";
    altered_rows "alter_rows_written" "seine_alter_rows_written" "Those of them that it has written.";
    queue_merges_total "queue_merges" "seine_queue_merges_total" "Files of queue rows merged into fewer or smaller ones.";
    queue_put_total "queue_rows_written" "seine_queue_rows_put_total" "Rows put into queues.";
    queue_taken_total "queue_rows_taken" "seine_queue_rows_taken_total" "Rows handed to a session.";
    queue_ended_total "queue_rows_removed" "seine_queue_rows_ended_total" "Rows ended or deleted.";
    queue_aborted_total "queue_rows_restored" "seine_queue_rows_restored_total" "Rows given back.";
    queue_lapsed_total "queue_rows_lapsed" "seine_queue_rows_lapsed_total" "Rows whose lease ended before they were acknowledged.";
    queue_dead_total "queue_rows_dead" "seine_queue_rows_dead_total" "Rows delivered too often: moved to the queue of the dead, or dropped without one.";
    queue_dropped_total "queue_rows_dropped" "seine_queue_rows_dropped_total" "Rows that a full queue dropped for newer ones.";
    queue_duplicates_total "queue_rows_duplicate" "seine_queue_rows_duplicate_total" "Rows not put because their key came before, within unique_for=.";
    queue_timeouts_total "queue_wait_timeout" "seine_queue_wait_timeouts_total" "Waits that ran out of time.";
    queue_waiting "queue_waiting" "seine_queue_waiting" "Sessions that wait for a row.";
    queue_rows "queue_rows" "seine_queue_rows" "Rows of all queues, owned ones included.";
    queue_bytes "queue_bytes" "seine_queue_bytes" "Memory of queue rows that are in no file yet.";
    queue_marks_bytes "queue_marks_bytes" "seine_queue_marks_bytes" "Memory of leases, delivery counts, delays and keys of queue rows.";
    query_bytes "query_bytes" "seine_query_bytes" "Memory of standing queries, by estimate.";
}
