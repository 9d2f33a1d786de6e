//! Attribution: what each channel contributed to orders.
//!
//! ```text
//! input     files → touches and orders, or counted paths; unknown lines are counted and kept by example
//! channels  names → channels, by a pattern and maps
//! events    touches and orders of visitors → orders with the touches of their window
//! tally     orders → sums by channel and model; overlap, distributions, days, paths
//! chain, shapley   paths → removal effects, Shapley values
//! figures   sums → rounded figures that add up
//! document  figures → tables and pictures
//! record    what pages and back ends send → touches and orders
//! table     the columns of the table in which a server records touches and orders
//! ```
//!
//! Money and counts are whole numbers all along ([`amount`]), and channels are numbered by name, so no figure depends on the order of
//! lines.

pub mod amount;
pub mod bounds;
pub mod chain;
pub mod channels;
pub mod document;
pub mod events;
pub mod figures;
pub mod input;
pub mod limits;
pub mod model;
pub mod paths;
pub mod record;
pub mod settings;
pub mod shapley;
pub mod table;
pub mod tally;
