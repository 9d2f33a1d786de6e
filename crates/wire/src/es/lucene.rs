//! `query_string`: the syntax of Lucene's classic parser.
//!
//! As in Lucene, AND and OR are no operators; they mark their neighbours. A clause is required, optional or excluded. Optional
//! clauses count only if no clause is required. Example, with the default operator OR: in `a AND b OR c` AND makes a and b
//! required, OR leaves c optional, so c does not count.

use serde_json::Value as Json;

use super::condition::{Condition, at_least};
use super::error::EsError;
use super::leaf::{Target, Words};
use super::mapping::{FieldKind, Mapping};
use super::number::minimum;
use crate::limits::JSON_QUERY_DEPTH_MAX;

type Result<T> = std::result::Result<T, EsError>;

/// The fields for words without a field of their own.
pub(super) struct Fields<'m> {
    pub(super) mapping: &'m Mapping,
    pub(super) names: Vec<String>,
    pub(super) all: bool,
    /// Path of the query in the body.
    pub(super) path: String,
}

impl<'m> Fields<'m> {
    /// `names` are the names as given, with boosts. No name, or `*`, means every text field.
    pub(super) fn new(
        mapping: &'m Mapping,
        names: &[String],
        all: bool,
        path: &str,
    ) -> Result<Fields<'m>> {
        let mut list = Vec::new();
        for name in names {
            let name = name.split('^').next().unwrap_or(name);
            match name.strip_suffix('*') {
                Some(start) => {
                    let texts = texts(mapping).filter(|field| field.starts_with(start));
                    list.extend(texts.map(str::to_owned));
                }
                None => list.push(name.to_owned()),
            }
        }
        if names.is_empty() {
            list = texts(mapping).map(str::to_owned).collect();
        }
        if list.is_empty() {
            return Err(EsError::query(path, "no field of type [text] to look in"));
        }
        Ok(Fields {
            mapping,
            names: list,
            all,
            path: path.to_owned(),
        })
    }

    /// The condition in any of the fields, or in `field` if it is named.
    pub(super) fn any(
        &self,
        field: Option<&str>,
        condition: impl Fn(&Target<'_>) -> Result<Condition>,
    ) -> Result<Condition> {
        let one = field.map(str::to_owned);
        let names = one
            .as_ref()
            .map_or(self.names.as_slice(), std::slice::from_ref);
        let conditions = names
            .iter()
            .map(|name| condition(&Target::named(self.mapping, name, &self.path)?));
        Ok(Condition::any(conditions.collect::<Result<Vec<_>>>()?))
    }

    pub(super) fn words(&self, field: Option<&str>, text: &str) -> Result<Condition> {
        let how = Words {
            all: self.all,
            minimum: None,
            empty_is_everything: false,
        };
        self.any(field, |target| target.words(&text.into(), &how, &self.path))
    }

    pub(super) fn phrase(&self, field: Option<&str>, text: &str, slop: u64) -> Result<Condition> {
        self.any(field, |target| {
            target.phrase(&text.into(), slop, "", &self.path)
        })
    }
}

fn texts(mapping: &Mapping) -> impl Iterator<Item = &str> {
    let is_text = |field: &&super::mapping::Field| field.kind == FieldKind::Text;
    mapping
        .fields
        .iter()
        .filter(is_text)
        .map(|field| field.path.as_str())
}

