//! The load: each client notes its statements with their answers, and the statement that got none.

use std::sync::atomic::{AtomicBool, Ordering};

use client::{Client, ClientError};

/// The answer to a statement: OK, an error, or none before the server was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    Yes,
    No,
    Nothing,
}

/// An INSERT of consecutive numbers, and its answer.
#[derive(Clone, Debug)]
pub struct Put {
    pub values: Vec<u64>,
    pub told: Told,
}

/// A row that was taken, and whether its end was acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Took {
    pub value: u64,
    pub ended: bool,
}

/// Puts numbers that no other producer uses.
pub struct Producer {
    next: u64,
    step: u64,
    statements: u64,
    told: Vec<Put>,
}

impl Producer {
    pub fn new(place: u64, producers: u64) -> Producer {
        Producer {
            next: place,
            step: producers,
            statements: 0,
            told: Vec::new(),
        }
    }

    pub fn take_told(&mut self) -> Vec<Put> {
        std::mem::take(&mut self.told)
    }

    pub fn put_until(&mut self, addr: &str, over: &AtomicBool) {
        let Ok(mut client) = Client::connect(addr, "root", "") else {
            return;
        };
        while !over.load(Ordering::Relaxed) {
            let (statement, values) = self.statement();
            let told = match client.query(&statement) {
                Ok(_) => Told::Yes,
                Err(ClientError::Server(_)) => Told::No,
                Err(_) => Told::Nothing,
            };
            self.told.push(Put { values, told });
            if told == Told::Nothing {
                return;
            }
        }
    }

    /// One to four rows; every ninth statement ends in a row that must be refused, and the others with it.
    fn statement(&mut self) -> (String, Vec<u64>) {
        self.statements += 1;
        let rows = 1 + self.statements % 4;
        let values: Vec<u64> = (0..rows).map(|row| self.next + row * self.step).collect();
        self.next += rows * self.step;
        let mut rows: Vec<String> = values.iter().map(|value| format!("({value})")).collect();
        if self.statements.is_multiple_of(9) {
            rows.push("(99999999999999999999)".to_owned());
        }
        let statement = format!("INSERT INTO q (v) VALUES {}", rows.join(","));
        (statement, values)
    }
}

/// Takes rows; every seventh is given back and taken again.
#[derive(Default)]
pub struct Consumer {
    told: Vec<Took>,
    takes: usize,
}

impl Consumer {
    pub fn into_told(self) -> Vec<Took> {
        self.told
    }

    pub fn take_until(&mut self, addr: &str, over: &AtomicBool) {
        let Ok(mut client) = Client::connect(addr, "root", "") else {
            return;
        };
        while !over.load(Ordering::Relaxed) && self.take(&mut client).is_ok() {}
    }

    /// Waits, which ends the row before, and reads the row.
    fn take(&mut self, client: &mut Client) -> Result<(), ClientError> {
        let found = client.query("SELECT queue_wait('q', 1)")?;
        if let Some(last) = self.told.last_mut() {
            last.ended = true;
        }
        let given = usize::from(found.rows[0][0].as_deref() == Some(b"1"));
        let rows = rows(client)?;
        assert_eq!(rows.len(), given, "an owner sees its own row");
        self.takes += given;
        match rows.first() {
            // As if it had not been taken: the next wait ends nothing.
            Some(_) if self.takes.is_multiple_of(7) => {
                client.query("SELECT queue_abort()").map(drop)
            }
            Some(&value) => {
                let ended = false;
                self.told.push(Took { value, ended });
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The numbers in the queue that this connection sees, in its order.
pub fn rows(client: &mut Client) -> Result<Vec<u64>, ClientError> {
    let found = client.query("SELECT v FROM q")?;
    let number = |row: &Vec<Option<Vec<u8>>>| {
        let text = String::from_utf8(row[0].clone().unwrap()).unwrap();
        text.parse().unwrap()
    };
    Ok(found.rows.iter().map(number).collect())
}
