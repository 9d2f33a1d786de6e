use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use super::*;

/// Work that says when it runs, and goes on when it is told to.
struct Piece {
    begun: Receiver<()>,
    go: Sender<()>,
}

struct Bench {
    scheduler: Scheduler,
    ended: (Sender<&'static str>, Receiver<&'static str>),
}

impl Bench {
    fn new(running_max: usize) -> Bench {
        Bench {
            scheduler: Scheduler::new(running_max, Clock::start(), None),
            ended: channel(),
        }
    }

    /// Brings work of a user that looks at its switch once it was told to go on, and then ends.
    fn bring(&self, user: &str, name: &'static str, interrupt: &Arc<Interrupt>) -> Piece {
        self.bring_that(user, name, interrupt, true)
    }

    /// As [`Bench::bring`], without the look: on a slow machine the slice of a turn may end before the test has done its part.
    fn bring_whole(&self, user: &str, name: &'static str) -> Piece {
        self.bring_that(user, name, &switch(), false)
    }

    fn bring_that(
        &self,
        user: &str,
        name: &'static str,
        interrupt: &Arc<Interrupt>,
        looks: bool,
    ) -> Piece {
        let (begins, begun) = channel();
        let (go, goes) = channel();
        let (ended, heeded) = (self.ended.0.clone(), Arc::clone(interrupt));
        let work = move || {
            heeds(&heeded);
            begins.send(()).expect("the test waits");
            goes.recv().expect("the test tells it");
            let _ = looks.then(|| heeded.check());
            ended.send(name).expect("the test waits");
        };
        self.scheduler
            .run(&user.into(), Box::new(work), Arc::downgrade(interrupt));
        Piece { begun, go }
    }

    fn next_end(&self) -> &'static str {
        self.ended.1.recv().expect("a piece ends")
    }

    /// Waits until the scheduler has this status, which other threads bring about.
    fn until(&self, is: impl Fn(SchedulerStatus) -> bool) {
        while !is(self.scheduler.status()) {
            std::thread::yield_now();
        }
    }
}

impl Piece {
    fn begins(&self) {
        self.begun.recv().expect("the work begins");
    }

    fn goes_on(&self) {
        self.go.send(()).expect("the work waits");
    }
}

fn switch() -> Arc<Interrupt> {
    Arc::new(Interrupt::default())
}

#[test]
fn no_more_turns_run_than_may_and_the_rest_follow_in_order() {
    let bench = Bench::new(2);
    let names = ["1", "2", "3", "4"];
    let pieces = names.map(|name| bench.bring("a", name, &switch()));
    pieces[0].begins();
    pieces[1].begins();
    assert_eq!(
        bench.scheduler.status(),
        SchedulerStatus {
            running: 2,
            waiting: 2,
            begun_total: 2,
            gave_way_total: 0,
        }
    );
    assert!(pieces[2].begun.try_recv().is_err(), "no turn is free");
    for (piece, name) in pieces.iter().zip(names) {
        piece.goes_on();
        assert_eq!(bench.next_end(), name);
    }
    bench.until(|status| status.running == 0 && status.waiting == 0);
}

#[test]
fn a_turn_gives_way_to_one_that_waits_and_goes_on_behind_it() {
    let bench = Bench::new(1);
    let long = switch();
    let first = bench.bring("a", "long", &long);
    first.begins();
    let second = bench.bring("b", "short", &switch());
    long.ask_to_give_way();
    first.goes_on();
    second.begins();
    assert_eq!(bench.scheduler.status().gave_way_total, 1);
    assert!(bench.ended.1.try_recv().is_err(), "the long one waits");
    second.goes_on();
    assert_eq!((bench.next_end(), bench.next_end()), ("short", "long"));
}

#[test]
fn a_turn_that_is_asked_to_give_way_while_none_waits_goes_on() {
    let bench = Bench::new(1);
    let long = switch();
    let first = bench.bring("a", "long", &long);
    first.begins();
    long.ask_to_give_way();
    first.goes_on();
    assert_eq!(bench.next_end(), "long");
    assert_eq!(bench.scheduler.status().gave_way_total, 0);
}

