use super::Remote;

#[test]
fn a_client_is_an_address_of_four_bytes_or_the_first_half_of_a_longer_one() {
    let of = |text: &str| Remote::of(text.parse().unwrap()).to_string();
    assert_eq!(of("10.1.2.3"), "10.1.2.3");
    assert_eq!(of("::ffff:10.1.2.3"), "10.1.2.3");
    assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    assert_eq!(of("::1"), "::1");
}
