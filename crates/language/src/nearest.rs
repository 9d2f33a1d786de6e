//! Guesses the name that a mistyped one was meant to be.

use strsim::osa_distance;

/// The known name nearest to a mistyped one. `None` if more letters differ than a third of
/// its letters, or than two where that is more.
pub fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near_enough = written.chars().count().div_ceil(3).max(2);
    known
        .map(|name| (osa_distance(written, name), name))
        .filter(|(distance, _)| *distance <= near_enough)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// As [`nearest`], of names that a user has given, so that few of them are alike on purpose: of three letters or more, with the same
/// first letter, and hardly shorter.
pub fn nearest_name<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters = written.chars().count();
    let first = |name: &str| {
        name.chars()
            .next()
            .map(|letter| letter.to_ascii_lowercase())
    };
    let may_be_meant = |name: &&str| {
        first(name) == first(written)
            && name.chars().count() + 1 >= letters
            && !name.eq_ignore_ascii_case(written)
    };
    let known = known.filter(may_be_meant);
    (letters >= 3).then(|| nearest(written, known))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_near_one_that_differs_by_a_slip_and_not_one_that_is_only_short() {
        let known = ["title", "body", "n", "price", "posts"];
        let near = |written| nearest_name(written, known.into_iter());
        assert_eq!(near("titel"), Some("title"));
        assert_eq!(near("Bodi"), Some("body"));
        assert_eq!(near("post"), Some("posts"));
        for other in ["nix", "a", "nn", "price", "PRICE", "slice", ""] {
            assert_eq!(near(other), None, "{other}");
        }
    }
}