#[test]
fn a_young_turn_is_asked_to_give_way_to_other_users_alone() {
    let bench = Bench::new(1);
    let long = switch();
    let first = bench.bring("a", "long", &long);
    first.begins();
    let second = bench.bring("a", "own", &switch());
    let look_after = |us: u64| {
        let since_us = bench.scheduler.shared.state().running[0].own().since_us;
        bench.scheduler.look_at(since_us + us);
        long.is_asked_to_give_way()
    };
    assert!(!look_after(YOUNG_US - 1), "only its own user waits");
    let third = bench.bring("b", "other", &switch());
    assert!(!look_after(SLICE_US - 1), "its slice is not over");
    assert!(look_after(SLICE_US), "another user waits");
    first.goes_on();
    third.begins();
    third.goes_on();
    second.begins();
    second.goes_on();
    let order = [(); 3].map(|()| bench.next_end());
    assert_eq!(order, ["other", "own", "long"]);
}

#[test]
fn a_turn_that_is_old_is_asked_to_give_way_to_its_own_user() {
    let bench = Bench::new(1);
    let long = switch();
    let first = bench.bring("a", "long", &long);
    first.begins();
    let second = bench.bring("a", "own", &switch());
    let turn = Arc::clone(&bench.scheduler.shared.state().running[0]);
    turn.own().used_us = YOUNG_US - SLICE_US;
    let since_us = turn.own().since_us;
    bench.scheduler.look_at(since_us + SLICE_US);
    assert!(long.is_asked_to_give_way());
    first.goes_on();
    second.begins();
    assert!(
        turn.own().used_us >= YOUNG_US - SLICE_US,
        "its time is kept"
    );
    second.goes_on();
    assert_eq!((bench.next_end(), bench.next_end()), ("own", "long"));
}

#[test]
fn a_user_without_a_turn_waits_for_no_slice_of_one_that_has_used_more() {
    let bench = Bench::new(2);
    let (some, more) = (switch(), switch());
    let first = bench.bring("some", "some", &some);
    let second = bench.bring("more", "more", &more);
    first.begins();
    second.begins();
    let mut state = bench.scheduler.shared.state();
    state.line(&"some".into()).used_us = 10 * CREDIT_US;
    state.line(&"more".into()).used_us = 11 * CREDIT_US;
    state.line(&"light".into()).fresh.push_back(Fresh {
        work: Box::new(|| ()),
        stop: Weak::new(),
    });
    let since_us = state.running.iter().map(|turn| turn.own().since_us).max();
    let since_us = since_us.expect("two turns");
    let asked = || (some.is_asked_to_give_way(), more.is_asked_to_give_way());
    state.make_room(&"light".into(), since_us + SLICE_US_MIN / 2);
    assert_eq!(asked(), (false, false), "they have only begun");
    state.make_room(&"more".into(), since_us + SLICE_US_MIN);
    assert_eq!(asked(), (false, false), "it has a turn");
    state.make_room(&"light".into(), since_us + SLICE_US_MIN);
    assert_eq!(asked(), (false, true), "the one that has used most");
    state.lines.remove("light");
    assert_eq!(state.line(&"light".into()).used_us, 9 * CREDIT_US);
    state.lines.remove("light");
    drop(state);
    first.goes_on();
    second.goes_on();
    let mut order = [(); 2].map(|()| bench.next_end());
    order.sort_unstable();
    assert_eq!(order, ["more", "some"]);
}

#[test]
fn a_user_that_goes_and_comes_again_has_used_what_it_had() {
    let mut state = State::default();
    for (user, used_us) in [
        ("stays", 5 * CREDIT_US),
        ("much", 9 * CREDIT_US),
        ("little", 1),
    ] {
        state.line(&user.into()).used_us = used_us;
    }
    for user in ["much", "little"] {
        state.leaves(&user.into());
    }
    assert_eq!(state.line(&"much".into()).used_us, 9 * CREDIT_US);
    assert_eq!(state.line(&"little".into()).used_us, 4 * CREDIT_US);
    for user in 0..2 * GONE_USERS_MAX {
        let user = user.to_string().into();
        state.line(&user);
        state.leaves(&user);
        assert!(state.gone.len() <= GONE_USERS_MAX);
    }
    for user in ["much", "little", "stays"] {
        state.leaves(&user.into());
    }
    assert!(state.gone.is_empty(), "nobody waits for anybody");
}

#[test]
fn a_stopped_turn_that_gave_way_ends_before_its_turn_comes() {
    let bench = Bench::new(1);
    let long = switch();
    let first = bench.bring("a", "long", &long);
    first.begins();
    let second = bench.bring("b", "other", &switch());
    long.ask_to_give_way();
    first.goes_on();
    second.begins();
    long.stop(engine::Reason::Killed);
    assert_eq!(bench.next_end(), "long", "the other one still runs");
    second.goes_on();
    assert_eq!(bench.next_end(), "other");
    bench.until(|status| status.running == 0 && status.waiting == 0);
}

