//! Field limits.

use std::fmt;

use super::{FieldSet, Limit, Printed};

impl Printed<'_> {
    /// Writes `(@f …)`: the bracket ends the limit.
    pub(super) fn limited(
        &self,
        f: &mut fmt::Formatter<'_>,
        limit: Limit,
        inside: &dyn Fn(&mut fmt::Formatter<'_>) -> fmt::Result,
    ) -> fmt::Result {
        if limit == Limit::NONE {
            return inside(f);
        }
        f.write_str("(@")?;
        if limit.fields == FieldSet::ALL {
            f.write_str("*")?;
        } else {
            self.names(f, limit.fields)?;
        }
        if limit.within > 0 {
            write!(f, "[{}]", limit.within)?;
        }
        f.write_str(" ")?;
        inside(f)?;
        f.write_str(")")
    }

    /// Writes `(a,b)`. The empty set is written as every field excluded.
    fn names(&self, f: &mut fmt::Formatter<'_>, fields: FieldSet) -> fmt::Result {
        let count = if self.fields.is_empty() {
            64
        } else {
            self.fields.len().min(64) as u8
        };
        let named: Vec<u8> = (0..count).filter(|field| fields.holds(*field)).collect();
        let (sign, named) = if named.is_empty() {
            ("!", (0..count).collect())
        } else {
            ("", named)
        };
        write!(f, "{sign}(")?;
        for (number, field) in named.into_iter().enumerate() {
            f.write_str(if number > 0 { "," } else { "" })?;
            match self.fields.get(usize::from(field)) {
                Some(name) => f.write_str(name)?,
                None => write!(f, "f{field}")?,
            }
        }
        f.write_str(")")
    }
}
