//! What a table promises, whatever its rows' spread over tail and segments.

mod damage;
mod faults;
mod fixture;
mod laws;
mod model;
mod select;
mod subject;
