//! A transaction whose conditions readers work out does what it does where the engine's thread decides them in the end.
//!
//! Two engines carry out the same commands. In one each statement of the transaction, and its COMMIT, is planned by readers, and other
//! sessions change rows behind each plan. In the other, which is slow and obvious, they change them before, and the engine's thread
//! decides. Both must tell the same. COMMIT may be refused in the first alone, as it would have been at an earlier moment; then
//! nothing of it is stored.

use engine::{Command, Error, Plans, Reply, Write};
use proptest::prelude::*;

use crate::driver::Driver;
use crate::planned::{ENOUGH, all_planned, limited, near, near_statement, open};
use crate::statement::command;
use crate::workload::{Asked, cases, dump, worded};

const OWN: u64 = 1;

#[derive(Clone, Debug)]
struct Case {
    before: Vec<Asked>,
    /// Statements of the transaction, each with what others do behind its plans.
    members: Vec<(Command, Vec<Vec<Asked>>)>,
    /// What they do behind the plans of COMMIT.
    between: Vec<Vec<Asked>>,
    units: u64,
    seal_rows: u32,
}

fn others() -> impl Strategy<Value = Vec<Vec<Asked>>> {
    let asked = near().prop_map(|(session, command)| (session + OWN, command));
    let asked = asked.prop_filter("no wait", |(_, command)| {
        !matches!(command, Command::QueueWait { .. })
    });
    proptest::collection::vec(proptest::collection::vec(asked, 0..4), 0..4)
}

fn member() -> impl Strategy<Value = Command> {
    let limit = prop_oneof![3 => Just(None), 1 => (1..4u64).prop_map(Some)];
    let chooses = (near_statement(), limit, any::<bool>());
    let chooses = chooses.prop_map(|(statement, limit, falls)| limited(statement, limit, falls).1);
    let inserts = near().prop_map(|asked| asked.1);
    let inserts = inserts.prop_filter("a write of rows", |command| {
        matches!(
            command,
            Command::Write(Write::Insert(_))
                | Command::Write(Write::Delete(_))
                | Command::Write(Write::Update(_))
        )
    });
    prop_oneof![3 => chooses, 2 => inserts]
}

fn case() -> impl Strategy<Value = Case> {
    let before = proptest::collection::vec(near(), 4..20);
    let members = proptest::collection::vec((member(), others()), 1..6);
    let units = prop_oneof![Just(0), Just(ENOUGH)];
    let case = (before, members, others(), units, 2..40u32);
    case.prop_map(|(before, members, between, units, seal_rows)| Case {
        before,
        members,
        between,
        units,
        seal_rows,
    })
}

fn within(command: &Command) -> Command {
    Command::Within(Box::new(command.clone()))
}

/// What the fast engine tells. The others' commands come behind its plans; gives those that have come.
fn behind<'c>(
    driver: &mut Driver,
    between: &'c [Vec<Asked>],
    command: Command,
) -> (Result<Reply, Error>, &'c [Vec<Asked>]) {
    let mut count = 0;
    let outcome = driver.run_behind(OWN, command, |driver| {
        if let Some(others) = between.get(count) {
            all_planned(driver, others);
            count += 1;
        }
    });
    (outcome, &between[..count])
}

/// What the slow engine tells: others first.
fn after(driver: &mut Driver, between: &[Vec<Asked>], command: Command) -> Result<Reply, Error> {
    for others in between {
        all_planned(driver, others);
    }
    driver.run_behind(OWN, command, |_| {})
}

fn check(case: &Case) -> Result<(), TestCaseError> {
    let plans = Plans::All { units: case.units };
    let mut fast = open(case.seal_rows, plans);
    let mut slow = open(case.seal_rows, Plans::Long);
    all_planned(&mut fast, &case.before);
    all_planned(&mut slow, &case.before);
    for (member, between) in &case.members {
        let (got, between) = behind(&mut fast, between, within(member));
        let want = after(&mut slow, between, within(member));
        if case.units == 0 && matches!(got, Err(Error::Conflict { .. })) {
            return Ok(()); // its rows never rested
        }
        if matches!(&got, Err(Error::InMany { error, .. }) if matches!(**error, Error::NotYet { .. }))
        {
            return Ok(()); // hits of an UPDATE that was planned are not worked out again
        }
        prop_assert_eq!(worded(got), worded(want), "{:?}", member);
    }
    let (got, between) = behind(&mut fast, &case.between, Command::Commit);
    let is_refused = matches!(got, Err(Error::Conflict { .. }));
    let (got, want) = match is_refused {
        true => (
            worded(got),
            worded(after(&mut slow, between, Command::Rollback)),
        ),
        false => (
            worded(got),
            worded(after(&mut slow, between, Command::Commit)),
        ),
    };
    prop_assert!(is_refused || got == want, "COMMIT: {} and {}", got, want);
    prop_assert_eq!(dump(&mut fast), dump(&mut slow), "behind {}", got);
    let again = |driver: Driver| {
        let again = driver.reopen();
        again.map_err(|error| TestCaseError::fail(error.to_string()))
    };
    let (mut fast, mut slow) = (again(fast)?, again(slow)?);
    prop_assert_eq!(dump(&mut fast), dump(&mut slow), "after a restart");
    Ok(())
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn a_planned_transaction_does_what_the_engines_thread_would_decide(case in case()) {
        check(&case)?;
    }
}

