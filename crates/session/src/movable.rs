//! The future of a connection, which leaves the event loop for long work and comes back.
//!
//! A connection's future is polled by a thread of the event loop. Where its next step may take longer than a millisecond, it
//! awaits [`long_turn`]. The whole future, in its box, then moves to a thread of the [`Scheduler`], which polls it once: the step
//! runs there, and all that follows up to the next wait. Then the future comes back. Example:
//!
//! ```text
//! future                             polled by                      sockets of the loop's thread
//! reads a packet, parses it          thread 1 of the loop           wait some microseconds
//! long_turn().await                  – (it waits for its turn)      are served
//! finds, sorts and encodes rows      a thread of the scheduler      are served
//! sends 64 KiB: the client is slow   –                              are served
//! sends the rest                     thread 2 of the loop           wait some microseconds
//! ```
//!
//! What the future borrows moves with it, since the box stays where it is. So a step needs no copy of its statement, and
//! nothing that waits, such as a socket, is ever waited for on a thread of the scheduler.
//!
//! A future that nobody wrapped in a [`Movable`], such as a test's, runs its long work where it is.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use engine::Interrupt;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::scheduler::Scheduler;

/// A future that may move to a thread of the scheduler. Its output is nothing: it is a task.
pub struct Movable<F> {
    scheduler: Arc<Scheduler>,
    at: At<F>,
}

/// Where a future is.
enum At<F> {
    /// On the event loop.
    Loop(Pin<Box<F>>),
    /// On a thread of the scheduler, or waiting for one. It comes back unless it has ended.
    Away(oneshot::Receiver<Pin<Box<F>>>),
    /// It has ended, or panicked.
    Ended,
}

/// What a thread is doing.
enum Polling {
    /// It polls no movable future.
    Nothing,
    /// It is a thread of the event loop.
    OnLoop,
    /// It is a thread of the event loop, and the future has asked for a turn of this user, for a statement with this switch.
    Leaves(Arc<str>, Weak<Interrupt>),
    /// It is a thread of the scheduler.
    InTurn,
}

thread_local! {
    static POLLING: RefCell<Polling> = const { RefCell::new(Polling::Nothing) };
}

/// Waits until this future is polled in a turn of `user`. What follows runs there, up to the next wait. Cost: nothing where it
/// is in a turn already; else some ten microseconds, and the wait for a free turn.
pub async fn long_turn(user: &Arc<str>) {
    long_turn_of(user, Weak::new()).await;
}

/// As [`long_turn`], for a statement with this switch: once it is stopped the turn comes at once.
pub async fn long_turn_of(user: &Arc<str>, stop: Weak<Interrupt>) {
    poll_fn(|_| {
        POLLING.with_borrow_mut(|polling| match polling {
            Polling::Nothing | Polling::InTurn => Poll::Ready(()),
            Polling::OnLoop | Polling::Leaves(..) => {
                *polling = Polling::Leaves(Arc::clone(user), stop.clone());
                Poll::Pending
            }
        })
    })
    .await;
}

/// Whether this thread serves sockets, so that long work must not run on it.
pub fn is_on_loop() -> bool {
    POLLING.with_borrow(|polling| matches!(polling, Polling::OnLoop | Polling::Leaves(..)))
}

impl<F: Future<Output = ()> + Send + 'static> Movable<F> {
    /// A future on the event loop.
    pub fn new(scheduler: Arc<Scheduler>, future: F) -> Movable<F> {
        Movable {
            scheduler,
            at: At::Loop(Box::pin(future)),
        }
    }

    /// Gives the future to the scheduler, which polls it once.
    fn leave(
        &self,
        mut future: Pin<Box<F>>,
        (user, stop): (&Arc<str>, Weak<Interrupt>),
        context: &Context<'_>,
    ) -> At<F> {
        let (back, coming) = oneshot::channel();
        // The task's own waker: what wakes the future before it is back makes the task poll it again once it is.
        let (waker, handle) = (context.waker().clone(), Handle::current());
        let work = move || {
            let _runtime = handle.enter();
            let (polled, _) = poll_as(Polling::InTurn, || {
                future.as_mut().poll(&mut Context::from_waker(&waker))
            });
            if polled.is_pending() {
                // Fails if the task was dropped meanwhile: then the future is, here.
                let _ = back.send(future);
            }
        };
        self.scheduler.run(user, Box::new(work), stop);
        At::Away(coming)
    }
}

impl<F: Future<Output = ()> + Send + 'static> Future for Movable<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            match std::mem::replace(&mut self.at, At::Ended) {
                At::Ended => return Poll::Ready(()),
                At::Away(mut coming) => match Pin::new(&mut coming).poll(context) {
                    Poll::Pending => {
                        self.at = At::Away(coming);
                        return Poll::Pending;
                    }
                    Poll::Ready(Ok(future)) => self.at = At::Loop(future),
                    Poll::Ready(Err(_)) => return Poll::Ready(()),
                },
                At::Loop(mut future) => {
                    let (polled, end) = poll_as(Polling::OnLoop, || future.as_mut().poll(context));
                    match (polled, end) {
                        (Poll::Ready(()), _) => return Poll::Ready(()),
                        (Poll::Pending, Polling::Leaves(user, stop)) => {
                            self.at = self.leave(future, (&user, stop), context);
                        }
                        (Poll::Pending, _) => {
                            self.at = At::Loop(future);
                            return Poll::Pending;
                        }
                    }
                }
            }
        }
    }
}

/// Polls with [`POLLING`] set, and gives what it is afterwards. Puts back what it was before, also after a panic.
fn poll_as<T>(polling: Polling, poll: impl FnOnce() -> T) -> (T, Polling) {
    struct Before(Option<Polling>);
    impl Drop for Before {
        fn drop(&mut self) {
            if let Some(before) = self.0.take() {
                POLLING.set(before);
            }
        }
    }
    let mut before = Before(Some(POLLING.replace(polling)));
    let polled = poll();
    let end = POLLING.replace(before.0.take().unwrap_or(Polling::Nothing));
    (polled, end)
}
