//! An open file of the faulty disk. Each call is counted, and fails as planned.

use super::file::FaultFile;
use super::{Call, Fault, FaultDisk, Verdict, finish, power_is_off, whole_failure};
use crate::{Bytes, File};
use std::io::{self, ErrorKind};
use std::sync::Arc;

pub(super) struct FaultHandle {
    pub(super) disk: FaultDisk,
    pub(super) file: Arc<FaultFile>,
}

impl FaultHandle {
    /// Writes the part of `data` for which the device has room.
    fn write_within(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let reach = self.disk.state().reach_bytes(&self.file);
        let fits = usize::try_from(reach.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(data.len());
        self.file.write(offset, data.get(..fits).unwrap_or(data))?;
        if fits < data.len() {
            return Err(io::Error::new(
                ErrorKind::StorageFull,
                "the device of the test is full",
            ));
        }
        Ok(())
    }
}

impl File for FaultHandle {
    fn len(&self) -> io::Result<u64> {
        Ok(self.file.len())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<()> {
        match self.disk.admit(Call::Read)? {
            Verdict::Fault(Fault::Flip(bit)) => {
                self.file.read(offset, buf)?;
                flip(buf, bit);
                Ok(())
            }
            Verdict::Fault(fault) => Err(whole_failure(fault)),
            Verdict::Proceed | Verdict::PowerOff => self.file.read(offset, buf),
        }
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let verdict = self.disk.admit(Call::Write)?;
        match verdict {
            Verdict::Proceed | Verdict::PowerOff => self.write_within(offset, data)?,
            Verdict::Fault(Fault::Ignored) => {}
            Verdict::Fault(Fault::Flip(bit)) => {
                let mut flipped = data.to_vec();
                flip(&mut flipped, bit);
                self.write_within(offset, &flipped)?;
            }
            Verdict::Fault(Fault::Short(bytes)) => {
                self.write_within(offset, data.get(..bytes).unwrap_or(data))?;
                return Err(io::Error::other("short write"));
            }
            Verdict::Fault(fault @ Fault::Fail(_)) => return Err(whole_failure(fault)),
        }
        finish(&verdict)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let verdict = self.disk.admit(Call::SetLen)?;
        if let Verdict::Fault(fault) = verdict {
            return Err(whole_failure(fault));
        }
        if len > self.file.len() && len > self.disk.state().reach_bytes(&self.file) {
            return Err(io::Error::new(
                ErrorKind::StorageFull,
                "the device of the test is full",
            ));
        }
        self.file.set_len(len)?;
        finish(&verdict)
    }

    fn sync(&self) -> io::Result<()> {
        match self.disk.admit(Call::Sync)? {
            Verdict::Proceed => self.file.sync(),
            Verdict::Fault(Fault::Ignored) => self.file.abandon(),
            Verdict::Fault(fault) => {
                self.file.abandon();
                return Err(whole_failure(fault));
            }
            Verdict::PowerOff => return Err(power_is_off()),
        }
        Ok(())
    }

    fn map(&self) -> io::Result<Bytes> {
        self.disk.admit_whole(Call::Read)?;
        Ok(Arc::new(self.file.content()))
    }
}

fn flip(data: &mut [u8], bit: u64) {
    if data.is_empty() {
        return;
    }
    let bit = (bit % (data.len() as u64 * 8)) as usize;
    if let Some(byte) = data.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}
