//! Workloads of the benchmarks: real posts, and queries drawn from their words by a fixed recipe.

mod posts;
mod recipe;
mod statements;

pub(crate) use posts::ATTRIBUTES;
pub use posts::{Post, PostsError, posts};
pub use recipe::{Draw, Drawn, Recipe, commonest_words};
pub(crate) use statements::{push_literal, statements};

#[cfg(test)]
mod tests;
