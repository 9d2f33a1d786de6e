use super::Removed;

#[test]
fn what_was_added_since_a_copy_is_told_in_order_and_the_copy_does_not_change() {
    let mut removed = Removed::default();
    for query in [3, 64, 40_000] {
        removed.add(query);
    }
    let earlier = removed.clone();
    for query in [200_000, 40_001, 2, 64, 63] {
        removed.add(query);
    }
    assert_eq!(removed.len(), 7);
    assert_eq!(earlier.len(), 3);
    let since: Vec<_> = removed.since(&earlier).collect();
    assert_eq!(since, [2, 63, 40_001, 200_000]);
    assert!(removed.holds(200_000) && !earlier.holds(200_000));
    assert_eq!(earlier.since(&earlier).count(), 0);
}
