use engine::{
    Command, Definition, Hold, Issuer, QueueNext, QueueOptions, Receipt, RowNumber, SessionId,
    WaitSource, Write,
};
use language::Syntax;
use language::analysis::Settings;
use relation::request::Delete;

use super::*;
use crate::faults::Faults;
use crate::node::Bounds;
use crate::node::Node;

fn actions(command: &Command) -> Vec<(Deed, Option<String>)> {
    let mut named = Vec::new();
    let mut note = |action: Action<'_>| {
        named.push((action.0, action.1.map(str::to_owned)));
        Ok(())
    };
    each(command, &mut note).unwrap();
    named
}

fn on(deed: Deed, table: &str) -> (Deed, Option<String>) {
    (deed, Some(table.to_owned()))
}

fn delete(table: &str) -> Write {
    Write::Delete(Box::new(Delete::new(table.to_owned(), None)))
}

#[test]
fn every_table_of_a_command_is_named() {
    let tables = vec!["a".to_owned(), "b".to_owned()];
    let drop = Command::DropTable {
        tables: tables.clone(),
        if_exists: false,
    };
    let series = Command::Series(vec![Command::Many(vec![delete("c")]), drop]);
    let wanted = [
        on(Deed::Write, "c"),
        on(Deed::Define, "a"),
        on(Deed::Define, "b"),
    ];
    assert_eq!(actions(&series), wanted);
    let flush = |tables| actions(&Command::Flush { tables });
    assert_eq!(flush(Vec::new()), [(Deed::Maintain, None)], "all tables");
    assert_eq!(flush(tables).len(), 2);
}

#[test]
fn a_table_that_reads_or_fills_others_needs_a_right_to_each() {
    let create = |kind| {
        actions(&Command::CreateTable {
            definition: Box::new(Definition {
                name: "new".to_owned(),
                kind,
                columns: Vec::new(),
                analysis: Settings::default(),
                sync: None,
                keep: None,
            }),
            if_not_exists: false,
        })
    };
    let define = on(Deed::Define, "new");
    let hits = Kind::Percolate {
        on: vec!["posts".to_owned(), "news".to_owned()],
        into: Some("hits".to_owned()),
        syntax: Syntax::default(),
        on_update: false,
    };
    let [posts, news] = [on(Deed::Read, "posts"), on(Deed::Read, "news")];
    let wanted = [
        define.clone(),
        posts.clone(),
        news.clone(),
        on(Deed::Write, "hits"),
    ];
    assert_eq!(create(hits), wanted);
    let locals = vec!["posts".to_owned(), "news".to_owned()];
    let wanted = [define.clone(), posts, news];
    assert_eq!(create(Kind::Distributed { locals }), wanted);
    let options = QueueOptions {
        dead: Some("failed".to_owned()),
        ..QueueOptions::default()
    };
    let wanted = [define, on(Deed::Write, "failed")];
    assert_eq!(create(Kind::Queue(options)), wanted);
}

#[test]
fn a_receipt_of_another_queue_needs_a_right_to_that_queue() {
    let receipt = Receipt {
        table: "paid".to_owned(),
        issuer: Issuer::default(),
        group: None,
        row: RowNumber(1),
        delivery: 1,
    };
    let next = Command::QueueNext(QueueNext {
        sources: vec![WaitSource {
            table: "orders".to_owned(),
            condition: None,
        }],
        group: None,
        rows: 1,
        timeout_us: 0,
        hold: Hold::Session,
        done: vec![receipt],
    });
    let wanted = [on(Deed::Take, "paid"), on(Deed::Take, "orders")];
    assert_eq!(actions(&next), wanted);
}

#[test]
fn the_first_refusal_ends_a_command() {
    let many = Command::Many(vec![delete("mine"), delete("theirs"), delete("mine")]);
    let mut asked = 0;
    let refused = each(&many, &mut |action| {
        asked += 1;
        match action.1 {
            Some("theirs") => Err(Failure::new(errors::NOT_PERMITTED, "not yours")),
            _ => Ok(()),
        }
    });
    assert_eq!(refused.unwrap_err().kind, errors::NOT_PERMITTED);
    assert_eq!(asked, 2);
}

/// The node has no engine yet, so a command that passes the check fails with RECOVERING.
#[tokio::test]
async fn a_backup_to_any_path_is_refused_before_the_engine_hears_of_it() {
    const MEMORY_BYTES: u64 = 64 << 20;
    let node = Node::new(MEMORY_BYTES, 1, Bounds::default(), Faults::default());
    let mut session = Session::new(SessionId(1), String::new(), String::new(), None);
    let backup = || Command::Backup {
        to: "/somewhere".to_owned(),
    };
    let refused = node.submit(&session, backup()).await.unwrap_err();
    assert_eq!(refused.kind, errors::NOT_PERMITTED);
    session.is_on_unix_socket = true;
    let passed = node.submit(&session, backup()).await.unwrap_err();
    assert_eq!(passed.kind, errors::RECOVERING);
    session.is_on_unix_socket = false;
    node.set_bounds(Bounds {
        backups_are_open: true,
        ..Bounds::default()
    });
    let passed = node.submit(&session, backup()).await.unwrap_err();
    assert_eq!(passed.kind, errors::RECOVERING);
}
