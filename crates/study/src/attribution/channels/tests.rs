use super::{BadChannel, Channels, Naming, Origin};
use crate::attribution::limits::CHANNELS_MAX;

/// The channel of `source`, `medium`, `subcategory` by a pattern and maps.
#[track_caller]
fn check(pattern: &str, maps: &[(&str, &str)], parts: [&str; 3], wanted: &str) {
    let mut naming = Naming::new(pattern);
    for (name, channel) in maps {
        naming.map(name, channel).unwrap();
    }
    let mut channels = Channels::new(naming);
    let [source, medium, subcategory] = parts.map(str::as_bytes);
    let origin = Origin {
        source,
        medium,
        subcategory,
    };
    channels.of_origin(origin, &mut Vec::new()).unwrap();
    assert_eq!(channels.sorted().0, [wanted]);
}

#[test]
fn a_missing_part_is_none() {
    let pattern = "source-med-subcat";
    check(pattern, &[], ["google", "cpc", ""], "google-cpc-(none)");
    check(pattern, &[], ["", "", ""], "(none)-(none)-(none)");
    check("medium: source", &[], ["a", "b", "c"], "b: a");
    check("x", &[], ["a", "b", "c"], "x");
}

#[test]
fn an_exact_map_goes_before_an_expression_and_expressions_by_their_order() {
    let maps = [
        ("/google/", "Google"),
        ("/cpc/", "Paid"),
        ("google-cpc", "Google ads"),
    ];
    let pattern = "source-med";
    check(pattern, &maps, ["google", "cpc", ""], "Google ads");
    check(pattern, &maps, ["google", "organic", ""], "Google");
    check(pattern, &maps, ["bing", "cpc", ""], "Paid");
    check(pattern, &maps, ["bing", "organic", ""], "bing-organic");
}

#[test]
fn maps_that_say_two_things_or_nothing_are_refused() {
    let mut naming = Naming::default();
    assert!(naming.map("a", "A").is_ok());
    assert!(naming.map("a", "A").is_ok());
    assert!(naming.map("a", "B").unwrap_err().contains("mapped twice"));
    assert!(naming.map("b", "").is_err());
    let refused = naming.map("/(/", "B").unwrap_err();
    assert!(refused.contains("no regular expression"), "{refused}");
}

#[test]
fn names_that_are_no_text_and_too_many_channels_are_refused() {
    let mut channels = Channels::new(Naming::default());
    assert_eq!(channels.of_name(b"\xff"), Err(BadChannel::Name));
    assert_eq!(channels.of_name(b""), Err(BadChannel::Name));
    assert_eq!(channels.of_name(&[b'a'; 257]), Err(BadChannel::Name));
    for number in 0..CHANNELS_MAX {
        channels.of_name(number.to_string().as_bytes()).unwrap();
    }
    assert_eq!(channels.of_name(b"more"), Err(BadChannel::TooMany));
    assert!(channels.of_name(b"7").is_ok());
}

#[test]
fn channels_are_numbered_by_name_at_the_end() {
    let mut channels = Channels::new(Naming::default());
    for name in ["c", "a", "b"] {
        channels.of_name(name.as_bytes()).unwrap();
    }
    let (names, ranks) = channels.sorted();
    assert_eq!(names, ["a", "b", "c"]);
    let ranks: Vec<u16> = ranks.iter().map(|id| id.0).collect();
    assert_eq!(ranks, [2, 0, 1]);
}
