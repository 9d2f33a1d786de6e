//! Rooms: the modules of a crate's root, in an order. A file imports from its own room and from lower rooms only.
//!
//! Modules that import each other share a room. The crate's root imports all rooms and belongs to none.

use std::collections::{BTreeMap, BTreeSet};

use super::Problem;
use super::arrows::Arrows;
use super::tree::in_crate;

/// The rooms of each crate from the ground up, with `<` between them; a room is a list of modules.
const ROOMS: &[(&str, &str)] = &[
    (
        "disk",
        "copies copy device map namespace reads replace stopwatch < memory < fault overlay real",
    ),
    (
        "language",
        "limits meter nearest < analysis pattern tree < parser reference < syntax verify < highlight weight",
    ),
    (
        "relation",
        "json lexer limits time_unit < expression schema value processor < codec key request row < options scroll < bind rows < source",
    ),
    (
        "report",
        "document escape names thin < number ruler < csv json svg terminal xlsx < html",
    ),
    (
        "percolate",
        "documents fetch limits standing term unfinished \
         < frequency hit_pairs meter pairs pattern removed rows \
         < anchors dictionary entry filter < compound word_terms < check < conjunction \
         < level live_level < hits vocabulary < merging scratch < snapshot wide < set",
    ),
    (
        "journal",
        "limits < error frame < memory segment < prepare survey < begin recover < file",
    ),
    (
        "index",
        "background error interrupt limits pool postings profile removed shape text_ends wide < integers tail warning < changes edits files \
         segment < filters merge part seal < control reshape snapshot < answer planned search table",
    ),
    (
        "queue",
        "ages error ids keys limits options source unique < hits < backlog chunk file < layout \
         < row_view < gate < line < lane < queue < kept report serve undo",
    ),
    (
        "engine",
        "histogram model status < table < apply < decide < snapshot temporary < open < mailbox < jobs \
         < engine < inspect running",
    ),
    (
        "wire",
        "fragment limits pq < mysql scribe sql syslog < json < es",
    ),
    ("study", "decode results < log < time_option < attribution"),
    (
        "bench",
        "batch latency log_lines printed process progress random < workload < error \
         < compare definition http runs < device outcome < percolate < insert search \
         < collect index queue select statements touch < bin",
    ),
    (
        "session",
        "clock errors faults limits profiled remote units webhook_target < budget query_log scheduler \
         < coming freeing movable searches < counters places temporary < list_variables < json_texts near node rights session statement",
    ),
    (
        "collect",
        "client counters message < config < table < store < route spool < door line < collector",
    ),
    (
        "server",
        "auth backups limits random signals sparse < listen logins touch < logs server settings webhook \
         < query_log scribe < http mysql syslog < life",
    ),
    (
        "cli",
        "allocator bundle login output queries scribe_client window < bench_command demo sql_client < marks progress \
         < check_command < files < report_output < attribution_command cat_command ctl_command dump_command load_command log_command match_command repair_command \
         restore_command tail_command < cli",
    ),
];

pub(super) fn check(crates: &BTreeMap<String, Arrows>, problems: &mut Vec<Problem>) {
    for &(krate, rooms) in ROOMS {
        if let Some(arrows) = crates.get(krate) {
            order(krate, rooms, arrows, problems);
        }
    }
}

/// Refuses arrows from a lower room to a higher one, modules without a room and rooms without a module.
pub(super) fn order(krate: &str, rooms: &str, arrows: &Arrows, problems: &mut Vec<Problem>) {
    let each = rooms.split('<').enumerate();
    let levels: BTreeMap<&str, usize> = each
        .flat_map(|(level, room)| room.split_whitespace().map(move |name| (name, level)))
        .collect();
    let mut seen = BTreeSet::new();
    for (from, to) in arrows {
        let Some(room) = room(krate, from) else {
            continue;
        };
        seen.insert(room);
        let Some(level) = levels.get(room) else {
            let message = format!("{room} has no room: add it to ROOMS of xtask/src/tidy/rooms.rs");
            problems.push(Problem::new(from, 1, message));
            continue;
        };
        for (file, arrow) in to {
            let above = self::room(krate, file)
                .filter(|above| levels.get(above).is_some_and(|other| other > level));
            if let Some(above) = above {
                let message = format!(
                    "room {room} imports {} from the higher room {above} ({file}): move it down",
                    arrow.name
                );
                problems.push(Problem::new(from, arrow.line, message));
            }
        }
    }
    for name in levels.keys().filter(|name| !seen.contains(*name)) {
        let message = format!("ROOMS of {krate} names {name}, which is no module");
        problems.push(Problem::new("xtask/src/tidy/rooms.rs", 1, message));
    }
}

/// The module of the crate's root that a file belongs to; `None` for the root.
fn room<'a>(krate: &str, file: &'a str) -> Option<&'a str> {
    let (_, inside) = in_crate(file).filter(|(name, _)| *name == krate)?;
    let inside = inside.strip_prefix("src/")?;
    let name = inside.split('/').next()?.trim_end_matches(".rs");
    (!["lib", "main"].contains(&name)).then_some(name)
}
