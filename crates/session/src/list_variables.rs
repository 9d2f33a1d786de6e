//! Variables that are lists: `SET @ids = (1, 5, 7)` of one session, `SET GLOBAL @ids = (1, 5, 7)` of all.
//!
//! A statement that names a list shares it. A later SET puts another list in its place and leaves that one to the statement.

use std::collections::BTreeMap;

use relation::expression::List;

use crate::errors::Failure;
use crate::temporary::{TableGrant, TableMemory};

/// The lists of one owner by name, without `@`.
#[derive(Default)]
pub(crate) struct ListVariables {
    lists: BTreeMap<String, List>,
    held: TableGrant,
}

impl ListVariables {
    pub(crate) fn get(&self, name: &str) -> Option<&List> {
        self.lists.get(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.lists.len()
    }

    /// Sets a list, whose memory is taken from that of temporary tables.
    ///
    /// # Errors
    /// `LIMIT`: that memory is used up; the list of before stays.
    pub(crate) fn set(
        &mut self,
        memory: &TableMemory,
        name: String,
        list: List,
    ) -> Result<(), Failure> {
        self.held.cover(memory, self.bytes() + list.memory())?;
        self.lists.insert(name, list);
        self.held.keep(self.bytes());
        Ok(())
    }

    /// Removes a list, if there is one of that name.
    pub(crate) fn remove(&mut self, name: &str) {
        if self.lists.remove(name).is_some() {
            self.held.keep(self.bytes());
        }
    }

    fn bytes(&self) -> usize {
        self.lists.values().map(List::memory).sum()
    }
}
