//! Names and numbers of the services: Scribe 2.2, fb303, and the mapping of buckets to hosts.

/// A method of the services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `ResultCode Log(1: list<LogEntry> messages)`
    Log,
    /// `string getName()`
    GetName,
    /// `string getVersion()`
    GetVersion,
    /// `fb_status getStatus()`
    GetStatus,
    /// `string getStatusDetails()`
    GetStatusDetails,
    /// `map<string, i64> getCounters()`
    GetCounters,
    /// `i64 getCounter(1: string key)`
    GetCounter,
    /// `void setOption(1: string key, 2: string value)`
    SetOption,
    /// `string getOption(1: string key)`
    GetOption,
    /// `map<string, string> getOptions()`
    GetOptions,
    /// `string getCpuProfile(1: i32 profileDurationInSec)`
    GetCpuProfile,
    /// `i64 aliveSince()`
    AliveSince,
    /// `oneway void reinitialize()`
    Reinitialize,
    /// `oneway void shutdown()`
    Shutdown,
    /// `map<i32, HostPort> getMapping(1: string category) throws (1: BucketStoreMappingException e)`, of BucketStoreMapping.
    /// Scribe's server does not have it.
    GetMapping,
}

impl Method {
    /// Every method once.
    pub const ALL: [Method; 15] = [
        Method::Log,
        Method::GetName,
        Method::GetVersion,
        Method::GetStatus,
        Method::GetStatusDetails,
        Method::GetCounters,
        Method::GetCounter,
        Method::SetOption,
        Method::GetOption,
        Method::GetOptions,
        Method::GetCpuProfile,
        Method::AliveSince,
        Method::Reinitialize,
        Method::Shutdown,
        Method::GetMapping,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Method::Log => "Log",
            Method::GetName => "getName",
            Method::GetVersion => "getVersion",
            Method::GetStatus => "getStatus",
            Method::GetStatusDetails => "getStatusDetails",
            Method::GetCounters => "getCounters",
            Method::GetCounter => "getCounter",
            Method::SetOption => "setOption",
            Method::GetOption => "getOption",
            Method::GetOptions => "getOptions",
            Method::GetCpuProfile => "getCpuProfile",
            Method::AliveSince => "aliveSince",
            Method::Reinitialize => "reinitialize",
            Method::Shutdown => "shutdown",
            Method::GetMapping => "getMapping",
        }
    }

    /// Whether the method has no answer.
    #[must_use]
    pub const fn is_oneway(self) -> bool {
        matches!(self, Method::Reinitialize | Method::Shutdown)
    }

    /// The method of this name.
    #[inline]
    #[must_use]
    pub fn of(name: &[u8]) -> Option<Method> {
        let mut all = Method::ALL.into_iter();
        all.find(|method| method.name().as_bytes() == name)
    }
}

/// What `Log` answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultCode {
    /// The server has the messages.
    Ok = 0,
    /// The server has none of the messages; the client sends them again later.
    TryLater = 1,
}

impl ResultCode {
    pub(super) fn numbered(number: i32) -> Option<ResultCode> {
        Some(match number {
            0 => ResultCode::Ok,
            1 => ResultCode::TryLater,
            _ => return None,
        })
    }
}

/// What `getStatus` answers: fb303's `fb_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The service does not work.
    Dead = 0,
    /// The service is starting.
    Starting = 1,
    /// The service works.
    Alive = 2,
    /// The service is stopping.
    Stopping = 3,
    /// The service has stopped.
    Stopped = 4,
    /// The service works, and `getStatusDetails` says what is wrong.
    Warning = 5,
}

impl Status {
    /// The word that `scribe_ctrl` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Status::Dead => "DEAD",
            Status::Starting => "STARTING",
            Status::Alive => "ALIVE",
            Status::Stopping => "STOPPING",
            Status::Stopped => "STOPPED",
            Status::Warning => "WARNING",
        }
    }

    pub(super) fn numbered(number: i32) -> Option<Status> {
        Some(match number {
            0 => Status::Dead,
            1 => Status::Starting,
            2 => Status::Alive,
            3 => Status::Stopping,
            4 => Status::Stopped,
            5 => Status::Warning,
            _ => return None,
        })
    }
}

/// Kind of a Thrift exception: TApplicationException's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceptionKind {
    /// No kind that this module knows.
    Unknown = 0,
    /// The server does not have the method.
    UnknownMethod = 1,
    /// The message is no call.
    InvalidMessageType = 2,
    /// The reply is that of another method.
    WrongMethodName = 3,
    /// The reply has another sequence id.
    BadSequenceId = 4,
    /// The reply has no result.
    MissingResult = 5,
    /// The server could not carry out the call.
    InternalError = 6,
    /// The message breaks the protocol.
    ProtocolError = 7,
}

impl ExceptionKind {
    pub(super) fn numbered(number: i32) -> ExceptionKind {
        match number {
            1 => ExceptionKind::UnknownMethod,
            2 => ExceptionKind::InvalidMessageType,
            3 => ExceptionKind::WrongMethodName,
            4 => ExceptionKind::BadSequenceId,
            5 => ExceptionKind::MissingResult,
            6 => ExceptionKind::InternalError,
            7 => ExceptionKind::ProtocolError,
            _ => ExceptionKind::Unknown,
        }
    }
}
