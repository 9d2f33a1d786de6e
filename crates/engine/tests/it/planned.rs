//! A DELETE or UPDATE whose rows a reader has chosen gives what it gives where the engine's thread decides it in the end.
//!
//! Two engines carry out the same commands. In one the statement is planned, others come between, and the plan is decided. In the
//! other, which is slow and obvious, the statement comes after the others and the engine's thread decides it whole. Both must give
//! the same answer and hold the same rows, now and after a restart.

use std::sync::Arc;

use disk::MemoryDisk;
use engine::{Command, Control, Error, Interrupt, Now, Options, Plans, Reason, Reply, Write};
use proptest::prelude::*;
use relation::expression::Expression;
use relation::request::{OrderBy, Output};

use crate::driver::{Driver, options};
use crate::statement::command;
use crate::workload::{Asked, asked, cases, create_schema, dump, play, seal_rows, worded};

/// Units that are enough for a second look at some rows.
pub(crate) const ENOUGH: u64 = 10_000_000;

pub(crate) fn open(seal_rows: u32, plans: Plans) -> Driver {
    let options = Options {
        seal_rows,
        plans,
        ..options(Arc::new(MemoryDisk::new()))
    };
    let mut driver = Driver::open(options, Now::default()).unwrap();
    create_schema(&mut driver);
    driver
}

fn is_conditional(command: &Command) -> bool {
    matches!(
        command,
        Command::Write(Write::Delete(_)) | Command::Write(Write::Update(_))
    )
}

/// Plans and decides a statement until it is no longer to be planned. `between`: what comes after each plan.
fn planned(
    driver: &mut Driver,
    (session, command): Asked,
    between: &[Vec<Asked>],
) -> Result<Reply, Error> {
    let mut between = between.iter();
    let outcome = driver.run_behind(session, command, |driver| {
        for others in between.by_ref().take(1) {
            all_planned(driver, others);
        }
    });
    between.for_each(|others| drop(all_planned(driver, others)));
    outcome
}

/// Commands in order, each planned where it is to be.
pub(crate) fn all_planned(driver: &mut Driver, commands: &[Asked]) -> Vec<Result<Reply, Error>> {
    let mut answers = Vec::new();
    for asked in commands {
        match is_conditional(&asked.1) {
            true => answers.push(planned(driver, asked.clone(), &[])),
            false => answers.extend(play(driver, std::slice::from_ref(asked))),
        }
    }
    answers
}

/// The statement of a case, with LIMIT and, of a queue or an UPDATE, an order.
pub(crate) fn limited((session, mut command): Asked, limit: Option<u64>, falls: bool) -> Asked {
    let key = |name: &str| OrderBy {
        key: Output::Expression(Expression::Column(name.to_owned())),
        descending: true,
    };
    match &mut command {
        Command::Write(Write::Delete(delete)) => {
            delete.limit = limit;
            if falls && delete.table == "jobs" {
                delete.order = vec![key("id")];
            }
        }
        Command::Write(Write::Update(update)) => {
            update.limit = limit;
            if falls {
                update.order = vec![key("n")];
            }
        }
        _ => {}
    }
    (session, command)
}

#[derive(Clone, Debug)]
struct Case {
    before: Vec<Asked>,
    statement: Asked,
    between: Vec<Vec<Asked>>,
    seal_rows: u32,
    units: u64,
}

/// A command that changes rows of `posts`, `alerts` or `jobs`, of which there are few: it often changes those of another one.
pub(crate) fn near() -> impl Strategy<Value = Asked> {
    let (id, n) = (1..9u32, 0..4u32);
    let word = proptest::sample::select(&["a", "b"][..]);
    let line = (0..12u32, id, n, word).prop_map(|(kind, id, n, word)| match kind {
        0..4 => format!("replace posts (id, body, n) values ({id}, '{word}', {n})"),
        4 => format!("update posts set n = n + 1 where id = {id}"),
        5 => format!("update posts set n = {n} match '{word}'"),
        6 => format!("delete posts where id = {id}"),
        7 => format!("replace alerts (id, query) values ({id}, '{word}')"),
        8 => format!("delete alerts where id = {id}"),
        9 => "wait jobs 0".to_owned(),
        _ => format!("insert jobs (id) values ({id})"),
    });
    (1..4u64, line.prop_map(|line| command(&line)))
}

