//! Random bytes of the system, for secrets.

use std::fs::File;
use std::io::{self, Read};
use std::sync::OnceLock;

/// Random bytes. The source stays open, so that it never fails for want of a file descriptor.
pub(crate) fn bytes<const COUNT: usize>() -> io::Result<[u8; COUNT]> {
    static SOURCE: OnceLock<File> = OnceLock::new();
    let mut source = match SOURCE.get() {
        Some(source) => source,
        None => {
            let opened = File::open("/dev/urandom")?;
            SOURCE.get_or_init(|| opened)
        }
    };
    let mut random = [0; COUNT];
    source.read_exact(&mut random)?;
    Ok(random)
}
