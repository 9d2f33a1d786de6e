//! Lengths, as prompts to split. Test code and blank files of data do not count.

use super::Problem;
use super::source::Source;
use super::tree::Tree;

/// Lines of a file without its tests; 400 is the aim.
const FILE_LINES_MAX: usize = 1_000;
/// Lines of a function from `fn` to its last brace; 40 is the aim.
const FUNCTION_LINES_MAX: usize = 70;
/// Lines of ARCHITECTURE.md.
const ARCHITECTURE_LINES_MAX: usize = 230;

/// Functions that are one table or one list, where a cut would only hide rows: (path, function, why).
const EXCUSED: [(&str, &str, &str); 0] = [];

pub(super) fn check(tree: &Tree, problems: &mut Vec<Problem>) {
    for (path, text) in tree.ending(".rs") {
        check_source(path, &Source::new(path, text), problems);
    }
    let lines = tree
        .text("ARCHITECTURE.md")
        .unwrap_or_default()
        .lines()
        .count();
    if lines > ARCHITECTURE_LINES_MAX {
        let message = format!("{lines} lines; {ARCHITECTURE_LINES_MAX} is what people read");
        problems.push(Problem::new("ARCHITECTURE.md", lines, message));
    }
}

fn check_source(path: &str, source: &Source, problems: &mut Vec<Problem>) {
    let lines = source
        .lines()
        .filter(|(number, _)| !source.is_test(*number))
        .count();
    if lines > FILE_LINES_MAX {
        let message = format!("{lines} lines without tests (at most {FILE_LINES_MAX}): split it");
        problems.push(Problem::new(path, 1, message));
    }
    for function in source.functions() {
        let lines = function.last - function.first + 1;
        let excused = EXCUSED
            .iter()
            .any(|(file, name, _)| *file == path && *name == function.name);
        if lines > FUNCTION_LINES_MAX && !excused && !source.is_test(function.first) {
            let message = format!(
                "fn {}: {lines} lines (at most {FUNCTION_LINES_MAX}): split it",
                function.name
            );
            problems.push(Problem::new(path, function.first, message));
        }
    }
}
