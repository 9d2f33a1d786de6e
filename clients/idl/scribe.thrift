// Scribe's service, as its clients are generated from it.
include "fb303.thrift"
namespace py scribe
namespace perl Scribe.Thrift
namespace php Scribe.Thrift

enum ResultCode { OK, TRY_LATER }

struct LogEntry {
  1: binary category,
  2: binary message
}

service scribe extends fb303.FacebookService {
  ResultCode Log(1: list<LogEntry> messages)
}
