//! COUNT(DISTINCT …).

use language::meter::{Meter, Work};

use super::{Pay, States};
use crate::expression::AggregateKind;
use crate::rows::groups::index::{Block, DistinctValues, Texts};
use crate::value::Value;

/// The distinct values of each group, and how many they are.
pub(in crate::rows::groups) struct Distinct {
    /// Empty until the values are counted.
    pub(in crate::rows::groups) counts: Vec<u64>,
    pub(in crate::rows::groups) values: DistinctValues,
}

impl Distinct {
    pub(super) fn new() -> Distinct {
        Distinct {
            counts: Vec::new(),
            values: DistinctValues::new(),
        }
    }
}

impl States for Distinct {
    fn grow(&mut self) {}

    fn state_bytes(&self) -> usize {
        size_of::<u64>()
    }

    fn compares(&self) -> bool {
        false
    }

    fn add<E>(
        &mut self,
        group: u32,
        arguments: &[Value],
        meter: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        Ok(self.values.add(group, arguments, meter))
    }

    fn add_block<E>(
        &mut self,
        groups: &[u32],
        argument: Option<&Block>,
        meter: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E> {
        let values = &mut self.values;
        Ok(match argument {
            Some(Block::Whole(numbers)) => {
                let rows = groups.iter().zip(numbers);
                Some(
                    rows.map(|(group, number)| values.add_whole(*group, *number))
                        .sum(),
                )
            }
            Some(Block::Texts(texts)) => {
                let rows = groups.iter().zip(texts.iter());
                Some(
                    rows.map(|(group, text)| values.add_text(*group, text, meter))
                        .sum(),
                )
            }
            Some(Block::Listed(places, texts)) => {
                let rows = listed_once(groups, places, texts);
                let rows = rows.map(|(group, place)| (group, [texts.value(place as usize)]));
                Some(
                    rows.map(|(group, value)| values.add(group, &value, meter))
                        .sum(),
                )
            }
            Some(Block::Real(_) | Block::Any(_)) | None => None,
        })
    }

    /// Another thread's values are added table by table, by [`super::super::BlockGroups::merge`], on several threads.
    fn merge(&mut self, other: Distinct, places: &[u32], work: &Work<'_>) -> Option<usize> {
        let mut bytes = 0;
        for (own, more) in self.values.shards.iter_mut().zip(other.values.shards) {
            bytes += own.merge(more, places, work)?;
        }
        Some(bytes)
    }

    fn end(&mut self, groups: usize) {
        self.counts.resize(groups, 0);
        for shard in &mut self.values.shards {
            shard.counts(|group, count| self.counts[group as usize] += count);
        }
    }

    fn take(&mut self, _: &AggregateKind, group: usize) -> Value {
        Value::Int(self.counts[group].into())
    }
}

/// Each text of a list with its group, once: one that comes again in its group changes nothing.
pub(super) fn listed_once(
    groups: &[u32],
    places: &[u32],
    texts: &Texts,
) -> impl Iterator<Item = (u32, u32)> + use<> {
    let count = texts.count();
    let rows = groups.iter().copied().zip(places.iter().copied());
    let mut rows: Vec<(u32, u32)> = rows
        .filter(|(_, place)| (*place as usize) < count)
        .collect();
    rows.sort_unstable();
    rows.dedup();
    rows.into_iter()
}
