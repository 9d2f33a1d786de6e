//! How standing queries are drawn from real text.

mod filters;
mod shapes;
mod words;

use serde::Deserialize;

use super::Post;
use crate::random::XorShift;
use shapes::Shape;
use words::TextWords;

pub use words::commonest_words;

/// What a query asks for. Each recipe draws from [`XorShift`] with the seed of its definition, in the order described,
/// so a workload is made again from its posts and its seed.
///
/// *Selective* words have at least four characters and are not among the 100 commonest. A post that is drawn and has too
/// few words of the kind is drawn again.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Recipe {
    /// Four different words drawn evenly from the 1,000 commonest of all posts; a word already drawn is drawn again.
    /// Two must be there, two must not.
    Common,
    /// Two different selective words of one post must be there; two that must not come from another in the same way.
    Selective,
    /// As `Selective`, with five words that must be there.
    #[serde(rename = "selective-5")]
    SelectiveFive,
    /// As `Selective`, of all the words of a post.
    Any,
    /// As `Any`, with five words that must be there.
    #[serde(rename = "any-5")]
    AnyFive,
    /// Two to four words that follow each other in a post, at least one of them selective, as a phrase.
    Phrases,
    /// Half of them `(a | b) (c | d)`, half `a (b | c | d) -e`, of selective words: what must be there together comes from
    /// one post.
    Ors,
    /// A selective word with a `*` before, behind or on both sides, or a `?` in it; three of four beside another word of
    /// its post and without one of another.
    Wildcards,
    /// Two selective words of one post, wherever they stand in it: `a NEAR/5 b`.
    Near,
    /// 30 % `Phrases`, 20 % `Ors`, 10 % `Wildcards`, 10 % `Near`, 30 % `Selective`; half of all with a filter on the
    /// attributes of posts.
    Mixed,
    /// 40 % `Ors`, 60 % `Selective`, no filters: `Mixed` without the queries that need positions, patterns or attributes.
    Boolean,
}

/// One query of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// What it asks of the text.
    pub text: String,
    /// What it asks of `sub`, `score` and `ts`; empty for nothing.
    pub filters: String,
}

/// The queries of a recipe, one after the other, without end. Cost: about half a microsecond each.
pub struct Draw<'p> {
    recipe: Recipe,
    posts: &'p [Post],
    words: TextWords,
    random: XorShift,
}

impl Recipe {
    /// Queries from these posts; none if they hold too few words to draw from.
    #[must_use]
    pub fn draw(self, posts: &[Post], seed: u64) -> Option<Draw<'_>> {
        Some(Draw {
            recipe: self,
            posts,
            words: TextWords::new(self, posts)?,
            random: XorShift::new(seed),
        })
    }

    /// Whether its queries ask for attributes, so that documents must have them.
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
