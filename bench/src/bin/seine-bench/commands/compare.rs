//! `seine bench compare`: its command line.

use std::path::Path;

use bench::compare::{self, Asking, Results};
use clap::{Arg, ArgMatches, Command};

use super::{Result, number, switch, text, value};
use crate::output::print;

/// The verb's command line.
pub(super) fn command() -> Command {
    let side = |name: &'static str| {
        Arg::new(name)
            .value_name(name)
            .required(true)
            .help("HOST:PORT or unix:/path of a server, with =TABLE behind it for a table of another name; or a file of results.")
    };
    Command::new("compare")
        .about("Whether two servers, versions or settings give the same results, in the study's measures.")
        .arg(side("A"))
        .arg(side("B"))
        .arg(value("table", "NAME", "The table that is asked.").default_value("posts"))
        .arg(value("queries", "FILE", "A query a line, as words; else the study's."))
        .arg(value("first", "N", "The first so many queries.").default_value("10000"))
        .arg(
            value("match", "any|all", "Rows with one of the words, or with all.")
                .value_parser(["any", "all"])
                .default_value("any"),
        )
        .arg(value("ranker", "NAME", "OPTION ranker=.").default_value("matchany"))
        .arg(value("limit", "N", "Rows of an answer.").default_value("1000"))
        .arg(value("option", "NAME=VALUE,…", "More behind OPTION, for A and B.").default_value(""))
        .arg(value("option-b", "NAME=VALUE,…", "Other ones for B: the same server with other settings."))
        .arg(value("user", "NAME", "The user of servers with a password.").default_value("seine"))
        .arg(value("save", "FILE", "Write A's results into this file."))
        .arg(switch("strict", "End with status 1 unless every reply is the same, weights included."))
}

/// Runs the queries on both sides, compares the results and prints the measures.
pub(super) fn run(matches: &ArgMatches) -> Result<()> {
    let queries = match matches.get_one::<String>("queries") {
        Some(path) => Some(file(path)?),
        None => None,
    };
    let asking = Asking {
        queries,
        first: number(text(matches, "first"))?,
        table: text(matches, "table").to_owned(),
        any: text(matches, "match") == "any",
        ranker: text(matches, "ranker").to_owned(),
        limit: number(text(matches, "limit"))?,
        options: text(matches, "option").to_owned(),
    };
    let mut asking_b = asking.clone();
    if let Some(options) = matches.get_one::<String>("option-b") {
        asking_b.options.clone_from(options);
    }
    let user = text(matches, "user");
    let one = results(text(matches, "A"), user, &asking)?;
    if let Some(path) = matches.get_one::<String>("save") {
        std::fs::write(path, compare::write(&one)).map_err(|error| format!("{path}: {error}"))?;
    }
    let other = results(text(matches, "B"), user, &asking_b)?;
    let measures = compare::compare(&one, &other)?;
    print(&measures);
    if matches.get_flag("strict") && !measures.is_same() {
        return Err("the results differ".into());
    }
    Ok(())
}

/// The results of a side: from the file of that name if there is one, else from the server at that address.
fn results(side: &str, user: &str, asking: &Asking) -> Result<Results> {
    if Path::new(side).is_file() {
        return Ok(compare::read(&file(side)?)?);
    }
    let mut asking = asking.clone();
    let address = match side.split_once('=') {
        Some((address, table)) => {
            table.clone_into(&mut asking.table);
            address
        }
        None => side,
    };
    let password = std::env::var("SEINE_PASSWORD").unwrap_or_default();
    Ok(compare::results_of(address, user, &password, &asking)?)
}

fn file(path: &str) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}").into())
}
