//! The default of `memory`: half of the memory that this process may use.

use std::fs;

/// The default if neither the machine nor a cgroup tells its memory.
const FALLBACK_BYTES: u64 = 1 << 30;

/// The machine's memory and its swap space, in bytes; `None`: the system does not tell it. Reads `/proc`.
pub(super) fn of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let swap = bytes_of(&text, "SwapTotal:").unwrap_or(0);
    bytes_of(&text, "MemTotal:").map(|bytes| bytes + swap)
}

/// Half of the machine's memory or of the cgroup's limit, whichever is lower. Reads `/proc` and `/sys`.
pub(super) fn half_of_available() -> u64 {
    let machine = fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| bytes_of(&text, "MemTotal:"));
    let group = fs::read_to_string("/proc/self/cgroup")
        .ok()
        .and_then(|text| cgroup_bytes(&text));
    let available = [machine, group].into_iter().flatten().min();
    available.map_or(FALLBACK_BYTES, |bytes| bytes / 2)
}

/// A line of `/proc/meminfo`, such as `MemTotal:`.
fn bytes_of(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The lowest limit on the way from this process's cgroup up to the root: version 2 (`0::/path`) and 1
/// (`N:memory:/path`).
fn cgroup_bytes(membership: &str) -> Option<u64> {
    membership
        .lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            match controllers {
                "" => limit_upward("/sys/fs/cgroup", path, "memory.max"),
                other if other.split(',').any(|name| name == "memory") => {
                    limit_upward("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes")
                }
                _ => None,
            }
        })
        .min()
}

fn limit_upward(root: &str, path: &str, file: &str) -> Option<u64> {
    let mut path = path.trim_end_matches('/');
    let mut lowest: Option<u64> = None;
    loop {
        let limit = fs::read_to_string(format!("{root}{path}/{file}")).ok();
        let limit = limit.and_then(|text| text.trim().parse::<u64>().ok());
        lowest = [lowest, limit].into_iter().flatten().min();
        match path.rfind('/') {
            Some(end) => path = &path[..end],
            None => return lowest,
        }
    }
}

#[cfg(test)]
mod tests;
