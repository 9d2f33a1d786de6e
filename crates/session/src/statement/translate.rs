//! Statements that change something, translated into commands of the engine. For CREATE TABLE: options into a definition.

mod queue_options;
mod search_options;

use engine::{
    Command, Definition, Keep, Kind, QUEUE_OPTIONS, QueueOptions, SearchOptions, SyncMode, Write,
};
use language::Syntax;
use language::analysis::Settings;
use language::nearest::nearest;
use relation::request::Delete;
use relation::value::Value;
use wire::sql::{CreateTable, Statement};

use super::unexpected;
use crate::errors::{self, Failure};
use crate::node::Node;
use crate::rights::{Action, Deed};
use crate::session::Session;
use crate::units::{duration, size};
use crate::webhook_target::WebhookTarget;

/// Options of Manticore's tables that this server lacks. They are refused as "not yet", unknown options as invalid.
const LATER: &[&str] = &[
    "access_blob_attrs",
    "access_plain_attrs",
    "bigram_index",
    "blend_chars",
    "blend_mode",
    "charset_table",
    "embedded_limit",
    "exceptions",
    "expand_keywords",
    "hitless_words",
    "html_index_attrs",
    "html_remove_elements",
    "html_strip",
    "ignore_chars",
    "index_field_lengths",
    "index_zones",
    "min_stemming_len",
    "min_word_len",
    "morphology_skip_fields",
    "ngram_chars",
    "ngram_len",
    "optimize_cutoff",
    "overshort_step",
    "phrase_boundary",
    "phrase_boundary_step",
    "prefix_fields",
    "infix_fields",
    "ranker",
    "regexp_filter",
    "rf",
    "stopword_step",
    "stopwords",
    "stopwords_unstemmed",
    "stored_fields",
    "stored_only_fields",
    "wordforms",
];

/// Engines of MySQL and Manticore, refused as "not yet".
const ENGINES_LATER: &[&str] = &[
    "archive",
    "aria",
    "blackhole",
    "csv",
    "innodb",
    "memory",
    "merge",
    "myisam",
];

/// The command of an INSERT, REPLACE, DELETE or TRUNCATE.
///
/// # Errors
/// `NOT_YET`: a DELETE with MATCH and ORDER BY. `RECOVERING`.
pub(super) fn write(
    node: &Node,
    session: &Session,
    statement: Statement,
) -> Result<Command, Failure> {
    Ok(match statement {
        Statement::Insert(mut insert) => {
            let is_lone = |row: &Vec<Value>| matches!(row[..], [Value::Str(_)]);
            if insert.columns.is_none() && insert.rows.iter().all(is_lone) {
                insert.columns = lone_column(node, session, &insert.table)?;
            }
            Command::Write(Write::Insert(insert))
        }
        Statement::Delete(delete) => {
            check_delete(&delete)?;
            Command::Write(Write::Delete(Box::new(delete)))
        }
        Statement::Truncate { table } if is_queue(node, session, &table)? => {
            Command::Truncate { table }
        }
        Statement::Truncate { table } => {
            Command::Write(Write::Delete(Box::new(Delete::new(table, None))))
        }
        _ => return Err(unexpected()),
    })
}

/// Refuses a DELETE by words in an order.
pub(super) fn check_delete(delete: &Delete) -> Result<(), Failure> {
    match delete.matching.is_some() && !delete.order.is_empty() {
        true => Err(not_yet("DELETE … ORDER BY with MATCH")),
        false => Ok(()),
    }
}

/// The column list of an INSERT whose rows are single texts. For a pq table it is `query`: `INSERT INTO pq VALUES ('text')`
/// stores a standing query. `None`: another table, whose own columns decide.
fn lone_column(
    node: &Node,
    session: &Session,
    table: &str,
) -> Result<Option<Vec<String>>, Failure> {
    let snapshot = node.snapshot(session, Action(Deed::Write, Some(table)))?;
    let is_pq = snapshot
        .definition(table)
        .is_ok_and(|definition| matches!(definition.kind, Kind::Percolate { .. }));
    Ok(is_pq.then(|| vec!["query".to_owned()]))
}

