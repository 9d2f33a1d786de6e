//! COUNT(*), and COUNT(x) of rows whose x is not NULL.

use language::meter::{Meter, Work};

use super::{Pay, STATE_UNITS, States};
use crate::expression::AggregateKind;
use crate::rows::groups::index::Block;
use crate::value::Value;

/// The rows of each group.
#[derive(Default)]
pub(in crate::rows::groups) struct Counts(Vec<u64>);

impl States for Counts {
    fn grow(&mut self) {
        self.0.push(0);
    }

    fn state_bytes(&self) -> usize {
        size_of::<u64>()
    }

    fn compares(&self) -> bool {
        false
    }

    fn add<E>(
        &mut self,
        group: u32,
        _: &[Value],
        _: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<usize, E> {
        self.0[group as usize] += 1;
        Ok(0)
    }

    fn add_block<E>(
        &mut self,
        groups: &[u32],
        argument: Option<&Block>,
        _: &dyn Meter,
        _: &mut Pay<'_, E>,
    ) -> Result<Option<usize>, E> {
        match argument {
            None | Some(Block::Whole(_) | Block::Real(_) | Block::Texts(_)) => {
                groups.iter().for_each(|group| self.0[*group as usize] += 1);
            }
            Some(Block::Listed(places, texts)) => {
                for (group, place) in groups.iter().zip(places) {
                    self.0[*group as usize] += u64::from((*place as usize) < texts.count());
                }
            }
            Some(Block::Any(_)) => return Ok(None),
        }
        Ok(Some(0))
    }

    fn merge(&mut self, other: Counts, places: &[u32], work: &Work<'_>) -> Option<usize> {
        for (at, more) in places.iter().zip(other.0) {
            work.begin(STATE_UNITS)?;
            self.0[*at as usize] += more;
        }
        Some(0)
    }

    fn end(&mut self, _: usize) {}

    fn take(&mut self, _: &AggregateKind, group: usize) -> Value {
        Value::Int(self.0[group].into())
    }
}
