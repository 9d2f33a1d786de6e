//! Variables: values that MySQL clients ask for when they connect, values changed by SET, and the server's settings.

use query::expression::is_time_zone;
use query::value::Value;
use wire::sql::{Assignment, Scope};

use crate::VERSION;
use crate::errors::{self, Failure};
use crate::limits::{SESSION_VARIABLE_BYTES_MAX, SESSION_VARIABLES_MAX};
use crate::node::Node;
use crate::session::{Session, check_name};

/// Value of `@@version_comment`; clients print it when they connect.
pub(super) const VERSION_COMMENT: &str = "Seine";

/// Variables that MySQL 8 clients read. A value that looks like a number is sent as a number.
const KNOWN: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("auto_increment_offset", "1"),
    ("autocommit", "1"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("character_set_system", "utf8mb3"),
    ("collation_connection", "utf8mb4_general_ci"),
    ("collation_database", "utf8mb4_general_ci"),
    ("collation_server", "utf8mb4_general_ci"),
    ("default_storage_engine", "seine"),
    ("foreign_key_checks", "1"),
    ("have_openssl", "NO"),
    ("have_ssl", "NO"),
    ("have_query_cache", "NO"),
    ("init_connect", ""),
    ("interactive_timeout", "28800"),
    ("license", "Apache-2.0"),
    ("lower_case_table_names", "1"),
    ("max_allowed_packet", "134217728"),
    ("net_buffer_length", "16384"),
    ("net_read_timeout", "60"),
    ("net_write_timeout", "60"),
    ("performance_schema", "0"),
    ("profiling", "0"),
    ("protocol_version", "10"),
    ("query_cache_size", "0"),
    ("query_cache_type", "OFF"),
    ("sql_auto_is_null", "0"),
    ("sql_mode", ""),
    ("sql_notes", "1"),
    ("sql_quote_show_create", "1"),
    ("sql_safe_updates", "0"),
    ("sql_select_limit", "18446744073709551615"),
    ("system_time_zone", "UTC"),
    ("time_zone", "UTC"),
    ("transaction_isolation", "READ-COMMITTED"),
    ("transaction_read_only", "0"),
    ("tx_isolation", "READ-COMMITTED"),
    ("tx_read_only", "0"),
    ("unique_checks", "1"),
    ("version", VERSION),
    ("version_comment", VERSION_COMMENT),
    ("version_compile_machine", std::env::consts::ARCH),
    ("version_compile_os", std::env::consts::OS),
    ("wait_timeout", "28800"),
];

/// The value of a variable. A user variable that was never set is NULL.
///
/// # Errors
/// `UNKNOWN_VARIABLE`.
pub(super) fn read(
    node: &Node,
    session: &Session,
    scope: Scope,
    name: &str,
) -> Result<Value, Failure> {
    if scope == Scope::User {
        return Ok(session
            .variables
            .get(&format!("@{name}"))
            .cloned()
            .unwrap_or(Value::Null));
    }
    if scope == Scope::Session
        && let Some(value) = session.variables.get(name)
    {
        return Ok(value.clone());
    }
    match name {
        "in_transaction" => return Ok(Value::Int(session.has_open_transaction().into())),
        "last_insert_id" | "identity" => return Ok(session.last_insert_id()),
        _ => {}
    }
    if let Some((_, text)) = KNOWN.iter().find(|(known, _)| *known == name) {
        return Ok(typed(text));
    }
    let bounds = node.bounds();
    match bounds.variables.iter().find(|(known, _)| known == name) {
        Some((_, text)) => Ok(typed(text)),
        None => Err(Failure::new(
            errors::UNKNOWN_VARIABLE,
            format!("unknown system variable '{name}'"),
        )),
    }
}

/// Every known variable and setting with its text, sorted by name.
pub(super) fn all(node: &Node, session: &Session) -> Vec<(String, String)> {
    let text_of = |name: &str, text: &str| match session.variables.get(name) {
        Some(value) => value.to_string(),
        None => text.to_owned(),
    };
    let known = KNOWN
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text_of(name, text)));
    let mut rows: Vec<(String, String)> = known.collect();
    rows.extend(node.bounds().variables.iter().cloned());
    rows.sort();
    rows
}

/// The assignments of SET. The session keeps its variables and gives them back; only `autocommit` changes anything else.
///
/// # Errors
/// `READ_ONLY_VARIABLE`: SET GLOBAL. `LIMIT`: too many or too long variables. `INVALID`: a bad `autocommit`.
pub(super) fn set(session: &mut Session, assignments: Vec<Assignment>) -> Result<(), Failure> {
    for Assignment { scope, name, value } in assignments {
        let name = match scope {
            Scope::Session => name,
            Scope::User => format!("@{name}"),
            Scope::Global => {
                let message = format!(
                    "SET GLOBAL {name}: settings are those of seine.toml, SIGHUP reads it again"
                );
                return Err(Failure::new(errors::READ_ONLY_VARIABLE, message));
            }
        };
        if name == "names" || name == "character_set" {
            for variable in [
                "character_set_client",
                "character_set_connection",
                "character_set_results",
            ] {
                keep(session, variable.to_owned(), value.clone())?;
            }
            continue;
        }
        keep(session, name, value)?;
    }
    Ok(())
}

/// Whether a value of `autocommit` means on, off or default. Any other is refused: a driver that mistypes the value must not
/// believe that it can roll back.
fn is_switch(value: &Value) -> bool {
    match value {
        Value::Int(number) => matches!(number, 0 | 1),
        Value::Str(word) => ["on", "off", "true", "false", "default"]
            .iter()
            .any(|known| word.eq_ignore_ascii_case(known)),
        _ => false,
    }
}

/// Whether functions of dates know the time zone; SYSTEM is UTC.
fn is_zone(value: &Value) -> bool {
    let name = value.to_string();
    let is_default = ["system", "default"]
        .iter()
        .any(|known| name.eq_ignore_ascii_case(known));
    is_default || is_time_zone(&name)
}

fn keep(session: &mut Session, name: String, value: Value) -> Result<(), Failure> {
    check_name(&name)?;
    let is_new = !session.variables.contains_key(&name);
    if is_new && session.variables.len() >= SESSION_VARIABLES_MAX {
        let message = format!("a session keeps at most {SESSION_VARIABLES_MAX} variables");
        return Err(Failure::new(errors::LIMIT, message));
    }
    if value.to_string().len() > SESSION_VARIABLE_BYTES_MAX {
        let message = format!("a variable keeps at most {SESSION_VARIABLE_BYTES_MAX} bytes");
        return Err(Failure::new(errors::LIMIT, message));
    }
    if name == "autocommit" && !is_switch(&value) {
        let message = format!("autocommit is 0 or 1, not '{value}'");
        return Err(Failure::new(errors::INVALID, message));
    }
    if name == "time_zone" && !is_zone(&value) {
        return Err(Failure::new(
            errors::INVALID,
            format!("no time zone '{value}'"),
        ));
    }
    let value = match &value {
        Value::Str(word)
            if word.eq_ignore_ascii_case("on") || word.eq_ignore_ascii_case("true") =>
        {
            Value::Int(1)
        }
        Value::Str(word)
            if word.eq_ignore_ascii_case("off") || word.eq_ignore_ascii_case("false") =>
        {
            Value::Int(0)
        }
        Value::Str(word) if word.eq_ignore_ascii_case("default") => {
            session.variables.remove(&name);
            return Ok(());
        }
        _ => value,
    };
    session.variables.insert(name, value);
    Ok(())
}

fn typed(text: &str) -> Value {
    match text.parse::<i128>() {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Str(text.to_owned()),
    }
}
