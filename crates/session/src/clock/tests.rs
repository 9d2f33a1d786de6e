use super::civil;

#[test]
fn seconds_become_the_date_and_time_of_utc() {
    assert_eq!(civil(0), "1970-01-01 00:00:00");
    assert_eq!(civil(951_782_400), "2000-02-29 00:00:00");
    assert_eq!(civil(1_709_251_199), "2024-02-29 23:59:59");
    assert_eq!(civil(-1), "1969-12-31 23:59:59");
}
