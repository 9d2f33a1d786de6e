//! The engine through its public interface.

mod driver;
mod scripts;
mod statement;
