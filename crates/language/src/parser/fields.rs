//! Field limits: `@a`, `@(a,b)`, `@!a`, `@!(a,b)`, `@*`, each with or without `[N]` behind it.

use super::{Limit, Parser, refuse, refuse_field};
use crate::analysis::in_run;
use crate::tree::{FieldSet, QueryError};

impl Parser<'_> {
    /// Reads one limit; the cursor stands on its `@`.
    pub(super) fn field_limit(&mut self) -> Result<Limit, QueryError> {
        let start = self.cursor.at;
        self.cursor.bump();
        if self.cursor.peek() == Some('@') {
            return refuse(
                start,
                "@@relaxed stands only at the beginning of a query".to_owned(),
            );
        }
        let fields = if self.cursor.take("*") {
            FieldSet::ALL
        } else {
            let excluded = self.cursor.take("!");
            let named = if self.cursor.take("(") {
                self.field_list(start)?
            } else {
                self.field()?
            };
            let known = known_fields(self.fields.len());
            let limit = if excluded { known & !named } else { named };
            if limit == known && known != 0 {
                FieldSet::ALL
            } else {
                FieldSet(limit)
            }
        };
        let within = self.within()?;
        Ok(Limit { fields, within })
    }

    /// Reads `[N]` if it follows; 0 if not.
    fn within(&mut self) -> Result<u32, QueryError> {
        let start = self.cursor.at;
        if !self.cursor.take("[") {
            return Ok(0);
        }
        let count = self.cursor.take_while(|c| c.is_ascii_digit());
        match count.parse() {
            Ok(within) if within > 0 && self.cursor.take("]") => Ok(within),
            _ => refuse(
                start,
                format!(
                    "the first words of a field are @field[N], N from 1 to {}",
                    u32::MAX
                ),
            ),
        }
    }

    /// Reads the rest of `(a, b)`.
    fn field_list(&mut self, start: usize) -> Result<u64, QueryError> {
        let mut named = 0;
        loop {
            self.cursor.skip_blank();
            named |= self.field()?;
            self.cursor.skip_blank();
            if self.cursor.take(")") {
                return Ok(named);
            }
            if !self.cursor.take(",") {
                return refuse(start, "unclosed list of fields".to_owned());
            }
        }
    }

    /// Reads a name, as a set of one field. In a relaxed query an unknown name is the empty set.
    fn field(&mut self) -> Result<u64, QueryError> {
        let start = self.cursor.at;
        let name = self.cursor.take_while(in_run);
        if name.is_empty() {
            return refuse(
                start,
                r"a field name must follow @: write \@ for the sign itself".to_owned(),
            );
        }
        match self
            .fields
            .iter()
            .position(|field| field.eq_ignore_ascii_case(name))
        {
            Some(number) => Ok(1u64.checked_shl(number as u32).unwrap_or(0)),
            None if self.relaxed => Ok(0),
            None => {
                let sign = format!(r"\@{name} for the handle");
                refuse_field(start, name, self.fields, &sign)
            }
        }
    }
}

/// The set of the first `count` fields.
pub(crate) fn known_fields(count: usize) -> u64 {
    1u64.checked_shl(count as u32)
        .map_or(u64::MAX, |next| next - 1)
}
