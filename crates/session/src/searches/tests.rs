use std::time::{Duration, Instant};

use super::*;

fn request(session: u64, until_us: Option<u64>, client: Option<IsGone>) -> SearchRequest {
    SearchRequest {
        session,
        since_us: 1_000,
        until_us,
        text: "select 1".into(),
        client,
    }
}

fn searches() -> Arc<Searches> {
    Arc::new(Searches::new(1, 0))
}

#[test]
fn a_search_is_stopped_when_its_time_is_over_and_not_before() {
    let searches = searches();
    let search = searches.begin(request(7, Some(5_000), None));
    let other = searches.begin(request(8, None, None));
    assert!(searches.stop_overdue(4_999));
    assert_eq!(search.interrupt.reason(), None);
    assert!(searches.stop_overdue(5_000));
    assert_eq!(search.interrupt.reason(), Some(Reason::Time));
    assert_eq!(other.interrupt.reason(), None);
    drop((search, other));
    assert!(!searches.stop_overdue(6_000));
}

#[test]
fn a_search_that_has_its_rows_is_cut_no_more() {
    let searches = searches();
    let search = searches.begin(request(7, Some(5_000), None));
    search.found();
    assert!(searches.stop_overdue(9_000));
    assert_eq!(search.interrupt.reason(), None);
    assert!(searches.kill(7));
    assert_eq!(search.interrupt.reason(), Some(Reason::Killed));
}

#[test]
fn a_search_whose_rows_are_kept_ends_in_its_time_once_they_are_found() {
    let searches = searches();
    let search = searches.begin(request(7, Some(5_000), None));
    search.found();
    search.ends_in_time();
    assert!(searches.stop_overdue(4_999));
    assert_eq!(engine::goes_on(&search.interrupt), Ok(()));
    assert!(searches.stop_overdue(5_000));
    let ended = engine::goes_on(&search.interrupt);
    assert_eq!(ended, Err(engine::Error::OutOfTime));
}

#[test]
fn a_search_whose_client_is_gone_is_stopped_once_it_runs_long() {
    let searches = searches();
    let is_gone = Arc::new(AtomicBool::new(false));
    let client = Arc::clone(&is_gone);
    let client: IsGone = Arc::new(move || client.load(Ordering::Relaxed));
    let search = searches.begin(request(7, None, Some(client)));
    searches.stop_overdue(1_000 + SEARCH_CLIENT_AFTER_US);
    assert_eq!(search.interrupt.reason(), None, "the client is there");
    is_gone.store(true, Ordering::Relaxed);
    searches.stop_overdue(1_000 + SEARCH_CLIENT_AFTER_US - 1);
    assert_eq!(search.interrupt.reason(), None, "it is too early to ask");
    searches.stop_overdue(1_000 + SEARCH_CLIENT_AFTER_US);
    assert_eq!(search.interrupt.reason(), Some(Reason::Gone));
}

#[test]
fn kill_names_a_session_that_searches() {
    let searches = searches();
    assert!(!searches.kill(7));
    let search = searches.begin(request(7, None, None));
    let listed = searches.list();
    assert_eq!((listed[0].session, listed[0].since_us), (7, 1_000));
    assert_eq!(&*listed[0].text, "select 1");
    assert!(searches.kill(7));
    assert_eq!(search.interrupt.reason(), Some(Reason::Killed));
    drop(search);
    assert!(!searches.kill(7) && searches.list().is_empty());
}

#[test]
fn the_watcher_stops_a_search_by_itself() {
    let searches = searches();
    let clock = Clock::start();
    let scheduler = Arc::new(Scheduler::new(1, clock, None));
    searches.watch(clock, &scheduler).unwrap();
    let search = searches.begin(request(7, Some(clock.steady_us()), None));
    let end = Instant::now() + Duration::from_secs(30);
    let reason = loop {
        if let Some(reason) = search.interrupt.reason() {
            break reason;
        }
        assert!(Instant::now() < end, "30 seconds, and the search goes on");
        std::thread::yield_now();
    };
    assert_eq!(reason, Reason::Time);
}
