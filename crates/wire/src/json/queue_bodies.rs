//! The bodies and replies of /queue.

use serde_json::Value as Json;

use super::error::JsonError;
use super::member::{object, string};
use super::once::parse;
use super::reply::{Cell, Writer, bytes_of};

type Result<T> = std::result::Result<T, JsonError>;

/// A body of /queue: receipts, and options that may also be in the address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueBody {
    /// The texts of `done` or `receipts`; not parsed yet.
    pub receipts: Vec<String>,
    /// The other members, with their values as text; numbers in decimal.
    pub options: Vec<(String, String)>,
}

/// Parses `{"done": ["…"], "rows": 10, "wait": "10s", …}`. An empty body is an empty object.
///
/// # Errors
/// [`JsonError`] with the path of the bad part.
pub fn queue_body(body: &[u8]) -> Result<QueueBody> {
    let mut read = QueueBody::default();
    if body.trim_ascii().is_empty() {
        return Ok(read);
    }
    let json = parse(body).map_err(|error| JsonError::from_serde(&error))?;
    for (name, value) in object(&json, "")? {
        match (name.as_str(), value) {
            ("done" | "receipts", value) => read.receipts.extend(receipts(value, name)?),
            (_, Json::String(text)) => read.options.push((name.clone(), text.clone())),
            (_, Json::Number(number)) => read.options.push((name.clone(), number.to_string())),
            _ => return Err(JsonError::new(name, "expected a text or a number")),
        }
    }
    Ok(read)
}

fn receipts(value: &Json, path: &str) -> Result<Vec<String>> {
    let Json::Array(list) = value else {
        return Err(JsonError::new(path, "expected an array of receipts"));
    };
    let text = |(index, one)| string(one, &format!("{path}[{index}]")).map(str::to_owned);
    list.iter().enumerate().map(text).collect()
}

/// The reply with rows of a queue: [`begin`](Self::begin); for each row [`row`](Self::row), [`field`](Self::field)s and
/// [`row_end`](Self::row_end); then [`end`](Self::end). A row of an event stream has neither begin nor end.
#[derive(Debug, Default)]
pub struct QueueReply {
    json: Writer,
}

bytes_of!(QueueReply);

impl QueueReply {
    /// `{"rows":[`
    pub fn begin(&mut self) {
        self.json.open("{\"rows\":[");
    }

    /// Begins a row. `taken` is its receipt and the number of its delivery; `None`: the row was only shown.
    pub fn row(&mut self, taken: Option<(&str, u32)>) {
        let json = &mut self.json;
        json.item();
        json.open("{");
        if let Some((receipt, delivery)) = taken {
            json.name("receipt").string(receipt);
            json.name("delivery").number(delivery);
        }
        json.name("data").open("{");
    }

    /// Adds a value to the row.
    pub fn field(&mut self, name: &str, cell: Cell<'_>) {
        self.json.name(name).cell(cell);
    }

    /// Ends the row.
    pub fn row_end(&mut self) {
        self.json.close("}}");
    }

    /// `]}`
    pub fn end(&mut self) {
        self.json.close("]}");
    }
}
