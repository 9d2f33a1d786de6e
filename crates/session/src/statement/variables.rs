//! Variables: values that MySQL clients ask for when they connect, values changed by SET, and the server's settings.

use relation::expression::{List, Moment, Unsettled, Variable, is_time_zone, keep_date};
use relation::scroll::is_of_its_moment;
use relation::value::Value;
use wire::sql::{Assignment, Scope, Statement};

use crate::VERSION;
use crate::errors::{self, Failure};
use crate::limits::{
    INLINE_UNITS, SESSION_VARIABLE_BYTES_MAX, SESSION_VARIABLES_MAX, SHARED_LISTS_MAX,
};
use crate::node::Node;
use crate::rights::{Action, Deed};
use crate::session::{Session, check_name};
use crate::statement::local_time;

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

/// Whether the session has a time zone of its own, so that [`settle`] looks at each value of an INSERT.
pub(super) fn is_local(session: &Session) -> bool {
    session.variables.contains_key("time_zone")
}

/// Gives the expressions of a statement its time, the session's time zone and the values of variables. Gives the count of numbers
/// in lists of variables.
///
/// # Errors
/// `UNKNOWN_VARIABLE`; `INVALID` for a list that does not stand behind IN, for another value that does, and for pages of an order
/// that the next statement cannot have.
pub(super) fn settle(
    node: &Node,
    session: &Session,
    statement: &mut Statement,
) -> Result<usize, Failure> {
    refuse_scroll(statement)?;
    let zone = session.variables.get("time_zone").map(Value::to_string);
    let moment = Moment {
        unix_us: node.clock.unix_us(),
        zone: zone.filter(|zone| is_time_zone(zone)),
        database: session.database.clone(),
        variable: &|name| of_user(node, session, name),
    };
    if let Statement::CreateTemporary(create) = statement {
        let select = create.select.iter_mut();
        select.for_each(|select| select.each_item(&mut keep_date));
    }
    let (mut listed, mut refused) = (0, None);
    statement.each_expression(&mut |expression| match moment.settle(expression) {
        Ok(count) => listed += count,
        Err(error) => refused = refused.take().or(Some(error)),
    });
    if let (Statement::Timed { .. }, None) = (&statement, &refused) {
        let timed = std::mem::replace(statement, Statement::Begin);
        let put = timed.put(&mut (INLINE_UNITS as usize));
        *statement = put.ok_or_else(super::constants::too_much_work)?;
    }
    local_time::localize(node, session, statement);
    match refused {
        None => Ok(listed),
        Some(error) => {
            let kind = match error {
                Unsettled::Unknown(_) => errors::UNKNOWN_VARIABLE,
                Unsettled::IsList(_) | Unsettled::IsNoList(_) => errors::INVALID,
            };
            Err(Failure::new(kind, error.to_string()))
        }
    }
}

/// Refuses OPTION scroll where the order is of this moment alone. Once NOW() and RAND() have the time, no one can tell.
fn refuse_scroll(statement: &Statement) -> Result<(), Failure> {
    let select = if let Statement::Select(select) = statement {
        select
    } else if let Statement::Faceted(faceted) = statement {
        &faceted.select
    } else {
        return Ok(());
    };
    let is_paged = |(name, value): &(String, String)| {
        name == "scroll" && !matches!(value.as_str(), "0" | "false")
    };
    if !select.options.iter().any(is_paged) || !is_of_its_moment(select) {
        return Ok(());
    }
    let message = "OPTION scroll: ORDER BY has NOW() or RAND(), so the next page would have another order: RAND(7), with a seed, keeps it";
    Err(Failure::refused(message.to_owned()))
}

