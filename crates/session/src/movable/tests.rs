use std::thread::{ThreadId, current};

use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::*;
use crate::clock::Clock;

fn scheduler() -> Arc<Scheduler> {
    Arc::new(Scheduler::new(2, Clock::start(), None))
}

/// Runs a movable future on an event loop of one thread, and gives what it sends.
fn run<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    future: F,
) -> (Option<T>, ThreadId) {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (sender, sent) = oneshot::channel();
    let task = async move {
        // The test waits for it.
        let _ = sender.send(future.await);
    };
    runtime.block_on(Movable::new(scheduler(), task));
    (runtime.block_on(sent).ok(), current().id())
}

#[test]
fn long_work_runs_beside_the_loop_and_a_wait_brings_the_future_back() {
    let user: Arc<str> = "user".into();
    let (threads, on_loop) = run(async move {
        let mut text = String::from("borrowed across the moves");
        let borrowed = &mut text;
        let first = (current().id(), is_on_loop());
        long_turn(&user).await;
        borrowed.push('!');
        let second = (current().id(), is_on_loop());
        tokio::task::yield_now().await;
        let third = (current().id(), is_on_loop());
        long_turn(&user).await;
        let fourth = (current().id(), is_on_loop());
        long_turn(&user).await;
        assert_eq!(current().id(), fourth.0, "it was in a turn already");
        assert_eq!(text, "borrowed across the moves!");
        [first, second, third, fourth]
    });
    let [first, second, third, fourth] = threads.expect("it ended");
    assert_eq!([first, third], [(on_loop, true); 2]);
    assert!(second.0 != on_loop && !second.1);
    assert!(fourth.0 != on_loop && !fourth.1);
}

#[test]
fn the_loop_serves_others_while_long_work_runs() {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (begins, begun) = oneshot::channel();
    let (lets, may_end) = std::sync::mpsc::channel::<()>();
    let long = async move {
        long_turn(&"user".into()).await;
        begins.send(()).expect("the other one waits");
        may_end.recv().expect("the other one runs meanwhile");
    };
    runtime.block_on(async {
        let long = tokio::spawn(Movable::new(scheduler(), long));
        // On the same thread: it could not go on if the work held the thread.
        begun.await.expect("the work begins");
        lets.send(()).expect("the work waits");
        long.await.expect("it ended");
    });
}

#[test]
fn work_that_another_branch_overtakes_is_left() {
    let user: Arc<str> = "user".into();
    let (value, _) = run(async move {
        tokio::select! {
            biased;
            () = long_turn(&user) => "turn",
            () = std::future::ready(()) => "other",
        }
    });
    assert_eq!(value, Some("other"));
}

#[test]
fn a_panic_in_long_work_ends_the_task() {
    let (value, _) = run(async {
        long_turn(&"user".into()).await;
        assert!(is_on_loop(), "a panic on purpose");
    });
    assert_eq!(value, None);
}

#[test]
fn a_future_that_nobody_wrapped_runs_long_work_where_it_is() {
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    let before = current().id();
    let during = runtime.block_on(async {
        long_turn(&"user".into()).await;
        (current().id(), is_on_loop())
    });
    assert_eq!(during, (before, false));
}

#[test]
fn a_task_that_is_dropped_while_its_future_is_away_drops_the_future() {
    struct Tells(Option<oneshot::Sender<()>>);
    impl Drop for Tells {
        fn drop(&mut self) {
            if let Some(sender) = self.0.take() {
                let _ = sender.send(());
            }
        }
    }
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (sender, dropped) = oneshot::channel();
    let (begins, begun) = oneshot::channel();
    let (lets, may_end) = std::sync::mpsc::channel::<()>();
    let tells = Tells(Some(sender));
    let long = async move {
        let _tells = tells;
        long_turn(&"user".into()).await;
        let _ = begins.send(());
        let _ = may_end.recv();
        std::future::pending::<()>().await;
    };
    runtime.block_on(async {
        let task = tokio::spawn(Movable::new(scheduler(), long));
        begun.await.expect("the work begins");
        task.abort();
        let _ = task.await;
        lets.send(()).expect("the work waits");
        dropped.await.expect("the future is dropped");
    });
}
