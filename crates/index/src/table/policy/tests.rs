use super::*;

const SECOND_US: u64 = 1_000_000;

/// A model of a shard: segments are sealed into it, and merges take no time.
#[derive(Default)]
struct Shard {
    segments: Vec<Candidate>,
    is_kept: bool,
    sealed: u64,
    /// Rows written by merges.
    written: u64,
    /// Most segments after a merge.
    most: usize,
}

impl Shard {
    /// Seals rows; the next seal comes `quiet_s` seconds later.
    fn seal(&mut self, rows: u64, quiet_s: u64) {
        self.sealed += rows;
        self.segments.push(Candidate {
            rows,
            gone: 0,
            is_changed: false,
            is_worn: false,
            is_packed: true,
            newest: Some(self.sealed as i64),
        });
        self.merge(0);
        self.most = self.most.max(self.segments.len());
        [5, 60]
            .into_iter()
            .filter(|step| *step <= quiet_s)
            .for_each(|step| self.merge(step));
    }

    fn merge(&mut self, quiet_s: u64) {
        let request = MergeRequest {
            quiet_us: quiet_s * SECOND_US,
            keep_by: self.is_kept.then_some(0),
        };
        loop {
            let chosen = choose(&self.segments, false, request);
            if chosen.is_empty() {
                return;
            }
            let joined = chosen.iter().map(|at| self.segments[*at]);
            let rows = joined.clone().map(|segment| segment.rows).sum();
            let newest = joined.map(|segment| segment.newest).max().unwrap();
            self.written += rows;
            let kept = (0..self.segments.len()).filter(|at| !chosen.contains(at));
            self.segments = kept.map(|at| self.segments[at]).collect();
            self.segments.push(Candidate {
                rows,
                gone: 0,
                is_changed: false,
                is_worn: false,
                is_packed: true,
                newest,
            });
        }
    }

    /// Rows written by merges for each row sealed.
    fn times(&self) -> f64 {
        self.written as f64 / self.sealed as f64
    }
}

/// Sizes of seals: all alike; any size up to a full tail; mostly small ones, as FLUSH makes them.
const SIZES: [fn(u64) -> u64; 3] = [
    |_| 65_536,
    |at| 1 + at * 7_919 % 70_000,
    |at| 1 << (at * 7 % 17),
];

#[test]
fn segments_stay_few_and_rows_are_rarely_written_again() {
    for (count, times) in [(8, 0.0), (30, 2.0), (300, 5.0), (3_000, 9.0)] {
        let mut shard = Shard::default();
        (0..count).for_each(|_| shard.seal(65_536, 0));
        assert!(shard.most <= SEGMENTS_MAX, "{} segments", shard.most);
        assert!(shard.times() <= times, "{count} seals: {}", shard.times());
    }
    let mut shard = Shard::default();
    (0..2_000).for_each(|at| shard.seal(1 + at * 7_919 % 70_000, 0));
    assert!(shard.most <= SEGMENTS_MAX && shard.times() < 12.0);
}

#[test]
fn what_a_load_has_left_becomes_two_segments_in_quiet_and_is_written_little_more_than_once() {
    for count in [2, 9, 15, 29, 30, 58, 116, 300] {
        let mut shard = Shard::default();
        (0..count).for_each(|_| shard.seal(32_768, 0));
        let before = shard.times();
        shard.merge(5);
        assert!(shard.segments.len() <= 2, "{count}: {:?}", shard.segments);
        shard.merge(60);
        assert!(shard.times() - before <= 1.34, "{count}: {}", shard.times());
    }
}

#[test]
fn quiet_between_seals_leaves_few_segments_and_bounds_what_is_written() {
    for quiet_s in [5, 60] {
        for size in SIZES {
            let mut shard = Shard::default();
            for at in 0..3_000 {
                shard.seal(size(at), quiet_s);
            }
            let smallest = shard.segments.iter().map(|segment| segment.rows).min();
            let growth = (shard.sealed as f64 / smallest.unwrap() as f64).log2();
            assert!(
                shard.segments.len() as f64 <= 1.0 + growth / 2.0,
                "{quiet_s} s: {:?}",
                shard.segments
            );
            assert!(shard.times() < 20.0, "{quiet_s} s: {}", shard.times());
        }
    }
}