/// Whether the table is a queue. TRUNCATE of a queue also removes rows that a connection owns; a DELETE leaves rows that
/// another connection owns.
fn is_queue(node: &Node, session: &Session, table: &str) -> Result<bool, Failure> {
    let snapshot = node.snapshot(session, Action(Deed::Write, Some(table)))?;
    let definition = snapshot.definition(table);
    Ok(definition.is_ok_and(|definition| matches!(definition.kind, Kind::Queue(_))))
}

/// The command of a CREATE TABLE.
///
/// # Errors
/// `INVALID`: an unknown option, a bad value, or an option of another kind of table. `NOT_YET`: an option of [`LATER`].
fn create_table(create: CreateTable) -> Result<Command, Failure> {
    let options = Options::read(&create.options)?;
    let analysis = options.analysis.clone();
    let sync = options.sync;
    let keep = options.keep.clone();
    let kind = options.kind()?;
    let definition = Box::new(Definition {
        name: create.name,
        kind,
        columns: create.columns,
        analysis,
        sync,
        keep,
    });
    Ok(Command::CreateTable {
        definition,
        if_not_exists: create.if_not_exists,
    })
}

/// The command of a statement that makes, changes, renames or drops tables.
///
/// # Errors
/// Those of [`create_table`] and [`create_like`].
pub(super) fn define(
    node: &Node,
    session: &Session,
    statement: Statement,
) -> Result<Command, Failure> {
    Ok(match statement {
        Statement::CreateTable(create) => create_table(create)?,
        Statement::CreateLike {
            name,
            if_not_exists,
            like,
        } => create_like(node, session, (name, if_not_exists), &like)?,
        Statement::AlterTable {
            table,
            of_queue,
            of_documents,
        } => {
            let changes = match is_queue(node, session, &table)? {
                true => of_queue?,
                false => of_documents?,
            };
            Command::AlterTable { table, changes }
        }
        Statement::RenameTables(renames) => Command::RenameTables { renames },
        Statement::AlterLocals { table, locals } => Command::AlterLocals { table, locals },
        Statement::DropTable {
            tables, if_exists, ..
        } => Command::DropTable { tables, if_exists },
        _ => return Err(unexpected()),
    })
}

/// The command of a CREATE TABLE … LIKE: the columns and options of `like` as they are now.
///
/// # Errors
/// `NO_SUCH_TABLE`.
fn create_like(
    node: &Node,
    session: &Session,
    (name, if_not_exists): (String, bool),
    like: &str,
) -> Result<Command, Failure> {
    let snapshot = node.snapshot(session, Action(Deed::Read, Some(like)))?;
    let mut definition = Box::new(Definition {
        name,
        ..Definition::clone(&*snapshot.definition(like)?)
    });
    if matches!(definition.kind, Kind::Distributed { .. }) {
        // It has the columns and the analysis of its local tables.
        definition.columns.clear();
        definition.analysis = Settings::default();
    }
    Ok(Command::CreateTable {
        definition,
        if_not_exists,
    })
}

#[derive(Default)]
struct Options {
    kind: Option<String>,
    on: Option<String>,
    into: Option<String>,
    syntax: Option<Syntax>,
    on_update: Option<bool>,
    analysis: Settings,
    sync: Option<SyncMode>,
    keep: Option<Keep>,
    queue: QueueOptions,
    /// Name of the last option that only queues have, for the error.
    of_queues: Option<String>,
    search: SearchOptions,
    /// Name of the last option that only search tables have, for the error.
    of_searches: Option<String>,
    locals: Vec<String>,
}

/// `sync=`. The case of its words does not count, that of a unit does.
fn sync_mode(value: &str) -> Result<SyncMode, Failure> {
    let text = match value.to_lowercase() {
        word if matches!(&*word, "always" | "never") => word,
        _ => value.to_owned(),
    };
    let bad = |why| Failure::new(errors::INVALID, format!("sync={why}"));
    SyncMode::parse(&text).map_err(bad)
}

