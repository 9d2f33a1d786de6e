//! Where the sentences and paragraphs of a document end.

use crate::tree::Unit;

/// Field and last position of each sentence and paragraph but the last of its field; rising.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitEnds {
    /// The end of each sentence but the last of its field.
    pub sentences: Vec<(u8, u32)>,
    /// Of paragraphs: each is the end of a sentence too.
    pub paragraphs: Vec<(u8, u32)>,
}

impl UnitEnds {
    /// Forgets the ends, and keeps their memory.
    pub fn clear(&mut self) {
        self.sentences.clear();
        self.paragraphs.clear();
    }

    /// Memory that it takes, in bytes.
    pub fn memory(&self) -> usize {
        (self.sentences.capacity() + self.paragraphs.capacity()) * size_of::<(u8, u32)>()
    }

    /// How many units of a field end before a position. Cost: a binary search.
    pub fn unit_at(&self, unit: Unit, field: u8, position: u32) -> u32 {
        let ends = match unit {
            Unit::Sentence => &self.sentences,
            Unit::Paragraph => &self.paragraphs,
        };
        let before = ends.partition_point(|end| *end < (field, position));
        let of_others = ends.partition_point(|(other, _)| *other < field);
        (before - of_others) as u32 // no more than words
    }

    /// The first and the last position of the unit that holds a position. Cost: a binary search.
    pub fn unit_bounds(&self, unit: Unit, field: u8, position: u32) -> (u32, u32) {
        let ends = match unit {
            Unit::Sentence => &self.sentences,
            Unit::Paragraph => &self.paragraphs,
        };
        let before = ends.partition_point(|end| *end < (field, position));
        let end = |at: Option<usize>| {
            let end = at.and_then(|at| ends.get(at));
            end.filter(|(other, _)| *other == field)
                .map(|(_, end)| *end)
        };
        let first = end(before.checked_sub(1)).map_or(0, |end| end + 1);
        (first, end(Some(before)).unwrap_or(u32::MAX))
    }
}
