//! Statements of one text that go to the engine together.
//!
//! Inside a transaction each statement of `INSERT …; CALL QUEUE_NEXT(…); COMMIT` would be a trip to the engine, and two of them
//! would wait for a sync. The engine gets them as one [`Command::Series`] instead. Then each is done as ever, and finds its
//! answer here already.

use engine::{Command, Reply};
use wire::sql::{QueueCall, Statement};

use super::{Parsed, queue_functions, temporary, translate, variables};
use crate::errors::Failure;
use crate::node::Node;
use crate::rights;
use crate::session::Session;

/// Most statements that go together.
pub const SENT_TOGETHER_MAX: usize = 16;

impl Parsed {
    /// Whether the statement may go to the engine with others: it is one command, which depends on no answer to them.
    pub fn goes_together(&self) -> bool {
        let statement = self.statement.as_ref();
        self.held.is_none()
            && statement.is_ok_and(|statement| {
                matches!(
                    statement,
                    Statement::Insert(_)
                        | Statement::Delete(_)
                        | Statement::QueueNext(_)
                        | Statement::QueueDone
                        | Statement::Queue {
                            call: QueueCall::End,
                            ..
                        }
                        | Statement::Commit
                )
            })
    }

    /// Whether no statement goes together behind it: the transaction is over.
    pub fn is_commit(&self) -> bool {
        matches!(self.statement, Ok(Statement::Commit))
    }

    /// Its command, if the session may give it. Else the statement is done alone, and tells why not.
    fn command(&self, node: &Node, session: &mut Session) -> Option<Command> {
        if temporary::table_of(self.statement.as_ref().ok()?)
            .is_some_and(|table| session.temporary.has(table))
        {
            return None;
        }
        let command = match self.statement.as_ref().ok()? {
            statement @ (Statement::Insert(_) | Statement::Delete(_)) => {
                let mut statement = statement.clone();
                variables::settle(node, session, &mut statement).ok()?;
                translate::write(node, session, statement).ok()?
            }
            Statement::QueueNext(next) => queue_functions::command_of(next.clone()),
            Statement::QueueDone
            | Statement::Queue {
                call: QueueCall::End,
                ..
            } => Command::QueueEnd,
            Statement::Commit => return Some(Command::Commit),
            _ => return None,
        };
        rights::each(&command, &mut |action| node.permit(session, action)).ok()?;
        Some(session.within(command))
    }
}

/// Sends statements of a transaction to the engine, and keeps the answers with them. Those that the engine did not begin, because
/// one before them was refused or had to wait, are as they were.
///
/// # Errors
/// Those of the session's node: the first statement fails.
pub async fn send_together(
    node: &Node,
    session: &mut Session,
    statements: &mut [Parsed],
) -> Result<(), Failure> {
    if !session.is_in_transaction() || statements.len() < 2 {
        return Ok(());
    }
    let commands = statements
        .iter()
        .map_while(|one| one.command(node, session));
    let commands: Vec<Command> = commands.collect();
    if commands.len() < 2 {
        return Ok(());
    }
    if let Reply::Series(outcomes) = node.submit(session, Command::Series(commands)).await? {
        for (statement, outcome) in statements.iter_mut().zip(outcomes) {
            statement.answered = Some(Box::new(outcome));
        }
    }
    Ok(())
}