#[test]
fn the_user_that_has_used_least_time_is_next() {
    let bench = Bench::new(1);
    let first = bench.bring_whole("heavy", "1");
    first.begins();
    let mut state = bench.scheduler.shared.state();
    state.line(&"heavy".into()).used_us = 5_000_000;
    state.line(&"light".into()).used_us = 4_000_000;
    drop(state);
    let second = bench.bring_whole("heavy", "2");
    let third = bench.bring_whole("light", "3");
    let comes = bench.bring_whole("comes", "4");
    first.goes_on();
    assert_eq!(bench.next_end(), "1");
    // The one that comes counts as if it had used as much as the light one; of two equals the first by name is next.
    for (next, name) in [(comes, "4"), (third, "3"), (second, "2")] {
        next.begins();
        next.goes_on();
        assert_eq!(bench.next_end(), name);
    }
}

#[test]
fn fresh_work_and_work_that_gave_way_alternate_within_a_user() {
    let bench = Bench::new(1);
    let long = switch();
    let first = bench.bring("a", "long", &long);
    first.begins();
    let pieces = ["1", "2"].map(|name| bench.bring("a", name, &switch()));
    long.ask_to_give_way();
    first.goes_on();
    pieces[0].begins();
    pieces[0].goes_on();
    pieces[1].goes_on();
    assert_eq!([(); 3].map(|()| bench.next_end()), ["1", "long", "2"]);
}

#[test]
fn a_panic_ends_its_turn_and_nothing_else() {
    let bench = Bench::new(1);
    bench
        .scheduler
        .run(&"a".into(), Box::new(|| panic!("on purpose")), Weak::new());
    let next = bench.bring("a", "next", &switch());
    next.begins();
    next.goes_on();
    assert_eq!(bench.next_end(), "next");
}

#[test]
fn random_work_of_many_users_is_all_done_and_never_more_than_may_at_a_time() {
    let running_max = 3;
    let scheduler = Arc::new(Scheduler::new(running_max, Clock::start(), None));
    let (ended, ends) = channel();
    let at_work = Arc::new(AtomicUsize::new(0));
    for number in 0..300_usize {
        let user: Arc<str> = format!("user {}", number % 7).into();
        let (ended, at_work, looks) = (ended.clone(), Arc::clone(&at_work), Arc::clone(&scheduler));
        let interrupt = switch();
        let work = move || {
            heeds(&interrupt);
            for step in 0..number % 11 {
                assert!(at_work.fetch_add(1, Ordering::SeqCst) < running_max);
                std::thread::yield_now();
                at_work.fetch_sub(1, Ordering::SeqCst);
                if step % 3 == 0 {
                    interrupt.ask_to_give_way();
                }
                looks.look();
                assert!(interrupt.check().is_ok());
            }
            ended.send(number).expect("the test waits");
        };
        scheduler.run(&user, Box::new(work), Weak::new());
    }
    let mut done: Vec<usize> = ends.iter().take(300).collect();
    done.sort_unstable();
    assert_eq!(done, (0..300).collect::<Vec<_>>());
    while scheduler.status().running > 0 {
        std::thread::yield_now();
    }
    let state = scheduler.shared.state();
    assert!(state.lines.is_empty() && state.waiting == 0);
    assert!(state.idle.len() <= LONG_THREADS_IDLE_MAX);
}

#[test]
fn work_whose_statement_is_stopped_before_it_begins_begins_at_once() {
    let bench = Bench::new(1);
    let running = bench.bring("a", "running", &switch());
    running.begins();
    let stopped = switch();
    let before = bench.bring("a", "before", &switch());
    let killed = bench.bring("a", "killed", &stopped);
    let killed_of_b = bench.bring("b", "killed of b", &stopped);
    bench.scheduler.look();
    assert_eq!(bench.scheduler.status().running, 1);
    stopped.stop(engine::Reason::Killed);
    bench.scheduler.look();
    killed.begins();
    killed_of_b.begins();
    assert_eq!(bench.scheduler.status().running, 3);
    killed.goes_on();
    assert_eq!(bench.next_end(), "killed");
    killed_of_b.goes_on();
    assert_eq!(bench.next_end(), "killed of b");
    running.goes_on();
    assert_eq!(bench.next_end(), "running");
    before.begins();
    before.goes_on();
    assert_eq!(bench.next_end(), "before");
}
