//! Options of functions: `{name=value, …}`.

use jiff::tz::TimeZone;
use language::nearest::nearest;

use super::super::function::Function;
use super::zone::named_zone;
use crate::json::{Json, JsonNode, JsonStep, each_member};
use crate::value::Value;

/// Pairs of `{name=value, …}`, which the parser hands on as the text of a JSON object.
pub(super) struct Options {
    function: Function,
    pairs: Vec<(String, Value)>,
}

impl Options {
    pub(super) fn of<'v>(
        function: Function,
        written: impl Into<Option<&'v Value>>,
    ) -> Result<Options, String> {
        let name = function.name();
        let object = match written.into() {
            Some(Value::Str(text)) => Json::parse(text.as_bytes()).ok(),
            Some(Value::Json(object)) => Some(object.clone()),
            _ => None,
        };
        let Some(object) = object.filter(|object| object.is_object()) else {
            return Err(format!("{name}() wants options: {{name=value, …}}"));
        };
        let mut pairs = Vec::new();
        let mut keys = Vec::new();
        each_member(object.bytes(), 1, &mut keys, &mut |path, _| {
            if let [key] = path {
                let value = object.node_at(&[JsonStep::Key((*key).to_owned())]);
                pairs.push((key.to_lowercase(), Value::of_node(value)));
            }
        });
        Ok(Options { function, pairs })
    }

    /// Refuses options that are not among these.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), String> {
        for (name, _) in &self.pairs {
            if !known.contains(&name.as_str()) {
                let meant = nearest(name, known.iter().copied())
                    .map_or_else(String::new, |meant| format!(", did you mean {meant}?"));
                let function = self.function.name();
                return Err(format!("{function}() has no option '{name}'{meant}"));
            }
        }
        Ok(())
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        let pair = self.pairs.iter().find(|(known, _)| known == name);
        pair.map(|(_, value)| value)
    }

    /// The text of an option, in lower case.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.to_string().to_lowercase())
    }

    /// The text of an option, in its case.
    pub(super) fn as_written(&self, name: &str) -> Option<String> {
        self.get(name).map(Value::to_string)
    }

    pub(super) fn bad(&self, name: &str, wanted: &str) -> String {
        let value = self.get(name).map_or_else(String::new, Value::to_string);
        let function = self.function.name();
        format!("{function}(): {name}={value} is not {wanted}")
    }

    /// The zone of `time_zone`; UTC without one.
    pub(super) fn zone(&self) -> Result<TimeZone, String> {
        match self.get("time_zone") {
            None => Ok(TimeZone::UTC),
            Some(name) => named_zone(&name.to_string()),
        }
    }
}

/// Adds an option to the text of a function's options, unless it is among them. What is no text of options is unchanged.
pub(in super::super) fn add_option(
    function: Function,
    written: &mut String,
    name: &str,
    value: &str,
) {
    let text = Value::Str(std::mem::take(written));
    let known = Options::of(function, &text);
    *written = text.to_string();
    let lacks = known.is_ok_and(|known| !known.pairs.is_empty() && known.get(name).is_none());
    if let (true, Some(rest)) = (lacks, written.trim_start().strip_prefix('{')) {
        let value = Value::Json(Json::of_node(JsonNode::Text(value))).to_string();
        *written = format!("{{\"{name}\":{value},{rest}");
    }
}
