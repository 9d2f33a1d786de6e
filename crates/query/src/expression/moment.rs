//! What an expression depends on besides its row: the time of the statement, the session's time zone, and variables.

use std::fmt;

use super::function::Function;
use super::list::List;
use super::tree::Expression;
use crate::value::Value;

/// The time of a statement and the variables that it may name. No expression reads a clock or a session: NOW(), RAND() and
/// `@name` become constants before the first row.
pub struct Moment<'v> {
    /// Microseconds since 1970-01-01 UTC.
    pub unix_us: i64,
    /// Name of the session's time zone; `None` for UTC. Functions of dates that name no zone get it.
    pub zone: Option<String>,
    /// The value of a variable by its lower-case name without `@`; `None`: there is none.
    pub variable: &'v dyn Fn(&str) -> Option<Variable>,
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq)]
pub enum Variable {
    /// A constant, as of `SET @x = 5`.
    One(Value),
    /// A list of whole numbers, shared by all that name it.
    List(List),
}

/// A variable that has no value for its place; by its name without `@`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsettled {
    /// There is no such variable.
    Unknown(String),
    /// It is a list, and does not stand behind IN.
    IsList(String),
    /// It is no list, and stands behind IN.
    IsNoList(String),
}

impl fmt::Display for Unsettled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unsettled::Unknown(name) => {
                write!(out, "no variable '@{name}': SET @{name} comes before it")
            }
            Unsettled::IsList(name) => write!(out, "'@{name}' is a list: it stands behind IN"),
            Unsettled::IsNoList(name) => write!(
                out,
                "'@{name}' is no list: IN takes one of SET @{name} = (1, 5, 7)"
            ),
        }
    }
}

impl Moment<'_> {
    /// Puts the time and the variables into an expression: NOW() becomes its seconds, RAND() gets its microseconds as the seed,
    /// functions of dates the zone, and a variable becomes its value. Gives the count of numbers in lists of variables.
    ///
    /// # Errors
    /// [`Unsettled`], of the first variable.
    pub fn settle(&self, expression: &mut Expression) -> Result<usize, Unsettled> {
        let mut listed = 0;
        match expression {
            Expression::Call(Function::Now, _) => {
                let seconds = self.unix_us.div_euclid(1_000_000);
                *expression = Expression::Literal(Value::Int(seconds.into()));
            }
            Expression::Call(Function::Rand, arguments) if arguments.is_empty() => {
                arguments.push(Expression::Literal(Value::Int(self.unix_us.into())));
            }
            Expression::Call(function, arguments) => self.add_zone(*function, arguments),
            Expression::Variable(name) => *expression = Expression::Literal(self.value(name)?),
            Expression::In { list, .. } => {
                if let Some(name) = list.variable() {
                    *list = self.list(name)?;
                    listed = list.len();
                }
            }
            _ => {}
        }
        for part in expression.parts_mut() {
            listed += self.settle(part)?;
        }
        Ok(listed)
    }

    fn value(&self, name: &str) -> Result<Value, Unsettled> {
        match (self.variable)(name) {
            Some(Variable::One(value)) => Ok(value),
            Some(Variable::List(_)) => Err(Unsettled::IsList(name.to_owned())),
            None => Err(Unsettled::Unknown(name.to_owned())),
        }
    }

    fn list(&self, name: &str) -> Result<List, Unsettled> {
        match (self.variable)(name) {
            Some(Variable::List(list)) => Ok(list),
            Some(Variable::One(_)) => Err(Unsettled::IsNoList(name.to_owned())),
            None => Err(Unsettled::Unknown(name.to_owned())),
        }
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
