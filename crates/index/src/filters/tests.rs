use super::*;
use crate::postings::PAGE_WORDS;

fn text(name: &str) -> Arc<str> {
    name.into()
}

/// Makes a page as a search does that finds none kept, if there is room.
fn ask(filters: &Filters, segment: u64, name: &str) -> bool {
    let Some(verdicts) = filters.verdicts((SegmentNumber(segment), 0), PAGE_ROWS, &text(name))
    else {
        return false;
    };
    if filters.page(&verdicts, 0).is_some() {
        return true;
    }
    let is_room = filters.reserve(&verdicts);
    if is_room {
        filters.keep(&verdicts, 0, Accepted::new(&[u64::MAX; PAGE_WORDS]));
    }
    is_room
}

/// Whether a page is kept; does not count as a use.
fn is_kept(filters: &Filters, segment: u64, name: &str) -> bool {
    let kept = filters.kept.lock().expect("the lock");
    let entry = kept.entries.get(&((SegmentNumber(segment), 0), text(name)));
    entry.is_some_and(|entry| entry.verdicts.pages[0].accepted.get().is_some())
}

#[test]
fn many_different_conditions_never_take_more_than_the_bound() {
    let bytes_max = 10 * BITMAP_BYTES;
    let filters = Filters::new(bytes_max);
    for round in 0..3 {
        for number in 0..1_000 {
            for _ in 0..=round {
                ask(&filters, number % 7, &format!("n < {number}"));
                assert!(filters.bytes() <= bytes_max);
            }
        }
    }
    assert!(filters.bytes() > bytes_max / 2, "{filters:?}");
    drop(filters.kept.lock().expect("the lock").entries.drain());
    assert_eq!(filters.bytes(), 0, "all of it was counted");
}

#[test]
fn what_was_asked_least_recently_goes_first() {
    let filters = Filters::new(3 * BITMAP_BYTES + 2_000);
    for name in ["a", "b", "c"] {
        assert!(ask(&filters, 1, name));
    }
    assert!(ask(&filters, 1, "a"));
    assert!(!ask(&filters, 1, "d"), "asked once, and nothing is free");
    assert!(ask(&filters, 1, "d"), "asked again");
    assert!(!is_kept(&filters, 1, "b"));
    for name in ["a", "c", "d"] {
        assert!(is_kept(&filters, 1, name), "{name}");
    }
}

#[test]
fn conditions_asked_once_push_nothing_out() {
    let filters = Filters::new(2 * BITMAP_BYTES + 1_500);
    assert!(ask(&filters, 1, "wanted") && ask(&filters, 2, "wanted"));
    for number in 0..10_000 {
        ask(&filters, 1, &format!("n = {number}"));
    }
    assert!(is_kept(&filters, 1, "wanted") && is_kept(&filters, 2, "wanted"));
}

#[test]
fn what_a_search_uses_is_not_pushed_out() {
    let filters = Filters::new(2 * BITMAP_BYTES);
    assert!(ask(&filters, 1, "used"));
    let used = filters
        .verdicts((SegmentNumber(1), 0), PAGE_ROWS, &text("used"))
        .expect("it");
    for _ in 0..3 {
        assert!(!ask(&filters, 1, "another"));
    }
    assert!(filters.page(&used, 0).is_some());
    drop(used);
    assert!(ask(&filters, 1, "another"));
}

#[test]
fn a_segment_or_a_condition_with_another_number_is_another() {
    let filters = Filters::new(1 << 20);
    assert!(ask(&filters, 1, "n < 5"));
    assert!(!is_kept(&filters, 2, "n < 5") && !is_kept(&filters, 1, "n < 6"));
}

#[test]
fn a_page_is_due_once_as_many_rows_were_asked_about_as_it_has() {
    let filters = Filters::new(1 << 20);
    let verdicts = filters
        .verdicts((SegmentNumber(1), 0), 2 * PAGE_ROWS, &text("n < 5"))
        .expect("room");
    assert!(!verdicts.is_due(0, 600, 1_000));
    assert!(!verdicts.is_due(1, 600, 1_000), "another page");
    assert!(verdicts.is_due(0, 400, 1_000));
    assert!(verdicts.is_due(1, 1_000, 1_000));
}

#[test]
fn a_set_of_rows_is_a_list_or_a_bitmap_of_the_same_rows() {
    for count in [0, 1, FEW, FEW + 1, 60_000] {
        let mut bitmap = [0; PAGE_WORDS];
        let rows: Vec<u16> = (0..count as u32).map(|row| (row * 7_919) as u16).collect();
        for row in &rows {
            bitmap[usize::from(row >> 6)] |= 1 << (row & 63);
        }
        let mut wanted = rows;
        wanted.sort_unstable();
        wanted.dedup();
        match Accepted::new(&bitmap) {
            Accepted::Few(lows) => assert!(*lows == *wanted && wanted.len() <= FEW),
            Accepted::Many(kept) => assert!(*kept == bitmap && wanted.len() > FEW),
        }
    }
}

#[test]
fn a_condition_of_many_constants_has_no_text() {
    let list = |count| Expression::In {
        needle: Box::new(Expression::Column("n".to_owned())),
        negated: false,
        list: (0..count).map(relation::value::Value::Int).collect(),
    };
    assert!(text_of(&list(100)).is_some());
    assert_ne!(text_of(&list(100)), text_of(&list(101)));
    assert!(text_of(&list(100_000)).is_none());
}
