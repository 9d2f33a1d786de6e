//! The engine's numbers under their two names.

use engine::EngineStatus;

use super::{Sample, Shape};

/// The engine's numbers, in a fixed order.
pub fn samples(engine: &EngineStatus) -> Vec<Sample> {
    let mut samples = journal(engine);
    samples.extend(documents(engine));
    samples.extend(queues(engine));
    samples
}

fn journal(engine: &EngineStatus) -> Vec<Sample> {
    vec![
        total(
            "engine_commands",
            "seine_commands_total",
            "Commands decided, refused ones included.",
            engine.commands_total,
        ),
        total(
            "engine_commands_refused",
            "seine_commands_refused_total",
            "Commands refused.",
            engine.commands_refused_total,
        ),
        total(
            "journal_records",
            "seine_journal_records_total",
            "Records appended to the journal.",
            engine.records_total,
        ),
        total(
            "journal_record_bytes",
            "seine_journal_record_bytes_total",
            "Bytes of those records.",
            engine.record_bytes_total,
        ),
        total(
            "engine_batches",
            "seine_batches_total",
            "Batches: turns of the engine's thread.",
            engine.batches_total,
        ),
        total(
            "journal_syncs",
            "seine_journal_syncs_total",
            "Syncs of the journal.",
            engine.syncs_total,
        ),
        total(
            "journal_sync_us",
            "seine_journal_sync_seconds_total",
            "Time spent in those syncs.",
            engine.sync_us_total,
        ),
        total(
            "journal_rows_synced",
            "seine_rows_synced_total",
            "Rows that synced records changed.",
            engine.rows_synced_total,
        ),
        now(
            "journal_position",
            "seine_journal_position",
            "Position of the last record.",
            engine.position,
        ),
        now(
            "journal_checkpoint",
            "seine_journal_checkpoint_position",
            "The journal keeps the records above it.",
            engine.checkpoint_position,
        ),
        now(
            "journal_bytes",
            "seine_journal_bytes",
            "Bytes of the journal's files.",
            engine.journal_bytes,
        ),
        total(
            "recovery_replayed",
            "seine_recovery_records_replayed_total",
            "Records applied again at the start.",
            engine.replayed_records,
        ),
        total(
            "recovery_skipped",
            "seine_recovery_records_skipped_total",
            "Records read at the start that were in files already.",
            engine.skipped_records,
        ),
        total(
            "checkpoints",
            "seine_checkpoints_total",
            "Manifests written.",
            engine.checkpoints_total,
        ),
        now(
            "disk_full",
            "seine_disk_full",
            "1 while the device has no room for writes.",
            u64::from(engine.disk_full),
        ),
    ]
}

fn documents(engine: &EngineStatus) -> Vec<Sample> {
    vec![
        total(
            "documents",
            "seine_documents_total",
            "Documents inserted or replaced.",
            engine.documents_total,
        ),
        total(
            "documents_deleted",
            "seine_documents_deleted_total",
            "Documents deleted.",
            engine.documents_deleted_total,
        ),
        total(
            "hits",
            "seine_hits_total",
            "Hits: pairs of document and standing query.",
            engine.hits_total,
        ),
        total(
            "candidates",
            "seine_candidates_total",
            "Standing queries tried on documents.",
            engine.candidates_total,
        ),
        now(
            "standing_queries",
            "seine_standing_queries",
            "Standing queries held.",
            engine.queries,
        ),
        now(
            "tail_bytes",
            "seine_tail_bytes",
            "Memory of documents that are in no segment yet.",
            engine.tail_bytes,
        ),
        total(
            "seals",
            "seine_seals_total",
            "Segments sealed.",
            engine.seals_total,
        ),
        total(
            "folds",
            "seine_folds_total",
            "Folds of standing queries and queues into files.",
            engine.folds_total,
        ),
    ]
}

fn queues(engine: &EngineStatus) -> Vec<Sample> {
    vec![
        total(
            "queue_rows_written",
            "seine_queue_rows_put_total",
            "Rows put into queues.",
            engine.queue_put_total,
        ),
        total(
            "queue_rows_taken",
            "seine_queue_rows_taken_total",
            "Rows handed to a session.",
            engine.queue_taken_total,
        ),
        total(
            "queue_rows_removed",
            "seine_queue_rows_ended_total",
            "Rows ended or deleted.",
            engine.queue_ended_total,
        ),
        total(
            "queue_rows_restored",
            "seine_queue_rows_restored_total",
            "Rows given back.",
            engine.queue_aborted_total,
        ),
        total(
            "queue_wait_timeout",
            "seine_queue_wait_timeouts_total",
            "Waits that ran out of time.",
            engine.queue_timeouts_total,
        ),
        now(
            "queue_waiting",
            "seine_queue_waiting",
            "Sessions that wait for a row.",
            engine.queue_waiting,
        ),
        now(
            "queue_rows",
            "seine_queue_rows",
            "Rows of all queues, owned ones included.",
            engine.queue_rows,
        ),
        now(
            "queue_bytes",
            "seine_queue_bytes",
            "Memory of queue rows that are in no file yet.",
            engine.queue_bytes,
        ),
    ]
}

fn total(status: &'static str, metric: &'static str, help: &'static str, value: u64) -> Sample {
    Sample {
        status,
        metric,
        shape: Shape::Counter,
        help,
        value,
    }
}

fn now(status: &'static str, metric: &'static str, help: &'static str, value: u64) -> Sample {
    Sample {
        status,
        metric,
        shape: Shape::Gauge,
        help,
        value,
    }
}