impl Options {
    fn read(written: &[(String, String)]) -> Result<Options, Failure> {
        let mut options = Options::default();
        for (name, value) in written {
            let lower = value.to_lowercase();
            match name.as_str() {
                "type" => options.kind = Some(lower),
                "engine" if lower == "queue" => options.kind = Some(lower),
                // Manticore's two stores are one here.
                "engine" if matches!(lower.as_str(), "rowwise" | "columnar") => {}
                "engine" if ENGINES_LATER.contains(&lower.as_str()) => {
                    return Err(not_yet(format!("ENGINE={value}; there is ENGINE=queue")));
                }
                "engine" => {
                    let message = format!("no engine '{value}': there is ENGINE=queue");
                    return Err(Failure::new(errors::INVALID, message));
                }
                "dict" => check_dictionary(&lower)?,
                // Checked and ignored: the server shares its memory among tables itself.
                "rt_mem_limit" => {
                    _ = size(&lower).map_err(|why| bad_value("rt_mem_limit", &why))?
                }
                "on" => options.on = Some(lower),
                "into" if value.contains("://") => {
                    let target = WebhookTarget::parse(value);
                    let bad = |why| Failure::new(errors::INVALID, format!("into={why}"));
                    options.into = Some(target.map_err(bad)?.url);
                }
                "into" => options.into = Some(lower),
                "syntax" => {
                    let syntax = Syntax::named(value);
                    options.syntax = Some(syntax.ok_or_else(|| {
                        let message = format!("no syntax '{value}': there are sphinx and lucene");
                        Failure::new(errors::INVALID, message)
                    })?);
                }
                "on_update" => options.on_update = Some(flag(name, &lower)?),
                "sync" => options.sync = Some(sync_mode(value)?),
                "keep" => {
                    let time = duration(value).map_err(|why| bad_value("keep", &why))?;
                    let seconds = time.as_secs().max(1);
                    options.keep.get_or_insert_default().seconds = Some(seconds);
                }
                "keep_bytes" => {
                    let bytes = size(&lower).map_err(|why| bad_value("keep_bytes", &why))?;
                    options.keep.get_or_insert_default().bytes = Some(bytes);
                }
                "keep_by" => options.keep.get_or_insert_default().by = Some(lower),
                // MySQL's dumps contain these. All text here is UTF-8 and compared by its bytes.
                "charset" | "character_set" | "default_charset" | "collate" | "comment" => {}
                other if is_analysis(&mut options.analysis, other, value)? => {}
                "local" => options.locals.extend(names(&lower)),
                "agent" => return Err(not_yet("agent=: tables on other servers")),
                other if search_options::set(&mut options.search, other, value)? => {
                    options.of_searches = Some(other.to_owned());
                }
                other if queue_options::set(&mut options.queue, other, value)? => {
                    options.of_queues = Some(other.to_owned());
                }
                other if LATER.contains(&other) => {
                    return Err(not_yet(format!("table option {other}")));
                }
                other => return Err(unknown(other)),
            }
        }
        Ok(options)
    }

