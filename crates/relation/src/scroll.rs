//! `OPTION scroll`: the pages of a SELECT one after the other, however deep and whatever is written meanwhile.
//!
//! Example: `SELECT id, n FROM t ORDER BY n ASC LIMIT 2` finds rows (id, n) 4 1, 5 3, 7 3, 9 8, and sends 4 and 5. The token names
//! the order, `n ASC`, and the [`Position`] of the last row sent: the key 3 and the id 5. The next page has the first two rows
//! behind that position: 7 and 9. A row that is inserted in front of it is never sent, one behind it in its turn.
//!
//! In `FROM a, b` a row of `a` and a row of `b` may have equal keys and the same id. So a position also counts how many rows with
//! its keys and id were sent; the next page skips that many.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::codec::{Reader, put_list, put_number, put_text, put_value};
use crate::expression::{Expression, Function};
use crate::limits::SCROLL_TOKEN_BYTES_MAX;
use crate::request::{Item, OrderBy, Output, Select};
use crate::value::Value;

/// The refusal of a value of the option.
pub(crate) const NO_TOKEN: &str = "scroll is 1, or the token that SHOW SCROLL gave";

/// First byte of a token: another form of tokens gets another number.
const VERSION: u8 = 1;

/// The option `scroll`. A token is valid for every SELECT with the ORDER BY that it was made for.
#[derive(Clone, Debug, PartialEq)]
pub enum Scroll {
    /// `scroll=1`: the first page.
    First,
    /// `scroll='token'`: the page behind the one that gave the token.
    Behind(Arc<Token>),
}

/// Where a page ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// ORDER BY as [`order_of`] writes it.
    pub order: String,
    /// The last row that was sent.
    pub last: Position,
}

/// A place between rows in an order.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    /// Weight of the last row; of no meaning where the order has no weight.
    pub weight: i64,
    /// Its computed keys, as [`crate::rows::Order::values`] gave them.
    pub keys: Vec<Value>,
    /// Id of the last row.
    pub id: u64,
    /// Number of rows of this place that were sent, at least 1.
    pub rows: u64,
}

/// An order in words, without aliases. Equal texts of two statements mean equal orders.
#[must_use]
pub fn order_of(keys: &[OrderBy]) -> String {
    let mut text = String::new();
    for OrderBy { key, descending } in keys {
        let separator = if text.is_empty() { "" } else { ", " };
        let direction = if *descending { "DESC" } else { "ASC" };
        let written: &dyn std::fmt::Display = match key {
            Output::Weight => &"weight()",
            Output::Count => &"count(*)",
            Output::Expression(expression) => expression,
        };
        // Writing to a text cannot fail.
        let _ = write!(text, "{separator}{written} {direction}");
    }
    text
}

/// Whether the order of a SELECT as written is another one in each statement, by NOW() or by RAND() without a seed.
#[must_use]
pub fn is_of_its_moment(select: &Select) -> bool {
    let mut names: Vec<&str> = Vec::new();
    let is_so = |of: &Expression, names: &[&str]| {
        of.has(&mut |part| match part {
            Expression::Call(Function::Now, _) => true,
            Expression::Call(Function::Rand, arguments) => arguments.is_empty(),
            Expression::Column(name) => names.iter().any(|known| known.eq_ignore_ascii_case(name)),
            _ => false,
        })
    };
    for item in &select.items {
        if let Item::Value { what, name } = item
            && let Output::Expression(of) = what
            && is_so(of, &names)
        {
            names.push(name);
        }
    }
    select.order.iter().any(|key| match &key.key {
        Output::Expression(of) => is_so(of, &names),
        Output::Weight | Output::Count => false,
    })
}

impl Scroll {
    /// Reads the option; `None`: `scroll=0`.
    ///
    /// # Errors
    /// The message that refuses another value.
    pub fn parse(value: &str) -> Result<Option<Scroll>, String> {
        match value {
            "0" | "false" => Ok(None),
            "1" | "true" => Ok(Some(Scroll::First)),
            text => match Token::decode(text) {
                Some(token) => Ok(Some(Scroll::Behind(Arc::new(token)))),
                None => Err(NO_TOKEN.to_owned()),
            },
        }
    }
}

impl Token {
    /// The token as a client gets it: hexadecimal digits.
    ///
    /// # Errors
    /// The message that refuses keys that are too long or of no order.
    pub fn encode(&self) -> Result<String, String> {
        if self
            .last
            .keys
            .iter()
            .any(|key| matches!(key, Value::Json(_)))
        {
            return Err("OPTION scroll: a JSON document is no key to scroll by".to_owned());
        }
        let mut bytes = vec![VERSION];
        put_text(&mut bytes, &self.order);
        put_number(&mut bytes, self.last.weight as u64);
        put_number(&mut bytes, self.last.id);
        put_number(&mut bytes, self.last.rows);
        put_list(&mut bytes, &self.last.keys, put_value);
        if bytes.len() > SCROLL_TOKEN_BYTES_MAX {
            return Err(format!(
                "OPTION scroll: the keys of ORDER BY have more than {SCROLL_TOKEN_BYTES_MAX} bytes: order by shorter ones"
            ));
        }
        let mut text = String::with_capacity(2 * bytes.len());
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(text)
    }

    /// Reads what [`Token::encode`] wrote; `None`: another text.
    #[must_use]
    pub fn decode(text: &str) -> Option<Token> {
        let is_token = text.len() <= 2 * SCROLL_TOKEN_BYTES_MAX && text.len().is_multiple_of(2);
        if !is_token || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        let bytes = (0..text.len()).step_by(2);
        let bytes = bytes.map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok());
        let bytes: Vec<u8> = bytes.collect::<Option<_>>()?;
        let mut reader = Reader::new(&bytes);
        if reader.byte().ok()? != VERSION {
            return None;
        }
        let token = Token {
            order: reader.string().ok()?,
            last: Position {
                weight: reader.number().ok()? as i64,
                id: reader.number().ok()?,
                rows: reader.number().ok()?,
                keys: reader.list(Reader::value).ok()?,
            },
        };
        reader.end().ok()?;
        // Readers of a document trust its bytes, and these are a client's.
        let keys = &token.last.keys;
        let is_key = |key: &Value| !matches!(key, Value::Json(_));
        keys.iter().all(is_key).then_some(token)
    }
}
