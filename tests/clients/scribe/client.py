"""A Thrift-generated client in Python against the Scribe door: every form of the protocol, every call.

usage: client.py HOST PORT FOLDER    FOLDER: the files of a server without a configuration of Scribe
"""

import pathlib
import sys
import time

from thrift.protocol import TBinaryProtocol
from thrift.Thrift import TApplicationException
from thrift.transport import TSocket, TTransport

from scribe import scribe
from scribe.ttypes import LogEntry, ResultCode

host, port, folder = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])


def connect(framed, strict):
    socket = TSocket.TSocket(host, port)
    socket.setTimeout(20_000)
    transport = TTransport.TFramedTransport(socket) if framed else TTransport.TBufferedTransport(socket)
    transport.open()
    protocol = TBinaryProtocol.TBinaryProtocol(transport, strictRead=False, strictWrite=strict)
    return scribe.Client(protocol), transport


def content(category):
    return b"".join(file.read_bytes() for file in sorted(folder.glob(f"{category}/{category}-*")))


def wait_for(category, wanted):
    end = time.monotonic() + 20
    while content(category) != wanted:
        assert time.monotonic() < end, (category, content(category), wanted)
        time.sleep(0.05)


wanted = b""
for framed in (True, False):
    for strict in (False, True):
        client, transport = connect(framed, strict)
        bodies = [f"{framed} {strict} {number}\n".encode() for number in range(50)]
        bodies += [b"", b"\x00binary\xff\n"]
        entries = [LogEntry(category=b"forms", message=body) for body in bodies]
        assert client.Log(entries) == ResultCode.OK
        wanted += b"".join(bodies)
        assert client.getName() == "Scribe" and client.getVersion() == "2.2"
        assert client.getStatus() == 2 and client.getStatusDetails() == ""
        transport.close()
wait_for("forms", wanted)

client, transport = connect(True, False)
assert client.Log([]) == ResultCode.OK
refused = [b"", b"..", b"/etc", b"a/../b", b"a\x00b", b"x" * 65_536]
entries = [LogEntry(category=category, message=b"x") for category in refused]
assert client.Log(entries + [LogEntry(category=b"mixed", message=b"stays\n")]) == ResultCode.OK
wait_for("mixed", b"stays\n")
counters = client.getCounters()
assert counters["forms:received good"] == 208 and counters["mixed:received good"] == 1, counters
assert counters["scribe_overall:received blank category"] == 1, counters
assert counters["scribe_overall:received bad"] == 5, counters
assert client.getCounter("forms:received good") == 208 and client.getCounter("no such") == 0
assert abs(client.aliveSince() - time.time()) < 600
client.setOption("colour", "blue")
assert client.getOption("colour") == "blue" and client.getOptions() == {"colour": "blue"}
assert client.getOption("no such") == "" and client.getCpuProfile(1) == ""
client.reinitialize()
assert client.getStatus() == 2
try:
    client._oprot.writeMessageBegin("noSuchCall", 1, 7)
    client._oprot.writeStructBegin("none")
    client._oprot.writeFieldStop()
    client._oprot.writeMessageEnd()
    client._oprot.trans.flush()
    client.recv_getName()
    raise AssertionError("a call that the service does not have was answered")
except TApplicationException as refused:
    assert refused.type == TApplicationException.UNKNOWN_METHOD, refused
large = b"y" * (8 << 20)
assert client.Log([LogEntry(category=b"large", message=large)]) == ResultCode.OK
wait_for("large", large)
print("client.py: four forms, every call of fb303, refused categories")
