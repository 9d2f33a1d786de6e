//! Which bytes of a post made a query match, for the screen.

use std::ops::Range;

use query::analysis::Analyzer;
use query::tree::{Node, Term};

/// One word of the post: its text, its position, its bytes.
type Place = (String, u32, Range<usize>);

/// The bytes in one field's text of the words that the query asks for there, ascending, apart from each other. Words
/// under a NOT are none of them.
pub(super) fn of(root: &Node, field: u8, text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Place> = Vec::new();
    Analyzer::default().words(text, &mut |word| {
        places.push((word.text.to_owned(), word.position, word.source));
    });
    let mut marks = Vec::new();
    collect(root, field, &places, &mut marks);
    marks.sort_by_key(|mark| (mark.start, mark.end));
    marks.dedup_by(|next, mark| {
        let joined = next.start < mark.end;
        if joined {
            mark.end = mark.end.max(next.end);
        }
        joined
    });
    marks
}

fn collect(node: &Node, field: u8, places: &[Place], marks: &mut Vec<Range<usize>>) {
    match node {
        Node::Word(word) if word.fields.holds(field) => {
            let same = places.iter().filter(|(text, ..)| **text == *word.term.text);
            marks.extend(same.map(|(_, _, source)| source.clone()));
        }
        Node::Phrase { words, fields } if fields.holds(field) => {
            for (_, start, _) in places {
                let stands = |(term, distance): &(Term, u32)| {
                    places
                        .iter()
                        .find(|(one, at, _)| **one == *term.text && *at == start + distance)
                };
                let found: Option<Vec<&Place>> = words.iter().map(stands).collect();
                marks.extend(
                    found
                        .into_iter()
                        .flatten()
                        .map(|(_, _, source)| source.clone()),
                );
            }
        }
        Node::And(children) | Node::Or(children) => {
            children
                .iter()
                .for_each(|child| collect(child, field, places, marks));
        }
        _ => {}
    }
}
