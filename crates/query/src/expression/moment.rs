//! What an expression depends on besides its row: the time of the statement and the session's time zone.

use super::function::Function;
use super::tree::Expression;
use crate::value::Value;

/// The time of a statement. No expression reads a clock: NOW() and RAND() become constants before the first row.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Microseconds since 1970-01-01 UTC.
    pub unix_us: i64,
    /// Name of the session's time zone; `None` for UTC. Functions of dates that name no zone get it.
    pub zone: Option<String>,
}

impl Moment {
    /// Puts the time into an expression: NOW() becomes its seconds, RAND() gets its microseconds as the seed, and functions of
    /// dates the zone.
    pub fn settle(&self, expression: &mut Expression) {
        if let Expression::Call(function, arguments) = expression {
            match function {
                Function::Now => {
                    let seconds = self.unix_us.div_euclid(1_000_000);
                    *expression = Expression::Literal(Value::Int(seconds.into()));
                    return;
                }
                Function::Rand if arguments.is_empty() => {
                    arguments.push(Expression::Literal(Value::Int(self.unix_us.into())));
                }
                function => self.add_zone(*function, arguments),
            }
        }
        let parts = expression.parts_mut();
        parts.into_iter().for_each(|part| self.settle(part));
    }

    fn add_zone(&self, function: Function, arguments: &mut Vec<Expression>) {
        let Some(zone) = &self.zone else { return };
        let wanted = match function {
            Function::DateDiff | Function::DateFormat => 2,
            Function::FromUnixtime => {
                let format = "%Y-%m-%d %H:%M:%S".to_owned();
                if arguments.len() == 1 {
                    arguments.push(Expression::Literal(Value::Str(format)));
                }
                2
            }
            function if function.takes_zone() => 1,
            _ => return,
        };
        if arguments.len() == wanted {
            arguments.push(Expression::Literal(Value::Str(zone.clone())));
        }
    }
}
