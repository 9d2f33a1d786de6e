use super::{duration, duration_or_zero, size};

#[test]
fn sizes_and_durations_carry_units() {
    assert_eq!(size("64KiB"), Ok(64 << 10));
    assert_eq!(size("2 g"), Ok(2 << 30));
    assert!(size("0").is_err());
    assert!(size("17179869184G").is_err(), "overflows");
    assert_eq!(duration("250ms").unwrap().as_millis(), 250);
    assert_eq!(duration("8h").unwrap().as_secs(), 28_800);
    assert!(duration("8").is_err());
    assert!(duration("0s").unwrap_err().contains("above 0"));
    assert!(duration_or_zero("0s").unwrap().is_zero());
}