/// Parses a query; `least` is `minimum_should_match`.
pub(super) fn query_string(
    text: &str,
    fields: &Fields<'_>,
    least: Option<&Json>,
) -> Result<Condition> {
    let mut parser = Parser {
        rest: text,
        length: text.len(),
        fields,
    };
    let condition = parser.list(None, least, 0)?;
    if parser.rest.is_empty() {
        Ok(condition)
    } else {
        Err(parser.wrong("a closing bracket without an opening one"))
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Occur {
    Must,
    Should,
    MustNot,
}

struct Parser<'a> {
    rest: &'a str,
    length: usize,
    fields: &'a Fields<'a>,
}

/// A word with its backslashes and without them.
struct Term {
    raw: String,
    plain: String,
    is_pattern: bool,
}

impl<'a> Parser<'a> {
    fn wrong(&self, what: &str) -> EsError {
        let what = format!(
            "failed to parse query: {what} at byte {}",
            self.length - self.rest.len()
        );
        EsError::query(&self.fields.path, what)
    }

    fn not_yet(&self, what: &str) -> EsError {
        let what = format!(
            "{what}, at byte {} of the query",
            self.length - self.rest.len()
        );
        EsError::not_yet(&self.fields.path, what)
    }

    fn take(&mut self, mark: &str) -> bool {
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes an operator in letters, which must be a word of its own.
    fn take_word(&mut self, word: &str) -> bool {
        let after = self.rest.strip_prefix(word);
        let alone = after.filter(|after| {
            after.starts_with(|next: char| next.is_whitespace() || matches!(next, '(' | '"'))
        });
        if let Some(after) = alone {
            self.rest = after;
        }
        alone.is_some()
    }

    fn skip_blank(&mut self) {
        self.rest = self.rest.trim_start();
    }

    /// Parses clauses up to the end or to a closing bracket, which it does not take.
    fn list(
        &mut self,
        field: Option<&str>,
        least: Option<&Json>,
        depth: usize,
    ) -> Result<Condition> {
        if depth > JSON_QUERY_DEPTH_MAX {
            return Err(self.wrong("brackets are nested too deep"));
        }
        let mut clauses: Vec<(Occur, Condition)> = Vec::new();
        loop {
            self.skip_blank();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                break;
            }
            let and = self.take_word("AND") || self.take("&&");
            let or = !and && (self.take_word("OR") || self.take("||"));
            self.skip_blank();
            let not = self.take_word("NOT") || self.take("-") || self.take("!");
            let plus = !not && self.take("+");
            self.skip_blank();
            if self.rest.is_empty() || self.rest.starts_with(')') {
                return Err(self.wrong("a word is missing"));
            }
            let condition = self.clause(field, depth)?;
            if let Some((occur, _)) = clauses
                .last_mut()
                .filter(|(occur, _)| *occur != Occur::MustNot)
            {
                match (and, or && self.fields.all) {
                    (true, _) => *occur = Occur::Must,
                    (_, true) => *occur = Occur::Should,
                    _ => {}
                }
            }
            let wanted = plus || and || (self.fields.all && !or);
            let occur = if not {
                Occur::MustNot
            } else if wanted {
                Occur::Must
            } else {
                Occur::Should
            };
            clauses.push((occur, condition));
        }
        self.joined(clauses, least)
    }

    fn joined(&self, clauses: Vec<(Occur, Condition)>, least: Option<&Json>) -> Result<Condition> {
        let (mut must, mut should) = (Vec::new(), Vec::new());
        for (occur, condition) in clauses {
            match occur {
                Occur::Must => must.push(condition),
                Occur::Should => should.push(condition),
                Occur::MustNot => must.push(Condition::not(condition)),
            }
        }
        let only_negative = must
            .iter()
            .all(|condition| matches!(condition, Condition::Not(_)));
        let least = match least {
            Some(json) => minimum(json, should.len(), &self.fields.path)?,
            None => usize::from(only_negative && !should.is_empty()),
        };
        must.push(at_least(should, least, &self.fields.path)?);
        Ok(Condition::all(must))
    }

    /// Parses a clause with its field, boost and slop.
    fn clause(&mut self, outer: Option<&str>, depth: usize) -> Result<Condition> {
        if self.take("*:*") {
            return Ok(Condition::Everything);
        }
        let before = self.rest;
        let mut own = None;
        if !before.starts_with(['(', '"', '[', '{', '/', '<', '>']) {
            let term = self.term()?;
            if self.take(":") {
                own = Some(term.plain);
                self.skip_blank();
            } else {
                self.rest = before;
            }
        }
        let field = own.as_deref().or(outer);
        let condition = self.operand(field, depth)?;
        if self.take("^") {
            self.number();
        }
        Ok(condition)
    }

    fn operand(&mut self, field: Option<&str>, depth: usize) -> Result<Condition> {
        if self.take("(") {
            let inside = self.list(field, None, depth + 1)?;
            return if self.take(")") {
                Ok(inside)
            } else {
                Err(self.wrong("an unclosed bracket"))
            };
        }
        if self.take("\"") {
            let text = self.until_quote()?;
            let slop = if self.take("~") { self.number() } else { 0 };
            return self.fields.phrase(field, &text, slop);
        }
        if self.rest.starts_with(['[', '{']) {
            return self.range(field);
        }
        if self.rest.starts_with('/') {
            return Err(self.not_yet("a regular expression"));
        }
        for (sign, bound) in [(">=", "gte"), ("<=", "lte"), (">", "gt"), ("<", "lt")] {
            if self.take(sign) {
                let term = self.term()?;
                return self.bounds(field, &[(bound, &term.plain)]);
            }
        }
        let term = self.term()?;
        if term.plain.is_empty() {
            return Err(self.wrong("a word is missing"));
        }
        if self.rest.starts_with('~') {
            return Err(self.not_yet("a fuzzy word"));
        }
        self.word(field, &term)
    }

    fn word(&self, field: Option<&str>, term: &Term) -> Result<Condition> {
        let path = &self.fields.path;
        match (field, term.raw.as_str()) {
            (Some("_exists_"), _) => {
                return Ok(Target::named(self.fields.mapping, &term.plain, path)?.exists());
            }
            (None, "*") => return Ok(Condition::Everything),
            (Some(name), "*") => {
                return Ok(Target::named(self.fields.mapping, name, path)?.exists());
            }
            _ => {}
        }
        if term.is_pattern {
            return self
                .fields
                .any(field, |target| target.pattern(&term.raw, path));
        }
        self.fields.words(field, &term.plain)
    }

    /// Parses `[a TO b]`, `{a TO b}` and mixtures of both.
    fn range(&mut self, field: Option<&str>) -> Result<Condition> {
        let low_in = self.take("[");
        if !low_in {
            self.take("{");
        }
        let low = self.end()?;
        self.skip_blank();
        if !self.take_word("TO") {
            return Err(self.wrong("TO is missing in a range"));
        }
        let high = self.end()?;
        self.skip_blank();
        let high_in = self.take("]");
        if !high_in && !self.take("}") {
            return Err(self.wrong("an unclosed range"));
        }
        let bounds = [
            (if low_in { "gte" } else { "gt" }, low),
            (if high_in { "lte" } else { "lt" }, high),
        ];
        let bounds: Vec<(&str, &str)> = bounds
            .iter()
            .filter(|(_, text)| text != "*")
            .map(|(bound, text)| (*bound, text.as_str()))
            .collect();
        self.bounds(field, &bounds)
    }

    fn end(&mut self) -> Result<String> {
        self.skip_blank();
        if self.take("\"") {
            return self.until_quote();
        }
        let stop = |character: char| character.is_whitespace() || matches!(character, ']' | '}');
        let at = self.rest.find(stop).unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at(at);
        self.rest = rest;
        Ok(text.to_owned())
    }

    fn bounds(&self, field: Option<&str>, bounds: &[(&str, &str)]) -> Result<Condition> {
        let path = &self.fields.path;
        self.fields.any(field, |target| {
            if bounds.is_empty() {
                return Ok(target.exists());
            }
            let tests = bounds
                .iter()
                .map(|(bound, text)| target.bound(bound, &(*text).into(), path));
            Ok(Condition::all(tests.collect::<Result<Vec<_>>>()?))
        })
    }

    fn until_quote(&mut self) -> Result<String> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => text.extend(characters.next().map(|(_, escaped)| escaped)),
                _ => text.push(character),
            }
        }
        Err(self.wrong("an unclosed quote"))
    }

    fn term(&mut self) -> Result<Term> {
        let mut term = Term {
            raw: String::new(),
            plain: String::new(),
            is_pattern: false,
        };
        let mut end = self.rest.len();
        let mut characters = self.rest.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    let Some((_, escaped)) = characters.next() else {
                        return Err(self.wrong("a backslash at the end"));
                    };
                    term.raw.push('\\');
                    term.raw.push(escaped);
                    term.plain.push(escaped);
                    continue;
                }
                '(' | ')' | '[' | ']' | '{' | '}' | '"' | ':' | '^' | '~' => {
                    end = at;
                    break;
                }
                _ if character.is_whitespace() => {
                    end = at;
                    break;
                }
                '*' | '?' => term.is_pattern = true,
                _ => {}
            }
            term.raw.push(character);
            term.plain.push(character);
        }
        self.rest = &self.rest[end..];
        Ok(term)
    }

    /// Takes a number without its fraction; 0 if there is none.
    fn number(&mut self) -> u64 {
        let is_number = |character: char| character.is_ascii_digit() || character == '.';
        let end = self
            .rest
            .find(|character| !is_number(character))
            .unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        number
            .split('.')
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    }
}