/// A statement on these rows.
pub(crate) fn near_statement() -> impl Strategy<Value = Asked> {
    let word = proptest::sample::select(&["a", "b"][..]);
    let line = (0..8u32, 0..5u32, word).prop_map(|(kind, n, word)| match kind {
        0 | 1 => format!("delete posts where n < {n}"),
        2 => format!("delete posts match '{word}' where n > {n}"),
        3 | 4 => format!("update posts set n = n + 2 where n < {n}"),
        5 => format!("update posts set n = 3 match '{word}' where n > {n}"),
        6 => format!("delete alerts where query = '{word}'"),
        _ => format!("delete jobs where id > {n}"),
    });
    (1..4u64, line.prop_map(|line| command(&line)))
}

fn case() -> impl Strategy<Value = Case> {
    let far = asked().prop_filter("a condition", |(_, command)| is_conditional(command));
    let statement = prop_oneof![4 => near_statement(), 1 => far];
    let limit = prop_oneof![Just(None), (0..4u64).prop_map(Some)];
    let statement = (statement, limit, any::<bool>());
    let statement =
        statement.prop_map(|(statement, limit, falls)| limited(statement, limit, falls));
    let asked_near = || prop_oneof![4 => near(), 1 => asked()];
    let others = proptest::collection::vec(asked_near(), 0..8);
    let between = proptest::collection::vec(others, 1..3);
    let before = proptest::collection::vec(asked_near(), 0..16);
    let units = prop_oneof![Just(0), Just(ENOUGH)];
    let case = (before, statement, between, seal_rows(), units);
    case.prop_map(|(before, statement, mut between, seal_rows, units)| {
        // A session waits for the answer to its statement.
        for others in &mut between {
            others.retain(|(session, _)| *session != statement.0);
        }
        Case {
            before,
            statement,
            between,
            seal_rows,
            units,
        }
    })
}

/// A second plan sees what came between; with no units for a second look the last commands come after all plans.
fn check(case: &Case) -> Result<(), TestCaseError> {
    let plans = Plans::All { units: case.units };
    let (mut fast, mut slow) = (
        open(case.seal_rows, plans),
        open(case.seal_rows, Plans::Long),
    );
    all_planned(&mut fast, &case.before);
    play(&mut slow, &case.before);
    prop_assert_eq!(dump(&mut fast), dump(&mut slow), "before");

    let (session, statement) = &case.statement;
    let first = fast
        .ask(*session, statement.clone())
        .take()
        .expect("an answer");
    let planned_first = match first {
        Ok(Reply::Plan(planning)) => planning.run(&Control::default()),
        refused => {
            let want = slow.ask(*session, statement.clone()).take();
            prop_assert_eq!(worded(refused), worded(want.expect("an answer")));
            return Ok(());
        }
    };
    let mut command = match planned_first {
        Ok(planned) => Command::Write(Write::Planned(planned)),
        Err(error) => {
            // It is refused in the state that its plan has read.
            let want = slow.ask(*session, statement.clone()).take();
            prop_assert_eq!(worded(Err(error)), worded(want.expect("an answer")));
            return Ok(());
        }
    };
    let mut between = case.between.iter();
    let got = loop {
        if let Some(others) = between.next() {
            all_planned(&mut fast, others);
            play(&mut slow, others);
        }
        match fast.ask(*session, command).take().expect("an answer") {
            Ok(Reply::Plan(planning)) => match planning.run(&Control::default()) {
                Ok(planned) => command = Command::Write(Write::Planned(planned)),
                Err(error) => break Err(error),
            },
            outcome => break outcome,
        }
    };
    let want = slow
        .ask(*session, statement.clone())
        .take()
        .expect("an answer");
    prop_assert_eq!(worded(got), worded(want), "{:?}", statement);
    prop_assert_eq!(dump(&mut fast), dump(&mut slow), "after");
    let mut fast = fast.reopen().unwrap();
    let mut slow = slow.reopen().unwrap();
    prop_assert_eq!(dump(&mut fast), dump(&mut slow), "after a restart");
    Ok(())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_planned_statement_gives_what_the_engines_thread_would_decide(case in case()) {
        check(&case)?;
    }
}

