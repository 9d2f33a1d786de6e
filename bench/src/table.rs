//! Tables as text and as CSV.

/// Lines with headers and rows; columns are aligned at the right.
pub(crate) fn aligned(headers: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let longest = cells.map(String::len).max().unwrap_or(0);
        longest.max(headers[column].len())
    };
    let widths: Vec<usize> = (0..headers.len()).map(width).collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:>width$}"));
        padded.collect::<Vec<_>>().join("  ") + "\n"
    };
    let mut text = line(&mut headers.iter().copied());
    for row in rows {
        text += &line(&mut row.iter().map(String::as_str));
    }
    text
}

/// CSV, separated by `;`: the version and the notes in lines that begin with `#`, then the headers, then the rows. A tag becomes
/// the last column.
pub(crate) fn csv(
    name: &str,
    notes: &[String],
    headers: &[&str],
    rows: &[Vec<String>],
    tag: Option<&str>,
) -> String {
    let mut text = format!("# {name}, seine {}\n", env!("CARGO_PKG_VERSION"));
    for note in notes {
        text += &format!("# {note}\n");
    }
    let mut line = |cells: &str, last: &str| {
        let last = tag.map_or(String::new(), |_| format!(";{last}"));
        text += &format!("{cells}{last}\n");
    };
    line(&headers.join(";"), "tag");
    for row in rows {
        line(&row.join(";"), tag.unwrap_or_default());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{aligned, csv};

    #[test]
    fn columns_are_aligned_at_the_right() {
        let rows = [vec!["a".to_owned(), "1000".to_owned()]];
        assert_eq!(aligned(&["name", "n"], &rows), "name     n\n   a  1000\n");
    }

    #[test]
    fn a_tag_stands_behind_every_line() {
        let rows = [vec!["a".to_owned()]];
        let text = csv("x", &["noted".to_owned()], &["name"], &rows, Some("mine"));
        assert!(text.ends_with("# noted\nname;tag\na;mine\n"), "{text}");
    }
}
