//! Catalog, tables, queues: command, record, journal, apply, reply.