/// A driver with four posts, and the plan of a statement.
fn with_plan(statement: &str, units: u64) -> (Driver, Command) {
    let mut driver = open(1000, Plans::All { units });
    driver
        .run(command(
            "insert posts (id, body, n) values (1, 'a', 1), (2, 'b', 1), (3, 'a', 2), (4, 'b', 2)",
        ))
        .unwrap();
    let plan = plan(&mut driver, command(statement));
    (driver, plan)
}

fn plan(driver: &mut Driver, command: Command) -> Command {
    match driver.ask(1, command).take().expect("an answer") {
        Ok(Reply::Plan(planning)) => {
            Command::Write(Write::Planned(planning.run(&Control::default()).unwrap()))
        }
        other => panic!("not to be planned: {other:?}"),
    }
}

fn update(driver: &mut Driver, statement: &str) {
    worded(planned(driver, (2, command(statement)), &[]));
}

#[test]
fn rows_that_others_changed_are_looked_at_again() {
    let (mut driver, plan) = with_plan("delete posts where n = 1", ENOUGH);
    update(&mut driver, "update posts set n = 2 where id = 1");
    update(&mut driver, "update posts set n = 1 where id = 3");
    driver
        .run(command("insert posts (id, body, n) values (5, 'a', 1)"))
        .unwrap();
    assert_eq!(worded(driver.run(plan)), "ok 3", "2, 3 and 5; not 1");
    let left = dump(&mut driver).join("\n");
    assert!(left.contains("posts 1 | a | 2\nposts 4 | b | 2"), "{left}");
}

#[test]
fn changed_rows_that_do_not_fit_the_budget_are_planned_again_alone() {
    let (mut driver, first) = with_plan("update posts set n = n + 1 where n = 1", 0);
    update(&mut driver, "update posts set n = 2 where id = 1");
    let second = plan(&mut driver, first);
    assert_eq!(worded(driver.run(second)), "ok 1");
}

#[test]
fn a_statement_whose_rows_never_rest_is_a_conflict() {
    let (mut driver, mut command) = with_plan("update posts set n = n + 1 where n > 0", 0);
    for plans in 1.. {
        update(
            &mut driver,
            &format!("update posts set n = {} where id = 1", 10 + plans),
        );
        command = match driver.ask(1, command).take().expect("an answer") {
            Ok(Reply::Plan(planning)) => {
                Command::Write(Write::Planned(planning.run(&Control::default()).unwrap()))
            }
            Err(Error::Conflict { .. }) => {
                assert_eq!(plans, engine::limits::PLANS_MAX);
                break;
            }
            other => panic!("{other:?}"),
        };
    }
}

#[test]
fn a_plan_of_a_table_that_was_dropped_is_made_again() {
    let mut driver = open(1000, Plans::All { units: ENOUGH });
    let create = "create search own (n int)";
    let insert = "insert own (id, n) values (1, 1), (2, 2)";
    for line in [create, insert] {
        driver.run(command(line)).unwrap();
    }
    let first = plan(&mut driver, command("delete own where n < 3"));
    for line in ["drop own", create, "insert own (id, n) values (2, 1)"] {
        driver.run(command(line)).unwrap();
    }
    let second = plan(&mut driver, first);
    assert_eq!(worded(driver.run(second)), "ok 1");
}

#[test]
fn a_statement_that_was_stopped_is_not_decided() {
    for reason in [Reason::Killed, Reason::Time, Reason::Gone] {
        let (mut driver, plan) = with_plan("delete posts where n = 1", ENOUGH);
        let interrupt = Arc::new(Interrupt::default());
        interrupt.stop(reason);
        let outcome = driver
            .ask_until(1, plan, interrupt)
            .take()
            .expect("an answer");
        assert!(
            matches!(outcome, Err(Error::Interrupted | Error::OutOfTime)),
            "{outcome:?}"
        );
        assert!(dump(&mut driver).join("\n").contains("posts 1 | a | 1"));
    }
}
