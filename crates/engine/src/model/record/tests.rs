use language::Syntax;
use language::analysis::Settings;
use proptest::prelude::*;
use relation::options::Ranker;
use relation::row::encode;
use relation::schema::{Column, ColumnType, TYPES};
use relation::value::Value;

use super::*;
use crate::command::{Keep, Kind, QueueOptions, SearchOptions, WhenFull};
use crate::messages::Messages;
use crate::sync_mode::SyncMode;

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i128>().prop_map(Value::Int),
        any::<i64>().prop_map(|number| Value::Int(number.into())),
        any::<u64>().prop_map(|number| Value::Int(number.into())),
        (-1e300..1e300).prop_map(Value::Float),
        ".{0,12}".prop_map(Value::Str),
        proptest::collection::vec(any::<u8>(), 0..12).prop_map(Value::Bytes),
    ]
}

fn id() -> impl Strategy<Value = u64> {
    prop_oneof![0..100u64, any::<u64>(), Just(u64::MAX)]
}

fn table() -> impl Strategy<Value = TableId> {
    any::<u32>().prop_map(TableId)
}

fn column() -> impl Strategy<Value = Column> {
    // Sizes that a type cannot have are left as they are in the table of types.
    let kind = (
        proptest::sample::select(&TYPES[..]),
        any::<u32>(),
        0..=64u32,
    )
        .prop_map(|(kind, long, short)| {
            let (tag, _) = kind.code();
            let of_sizes = [long, short].map(|size| ColumnType::of_code(tag, size));
            of_sizes.into_iter().flatten().next().unwrap_or(kind)
        });
    let flags = any::<(bool, bool)>();
    (".{1,8}", kind, flags, proptest::option::of(value())).prop_map(
        |(name, kind, (nullable, keyed), default)| Column {
            name,
            kind,
            nullable,
            default,
            keyed,
        },
    )
}

fn queue_options() -> impl Strategy<Value = QueueOptions> {
    let name = || proptest::option::of("[a-z]{1,5}");
    let number = || proptest::option::of(any::<u64>());
    let limits = (
        number(),
        proptest::option::of(any::<u32>()),
        number(),
        number(),
    );
    let names = (name(), name(), name(), name());
    let groups = proptest::collection::vec("[a-z]{1,3}", 0..3);
    (limits, names, groups, any::<bool>(), number()).prop_map(
        |(limits, names, groups, drops, unique_for_us)| QueueOptions {
            visible_again_us: limits.0,
            max_deliveries: limits.1,
            rows_max: limits.2,
            bytes_max: limits.3,
            dead: names.0,
            order_by: names.1,
            unique_by: names.2,
            deliver_at: names.3,
            groups,
            when_full: match drops {
                true => WhenFull::DropOldest,
                false => WhenFull::Refuse,
            },
            unique_for_us,
        },
    )
}

fn definition() -> impl Strategy<Value = Definition> {
    let kind = prop_oneof![
        (prop::option::of(1..64u16), any::<bool>()).prop_map(|(shards, counts_lengths)| {
            let ranker = counts_lengths.then_some(Ranker::Bm25a);
            Kind::Search(SearchOptions { shards, ranker })
        }),
        prop::collection::vec("[a-z]{1,8}", 1..4).prop_map(|locals| Kind::Distributed { locals }),
        queue_options().prop_map(Kind::Queue),
        (
            proptest::collection::vec(".{1,8}", 0..3),
            proptest::option::of(".{1,8}"),
            proptest::sample::select(&[Syntax::Sphinx, Syntax::Lucene][..]),
            any::<bool>(),
        )
            .prop_map(|(on, into, syntax, on_update)| Kind::Percolate {
                on,
                into,
                syntax,
                on_update,
            }),
    ];
    let columns = proptest::collection::vec(column(), 0..4);
    let analysis = proptest::sample::select(&["", "stem_en"][..]).prop_map(|morphology| {
        let mut analysis = Settings::default();
        analysis.set("morphology", morphology).unwrap().unwrap();
        analysis
    });
    let sync = proptest::sample::select(&[None, Some("always"), Some("90s"), Some("never")][..])
        .prop_map(|mode| mode.map(|mode| SyncMode::parse(mode).unwrap()));
    let keep = (any::<Option<u32>>(), any::<Option<u64>>(), ".{1,8}");
    let keep = keep.prop_map(|(seconds, bytes, by)| Keep {
        seconds: seconds.map(u64::from),
        bytes,
        by: Some(by),
    });
    let keep = proptest::option::of(keep);
    let parts = (".{1,8}", kind, columns, analysis, sync, keep);
    parts.prop_map(|(name, kind, columns, analysis, sync, keep)| Definition {
        name,
        kind,
        columns,
        analysis,
        sync,
        keep,
    })
}

