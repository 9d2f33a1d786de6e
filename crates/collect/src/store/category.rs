//! `category`, `multifile` and `thriftmultifile`: a copy of the model for each category, made at its first message.

use std::collections::HashMap;

use crate::config::StoreConfig;
use crate::message::{Message, Now};

use super::build::build;
use super::marks::Marks;
use super::split::{self, Ahead};
use super::{Store, Surroundings, Written};

pub(super) struct Category {
    model: StoreConfig,
    /// Copies of the model so far: this store may be one of a model itself.
    copies: usize,
    surroundings: Surroundings,
    /// Number of a category's store.
    numbers: HashMap<Box<[u8]>, usize>,
    stores: Vec<Box<dyn Store>>,
    ahead: Ahead,
}

impl Category {
    pub(super) fn new(model: &StoreConfig, copies: usize, surroundings: &Surroundings) -> Category {
        Category {
            model: model.clone(),
            copies,
            surroundings: surroundings.clone(),
            numbers: HashMap::new(),
            stores: Vec::new(),
            ahead: Ahead::default(),
        }
    }

    fn number(&mut self, category: &[u8]) -> Result<usize, String> {
        if let Some(number) = self.numbers.get(category) {
            return Ok(*number);
        }
        let store = build(
            &self.model,
            category,
            self.copies + 1,
            &self.surroundings.of_part(self.stores.len()),
        )?;
        self.stores.push(store);
        self.numbers.insert(category.into(), self.stores.len() - 1);
        Ok(self.stores.len() - 1)
    }
}

impl Store for Category {
    fn parts(&self) -> &[Box<dyn Store>] {
        &self.stores
    }

    fn parts_mut(&mut self) -> &mut [Box<dyn Store>] {
        &mut self.stores
    }

    fn write(&mut self, batch: &[Message<'_>], now: Now) -> Written {
        let mut routes = Vec::with_capacity(batch.len());
        for run in batch.chunk_by(|one, other| one.category == other.category) {
            let number = run
                .first()
                .map_or(Ok(0), |first| self.number(first.category));
            routes.extend(
                run.iter()
                    .map(|message| number.clone().map(|number| (number, *message))),
            );
        }
        split::write(
            &mut self.stores,
            batch,
            routes.into_iter(),
            &mut self.ahead,
            now,
        )
    }

    fn marks(&self) -> Marks {
        let mut marks = self.ahead.marks();
        for (category, number) in &self.numbers {
            if let Some(store) = self.stores.get(*number) {
                marks.add_part(category, store.marks());
            }
        }
        // The same marks are the same bytes.
        marks
            .parts
            .sort_unstable_by(|one, other| one.0.cmp(&other.0));
        marks
    }

    fn take_up(&mut self, marks: &Marks) {
        self.ahead.take_up(marks);
        for (category, marks) in &marks.parts {
            // A category whose store cannot be made has nothing to take up.
            let number = self.number(category).ok();
            if let Some(store) = number.and_then(|number| self.stores.get_mut(number)) {
                store.take_up(marks);
            }
        }
    }

    fn forget(&mut self) {
        self.ahead.forget();
        self.stores.iter_mut().for_each(|store| store.forget());
    }
}
