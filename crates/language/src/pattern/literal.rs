//! Finds a literal that every match of a regular expression holds.

use regex_syntax::hir::{Hir, HirKind};

use super::Literal;

/// The longest literal that every match passes.
pub(super) fn of_regex(text: &str) -> Literal {
    let Ok(hir) = regex_syntax::parse(text) else {
        return Literal::None;
    };
    let mut best = Literal::None;
    visit(
        &hir,
        Ends {
            head: true,
            tail: true,
        },
        &mut best,
    );
    best
}

/// Whether a part of the expression is at the head, and at the tail, of every match.
#[derive(Clone, Copy)]
struct Ends {
    head: bool,
    tail: bool,
}

fn visit(hir: &Hir, ends: Ends, best: &mut Literal) {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let Ok(text) = std::str::from_utf8(&literal.0) else {
                return;
            };
            if text.chars().count() > best.text().chars().count() {
                *best = match ends {
                    Ends { head: true, .. } => Literal::Prefix(text.into()),
                    Ends { tail: true, .. } => Literal::Suffix(text.into()),
                    _ => Literal::Infix(text.into()),
                };
            }
        }
        HirKind::Capture(capture) => visit(&capture.sub, ends, best),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            visit(&repetition.sub, ends, best);
        }
        HirKind::Concat(parts) => {
            for (number, part) in parts.iter().enumerate() {
                let ends = Ends {
                    head: ends.head && number == 0,
                    tail: ends.tail && number + 1 == parts.len(),
                };
                visit(part, ends, best);
            }
        }
        _ => {}
    }
}
