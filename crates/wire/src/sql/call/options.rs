//! The options of CALL PQ. Error messages are Manticore's.

use relation::value::Value;

use super::Argument;
use crate::sql::condition;
use crate::sql::statement::PqOptions;

/// Sets an option. Errors: an unknown name, or a bad value.
pub(super) fn set(options: &mut PqOptions, name: &str, argument: Argument) -> Result<(), String> {
    let option = Written { name, argument };
    match name {
        "docs_json" => options.docs_json = option.flag()?,
        "docs" => options.docs = option.flag()?,
        "docs_id" => options.docs_id = Some(option.text()?),
        "query" => options.query = option.flag()?,
        "verbose" => options.verbose = option.flag()?,
        "skip_bad_json" => options.skip_bad_json = option.flag()?,
        "skip_empty" => options.skip_empty = option.flag()?,
        "mode" => check_mode(&option.text()?)?,
        "shift" => options.shift = option.number()?,
        "only" => {
            let text = option.text()?;
            let only = condition(text.as_bytes()).map_err(|error| format!("only: {error}"))?;
            options.only = Some(only);
        }
        "count" => options.count = option.flag()?,
        "limit" => options.limit = Some(option.count(0)?),
        "after" => options.after = Some(option.count(0)?),
        "top" => {
            let top = option.count(1)?;
            options.top = Some(u32::try_from(top).unwrap_or(u32::MAX));
        }
        "weights" => options.weights = option.flag()?,
        "highlight" => options.highlight = option.flag()?,
        _ => return Err(format!("unknown option {name}")),
    }
    Ok(())
}

fn check_mode(written: &str) -> Result<(), String> {
    match written.to_lowercase().as_str() {
        "sparsed" | "sharded" => Ok(()),
        _ => Err(format!(
            "unknown mode {written}. (Expected 'sparsed' or 'sharded')"
        )),
    }
}

/// A named argument of the call.
struct Written<'n> {
    name: &'n str,
    argument: Argument,
}

impl Written<'_> {
    fn wrong_type(&self) -> String {
        format!("unexpected option {} type", self.name)
    }

    fn flag(&self) -> Result<bool, String> {
        self.number().map(|number| number != 0)
    }

    fn number(&self) -> Result<i64, String> {
        match &self.argument {
            Argument::One(Value::Int(number)) => {
                i64::try_from(*number).map_err(|_| self.wrong_type())
            }
            _ => Err(self.wrong_type()),
        }
    }

    /// A whole number of at least `least`.
    fn count(&self, least: u64) -> Result<u64, String> {
        match &self.argument {
            Argument::One(Value::Int(number)) => u64::try_from(*number)
                .ok()
                .filter(|number| *number >= least)
                .ok_or_else(|| format!("option {} expects a number from {least}", self.name)),
            _ => Err(self.wrong_type()),
        }
    }

    fn text(&self) -> Result<String, String> {
        match &self.argument {
            Argument::One(Value::Str(text)) => Ok(text.clone()),
            _ => Err(self.wrong_type()),
        }
    }
}
