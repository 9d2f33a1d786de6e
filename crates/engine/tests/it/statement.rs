//! Parser of the test scripts' statements: the part of SQL that the engine's tests need.

use engine::{Command, Definition, Kind, Write};
use relation::expression::{self, Expression};
use relation::lexer::{Lexer, TokenKind};
use relation::options::Options;
use relation::request::{Assignment, Delete, Insert, Item, OrderBy, Output, Select, Update};
use relation::schema::{Column, ColumnType, TypeSystem};
use relation::value::Value;

/// What a line asks for.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// For the engine's thread.
    Command(Command),
    /// For a snapshot.
    Select(Select),
    CallPq {
        table: String,
        documents: Vec<String>,
        only: Option<Expression>,
        after: Option<u64>,
        limit: Option<u64>,
    },
    ShowCreate(String),
    ShowTables,
    TableStatus(String),
    /// Seconds pass.
    Tick(u64),
    /// The hits of stored documents: pq table, query, days.
    Backfill(String, u64, Option<u64>),
    /// The process is killed and started again.
    Restart,
}

/// Panics on what it does not understand: a script is part of a test.
pub fn parse(line: &str) -> Statement {
    let mut parser = Parser {
        lexer: Lexer::new(line.as_bytes()),
    };
    let statement = parser.statement();
    assert_eq!(parser.lexer.peek().kind, TokenKind::End, "rest of: {line}");
    statement
}

pub fn command(line: &str) -> Command {
    match parse(line) {
        Statement::Command(command) => command,
        other => panic!("no command: {other:?}"),
    }
}

/// Writes as one unit.
pub fn many(writes: impl IntoIterator<Item = Command>) -> Command {
    let write = |command| match command {
        Command::Write(write) => write,
        other => panic!("no member: {other:?}"),
    };
    Command::Many(writes.into_iter().map(write).collect())
}

struct Parser<'a> {
    lexer: Lexer<'a>,
}

