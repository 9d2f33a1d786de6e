//! Recipes that draw standing queries from real text.

mod filters;
mod shapes;
mod words;

use serde::Deserialize;
use shapes::Shape;
use words::TextWords;

use super::Post;
use crate::random::XorShift;

pub use words::commonest_words;

/// A recipe for queries. It draws from [`XorShift`] with the seed of its definition, in the order described, so the same posts
/// and seed give the same workload.
///
/// *Selective* words have at least four characters and are not among the 100 most frequent. If a drawn post has too few words
/// of the kind, another is drawn.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Recipe {
    /// Four different words, drawn evenly from the 1,000 most frequent of all posts; a repeated word is drawn again. Two are
    /// required, two excluded.
    Common,
    /// Two different selective words of a post are required. Two of another post are excluded.
    Selective,
    /// As `Selective`, with five required words.
    #[serde(rename = "selective-5")]
    SelectiveFive,
    /// As `Selective`, but drawn from all words of a post.
    Any,
    /// As `Any`, with five required words.
    #[serde(rename = "any-5")]
    AnyFive,
    /// Two to four neighbouring words of a post, as a phrase. At least one is selective.
    Phrases,
    /// Half are `(a | b) (c | d)`, half `a (b | c | d) -e`, of selective words. Words that must occur together come from one
    /// post.
    Ors,
    /// A selective word with a `*` before, behind or on both sides, or with a `?` in it. Three of four also require another word
    /// of the post and exclude a word of another.
    Wildcards,
    /// Two selective words of a post, at any places: `a NEAR/5 b`.
    Near,
    /// 30 % `Phrases`, 20 % `Ors`, 10 % `Wildcards`, 10 % `Near`, 30 % `Selective`; half of all with a filter on the
    /// attributes of posts.
    Mixed,
    /// 40 % `Ors`, 60 % `Selective`, no filters: `Mixed` without the queries that need positions, patterns or attributes.
    Boolean,
}

/// A query of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// Text of the query.
    pub text: String,
    /// Filter on `sub`, `score` and `ts`; empty: none.
    pub filters: String,
}

/// An endless iterator over the queries of a recipe. Cost: about half a microsecond each.
pub struct Draw<'p> {
    recipe: Recipe,
    posts: &'p [Post],
    words: TextWords,
    random: XorShift,
}

impl Recipe {
    /// Queries from these posts; `None`: they have too few words to draw from.
    #[must_use]
    pub fn draw(self, posts: &[Post], seed: u64) -> Option<Draw<'_>> {
        Some(Draw {
            recipe: self,
            posts,
            words: TextWords::new(self, posts)?,
            random: XorShift::new(seed),
        })
    }

    /// Whether its queries have filters, so that documents need attributes.
    #[must_use]
    pub fn has_filters(self) -> bool {
        self == Recipe::Mixed
    }
}

impl Iterator for Draw<'_> {
    type Item = Drawn;

    fn next(&mut self) -> Option<Drawn> {
        let shape = Shape::of(self.recipe, &mut self.random);
        let text = shape.query(&self.words, &mut self.random);
        let filters = match self.recipe.has_filters() {
            true => filters::draw(self.posts, &mut self.random),
            false => String::new(),
        };
        Some(Drawn { text, filters })
    }
}
