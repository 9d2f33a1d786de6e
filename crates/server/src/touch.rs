//! Touches and orders that pages and back ends tell: the sites that may, how often, and what their requests say of themselves.
//!
//! `http::touches` has the routes; `study::attribution` reads the bodies and names the columns of the table.

pub(crate) mod flood;
pub(crate) mod origins;
pub(crate) mod proxy;
pub(crate) mod visitor;

use std::net::IpAddr;

use origins::Origins;

/// The settings of touches.
#[derive(Clone, Debug, PartialEq)]
pub struct TouchSettings {
    /// Sites whose pages may tell touches; none: `/touch`, `/touch.js` and `/order` are off.
    pub origins: Origins,
    /// Whether a request with `Sec-GPC: 1` is not stored.
    pub respects_gpc: bool,
    /// Whether a request with `DNT: 1` is not stored.
    pub respects_dnt: bool,
    /// Addresses, beside this machine's, whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed.
    pub proxies: Vec<IpAddr>,
    /// Most requests of one client in a minute.
    pub per_client: u32,
    /// Most requests of pages of one entry of `origins` in a minute.
    pub per_origin: u32,
}
