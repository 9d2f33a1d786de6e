//! A blocking HTTP/1.1 client with one kept connection, for the benchmarks of HTTP doors.
//!
//! Bodies are sent with their length and read by length or by chunks. No TLS, no redirects.
//!
//! By hand, not by `ureq`: with that a call of one document takes 1.4 to 1.6 times as long, and the server would be charged for it:
//! `benchmarks/record/epyc-2vcpu/2026-11-28-dcedeca-clients.csv`.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    Server,
    error::{Error, Result},
};

/// Longest answer that is read, in bytes.
const BODY_BYTES_MAX: usize = 1 << 30;
/// Longest line of a head.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// A connection to an HTTP door, kept open between requests.
pub(crate) struct Http {
    stream: BufReader<TcpStream>,
    /// Host and authorisation, with their line ends.
    headers: String,
    request: Vec<u8>,
    body: Vec<u8>,
}

/// Headers of a request with a body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) content_type: &'static str,
    pub(crate) accept: &'static str,
}

/// JSON both ways.
pub(crate) const JSON: Kind = Kind {
    content_type: "application/json",
    accept: "application/json",
};

impl Http {
    /// Connects to the server's `host:port`. Sends a login only if there is a password.
    pub(crate) fn connect(server: &Server) -> Result<Http> {
        let stream = TcpStream::connect(&server.addr)?;
        stream.set_nodelay(true)?;
        let mut headers = format!("Host: {}\r\n", server.addr);
        if !server.password.is_empty() {
            let login = format!("{}:{}", server.user, server.password);
            headers += &format!("Authorization: Basic {}\r\n", STANDARD.encode(login));
        }
        Ok(Http {
            stream: BufReader::with_capacity(64 << 10, stream),
            headers,
            request: Vec::new(),
            body: Vec::new(),
        })
    }

    /// Adds a header to the requests that follow.
    pub(crate) fn say(&mut self, name: &str, value: &str) {
        self.headers += &format!("{name}: {value}\r\n");
    }

    /// Sends a request and reads its answer: status and body.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        kind: Kind,
        body: &[u8],
    ) -> Result<(u16, &[u8])> {
        self.request.clear();
        let head = format!(
            "{method} {path} HTTP/1.1\r\n{}Content-Type: {}\r\nAccept: {}\r\nContent-Length: {}\r\n\r\n",
            self.headers,
            kind.content_type,
            kind.accept,
            body.len(),
        );
        self.request.extend_from_slice(head.as_bytes());
        self.request.extend_from_slice(body);
        self.stream.get_mut().write_all(&self.request)?;
        let status = self.answer()?;
        Ok((status, &self.body))
    }

    /// As [`Http::ask`]; a status of 300 or more is an error with the body's beginning.
    pub(crate) fn get(
        &mut self,
        method: &str,
        path: &str,
        kind: Kind,
        body: &[u8],
    ) -> Result<&[u8]> {
        let (status, _) = self.ask(method, path, kind, body)?;
        if status < 300 {
            return Ok(&self.body);
        }
        let told = String::from_utf8_lossy(&self.body);
        let told: String = told.chars().take(300).collect();
        Err(Error::Http(format!("{method} {path}: {status} {told}")))
    }

    fn answer(&mut self) -> Result<u16> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| broken("no status"))?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let Some((name, value)) = line.split_once(':') else {
                return Err(broken("a header without a name"));
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    length = value.parse().map_err(|_| broken("no length"))?;
                }
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                _ => {}
            }
        }
        self.body.clear();
        match chunked {
            true => self.chunks()?,
            false => self.take(length)?,
        }
        Ok(status)
    }

    fn chunks(&mut self) -> Result<()> {
        loop {
            let line = self.line()?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let length = usize::from_str_radix(digits, 16).map_err(|_| broken("no chunk"))?;
            self.take(length)?;
            while !self.line()?.is_empty() {}
            if length == 0 {
                return Ok(());
            }
        }
    }

    /// Reads `length` bytes into the body.
    fn take(&mut self, length: usize) -> Result<()> {
        if length > BODY_BYTES_MAX - self.body.len().min(BODY_BYTES_MAX) {
            return Err(broken("an answer of more than 1 GiB"));
        }
        let taken = (&mut self.stream)
            .take(length as u64)
            .read_to_end(&mut self.body)?;
        match taken == length {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }

    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        (&mut self.stream)
            .take(LINE_BYTES_MAX)
            .read_line(&mut line)?;
        match line.strip_suffix('\n') {
            Some(text) => Ok(text.trim_end_matches('\r').to_owned()),
            None => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
        }
    }
}

fn broken(what: &str) -> Error {
    Error::Http(format!("the server's answer is no HTTP: {what}"))
}

#[cfg(test)]
mod tests;