    fn kind(self) -> Result<Kind, Failure> {
        if let (Some(name), false) = (&self.of_queues, self.kind.as_deref() == Some("queue")) {
            let message = format!("{name}= belongs to queues: ENGINE=queue");
            return Err(Failure::new(errors::INVALID, message));
        }
        let is_search = matches!(self.kind.as_deref(), None | Some("rt"));
        if let (Some(name), false) = (&self.of_searches, is_search) {
            let message = format!("{name}= belongs to search tables: type='rt'");
            return Err(Failure::new(errors::INVALID, message));
        }
        let is_distributed = self.kind.as_deref() == Some("distributed");
        if !self.locals.is_empty() && !is_distributed {
            let message = "local= belongs to tables of type='distributed'";
            return Err(Failure::new(errors::INVALID, message));
        }
        let kind = match self.kind.as_deref() {
            None | Some("rt") => Kind::Search(self.search),
            Some("distributed") => Kind::Distributed {
                locals: self.locals,
            },
            Some("pq" | "percolate") => {
                return Ok(Kind::Percolate {
                    on: self.on.iter().flat_map(|on| names(on)).collect(),
                    into: self.into,
                    syntax: self.syntax.unwrap_or_default(),
                    on_update: self.on_update.unwrap_or_default(),
                });
            }
            Some("queue") => Kind::Queue(self.queue),
            Some(other @ ("template" | "shard" | "plain")) => {
                return Err(not_yet(format!("type='{other}'")));
            }
            Some(other) => {
                let message =
                    format!("no table type '{other}': there are rt, pq, queue and distributed");
                return Err(Failure::new(errors::INVALID, message));
            }
        };
        let heard = self.on.is_some() || self.into.is_some() || self.on_update.is_some();
        if heard || self.syntax.is_some() {
            return Err(Failure::new(
                errors::INVALID,
                "on=, on_update=, into= and syntax= belong to tables of type='pq'",
            ));
        }
        if let (Kind::Distributed { .. }, Some((name, _))) = (&kind, self.analysis.pairs().first())
        {
            let message = format!(
                "{name}= belongs to the local tables: a distributed one reads text as they do"
            );
            return Err(Failure::new(errors::INVALID, message));
        }
        if let (Kind::Queue(_), Some((name, _))) = (&kind, self.analysis.pairs().first()) {
            let message = format!("{name}= belongs to tables that search: a queue makes no words");
            return Err(Failure::new(errors::INVALID, message));
        }
        Ok(kind)
    }
}

/// Accepts `dict='keywords'` alone: the dictionary here always holds whole words.
fn check_dictionary(kind: &str) -> Result<(), Failure> {
    match kind {
        "keywords" => Ok(()),
        "crc" | "keywords_32k" => Err(not_yet("table option dict")),
        _ => {
            let message = format!("no dict '{kind}': there is dict='keywords'");
            Err(Failure::new(errors::INVALID, message))
        }
    }
}

/// The error for an unknown option, with the known name that is nearest to it.
fn unknown(name: &str) -> Failure {
    let known = [
        "type",
        "engine",
        "on",
        "into",
        "syntax",
        "sync",
        "local",
        "keep",
        "keep_bytes",
        "keep_by",
    ];
    let known = known.into_iter().chain(Settings::NAMES);
    let known = known.chain(["dict", "rt_mem_limit"]);
    let known = known
        .chain(QUEUE_OPTIONS.map(|(name, _)| name))
        .chain(search_options::NAMES);
    let meant = nearest(name, known.chain(LATER.iter().copied()))
        .map_or_else(String::new, |meant| format!(", did you mean {meant}?"));
    Failure::new(errors::INVALID, format!("no table option '{name}'{meant}"))
}

/// Names from a list with commas; may give an empty one.
fn names(list: &str) -> impl Iterator<Item = String> + '_ {
    list.split(',').map(|name| name.trim().to_owned())
}

/// Sets the option if it is a setting of analysis; false if it is none.
fn is_analysis(analysis: &mut Settings, name: &str, value: &str) -> Result<bool, Failure> {
    match analysis.set(name, value) {
        None => Ok(false),
        Some(Ok(())) => Ok(true),
        Some(Err(why)) => Err(Failure::refused(why)),
    }
}

/// The error for an option's value.
fn flag(name: &str, value: &str) -> Result<bool, Failure> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(bad_value(name, &format!("'{value}' is neither 0 nor 1"))),
    }
}

fn bad_value(name: &str, why: &str) -> Failure {
    Failure::new(errors::INVALID, format!("{name}={why}"))
}

pub(super) fn not_yet(what: impl std::fmt::Display) -> Failure {
    Failure::new(errors::NOT_YET, format!("not yet: {what}"))
}