fn run(driver: &mut Driver, session: u64, line: &str) -> String {
    worded(driver.run_behind(session, command(line), |_| {}))
}

fn keep(driver: &mut Driver, line: &str) -> String {
    worded(driver.run_behind(OWN, within(&command(line)), |_| {}))
}

fn with_posts(units: u64) -> Driver {
    let mut driver = open(1000, Plans::All { units });
    let insert =
        "insert posts (id, body, n) values (1, 'a', 1), (2, 'b', 1), (3, 'a', 2), (4, 'b', 2)";
    assert_eq!(run(&mut driver, 2, insert), "ok 4, id 4");
    driver
}

/// Commits, with a statement of others behind one of the plans.
fn commit_behind(driver: &mut Driver, plan: usize, line: &str) -> String {
    let mut plans = 0;
    worded(driver.run_behind(OWN, Command::Commit, |driver| {
        plans += 1;
        if plans == plan {
            run(driver, 2, line);
        }
    }))
}

fn posts(driver: &mut Driver) -> Vec<String> {
    let all = dump(driver).into_iter();
    all.filter(|line| line.starts_with("posts ")).collect()
}

#[test]
fn commit_works_out_a_value_on_a_row_that_others_have_changed_behind_its_plan() {
    let mut driver = with_posts(ENOUGH);
    assert_eq!(
        keep(&mut driver, "update posts set n = n + 10 where n = 1"),
        "ok 2"
    );
    let commit = commit_behind(
        &mut driver,
        1,
        "replace posts (id, body, n) values (9, 'a', 5)",
    );
    assert_eq!(commit, "ok 0");
    assert_eq!(posts(&mut driver)[0], "posts 1 | a | 11");
}

#[test]
fn a_row_that_no_longer_fits_behind_the_plan_of_commit_refuses_it_whole() {
    let mut driver = with_posts(ENOUGH);
    assert_eq!(
        keep(&mut driver, "insert posts (id, body, n) values (9, 'a', 9)"),
        "ok 1, id 9"
    );
    assert_eq!(
        keep(&mut driver, "update posts set n = 0 where n = 1"),
        "ok 2"
    );
    assert_eq!(
        keep(&mut driver, "update posts set n = 5 where id = 4"),
        "ok 1"
    );
    // The first UPDATE is rehearsed by then.
    let commit = commit_behind(&mut driver, 2, "update posts set n = 7 where id = 1");
    assert!(commit.contains("outcome"), "{commit}");
    let left = posts(&mut driver);
    assert_eq!(left[0], "posts 1 | a | 7");
    assert_eq!(left.len(), 4, "row 9 was not stored: {left:?}");
}

#[test]
fn a_row_that_an_earlier_member_left_and_others_then_changed_is_evaluated_again() {
    let mut driver = with_posts(ENOUGH);
    for (line, told) in [
        ("update posts set n = n + 1 where id = 1", "ok 1"),
        ("update posts set n = n + 1 where id = 2", "ok 1"),
        ("update posts set n = n + 100 where n < 50", "ok 4"),
    ] {
        assert_eq!(keep(&mut driver, line), told);
    }
    // The third plan is made over the row as the first UPDATE has left it in the rehearsal, before the change of others.
    let commit = commit_behind(&mut driver, 2, "update posts set n = 20 where id = 1");
    assert_eq!(commit, "ok 0");
    assert_eq!(posts(&mut driver)[0], "posts 1 | a | 121");
}

#[test]
fn rows_that_never_rest_refuse_commit_and_leave_the_session_without_a_transaction() {
    let mut driver = with_posts(0);
    assert_eq!(
        keep(&mut driver, "update posts set n = n + 1 where n > 0"),
        "ok 4"
    );
    let mut n = 10;
    let commit = worded(driver.run_behind(OWN, Command::Commit, |driver| {
        n += 1;
        run(driver, 2, &format!("update posts set n = {n} where id = 1"));
    }));
    assert!(commit.contains("evaluated"), "{commit}");
    assert_eq!(posts(&mut driver)[1], "posts 2 | b | 1");
    assert_eq!(worded(driver.run(Command::Commit)), "ok 0");
}

#[test]
fn a_transaction_removes_its_own_rows_of_a_queue_and_none_of_others_that_got_their_numbers() {
    for plans in [Plans::Long, Plans::All { units: ENOUGH }] {
        let mut driver = open(1000, plans);
        assert_eq!(run(&mut driver, 2, "insert jobs (id) values (1)"), "ok 1");
        assert_eq!(
            keep(&mut driver, "insert jobs (id) values (2), (3)"),
            "ok 2"
        );
        assert_eq!(keep(&mut driver, "delete jobs where id < 3"), "ok 2");
        assert_eq!(run(&mut driver, 2, "insert jobs (id) values (4)"), "ok 1");
        assert_eq!(worded(driver.run(Command::Commit)), "ok 0");
        let left = dump(&mut driver);
        let left: Vec<_> = left
            .iter()
            .filter(|line| line.starts_with("jobs "))
            .collect();
        let ids: Vec<bool> = ["4", "3"]
            .iter()
            .zip(&left)
            .map(|(id, line)| line.contains(id))
            .collect();
        assert_eq!((left.len(), ids), (2, vec![true; 2]), "{left:?}");
    }
}