impl Parser<'_> {
    fn word(&mut self, word: &str) -> bool {
        self.lexer.take_word(word)
    }

    fn name(&mut self) -> String {
        let token = self.lexer.next();
        self.lexer.name(&token).expect("a name")
    }

    fn table_or_address(&mut self) -> String {
        if self.lexer.peek().kind == TokenKind::String {
            self.text()
        } else {
            self.name()
        }
    }

    fn text(&mut self) -> String {
        let token = self.lexer.next();
        String::from_utf8(self.lexer.string(&token)).expect("text")
    }

    fn number(&mut self) -> u64 {
        let token = self.lexer.next();
        std::str::from_utf8(self.lexer.bytes(&token))
            .unwrap()
            .parse()
            .expect("a number")
    }

    fn expect(&mut self, kind: TokenKind) {
        assert!(self.lexer.take(kind), "expected {kind:?}");
    }

    fn list<T>(&mut self, item: fn(&mut Self) -> T) -> Vec<T> {
        self.expect(TokenKind::Open);
        let mut items = vec![item(self)];
        while self.lexer.take(TokenKind::Comma) {
            items.push(item(self));
        }
        self.expect(TokenKind::Close);
        items
    }

    fn expression(&mut self) -> Expression {
        expression::parse_with_calls(&mut self.lexer, &mut |_, _| Ok(None)).expect("an expression")
    }

    fn value(&mut self) -> Value {
        expression::evaluate(&self.expression(), &|_| None)
    }

    fn statement(&mut self) -> Statement {
        if self.word("create") {
            return self.create();
        } else if self.word("drop") {
            let if_exists = self.word("if") && self.word("exists");
            return Statement::Command(Command::DropTable {
                tables: vec![self.name()],
                if_exists,
            });
        } else if self.word("flush") {
            let tables = vec![self.name()];
            return Statement::Command(Command::Flush { tables });
        } else if self.word("optimize") {
            let table = self.name();
            return Statement::Command(Command::Optimize { table });
        } else if self.word("insert") {
            return Statement::Command(self.insert(false));
        } else if self.word("replace") {
            return Statement::Command(self.insert(true));
        } else if self.word("update") {
            return Statement::Command(self.update());
        } else if self.word("delete") {
            return Statement::Command(self.delete());
        } else if self.word("many") {
            return Statement::Command(self.many());
        } else if self.word("read") {
            return Statement::Command(Command::Read {
                select: Box::new(self.select()),
            });
        } else if self.word("select") {
            return Statement::Select(self.select());
        } else if self.word("call") {
            let table = self.name();
            let documents = self.list(Self::text);
            let only = self.word("only").then(|| self.expression());
            let after = self.word("after").then(|| self.number());
            let limit = self.word("limit").then(|| self.number());
            return Statement::CallPq {
                table,
                documents,
                only,
                after,
                limit,
            };
        } else if self.word("show") {
            return Statement::ShowCreate(self.name());
        } else if self.word("status") {
            return Statement::TableStatus(self.name());
        } else if self.word("tables") {
            return Statement::ShowTables;
        } else if self.word("tick") {
            return Statement::Tick(self.number());
        } else if self.word("backfill") {
            let (table, query) = (self.name(), self.number());
            let days = self.word("days").then(|| self.number());
            return Statement::Backfill(table, query, days);
        } else if self.word("restart") {
            return Statement::Restart;
        }
        Statement::Command(self.session_command())
    }

    fn session_command(&mut self) -> Command {
        if self.word("wait") {
            let table = self.name();
            let timeout_us = self.number() * 1_000_000;
            return Command::QueueWait {
                sources: vec![engine::WaitSource::all(table)],
                timeout_us,
            };
        }
        if let Some(command) = self.queue_command() {
            return command;
        }
        let verb = self.name();
        match verb.as_str() {
            "end" => Command::QueueEnd,
            "abort" => Command::QueueAbort,
            "close" => Command::SessionClosed,
            "checkpoint" => Command::Checkpoint,
            "shutdown" => Command::Shutdown,
            _ => panic!("no statement: {verb}"),
        }
    }

    /// `source SENDER ROW`, `pause Q`, `drop_column Q COLUMN`, `lease Q [GROUP]`, `done|return Q GROUP|none ROW`: of the first
    /// delivery.
    fn queue_command(&mut self) -> Option<Command> {
        if self.word("source") {
            return Some(Command::QueueSetSource {
                sender: self.number() as u8,
                mode: engine::SourceMode::Append,
                row: self.number(),
            });
        } else if self.word("pause") {
            return Some(Command::QueuePause {
                table: self.name(),
                group: None,
                paused: true,
            });
        } else if self.word("drop_column") {
            return Some(Command::AlterTable {
                table: self.name(),
                changes: vec![engine::Change::Drop { name: self.name() }],
            });
        } else if self.word("lease") {
            return Some(Command::QueueNext(engine::QueueNext {
                sources: vec![engine::WaitSource::all(self.name())],
                group: self.group(),
                rows: 1,
                timeout_us: 0,
                hold: engine::Hold::Lease {
                    visible_again_us: Some(60_000_000),
                },
                done: Vec::new(),
            }));
        } else if self.word("done") {
            let receipts = vec![self.receipt()];
            return Some(Command::QueueDone { receipts });
        } else if self.word("return") {
            return Some(Command::QueueReturn {
                receipts: vec![self.receipt()],
                delay_us: 5_000_000,
            });
        }
        None
    }

    fn group(&mut self) -> Option<String> {
        Some(self.name()).filter(|group| group != "none")
    }

    /// `QUEUE GROUP ROW table NUMBER`: the first delivery of a row by an engine of incarnation 0.
    fn receipt(&mut self) -> engine::Receipt {
        let (table, group, row) = (self.name(), self.group(), self.number());
        assert!(self.word("table"), "the number of the queue's table");
        let issuer = engine::Issuer {
            incarnation: 0,
            table: self.number() as u32,
        };
        engine::Receipt {
            table,
            issuer,
            group,
            row: engine::RowNumber(row),
            delivery: 1,
        }
    }

    /// `[groups G, …] [unique COLUMN] [tries N]`
    fn queue_options(&mut self) -> engine::QueueOptions {
        let mut options = engine::QueueOptions::default();
        if self.word("groups") {
            options.groups.push(self.name());
            while self.lexer.take(TokenKind::Comma) {
                options.groups.push(self.name());
            }
        }
        if self.word("unique") {
            options.unique_by = Some(self.name());
            options.unique_for_us = Some(60_000_000);
        }
        options.max_deliveries = self.word("tries").then(|| self.number() as u32);
        options
    }

    /// `create [if not exists] search|pq|queue name [(columns)] [on name] [into name|'address'] [sync 'mode']`, and a queue's options
    fn create(&mut self) -> Statement {
        let if_not_exists = self.word("if") && self.word("not") && self.word("exists");
        let kind = self.name();
        let name = self.name();
        let system = if kind == "queue" {
            TypeSystem::Queue
        } else {
            TypeSystem::Search
        };
        let mut columns = Vec::new();
        if self.lexer.take(TokenKind::Open) {
            loop {
                columns.push(self.column(system));
                if !self.lexer.take(TokenKind::Comma) {
                    break;
                }
            }
            self.expect(TokenKind::Close);
        }
        let mut on = Vec::new();
        if self.word("on") {
            on.push(self.name());
            while self.lexer.take(TokenKind::Comma) {
                on.push(self.name());
            }
        }
        let into = self.word("into").then(|| self.table_or_address());
        let sync = self
            .word("sync")
            .then(|| engine::SyncMode::parse(&self.table_or_address()).unwrap());
        let mut keep = self.word("keep").then(|| engine::Keep {
            seconds: Some(self.number()),
            ..Default::default()
        });
        if self.word("keep_bytes") {
            keep.get_or_insert_default().bytes = Some(self.number());
        }
        let shards = self.word("shards").then(|| self.number() as u16);
        let mut analysis = language::analysis::Settings::default();
        while self.word("with") {
            let (setting, value) = (self.name(), self.table_or_address());
            analysis.set(&setting, &value).unwrap().unwrap();
        }
        let kind = match kind.as_str() {
            "search" => Kind::Search(engine::SearchOptions {
                shards,
                ..engine::SearchOptions::default()
            }),
            "pq" => Kind::Percolate {
                on,
                into,
                syntax: Default::default(),
                on_update: self.word("hears_update"),
            },
            "queue" => Kind::Queue(self.queue_options()),
            _ => panic!("no kind of table: {kind}"),
        };
        Statement::Command(Command::CreateTable {
            definition: Box::new(Definition {
                name,
                kind,
                columns,
                analysis,
                sync,
                keep,
            }),
            if_not_exists,
        })
    }

    fn column(&mut self, system: TypeSystem) -> Column {
        let name = self.name();
        let kind = self.name();
        let args = if self.lexer.peek().kind == TokenKind::Open {
            self.list(Self::number)
        } else {
            Vec::new()
        };
        let unsigned = self.word("unsigned");
        let nullable = !(self.word("not") && self.word("null"));
        let default = self.word("default").then(|| self.value());
        Column {
            name,
            kind: ColumnType::parse(&kind, &args, unsigned, system).expect("a type"),
            nullable,
            default,
            keyed: self.word("key"),
        }
    }

    /// `insert name [(columns)] values (…), (…)`
    fn insert(&mut self, replace: bool) -> Command {
        let table = self.name();
        let columns = (self.lexer.peek().kind == TokenKind::Open).then(|| self.list(Self::name));
        assert!(self.word("values"), "expected VALUES");
        let mut rows = vec![self.list(Self::value)];
        while self.lexer.take(TokenKind::Comma) {
            rows.push(self.list(Self::value));
        }
        Command::Write(Write::Insert(Insert {
            table,
            columns,
            rows,
            replace,
        }))
    }

    fn delete(&mut self) -> Command {
        let table = self.name();
        let matching = self.word("match").then(|| self.text());
        let filter = self.word("where").then(|| self.expression());
        let limit = self.word("limit").then(|| self.number());
        Command::Write(Write::Delete(Box::new(Delete {
            table,
            matching,
            filter,
            limit,
            order: Vec::new(),
        })))
    }

    /// `update name set column = …, … [match 'text'] [where …] [limit n]`
    fn update(&mut self) -> Command {
        let table = self.name();
        assert!(self.word("set"), "expected SET");
        let mut set = Vec::new();
        loop {
            let column = self.name();
            assert!(self.lexer.take(TokenKind::Equal), "expected =");
            set.push(Assignment {
                column,
                path: Vec::new(),
                value: self.expression(),
            });
            if !self.lexer.take(TokenKind::Comma) {
                break;
            }
        }
        let matching = self.word("match").then(|| self.text());
        let filter = self.word("where").then(|| self.expression());
        let limit = self.word("limit").then(|| self.number());
        let update = Update {
            table,
            set,
            matching,
            filter,
            order: Vec::new(),
            options: Default::default(),
            limit,
        };
        Command::Write(Write::Update(Box::new(update)))
    }

    /// `many insert … ; update … ; delete …`
    fn many(&mut self) -> Command {
        let mut members = Vec::new();
        loop {
            let member = match self.name().as_str() {
                "insert" => self.insert(false),
                "replace" => self.insert(true),
                "delete" => self.delete(),
                "update" => self.update(),
                verb => panic!("no member: {verb}"),
            };
            members.push(member);
            if !self.lexer.take(TokenKind::Semicolon) {
                return many(members);
            }
        }
    }

    /// `* | count | column, … from name [match 'text'] [where …] [order by … [desc]] [limit n] [offset n]`
    fn select(&mut self) -> Select {
        let mut items = Vec::new();
        loop {
            if self.lexer.take(TokenKind::Star) {
                items.push(Item::Star);
            } else if self.word("count") {
                items.push(Item::Value {
                    what: Output::Count,
                    name: "count(*)".to_owned(),
                });
            } else if self.word("weight") {
                items.push(Item::Value {
                    what: Output::Weight,
                    name: "weight()".to_owned(),
                });
            } else {
                let what = self.expression();
                let name = format!("{}", items.len());
                items.push(Item::Value {
                    what: Output::Expression(what),
                    name,
                });
            }
            if !self.lexer.take(TokenKind::Comma) {
                break;
            }
        }
        assert!(self.word("from"), "expected FROM");
        let table = self.name();
        let matching = self.word("match").then(|| self.text());
        let filter = self.word("where").then(|| self.expression());
        let mut order = Vec::new();
        if self.word("order") && self.word("by") {
            let key = Output::Expression(self.expression());
            let descending = self.word("desc");
            order.push(OrderBy { key, descending });
        }
        let limit = self.word("limit").then(|| self.number());
        let offset = if self.word("offset") {
            self.number()
        } else {
            0
        };
        Select {
            table,
            items,
            matching,
            filter,
            order,
            limit,
            offset,
            options: Vec::new(),
        }
    }
}

/// What a SELECT has behind OPTION.
pub fn options_of(select: &Select) -> Options {
    Options::parse(&select.options).unwrap()
}
