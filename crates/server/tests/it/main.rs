//! The real binary, started on free ports and driven from outside.

mod command_line;
mod http_door;
mod life;
mod mysql_door;
mod queues;
mod server;
