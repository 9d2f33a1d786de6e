//! Spans of terms and phrases.

use super::{Document, Lists, Span, further};
use crate::{
    check::{
        code::{FIRST, GROUP, LAST},
        places::At,
    },
    meter::Meter,
};

impl<'a> Document<'a> {
    /// Places of a group's term, before its [`language::tree::Place`] is looked at.
    pub(super) fn places_of(&self, group: &[u32; GROUP]) -> &'a [At] {
        self.places.of(self.index, group[0])
    }

    /// Whether a group's restrictions allow a place.
    fn allows(&self, [_, bits, within, _]: &[u32; GROUP], at: At) -> bool {
        let position = at as u32;
        (bits & FIRST == 0 || position == 1)
            && (bits & LAST == 0 || self.places.is_last(self.index, at))
            && (*within == 0 || position <= *within)
    }

    /// Places of a group's term that its restrictions allow.
    pub(super) fn standing(&self, group: &[u32; GROUP]) -> impl Iterator<Item = At> {
        let places = self.places_of(group).iter().copied();
        places.filter(|at| self.allows(group, *at))
    }
}

impl Lists {
    pub(super) fn word(&mut self, operands: &[u32], document: Document<'_>, meter: &mut Meter) {
        self.push();
        let Lists { lists, narrow, .. } = self;
        let (Some(list), ([group], _)) = (lists.get_mut(self.depth - 1), operands.as_chunks())
        else {
            return;
        };
        narrow.each_run(document.places_of(group), |places| {
            if meter.spend(places.len() as u64, document.slice.goes_on) {
                let places = places.iter().copied();
                let places = places.filter(|at| document.allows(group, *at));
                list.spans
                    .extend(places.map(|at| Span { start: at, end: at }));
            }
        });
        list.matched = !list.spans.is_empty();
    }

    /// PHRASE: begins with the rarest term; each other term sifts the places where the phrase can still begin.
    pub(super) fn phrase(&mut self, operands: &[u32], document: Document<'_>, meter: &mut Meter) {
        let (groups, _) = operands.as_chunks::<GROUP>();
        let spans = &mut self.push().spans;
        let rarest =
            (0..groups.len()).min_by_key(|index| document.places_of(&groups[*index]).len());
        let (Some(rarest), Some(last)) = (rarest, groups.last()) else {
            return;
        };
        let distance = groups[rarest][3];
        let places = document.places_of(&groups[rarest]).len();
        if !meter.spend((groups.len() + places) as u64, document.slice.goes_on) {
            return;
        }
        let starts = document.standing(&groups[rarest]);
        let starts = starts.filter(|at| *at as u32 > distance);
        spans.extend(starts.map(|at| Span {
            start: at - u64::from(distance),
            end: further(at - u64::from(distance), last[3]),
        }));
        for (_, group) in groups.iter().enumerate().filter(|(n, _)| *n != rarest) {
            if !meter.spend(1 + spans.len() as u64, document.slice.goes_on) {
                return;
            }
            let places = document.places_of(group);
            let mut from = 0;
            spans.retain(|span| {
                let wanted = further(span.start, group[3]);
                from = gallop(places, from, wanted);
                places.get(from) == Some(&wanted) && document.allows(group, wanted)
            });
        }
        let matched = !spans.is_empty();
        self.settle(matched);
    }
}

/// The index of the first place from `from` on that is not before `wanted`. Cost: the logarithm of the distance.
fn gallop(places: &[At], from: usize, wanted: At) -> usize {
    let mut step = 1;
    let mut low = from;
    while places.get(low + step).is_some_and(|at| *at < wanted) {
        low += step;
        step *= 2;
    }
    let rest = places.get(low..).unwrap_or_default();
    let rest = &rest[..rest.len().min(step + 1)];
    low + rest.partition_point(|at| *at < wanted)
}
