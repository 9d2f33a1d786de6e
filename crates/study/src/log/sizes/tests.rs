use super::{SIZE_CLASSES, parse_sizes, size_class};

#[test]
fn sizes_are_read_with_and_without_units() {
    let sizes = parse_sizes("# a comment\nposts 1500000\nnews,2.5 MB\n\nold\t30GB\n").unwrap();
    let sizes: Vec<(&str, u64)> = sizes
        .iter()
        .map(|(name, bytes)| (name.as_str(), *bytes))
        .collect();
    assert_eq!(
        sizes,
        [
            ("news", 2_500_000),
            ("old", 30_000_000_000),
            ("posts", 1_500_000)
        ]
    );
}

#[test]
fn a_line_of_another_form_is_named_by_its_number() {
    for text in [
        "posts 1\nnews\n",
        "posts 1\nnews -5\n",
        "posts 1\nnews 5 miles\n",
        "posts 1\nnews 5 MB more\n",
        "posts 1\nnews nan\n",
    ] {
        assert_eq!(parse_sizes(text), Err(2), "{text}");
    }
}

#[test]
fn classes_are_those_of_the_study() {
    let names = [0, 1_000_000, 3_000_000, 3_000_001, 30_000_000, 30_000_001]
        .map(|bytes| SIZE_CLASSES[size_class(bytes)].0);
    assert_eq!(
        names,
        [
            "below 1 MB",
            "1-3 MB",
            "1-3 MB",
            "3-30 MB",
            "3-30 MB",
            "above 30 MB"
        ]
    );
}
