use super::*;

const MIB: usize = 1 << 20;

/// A budget whose requests do not wait.
fn of(bytes: u64) -> Arc<Budget> {
    Budget::new(bytes, Duration::ZERO)
}

#[tokio::test]
async fn small_requests_hold_nothing() {
    let budget = of(MIB as u64);
    let grant = budget.grant();
    assert_eq!(grant.reserve(GRANT_FREE_BYTES).await, Ok(Room::Free));
    assert_eq!(budget.held_bytes(), 0);
}

#[tokio::test]
async fn what_is_taken_is_given_back_when_the_request_ends() {
    let budget = of(8 * MIB as u64);
    let grant = budget.grant();
    assert_eq!(grant.reserve(2 * MIB).await, Ok(Room::Free));
    assert_eq!(
        grant.reserve(MIB).await,
        Ok(Room::Free),
        "it has that already"
    );
    assert_eq!(budget.held_bytes(), 2 << 20);
    grant.keep(MIB);
    assert_eq!(budget.held_bytes(), 1 << 20);
    drop(grant);
    assert_eq!(budget.held_bytes(), 0);
}

#[tokio::test]
async fn more_than_there_is_at_all_is_refused_at_once_as_too_large() {
    let budget = of(8 * MIB as u64);
    let grant = budget.grant();
    let refused = grant.reserve(9 * MIB).await.err();
    assert_eq!(refused.map(|failure| failure.kind), Some(errors::LIMIT));
}

#[tokio::test]
async fn what_others_hold_is_waited_for_and_then_refused() {
    let budget = of(8 * MIB as u64);
    let (one, other) = (budget.grant(), budget.grant());
    assert_eq!(one.reserve(6 * MIB).await, Ok(Room::Free));
    let refused = other.reserve(3 * MIB).await.err();
    assert_eq!(
        refused.map(|failure| failure.kind),
        Some(errors::OVERLOADED)
    );
    let refused = other.cover(3 * MIB).err();
    assert_eq!(
        refused.map(|failure| failure.kind),
        Some(errors::OVERLOADED)
    );
    drop(one);
    assert_eq!(other.reserve(3 * MIB).await, Ok(Room::Free));
}

#[test]
fn what_is_taken_piece_by_piece_adds_up() {
    let budget = of(4 * MIB as u64);
    let grant = budget.grant();
    let fits = (0..).take_while(|_| grant.take(64 << 10).is_ok()).count();
    assert_eq!(fits, 64);
}
