use proptest::prelude::*;

use super::{Amount, BadAmount, GRAINS, PLACES_MAX, Sum, Written, apportion, apportion_numbers};

#[test]
fn a_share_of_up_to_24_touches_has_no_rest() {
    for count in 1..=24 {
        assert_eq!(GRAINS % count, 0, "{count}");
    }
    assert_eq!(GRAINS % 10_000, 0);
}

#[test]
fn an_amount_is_read_whole_or_refused() {
    for (text, wanted) in [
        ("12", Ok((12_000_000, 0))),
        ("12.50", Ok((12_500_000, 1))),
        ("-3.99", Ok((-3_990_000, 2))),
        ("+4", Ok((4_000_000, 0))),
        (".5", Ok((500_000, 1))),
        ("5.", Ok((5_000_000, 0))),
        ("0.000001", Ok((1, 6))),
        ("1.2300000000", Ok((1_230_000, 2))),
        ("1.2345678", Ok((1_234_568, 6))),
        ("-1.2345675", Ok((-1_234_568, 6))),
        ("9223372036855", Err(BadAmount::Range)),
        ("", Err(BadAmount::Form)),
        ("-", Err(BadAmount::Form)),
        (".", Err(BadAmount::Form)),
        ("1,5", Err(BadAmount::Form)),
        ("12 EUR", Err(BadAmount::Form)),
        ("$12", Err(BadAmount::Form)),
        ("1e3", Err(BadAmount::Form)),
        ("NaN", Err(BadAmount::Form)),
        ("--1", Err(BadAmount::Form)),
    ] {
        let got = Amount::parse(text.as_bytes());
        let got = got.map(|written| (written.amount.0, written.places));
        assert_eq!(got, wanted, "{text}");
    }
}

#[test]
fn three_thirds_of_a_cent_are_a_cent() {
    let cent = Amount(10_000);
    let mut sums = [Sum::default(); 3];
    for sum in &mut sums {
        sum.add_share(cent, GRAINS / 3);
    }
    assert_eq!(apportion(&sums, 2), [1, 0, 0]);
    let mut all = Sum::default();
    sums.iter().for_each(|sum| all.merge(*sum));
    assert_eq!(all.value(), 0.01);
}

#[test]
fn a_factor_rounds_halves_away_from_zero() {
    assert_eq!(Amount(3).times(Amount(500_000)), Some(Amount(2)));
    assert_eq!(Amount(-3).times(Amount(500_000)), Some(Amount(-2)));
    assert_eq!(Amount(i64::MAX).times(Amount(2_000_000)), None);
}

proptest! {
    #[test]
    fn apportioned_sums_add_up_to_the_total(
        amounts in prop::collection::vec((-1_000_000_000_i64..1_000_000_000, 0..=GRAINS), 1..30),
        places in 0..=PLACES_MAX,
    ) {
        let sums: Vec<Sum> = amounts.iter().map(|(amount, grains)| {
            let mut sum = Sum::default();
            sum.add_share(Amount(*amount), *grains);
            sum
        }).collect();
        let mut total = Sum::default();
        sums.iter().for_each(|sum| total.merge(*sum));
        let parts = apportion(&sums, places);
        prop_assert_eq!(parts.iter().sum::<i128>(), total.units(places));
        let scale = 10_f64.powi(i32::from(places));
        for (part, sum) in parts.iter().zip(&sums) {
            prop_assert!((*part as f64 - sum.value() * scale).abs() <= 1.0 + 1e-6);
        }
        let numbers: Vec<f64> = sums.iter().map(|sum| sum.value()).collect();
        let parts = apportion_numbers(&numbers, total, places);
        prop_assert_eq!(parts.iter().sum::<i128>(), total.units(places));
    }

    #[test]
    fn bytes_of_strangers_are_never_misread(text in "\\PC{0,24}") {
        if let Ok(Written { amount, places, .. }) = Amount::parse(text.as_bytes()) {
            let number: f64 = text.parse().unwrap();
            prop_assert!((number - amount.0 as f64 / 1e6).abs() <= 1e-6 * number.abs().max(1.0));
            prop_assert!(places <= PLACES_MAX);
        }
    }
}