#[test]
fn a_row_beside_a_large_segment_does_not_have_it_written_again() {
    let mut shard = Shard::default();
    shard.seal(1_000_000, 60);
    for _ in 0..1_000 {
        shard.seal(1, 60);
    }
    assert!(shard.written < 20_000, "{}", shard.written);
    assert!(shard.segments.len() <= 5, "{:?}", shard.segments);
}

#[test]
fn where_retention_drops_segments_they_stay_parts_of_the_whole_in_the_order_of_time() {
    for size in SIZES {
        let mut shard = Shard {
            is_kept: true,
            ..Shard::default()
        };
        for at in 0..2_000 {
            shard.seal(size(at), 60);
            let mut in_time = shard.segments.clone();
            in_time.sort_by_key(|segment| segment.newest);
            let mut end = shard.sealed - in_time.iter().map(|segment| segment.rows).sum::<u64>();
            for segment in &in_time {
                end += segment.rows;
                assert_eq!(
                    segment.newest,
                    Some(end as i64),
                    "no neighbour was passed over"
                );
            }
            if at % 3 == 0 && in_time.len() > 12 {
                let oldest = in_time[0].newest; // what retention does
                shard.segments.retain(|segment| segment.newest != oldest);
            }
        }
        assert!(shard.most <= KEPT_SEGMENTS_MAX, "{}", shard.most);
        assert!(shard.times() < 8.0, "{}", shard.times());
    }
    let mut shard = Shard {
        is_kept: true,
        ..Shard::default()
    };
    (0..1_000).for_each(|_| shard.seal(65_536, 60));
    let largest = shard.segments.iter().map(|segment| segment.rows).max();
    assert!(largest.unwrap() <= shard.sealed / KEPT_PART);
}

#[test]
fn a_segment_of_which_much_is_deleted_is_written_again() {
    let segment = |rows, gone| Candidate {
        rows,
        gone,
        is_changed: false,
        is_worn: false,
        is_packed: true,
        newest: None,
    };
    let choose = |segments: &[Candidate]| choose(segments, false, MergeRequest::default());
    assert_eq!(choose(&[segment(100, 0), segment(100, 26)]), [1]);
    assert!(choose(&[segment(100, 0), segment(100, 25)]).is_empty());
    assert_eq!(choose(&[segment(1, 1)]), [0]);
}

#[test]
fn optimizing_ends_with_one_segment_and_no_deleted_row() {
    let segment = |rows, gone| Candidate {
        rows,
        gone,
        is_changed: false,
        is_worn: false,
        is_packed: true,
        newest: None,
    };
    let choose = |segments: &[Candidate]| choose(segments, true, MergeRequest::default());
    assert_eq!(choose(&[segment(9, 0), segment(3, 0)]), [1, 0]);
    assert_eq!(choose(&[segment(9, 1)]), [0]);
    assert!(choose(&[segment(9, 0)]).is_empty());
    assert!(choose(&[]).is_empty());
}

#[test]
fn a_segment_that_is_not_packed_is_written_again_alone_in_long_quiet() {
    let segment = |rows, is_packed| Candidate {
        rows,
        gone: 0,
        is_changed: false,
        is_worn: false,
        is_packed,
        newest: None,
    };
    let segments = [segment(1_000, true), segment(100, false)];
    let after = |quiet_us| MergeRequest {
        quiet_us,
        keep_by: None,
    };
    assert!(choose(&segments, false, after(QUIET_US)).is_empty());
    assert_eq!(choose(&segments, false, after(LONG_QUIET_US)), [1]);
    let packed = segments.map(|one| Candidate {
        is_packed: true,
        ..one
    });
    assert!(choose(&packed, false, after(LONG_QUIET_US)).is_empty());
    assert!(!after(QUIET_US - 1).packs() && after(QUIET_US).packs());
}

#[test]
fn the_next_look_is_when_the_choice_may_be_another() {
    let after = |quiet_us, keep_by| MergeRequest { quiet_us, keep_by }.next_quiet_us();
    assert_eq!(after(0, None), Some(QUIET_US));
    assert_eq!(after(QUIET_US, None), Some(LONG_QUIET_US));
    assert_eq!(after(LONG_QUIET_US, None), None);
    assert_eq!(after(0, Some(1)), None);
}
