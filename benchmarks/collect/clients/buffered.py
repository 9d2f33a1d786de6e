"""The buffered client of clients/python, 200 messages a call. usage: buffered.py HOST PORT SECONDS CATEGORY; prints messages and seconds."""

import sys
import time

from seine_scribe import BufferedClient

host, port, seconds, category = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
text, sent, begun = b"x" * 99 + b"\n", 0, time.monotonic()
client = BufferedClient(host, port, batch_messages=200, buffer_bytes=1 << 20)
while time.monotonic() < begun + seconds:
    client.log(category, [text for _ in range(200)])
    sent += 200
assert client.close() == 0
print(sent, time.monotonic() - begun)