/// The user variable of a name without `@`: that of the session, else the list of all.
fn of_user(node: &Node, session: &Session, name: &str) -> Option<Variable> {
    if let Some(value) = session.variables.get(&format!("@{name}")) {
        return Some(Variable::One(value.clone()));
    }
    let list = session.lists.get(name).cloned();
    list.or_else(|| node.shared_lists().get(name).cloned())
        .map(Variable::List)
}

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
    if matches!(scope, Scope::User | Scope::Shared) {
        return Ok(match of_user(node, session, name) {
            None => Value::Null,
            Some(Variable::One(value)) => value,
            Some(Variable::List(list)) => Value::Set(list.whole().unwrap_or_default().into()),
        });
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
    let mut settings = bounds.variables.iter();
    match settings.find(|(known, _)| known == name || is_setting(known, name)) {
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

/// Whether a name, with or without `seine_`, is that of a setting that SHOW VARIABLES calls `known`.
fn is_setting(known: &str, name: &str) -> bool {
    let bare = known.strip_prefix("seine_");
    bare.is_some_and(|bare| name == known || name == bare)
}

/// Refuses SET without GLOBAL of a setting: the session would keep the value, and nothing would read it.
fn refuse_setting(node: &Node, assignment: &Assignment) -> Result<(), Failure> {
    let Assignment { scope, name, .. } = assignment;
    let bounds = node.bounds();
    let mut settings = bounds.variables.iter();
    if *scope != Scope::Session || !settings.any(|(known, _)| is_setting(known, name)) {
        return Ok(());
    }
    let alone = match name.strip_prefix("seine_").unwrap_or(name) {
        "max_query_time" => ", OPTION max_query_time= bounds one SELECT",
        "max_threads_per_query" => ", OPTION threads= bounds one SELECT",
        _ => "",
    };
    let message = format!(
        "SET {name}: it is a setting of the server, not of a connection: SET GLOBAL {name} changes it or says what does{alone}"
    );
    Err(Failure::new(errors::GLOBAL_VARIABLE, message))
}

/// The assignments of SET, one after the other. The session keeps its variables and gives them back; only `autocommit` and SET GLOBAL
/// change anything else. GLOBAL is of the assignment that names it.
///
/// # Errors
/// `GLOBAL_VARIABLE`: a setting without GLOBAL; no assignment is done. `READ_ONLY_VARIABLE`: SET GLOBAL of what it does not change.
/// `LIMIT`: too many or too long variables. `INVALID`: a bad `autocommit`, a value that a setting does not take, or SET GLOBAL of a user variable that is no list. `NOT_PERMITTED`.
pub(super) fn set(
    node: &Node,
    session: &mut Session,
    assignments: Vec<Assignment>,
) -> Result<(), Failure> {
    for assignment in &assignments {
        refuse_setting(node, assignment)?;
    }
    for Assignment { scope, name, value } in assignments {
        if scope == Scope::Shared {
            share(node, session, name, value)?;
            continue;
        }
        let value = match value {
            Variable::One(value) => value,
            Variable::List(list) => {
                keep_list(node, session, name, list)?;
                continue;
            }
        };
        let name = match scope {
            Scope::Session => name,
            Scope::User | Scope::Shared => {
                session.lists.remove(&name);
                format!("@{name}")
            }
            Scope::Global => {
                node.permit(session, Action(Deed::Maintain, None))?;
                let text = value.to_string();
                check_length(&text)?;
                let is_default = text.eq_ignore_ascii_case("default");
                node.set_setting(&name, (!is_default).then_some(&*text))?;
                continue;
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

/// SET of a list of the session. It takes the place of a value.
fn keep_list(node: &Node, session: &mut Session, name: String, list: List) -> Result<(), Failure> {
    check_name(&name)?;
    if session.lists.get(&name).is_none() {
        check_count(session)?;
    }
    session.lists.set(&node.table_memory, name.clone(), list)?;
    session.variables.remove(&format!("@{name}"));
    Ok(())
}

/// SET GLOBAL of a list, or of DEFAULT, which removes it.
fn share(node: &Node, session: &Session, name: String, value: Variable) -> Result<(), Failure> {
    node.permit(session, Action(Deed::Maintain, None))?;
    check_name(&name)?;
    let mut lists = node.shared_lists();
    match value {
        Variable::One(Value::Str(word)) if word.eq_ignore_ascii_case("default") => {
            lists.remove(&name);
            Ok(())
        }
        Variable::One(_) => {
            let message = format!(
                "SET GLOBAL @{name} takes a list, as (1, 5, 7), or DEFAULT, which removes it: SET @{name} is for one connection"
            );
            Err(Failure::new(errors::INVALID, message))
        }
        Variable::List(_) if lists.get(&name).is_none() && lists.len() >= SHARED_LISTS_MAX => {
            let message = format!(
                "at most {SHARED_LISTS_MAX} lists are shared: SET GLOBAL @name = DEFAULT removes one"
            );
            Err(Failure::new(errors::LIMIT, message))
        }
        Variable::List(list) => lists.set(&node.table_memory, name, list),
    }
}

fn check_count(session: &Session) -> Result<(), Failure> {
    if session.variables.len() + session.lists.len() < SESSION_VARIABLES_MAX {
        return Ok(());
    }
    let message = format!("a session keeps at most {SESSION_VARIABLES_MAX} variables");
    Err(Failure::new(errors::LIMIT, message))
}

fn check_length(text: &str) -> Result<(), Failure> {
    if text.len() <= SESSION_VARIABLE_BYTES_MAX {
        return Ok(());
    }
    let message = format!("a variable keeps at most {SESSION_VARIABLE_BYTES_MAX} bytes");
    Err(Failure::new(errors::LIMIT, message))
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
    if !session.variables.contains_key(&name) {
        check_count(session)?;
    }
    check_length(&value.to_string())?;
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