fn hits(documents: usize) -> impl Strategy<Value = QueuedHits> {
    let source = prop_oneof![
        Just(Source::QueryId),
        Just(Source::Query),
        Just(Source::Tags),
        Just(Source::DocumentTable),
        Just(Source::DocumentId),
        Just(Source::HitAt),
        any::<u16>().prop_map(Source::Document),
    ];
    let query = (id(), ".{0,8}", ".{0,8}").prop_map(|(id, tags, text)| HitQuery {
        id,
        tags: tags.into(),
        text: text.into(),
    });
    let lists =
        proptest::collection::vec(proptest::collection::btree_set(0..1000u32, 0..5), documents);
    (
        (table(), table()),
        id().prop_map(RowNumber),
        any::<i64>(),
        ".{0,8}",
        proptest::collection::vec(source, 0..4),
        proptest::collection::vec(query, 0..4),
        lists,
    )
        .prop_map(
            |((from, queue), first_row, hit_at, document_table, sources, queries, lists)| {
                let mut flat = HitLists::default();
                for list in lists {
                    flat.entries.extend(list);
                    flat.ends.push(flat.entries.len() as u32);
                }
                QueuedHits {
                    from,
                    queue,
                    first_row,
                    hit_at,
                    document_table,
                    sources,
                    queries,
                    lists: flat,
                }
            },
        )
}

fn counts() -> impl Strategy<Value = HitCounts> {
    let query = (id(), any::<u32>());
    let queries = proptest::collection::vec(query, 0..4);
    (table(), any::<i64>(), queries).prop_map(|(from, hit_at, queries)| HitCounts {
        from,
        hit_at,
        queries,
    })
}

fn documents() -> impl Strategy<Value = Record> {
    (0..4usize, 0..4usize)
        .prop_flat_map(|(rows, columns)| {
            let row = proptest::collection::vec(value(), columns);
            let document = (id(), any::<bool>(), row).prop_map(|(id, replaces, row)| Document {
                id,
                replaces,
                row: encode(&row),
            });
            let documents = proptest::collection::vec(document, rows);
            (
                table(),
                documents,
                proptest::collection::vec(hits(rows), 0..3),
                proptest::collection::vec(counts(), 0..3),
                any::<bool>(),
            )
        })
        .prop_map(|(table, documents, hits, counts, are_new)| {
            let documents = Documents {
                table,
                documents,
                hits,
                counts,
            };
            if are_new {
                Record::Documents(documents)
            } else {
                Record::Hits(documents)
            }
        })
}

/// Rows of two columns; in half of them the first column has one value.
fn updated() -> impl Strategy<Value = UpdatedRows> {
    let rows = proptest::collection::vec((id(), value(), value()), 0..6);
    (rows, any::<u16>(), any::<bool>()).prop_map(|(rows, column, is_one)| {
        let mut updated = UpdatedRows::new(vec![column, column.wrapping_add(1)]);
        let first = rows.first().map(|(_, value, _)| value.clone());
        for (id, one, other) in rows {
            let one = first.clone().filter(|_| is_one).unwrap_or(one);
            updated.push(id, &mut vec![one, other]);
        }
        updated
    })
}

