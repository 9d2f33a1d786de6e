"""The bare Thrift-made client in Python: 200 messages a call. usage: bare.py HOST PORT SECONDS CATEGORY; prints messages and seconds."""

import sys
import time

from thrift.protocol import TBinaryProtocol
from thrift.transport import TSocket, TTransport

from scribe import scribe
from scribe.ttypes import LogEntry, ResultCode

host, port, seconds, category = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4].encode()
transport = TTransport.TFramedTransport(TSocket.TSocket(host, port))
# In C, where the package has it.
client = scribe.Client(TBinaryProtocol.TBinaryProtocolAccelerated(transport))
transport.open()
text, sent, begun = b"x" * 99 + b"\n", 0, time.monotonic()
while time.monotonic() < begun + seconds:
    if client.Log([LogEntry(category, text) for _ in range(200)]) == ResultCode.OK:
        sent += 200
print(sent, time.monotonic() - begun)
