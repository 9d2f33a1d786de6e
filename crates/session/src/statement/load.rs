//! Steps of `seine load`, for the MySQL door: see [`wire::mysql::load`].

use engine::{Command, LoadStep, Reply};
use wire::mysql::load::{Load, LoadRows, LoadStep as Step};

use super::unexpected;
use crate::counters::add;
use crate::errors::{self, Failure};
use crate::near::with_near_name;
use crate::node::Node;
use crate::session::Session;

/// Does one step. Gives the count of rows stored and the place in the input that the load has reached.
///
/// # Errors
/// The engine's. `INVALID`: the step before was refused, and the client sent this one before it had read that. To store it
/// would break the order of the file.
pub async fn load(node: &Node, session: &mut Session, load: Load) -> Result<(u64, u64), Failure> {
    let started_us = node.clock.steady_us();
    session.begin(started_us, false);
    let Load { table, load, step } = load;
    let step = match step {
        Step::Ask => LoadStep::Ask,
        Step::End => LoadStep::End,
        Step::Forget => LoadStep::Forget,
        Step::Put(LoadRows { part, .. }) if part.follows && session.load_refused => {
            let message = "rows of the load before these were refused";
            return Err(Failure::new(errors::INVALID, message));
        }
        Step::Put(LoadRows {
            part,
            columns,
            rows,
        }) => {
            let counters = &node.counters;
            add(
                if part.replace {
                    &counters.replaces
                } else {
                    &counters.inserts
                },
                1,
            );
            LoadStep::Put {
                from: part.from,
                to: part.to,
                columns,
                rows,
                replace: part.replace,
            }
        }
    };
    let done = node
        .submit(session, Command::Load { table, load, step })
        .await
        .map_err(|failure| with_near_name(node, failure));
    session.load_refused = done.is_err();
    match done? {
        Reply::Done {
            affected,
            last_id,
            warnings,
            ..
        } => {
            session.wrote(affected, Vec::new(), warnings);
            Ok((affected, last_id))
        }
        _ => Err(unexpected()),
    }
}
