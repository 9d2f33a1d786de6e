use std::time::Duration;

use super::{Part, rate};

#[test]
fn the_rest_takes_its_time_at_the_rate_of_this_run() {
    let part = Part {
        done: 600,
        total: 1_000,
        before: 200,
        elapsed: Duration::from_secs(80),
    };
    assert_eq!(part.text(), "████████████░░░░░░░░ 60 %, 1:20 left");
}

#[test]
fn more_bytes_than_the_file_had_are_the_whole() {
    let part = Part {
        done: 5,
        total: 0,
        before: 0,
        elapsed: Duration::ZERO,
    };
    assert_eq!(part.text(), "████████████████████ 100 %, 0:00 left");
}

#[test]
fn a_rate_has_number_time_and_number_each_second() {
    let told = rate(1_200, "rows stored", Duration::from_secs(3));
    assert_eq!(told, "1,200 rows stored in 3.0 s, 400/s");
}
