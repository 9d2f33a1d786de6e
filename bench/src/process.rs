//! The server's process, if it runs on this machine: its processor time and memory, from `/proc`.

use std::{fs, path::PathBuf, time::Duration};

/// Ticks per second in `/proc/PID/stat`: the same for all programs, whatever the kernel uses.
const TICKS: u64 = 100;

/// A process of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    folder: PathBuf,
}

impl Process {
    /// The process that calls.
    pub(crate) fn own() -> Process {
        Process {
            folder: PathBuf::from("/proc/self"),
        }
    }

    /// The process that listens on this TCP address; `None`: it belongs to another machine or another user.
    pub(crate) fn listening(addr: &str) -> Option<Process> {
        let port: u16 = addr.rsplit(':').next()?.parse().ok()?;
        let socket = format!("socket:[{}]", listener(port)?);
        let folders = fs::read_dir("/proc")
            .ok()?
            .flatten()
            .map(|entry| entry.path());
        let holds = |folder: &PathBuf| {
            let open = fs::read_dir(folder.join("fd")).into_iter().flatten();
            open.flatten()
                .filter_map(|entry| fs::read_link(entry.path()).ok())
                .any(|target| target.to_str() == Some(&socket))
        };
        folders
            .filter(|folder| {
                let name = folder.file_name().and_then(|name| name.to_str());
                name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
            })
            .find(holds)
            .map(|folder| Process { folder })
    }

    /// Processor time so far, of all threads, in user and in system mode.
    pub(crate) fn processor(&self) -> Option<Duration> {
        let stat = fs::read_to_string(self.folder.join("stat")).ok()?;
        // The second field is the program's name in brackets, which may contain blanks and brackets.
        let mut fields = stat.rsplit(')').next()?.split_ascii_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u64>().ok();
        let total = ticks()? + ticks()?;
        Some(Duration::from_millis(total * 1_000 / TICKS))
    }

    /// Anonymous memory, in bytes: mapped files, such as an index, do not count.
    pub(crate) fn anonymous_bytes(&self) -> Option<u64> {
        let rollup = fs::read_to_string(self.folder.join("smaps_rollup")).ok()?;
        let mut lines = rollup.lines();
        let line = lines.find_map(|line| line.strip_prefix("Anonymous:"))?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse().ok()?;
        Some(kib << 10)
    }

    /// Resident memory, in bytes.
    pub(crate) fn resident_bytes(&self) -> Option<u64> {
        Some(self.status("VmRSS:")? << 10)
    }

    /// Number of its threads.
    pub(crate) fn threads(&self) -> Option<u64> {
        self.status("Threads:")
    }

    /// The number behind a name in `/proc/PID/status`.
    fn status(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(self.folder.join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse().ok()
    }
}

/// Number of the socket that listens on a port.
fn listener(port: u16) -> Option<String> {
    const LISTENS: &str = "0A";
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        let text = fs::read_to_string(table).unwrap_or_default();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let &[_, local, _, state, _, _, _, _, _, inode, ..] = fields.as_slice() else {
                continue;
            };
            let local = local.rsplit(':').next().unwrap_or_default();
            if state == LISTENS && u16::from_str_radix(local, 16) == Ok(port) {
                return Some(inode.to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::Process;

    #[test]
    fn the_process_that_listens_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap().to_string();
        let found = Process::listening(&addr).unwrap();
        let pid = std::process::id().to_string();
        assert_eq!(found.folder.file_name().unwrap().to_str(), Some(&*pid));
    }

    #[test]
    fn a_process_has_memory_and_processor_time() {
        let own = Process::own();
        assert!(own.resident_bytes().unwrap() > 1 << 16);
        assert!(own.anonymous_bytes().unwrap() < own.resident_bytes().unwrap());
        assert!(Process::own().processor().is_some());
    }
}
