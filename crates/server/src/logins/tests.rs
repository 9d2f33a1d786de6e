use std::net::{IpAddr, Ipv4Addr};

use super::*;

fn address(number: u32) -> Remote {
    Remote::Ip(IpAddr::V4(Ipv4Addr::from(number)))
}

fn delay_ms(logins: &Logins, from: Remote, now_us: u64) -> u128 {
    logins.delay(from, now_us).as_millis()
}

#[test]
fn each_failure_doubles_the_wait_up_to_a_bound_and_a_right_password_ends_it() {
    let logins = Logins::default();
    let from = address(1);
    let mut waits = Vec::new();
    for _ in 0..9 {
        waits.push(delay_ms(&logins, from, 0));
        logins.failed(from, 0);
    }
    assert_eq!(waits, [0, 100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
    for _ in 0..100 {
        logins.failed(from, 0);
    }
    assert_eq!(delay_ms(&logins, from, 0), 5_000);
    assert_eq!(delay_ms(&logins, address(2), 0), 0, "another address");
    logins.passed(from);
    assert_eq!(delay_ms(&logins, from, 0), 0);
}

#[test]
fn failures_are_forgotten_after_a_while_without_one() {
    let logins = Logins::default();
    let from = Remote::Unix(Some(1000));
    logins.failed(from, 0);
    logins.failed(from, 0);
    let later_us = LOGIN_FORGET_AFTER.as_micros() as u64;
    assert_eq!(delay_ms(&logins, from, later_us - 1), 200);
    assert_eq!(delay_ms(&logins, from, later_us), 0);
    logins.failed(from, later_us);
    assert_eq!(delay_ms(&logins, from, later_us), 100);
}

#[test]
fn the_log_gets_a_line_a_second_that_counts_those_between() {
    let logins = Logins::default();
    assert_eq!(logins.failed(address(1), 0), Some(1));
    assert_eq!(logins.failed(address(1), 10), None);
    assert_eq!(logins.failed(address(2), 999_999), None);
    assert_eq!(logins.failed(address(2), 1_000_000), Some(3));
}

#[test]
fn addresses_beyond_the_bound_push_out_the_one_that_failed_longest_ago() {
    let logins = Logins::default();
    let count = LOGIN_ADDRESSES_MAX as u32;
    for number in 0..=count {
        logins.failed(address(number), u64::from(number));
    }
    assert_eq!(delay_ms(&logins, address(0), 0), 0);
    assert_eq!(delay_ms(&logins, address(1), 0), 100);
    assert_eq!(delay_ms(&logins, address(count), 0), 100);
}
