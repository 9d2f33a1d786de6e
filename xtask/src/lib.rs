//! The project's own tools: `tidy` checks the rules of the tree that a machine can check; `mutate` plants bugs that tests must
//! see.
//!
//! ```no_run
//! let problems = xtask::tidy::check(std::path::Path::new("."))?;
//! for problem in problems {
//!     println!("{}:{}: {}", problem.path, problem.line, problem.message);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```

pub mod mutate;
pub mod tidy;
