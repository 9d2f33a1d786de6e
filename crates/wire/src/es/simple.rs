//! `simple_query_string`: the operators `+ | - " * ( ) ~N`, from left to right. No text is a syntax error.

use super::condition::Condition;
use super::error::EsError;
use super::lucene::Fields;
use crate::limits::JSON_QUERY_DEPTH_MAX;

type Result<T> = std::result::Result<T, EsError>;

pub(super) fn simple_query_string(text: &str, fields: &Fields<'_>) -> Result<Condition> {
    let mut parser = Parser { rest: text, fields };
    let mut found = Vec::new();
    while !parser.rest.is_empty() {
        found.extend(parser.list(0)?);
        // Skip a closing bracket without an opening one.
        parser.rest = parser.rest.strip_prefix(')').unwrap_or(parser.rest);
    }
    Ok(if found.is_empty() {
        Condition::Nothing
    } else {
        parser.join(found, fields.all)
    })
}

struct Parser<'a> {
    rest: &'a str,
    fields: &'a Fields<'a>,
}

impl Parser<'_> {
    fn join(&self, list: Vec<Condition>, all: bool) -> Condition {
        if all {
            Condition::all(list)
        } else {
            Condition::any(list)
        }
    }

    /// Parses up to the end or to a closing bracket, which it does not take. `None`: there is no word.
    fn list(&mut self, depth: usize) -> Result<Option<Condition>> {
        if depth > JSON_QUERY_DEPTH_MAX {
            return Err(EsError::query(
                &self.fields.path,
                "brackets are nested too deep",
            ));
        }
        let mut found: Option<Condition> = None;
        let mut operator = None;
        let mut negated = false;
        while let Some(character) = self.rest.chars().next() {
            match character {
                ')' => break,
                '+' | '|' | '-' => {
                    match character {
                        '-' => negated = !negated,
                        sign => operator = operator.or(Some(sign == '+')),
                    }
                    self.bump(character);
                }
                _ if character.is_whitespace() => self.bump(character),
                _ => {
                    let Some(mut next) = self.operand(character, depth)? else {
                        continue;
                    };
                    if negated {
                        next = Condition::not(next);
                    }
                    let all = operator.take().unwrap_or(self.fields.all);
                    found = Some(match found {
                        None => next,
                        Some(before) => self.join(vec![before, next], all),
                    });
                    negated = false;
                }
            }
        }
        Ok(found)
    }

    fn bump(&mut self, character: char) {
        self.rest = &self.rest[character.len_utf8()..];
    }

    fn operand(&mut self, first: char, depth: usize) -> Result<Option<Condition>> {
        if first == '(' {
            self.bump(first);
            let inside = self.list(depth + 1)?;
            self.rest = self.rest.strip_prefix(')').unwrap_or(self.rest);
            return Ok(inside);
        }
        if first == '"' {
            self.bump(first);
            let (text, rest) = self.rest.split_once('"').unwrap_or((self.rest, ""));
            self.rest = rest;
            let slop = self.tilde();
            return self.fields.phrase(None, text, slop.unwrap_or(0)).map(Some);
        }
        let stop = |character: char| {
            character.is_whitespace() || matches!(character, '(' | ')' | '"' | '|' | '+' | '~')
        };
        let end = self.rest.find(stop).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        if self.tilde().is_some() {
            return Err(EsError::not_yet(&self.fields.path, "a fuzzy word"));
        }
        let path = &self.fields.path;
        match word.strip_suffix('*') {
            Some(start) if !start.is_empty() => self
                .fields
                .any(None, |target| target.prefix(start, path))
                .map(Some),
            _ if super::language::words(word).is_empty() => Ok(None),
            _ => self.fields.words(None, word).map(Some),
        }
    }

    /// Takes `~N` behind an operand; gives N.
    fn tilde(&mut self) -> Option<u64> {
        let rest = self.rest.strip_prefix('~')?;
        let end = rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(rest.len());
        let (number, rest) = rest.split_at(end);
        self.rest = rest;
        Some(number.parse().unwrap_or(0))
    }
}
