//! A client of the MySQL protocol without blocking: one thread has many connections, so that the load costs the machine little.

use client::ClientError;
use wire::mysql::{
    Capabilities, Cells, ClientLogin, Command, LoginStep, PacketReader, PacketWriter, Reply,
    RowPacket, STATUS_MORE_RESULTS,
};

use super::stream::Stream;
use crate::{Server, error::Result};

/// A connection to a MySQL door.
pub(super) struct Sql {
    stream: Stream,
    reader: PacketReader,
    packets: PacketWriter,
    capabilities: Capabilities,
}

impl Sql {
    pub(super) async fn connect(server: &Server) -> Result<Sql> {
        let mut sql = Sql {
            stream: Stream::connect(&server.addr).await?,
            reader: PacketReader::default(),
            packets: PacketWriter::new(),
            capabilities: Capabilities::CLIENT,
        };
        sql.fetch().await?;
        let greeting = sql.reader.packet().payload;
        if let Some(0xff) = greeting.first()
            && let Reply::Error(error) = Reply::decode(greeting).map_err(ClientError::from)?
        {
            return Err(ClientError::Server(error).into());
        }
        let (user, password) = (&server.user, &server.password);
        let login = ClientLogin::begin(greeting, user, password, &mut sql.packets)
            .map_err(ClientError::from)?;
        sql.capabilities = login.capabilities;
        sql.log_in(&login).await?;
        Ok(sql)
    }

    async fn log_in(&mut self, login: &ClientLogin) -> Result<()> {
        loop {
            self.send().await?;
            self.fetch().await?;
            let packet = self.reader.packet();
            let step = login.answer(packet.payload, packet.sequence, &mut self.packets);
            match step.map_err(ClientError::from)? {
                LoginStep::Read => {}
                LoginStep::Done => return Ok(()),
                LoginStep::Refused(error) => return Err(ClientError::Server(error).into()),
                LoginStep::Unsupported => {
                    return Err(ClientError::Protocol("unknown way of authentication").into());
                }
            }
        }
    }

    /// Runs a statement and visits its rows. Gives the count of affected rows.
    pub(super) async fn run(
        &mut self,
        text: &str,
        visit: &mut (dyn FnMut(Cells<'_>) + Send),
    ) -> Result<u64> {
        Command::query(text.as_bytes(), &mut self.packets);
        self.send().await?;
        let mut affected = 0;
        loop {
            self.fetch().await?;
            let payload = self.reader.packet().payload;
            let status = match Reply::decode(payload).map_err(ClientError::from)? {
                Reply::Ok(done) => {
                    affected += done.affected;
                    done.status
                }
                Reply::Error(error) => return Err(ClientError::Server(error).into()),
                Reply::Columns(count) => {
                    let ends = u64::from(!self.capabilities.has(Capabilities::DEPRECATE_EOF));
                    for _ in 0..count + ends {
                        self.fetch().await?;
                    }
                    self.rows(visit).await?
                }
            };
            if status & STATUS_MORE_RESULTS == 0 {
                return Ok(affected);
            }
        }
    }

    /// Runs a statement and ignores its rows. Gives the count of affected rows.
    pub(super) async fn execute(&mut self, text: &str) -> Result<u64> {
        self.run(text, &mut |_| {}).await
    }

    /// Runs a statement and gives the first cell of its first row as a number; 0 for no row, NULL and any text that is no number.
    pub(super) async fn number(&mut self, text: &str) -> Result<i64> {
        let mut found = None;
        self.run(text, &mut |cells| {
            found.get_or_insert(first_number(cells));
        })
        .await?;
        Ok(found.unwrap_or(0))
    }

    async fn rows(&mut self, visit: &mut (dyn FnMut(Cells<'_>) + Send)) -> Result<u16> {
        loop {
            self.fetch().await?;
            let payload = self.reader.packet().payload;
            match RowPacket::decode(payload, self.capabilities).map_err(ClientError::from)? {
                RowPacket::Row(cells) => visit(cells),
                RowPacket::Error(error) => return Err(ClientError::Server(error).into()),
                RowPacket::End { status, .. } => return Ok(status),
            }
        }
    }

    async fn send(&mut self) -> Result<()> {
        self.stream.write_all(self.packets.bytes()).await?;
        self.packets.clear();
        Ok(())
    }

    async fn fetch(&mut self) -> Result<()> {
        while !self.reader.advance().map_err(ClientError::from)? {
            let count = self.stream.read(self.reader.spare()).await?;
            self.reader.filled(count);
        }
        Ok(())
    }
}

/// The first cell as a number.
pub(super) fn first_number(mut cells: Cells<'_>) -> i64 {
    number(cells.next().and_then(|cell| cell.ok().flatten()))
}

/// A cell as a number.
pub(super) fn number(cell: Option<&[u8]>) -> i64 {
    let text = cell.and_then(|cell| std::str::from_utf8(cell).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or(0)
}