fn record() -> impl Strategy<Value = Record> {
    let ids = || proptest::collection::vec(id(), 0..6);
    let row = || id().prop_map(RowNumber);
    let some_rows = || proptest::collection::vec(row(), 0..6);
    let query = (id(), ".{0,8}", ".{0,8}", ".{0,8}", ".{0,8}").prop_map(
        |(id, query, tags, filters, source)| QueryRow {
            id,
            query,
            tags,
            filters,
            source,
        },
    );
    let rows = proptest::collection::vec(proptest::collection::vec(value(), 0..4), 0..4);
    let single = prop_oneof![
        (table(), definition()).prop_map(|(table, definition)| Record::Catalog(
            CatalogRecord::Create {
                table,
                definition: Box::new(definition)
            }
        )),
        table().prop_map(|table| Record::Catalog(CatalogRecord::Drop { table })),
        prop::collection::vec((table(), ".{1,8}"), 0..4)
            .prop_map(|names| Record::Catalog(CatalogRecord::Rename { names })),
        (table(), definition()).prop_map(|(table, definition)| Record::Catalog(
            CatalogRecord::Parts {
                table,
                definition: Box::new(definition),
            }
        )),
        documents(),
        (table(), ids()).prop_map(|(table, ids)| Record::DeleteDocuments { table, ids }),
        (table(), updated()).prop_map(|(table, rows)| Record::Update { table, rows }),
        (table(), proptest::collection::vec(query, 0..4))
            .prop_map(|(table, queries)| Record::Queries { table, queries }),
        (table(), ids()).prop_map(|(table, ids)| Record::DeleteQueries { table, ids }),
        (
            table(),
            row(),
            rows,
            proptest::option::of((0..64u8, id())),
            any::<Option<i64>>()
        )
            .prop_map(|(table, first_row, rows, relayed, at_us)| Record::Queue(
                QueueRecord::Rows {
                    relayed,
                    at_us,
                    table,
                    first_row,
                    rows
                }
            )),
        (table(), some_rows())
            .prop_map(|(table, rows)| Record::Queue(QueueRecord::RemoveRows { table, rows })),
        (table(), some_rows())
            .prop_map(|(table, kept)| Record::Queue(QueueRecord::Clear { table, kept })),
        (table(), proptest::collection::vec("[a-z0-9-]{1,12}", 0..3))
            .prop_map(|(table, segments)| Record::RetireSegments { table, segments }),
        (table(), ids()).prop_map(|(table, ids)| Record::Retire { table, ids }),
        (table(), any::<u64>(), any::<Option<u64>>())
            .prop_map(|(table, load, place)| Record::Load { table, load, place }),
        (table(), any::<u32>(), some_rows())
            .prop_map(|(table, lane, rows)| Record::Queue(QueueRecord::Done { table, lane, rows })),
        (
            table(),
            proptest::collection::vec(any::<u32>(), 0..3),
            any::<bool>()
        )
            .prop_map(|(table, lanes, paused)| Record::Queue(QueueRecord::Pause {
                table,
                lanes,
                paused
            })),
        (
            table(),
            any::<u32>(),
            proptest::collection::vec((row(), any::<u32>()), 0..4),
            any::<i64>()
        )
            .prop_map(|(table, lane, rows, not_before_us)| Record::Queue(
                QueueRecord::Returned {
                    table,
                    lane,
                    rows,
                    not_before_us
                }
            )),
        (
            table(),
            definition(),
            proptest::collection::vec(proptest::option::of(value()), 0..4)
        )
            .prop_map(
                |(table, definition, origins)| Record::Queue(QueueRecord::Alter {
                    table,
                    columns: definition.columns,
                    origins: origins
                        .into_iter()
                        .map(|origin| origin.map_or(Origin::Column(7), Origin::Value))
                        .collect(),
                })
            ),
    ];
    let single = single.boxed();
    let unit = (
        proptest::collection::vec(single.clone(), 0..4),
        any::<bool>(),
    );
    prop_oneof![
        4 => single,
        1 => unit.prop_map(|(mut members, collects)| {
            members.extend(collects.then(messages));
            Record::Many(members)
        }),
    ]
}

fn messages() -> Record {
    let mut messages = Messages::default();
    messages.push(b"web", b"a line\n");
    Record::Messages(Arc::new(messages))
}

#[test]
fn messages_of_version_7_stand_alone_and_of_version_8_in_a_unit_too() {
    let of_version = |record: &Record, version: u8| {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        bytes[0] = version;
        Record::decode(&bytes)
    };
    let unit = Record::Many(vec![messages()]);
    assert_eq!(of_version(&messages(), 7), Ok(messages()));
    assert_eq!(of_version(&unit, 8), Ok(unit.clone()));
    assert!(of_version(&unit, 7).is_err());
    assert!(of_version(&messages(), 6).is_err());
    let noted = Record::Collected {
        upto: 1,
        cursors: Vec::new(),
    };
    assert!(of_version(&Record::Many(vec![noted]), 8).is_err());
}

proptest! {
    #[test]
    fn a_record_reads_back_as_it_was_written(record in record()) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        prop_assert_eq!(Record::decode(&bytes), Ok(record));
    }

    #[test]
    fn damaged_bytes_are_an_error_or_another_record_and_never_a_panic(
        record in record(),
        at in any::<prop::sample::Index>(),
        flip in 1..=255u8,
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        let at = at.index(bytes.len());
        bytes[at] ^= flip;
        let _ = Record::decode(&bytes); // whatever it says, it says it
        bytes[at] ^= flip;
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(Record::decode(&bytes).is_err());
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Record::decode(&bytes);
    }
}

#[test]
fn a_text_hit_by_many_queries_stands_in_the_record_once() {
    let text =
        "a text that is long enough to be seen when it is written more than once ".repeat(20);
    let queries: Vec<HitQuery> = (1..=100)
        .map(|id| HitQuery {
            id,
            tags: "t".into(),
            text: "a text".into(),
        })
        .collect();
    let hits = QueuedHits {
        from: TableId(2),
        queue: TableId(3),
        first_row: RowNumber(1),
        hit_at: 0,
        document_table: "posts".to_owned(),
        sources: vec![Source::QueryId, Source::Document(0)],
        queries,
        lists: HitLists {
            ends: vec![100],
            entries: (0..100).collect(),
        },
    };
    let record = Record::Documents(Documents {
        table: TableId(1),
        documents: vec![Document {
            id: 1,
            replaces: false,
            row: encode(&[Value::Str(text.clone())]),
        }],
        hits: vec![hits],
        counts: Vec::new(),
    });
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    assert!(bytes.len() < text.len() + 100 * 16, "{} bytes", bytes.len());
}
