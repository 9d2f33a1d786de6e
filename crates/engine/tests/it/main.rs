//! The engine through its public interface.
#![expect(unreachable_pub, reason = "no crate sees into a test program")]

#[cfg(test)]
mod alter;
#[cfg(test)]
mod backlog;
#[cfg(test)]
mod checkpoints;
#[cfg(test)]
mod choices;
#[cfg(test)]
mod clocks;
#[cfg(test)]
mod collect;
#[cfg(test)]
mod costly;
#[cfg(test)]
mod crash;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod driver;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod folders;
#[cfg(test)]
mod followers;
#[cfg(test)]
mod inspect;
#[cfg(test)]
mod language;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod lives;
#[cfg(test)]
mod loads;
#[cfg(test)]
mod made;
#[cfg(test)]
mod manifests;
#[cfg(test)]
mod merges;
#[cfg(test)]
mod model;
#[cfg(test)]
mod planned;
mod planned_commits;
#[cfg(test)]
mod power;
#[cfg(test)]
mod queue_crash;
#[cfg(test)]
mod queue_model;
#[cfg(test)]
mod queue_options;
#[cfg(test)]
mod queue_semantics;
#[cfg(test)]
mod read_only;
#[cfg(test)]
mod receipts;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod scripts;
#[cfg(test)]
mod seams;
#[cfg(test)]
mod splits;
#[cfg(test)]
mod statement;
#[cfg(test)]
mod sync_modes;
#[cfg(test)]
mod threads;
#[cfg(test)]
mod transactions;
#[cfg(test)]
mod twin;
#[cfg(test)]
mod workload;
