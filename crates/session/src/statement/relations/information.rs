//! MySQL's catalogs, over the same facts: `information_schema` and what clients ask of `performance_schema`. Columns without a meaning
//! here have the value that MySQL gives to a table without such a thing.

use engine::{Definition, Kind};
use relation::value::Value;

use super::asked::Readable;
use super::columns::{Described, described, indexes};
use super::processes::processes;
use super::server::{CHARSET, COLLATION, counters, nothing};
use super::{Asked, NUMBER, Relation, Rows, find, named, number, text};
use crate::errors::Failure;

/// `DEF`: MySQL's name for the only catalog.
const CATALOG: &str = "def";

/// A relation of `information_schema` that is always empty here.
macro_rules! empty {
    ($name:literal, $($column:ident),*) => {
        Relation { name: concat!("information_schema.", $name), columns: named!($($column),*), asks: None, rows: nothing }
    };
}

pub(super) const RELATIONS: &[Relation] = &[
    Relation {
        name: "information_schema.schemata",
        columns: named!(
            catalog_name,
            schema_name,
            default_character_set_name,
            default_collation_name,
            sql_path,
            default_encryption,
        ),
        asks: None,
        rows: |asked| {
            let database = |name| {
                let names = [CATALOG, name, CHARSET, COLLATION].map(text);
                names.into_iter().chain([Value::Null, text("NO")]).collect()
            };
            let own = asked.session.database_name();
            Ok(["information_schema", own].map(database).to_vec())
        },
    },
    Relation {
        name: "information_schema.tables",
        columns: named!(
            table_catalog, table_schema, table_name, table_type, engine, version: NUMBER, row_format, table_rows: NUMBER,
            avg_row_length: NUMBER, data_length: NUMBER, max_data_length: NUMBER, index_length: NUMBER, data_free: NUMBER,
            auto_increment: NUMBER, create_time, update_time, check_time, table_collation, checksum: NUMBER, create_options,
            table_comment,
        ),
        asks: None,
        rows: tables,
    },
    Relation {
        name: "information_schema.columns",
        columns: named!(
            table_catalog, table_schema, table_name, column_name, ordinal_position: NUMBER, column_default, is_nullable, data_type,
            character_maximum_length: NUMBER, character_octet_length: NUMBER, numeric_precision: NUMBER, numeric_scale: NUMBER,
            datetime_precision: NUMBER, character_set_name, collation_name, column_type, column_key, extra, privileges,
            column_comment, generation_expression, srs_id: NUMBER,
        ),
        asks: None,
        rows: |asked| asked.gather(asked.definitions()?, |it| Ok(of_columns(asked, &it))),
    },
    Relation {
        name: "information_schema.statistics",
        columns: named!(
            table_catalog, table_schema, table_name, non_unique: NUMBER, index_schema, index_name, seq_in_index: NUMBER,
            column_name, collation, cardinality: NUMBER, sub_part: NUMBER, packed, nullable, index_type, comment, index_comment,
            is_visible, expression,
        ),
        asks: None,
        rows: |asked| asked.gather(asked.definitions()?, |it| Ok(statistics(asked, &it))),
    },
    Relation {
        name: "information_schema.table_constraints",
        columns: named!(
            constraint_catalog,
            constraint_schema,
            constraint_name,
            table_schema,
            table_name,
            constraint_type,
            enforced,
        ),
        asks: None,
        rows: |asked| {
            let row = |table: &str| {
                let cells = [
                    CATALOG,
                    asked.session.database_name(),
                    "PRIMARY",
                    asked.session.database_name(),
                    table,
                    "PRIMARY KEY",
                    "YES",
                ];
                cells.map(text).to_vec()
            };
            with_ids(asked, &row)
        },
    },
    Relation {
        name: "information_schema.key_column_usage",
        columns: named!(
            constraint_catalog, constraint_schema, constraint_name, table_catalog, table_schema, table_name, column_name,
            ordinal_position: NUMBER, position_in_unique_constraint: NUMBER, referenced_table_schema, referenced_table_name,
            referenced_column_name,
        ),
        asks: None,
        rows: |asked| {
            let row = |table: &str| {
                let names = [
                    CATALOG,
                    asked.session.database_name(),
                    "PRIMARY",
                    CATALOG,
                    asked.session.database_name(),
                    table,
                    "id",
                ]
                .map(text);
                let rest = [
                    number(1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ];
                names.into_iter().chain(rest).collect()
            };
            with_ids(asked, &row)
        },
    },
    Relation {
        name: "information_schema.engines",
        columns: named!(engine, support, comment, transactions, xa, savepoints),
        asks: None,
        rows: |asked| same_as("system.engines", asked),
    },
    Relation {
        name: "information_schema.character_sets",
        columns: named!(character_set_name, default_collate_name, description, maxlen: NUMBER),
        asks: None,
        rows: |_| {
            let names = [CHARSET, COLLATION, "UTF-8 Unicode"].map(text);
            Ok(vec![names.into_iter().chain([number(4)]).collect()])
        },
    },
    Relation {
        name: "information_schema.collations",
        columns: named!(
            collation_name, character_set_name, id: NUMBER, is_default, is_compiled, sortlen: NUMBER, pad_attribute,
        ),
        asks: None,
        rows: |asked| {
            let mut rows = same_as("system.collations", asked)?;
            rows.iter_mut().for_each(|row| row.push(text("PAD SPACE")));
            Ok(rows)
        },
    },
    Relation {
        name: "information_schema.collation_character_set_applicability",
        columns: named!(collation_name, character_set_name),
        asks: None,
        rows: |_| Ok(vec![[COLLATION, CHARSET].map(text).to_vec()]),
    },
    Relation {
        name: "information_schema.processlist",
        columns: named!(id: NUMBER, user, host, db, command, time: NUMBER, state, info),
        asks: None,
        rows: processes,
    },
    empty!(
        "plugins",
        plugin_name,
        plugin_version,
        plugin_status,
        plugin_type,
        plugin_type_version,
        plugin_library,
        plugin_library_version,
        plugin_author,
        plugin_description,
        plugin_license,
        load_option
    ),
    empty!(
        "triggers",
        trigger_catalog,
        trigger_schema,
        trigger_name,
        event_manipulation,
        event_object_catalog,
        event_object_schema,
        event_object_table,
        action_order,
        action_condition,
        action_statement,
        action_orientation,
        action_timing,
        action_reference_old_table,
        action_reference_new_table,
        action_reference_old_row,
        action_reference_new_row,
        created,
        sql_mode,
        definer,
        character_set_client,
        collation_connection,
        database_collation
    ),
    empty!(
        "routines",
        specific_name,
        routine_catalog,
        routine_schema,
        routine_name,
        routine_type,
        data_type,
        character_maximum_length,
        character_octet_length,
        numeric_precision,
        numeric_scale,
        datetime_precision,
        character_set_name,
        collation_name,
        dtd_identifier,
        routine_body,
        routine_definition,
        external_name,
        external_language,
        parameter_style,
        is_deterministic,
        sql_data_access,
        sql_path,
        security_type,
        created,
        last_altered,
        sql_mode,
        routine_comment,
        definer,
        character_set_client,
        collation_connection,
        database_collation
    ),
    empty!(
        "parameters",
        specific_catalog,
        specific_schema,
        specific_name,
        ordinal_position,
        parameter_mode,
        parameter_name,
        data_type,
        character_maximum_length,
        character_octet_length,
        numeric_precision,
        numeric_scale,
        datetime_precision,
        character_set_name,
        collation_name,
        dtd_identifier,
        routine_type
    ),
    empty!(
        "events",
        event_catalog,
        event_schema,
        event_name,
        definer,
        time_zone,
        event_body,
        event_definition,
        event_type,
        execute_at,
        interval_value,
        interval_field,
        sql_mode,
        starts,
        ends,
        status,
        on_completion,
        created,
        last_altered,
        last_executed,
        event_comment,
        originator,
        character_set_client,
        collation_connection,
        database_collation
    ),
    empty!(
        "views",
        table_catalog,
        table_schema,
        table_name,
        view_definition,
        check_option,
        is_updatable,
        definer,
        security_type,
        character_set_client,
        collation_connection
    ),
    empty!(
        "referential_constraints",
        constraint_catalog,
        constraint_schema,
        constraint_name,
        unique_constraint_catalog,
        unique_constraint_schema,
        unique_constraint_name,
        match_option,
        update_rule,
        delete_rule,
        table_name,
        referenced_table_name
    ),
    empty!(
        "check_constraints",
        constraint_catalog,
        constraint_schema,
        constraint_name,
        check_clause
    ),
    empty!(
        "partitions",
        table_catalog,
        table_schema,
        table_name,
        partition_name,
        subpartition_name,
        partition_ordinal_position,
        subpartition_ordinal_position,
        partition_method,
        subpartition_method,
        partition_expression,
        subpartition_expression,
        partition_description,
        table_rows,
        avg_row_length,
        data_length,
        max_data_length,
        index_length,
        data_free,
        create_time,
        update_time,
        check_time,
        checksum,
        partition_comment,
        nodegroup,
        tablespace_name
    ),
    empty!(
        "files",
        file_id,
        file_name,
        file_type,
        tablespace_name,
        table_catalog,
        table_schema,
        table_name,
        logfile_group_name,
        logfile_group_number,
        engine,
        fulltext_keys,
        deleted_rows,
        update_count,
        free_extents,
        total_extents,
        extent_size,
        initial_size,
        maximum_size,
        autoextend_size,
        creation_time,
        last_update_time,
        last_access_time,
        recover_time,
        transaction_counter,
        version,
        row_format,
        table_rows,
        avg_row_length,
        data_length,
        max_data_length,
        index_length,
        data_free,
        create_time,
        update_time,
        check_time,
        checksum,
        status,
        extra
    ),
    empty!(
        "user_privileges",
        grantee,
        table_catalog,
        privilege_type,
        is_grantable
    ),
    empty!(
        "schema_privileges",
        grantee,
        table_catalog,
        table_schema,
        privilege_type,
        is_grantable
    ),
    empty!(
        "table_privileges",
        grantee,
        table_catalog,
        table_schema,
        table_name,
        privilege_type,
        is_grantable
    ),
    Relation {
        name: "performance_schema.global_variables",
        columns: named!(variable_name, variable_value),
        asks: None,
        rows: |asked| same_as("system.variables", asked),
    },
    Relation {
        name: "performance_schema.session_variables",
        columns: named!(variable_name, variable_value),
        asks: None,
        rows: |asked| same_as("system.variables", asked),
    },
    Relation {
        name: "performance_schema.global_status",
        columns: named!(variable_name, variable_value),
        asks: None,
        rows: counters,
    },
    Relation {
        name: "performance_schema.session_status",
        columns: named!(variable_name, variable_value),
        asks: None,
        rows: counters,
    },
];

/// The rows of another relation, whose columns have other names.
fn same_as(name: &str, asked: &Asked<'_>) -> Result<Rows, Failure> {
    find(name).map_or_else(|| Ok(Rows::new()), |relation| (relation.rows)(asked))
}

/// A row for each table that has ids.
fn with_ids(asked: &Asked<'_>, row: &dyn Fn(&str) -> Vec<Value>) -> Result<Rows, Failure> {
    let definitions = asked.definitions()?;
    let of_ids = definitions.iter().filter(|it| has_ids(it));
    Ok(of_ids.map(|it| row(&it.name)).collect())
}

fn has_ids(definition: &Definition) -> bool {
    match definition.kind {
        Kind::Search(_) | Kind::Distributed { .. } | Kind::Percolate { .. } => true,
        Kind::Queue(_) => false,
    }
}

fn tables(asked: &Asked<'_>) -> Result<Rows, Failure> {
    let row = |table: &Readable| -> Result<Vec<Value>, Failure> {
        let (definition, status) = (table.definition()?, table.status()?);
        let numbers = |wanted: &[&str]| {
            let mut found = status.iter().filter(|(name, _)| wanted.contains(&&**name));
            found
                .next()
                .map_or(Value::Null, |(_, value)| text(&**value))
        };
        let engine = match definition.kind {
            Kind::Queue(_) => "queue",
            Kind::Search(_) | Kind::Distributed { .. } | Kind::Percolate { .. } => "seine",
        };
        let zero = || number(0);
        Ok(vec![
            text(CATALOG),
            text(asked.session.database_name()),
            text(&*table.name),
            text("BASE TABLE"),
            text(engine),
            number(10),
            text("Dynamic"),
            numbers(&["indexed_documents", "rows", "stored_queries"]),
            zero(),
            numbers(&["segment_bytes", "memory_bytes", "query_bytes"]),
            zero(),
            zero(),
            zero(),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            text(COLLATION),
            Value::Null,
            text(""),
            text(""),
        ])
    };
    asked.gather(asked.tables()?, |it| Ok(vec![row(&it)?]))
}

fn of_columns(asked: &Asked<'_>, definition: &Definition) -> Rows {
    let columns = described(definition, false).into_iter().enumerate();
    columns
        .map(|(at, it)| of_column(asked, &definition.name, at, it))
        .collect()
}

fn of_column(asked: &Asked<'_>, table: &str, at: usize, column: Described) -> Vec<Value> {
    let has_collation = column.has_collation();
    let in_texts = |value: &str| {
        if has_collation {
            text(value)
        } else {
            Value::Null
        }
    };
    let known = |size: Option<u32>| size.map_or(Value::Null, number);
    let sizes = column.kind.sizes();
    // An id is unsigned.
    let digits = if column.key == "PRI" {
        Some(20)
    } else {
        sizes.digits
    };
    let data_type = column.written.split(['(', ' ']).next().unwrap_or_default();
    vec![
        text(CATALOG),
        text(asked.session.database_name()),
        text(table),
        text(column.name),
        number(at as u64 + 1),
        column.default,
        text(column.null),
        text(data_type),
        known(sizes.chars),
        known(sizes.chars),
        known(digits),
        known(sizes.scale),
        known(sizes.fraction_digits),
        in_texts(CHARSET),
        in_texts(COLLATION),
        text(&*column.written),
        text(column.key),
        text(column.extra),
        text("select,insert"),
        text(""),
        text(""),
        Value::Null,
    ]
}

fn statistics(asked: &Asked<'_>, definition: &Definition) -> Rows {
    let rows = indexes(definition).into_iter().map(|mut row| {
        let column = row.pop().unwrap_or(Value::Null);
        let mut cells = row.into_iter();
        let mut next = || cells.next().unwrap_or(Value::Null);
        vec![
            text(CATALOG),
            text(asked.session.database_name()),
            next(),
            next(),
            text(asked.session.database_name()),
            next(),
            next(),
            column,
            text("A"),
            Value::Null,
            Value::Null,
            Value::Null,
            text(""),
            text("BTREE"),
            text(""),
            text(""),
            text("YES"),
            Value::Null,
        ]
    });
    rows.collect()
}
