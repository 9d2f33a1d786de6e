use super::*;

#[test]
fn a_line_is_a_document_and_the_last_needs_no_end() {
    let cut = |text: &'static str| -> Vec<&str> {
        lines(text.as_bytes())
            .map(|line| std::str::from_utf8(line).unwrap())
            .collect()
    };
    assert_eq!(cut("a\nb"), ["a", "b"]);
    assert_eq!(cut("a\r\nb\r\n"), ["a", "b"]);
    assert_eq!(cut("a\n\nb\n"), ["a", "", "b"]);
    assert_eq!(cut("\n"), Vec::<&str>::new());
    assert_eq!(cut(""), Vec::<&str>::new());
}

#[test]
fn a_bad_line_of_json_is_named() {
    let read = json_lines(b"{\"a\":\"x\"}\n\n[{\"a\":\"y\"},{\"a\":\"z\"}]\n").unwrap();
    assert_eq!(read.len(), 3);
    let failure = json_lines(b"{\"a\":\"x\"}\n{").unwrap_err();
    assert!(failure.message.starts_with("line 2: "), "{failure}");
}

#[test]
fn options_may_stand_in_the_address() {
    let mut options = PqOptions::default();
    let query = "limit=5&after=7&count_only=1&weights=0&only=any(tags)%3D'web'";
    set_parameters(&mut options, query).unwrap();
    assert_eq!((options.limit, options.after), (Some(5), Some(7)));
    assert!(options.count && !options.weights && options.only.is_some());
    let failure = set_parameters(&mut options, "limit=x").unwrap_err();
    assert_eq!(failure.message, "limit: expected a whole number from 0");
}
