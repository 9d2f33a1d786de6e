"""A client that sends one call of Scribe's Log at a time.

The client writes Thrift's binary protocol itself, framed and strict:

    frame length | 0x80010001 | "Log" | sequence | list of (category, message) | 0
"""

from __future__ import annotations

import socket
import struct
from typing import Iterable, Optional, Union

Text = Union[str, bytes]

_ANSWER_BYTES_MAX = 1 << 20
_HEAD = struct.Struct(">II3sI")
_LIST = struct.Struct(">BhBI")
_CALL = 0x80010001
_STRING, _STRUCT, _LIST_TYPE, _I32 = 11, 12, 15, 8
_EXCEPTION = 3
_CATEGORY = struct.pack(">Bh", _STRING, 1)
_MESSAGE = struct.pack(">Bh", _STRING, 2)
_LENGTH = struct.Struct(">I")


class ScribeError(Exception):
    """The call was not sent or not answered in time. The server may have its messages."""


class TryLater(ScribeError):
    """The server has none of the messages and takes the same call later."""


class Refused(ScribeError):
    """The server can never take the call."""


def encoded(text: Text) -> bytes:
    """Bytes as they are, characters as UTF-8."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def entries(category: Text, messages: Iterable[Text]) -> list[bytes]:
    """Messages of one category as they stand in a call."""
    category = encoded(category)
    front = b"".join((_CATEGORY, _LENGTH.pack(len(category)), category, _MESSAGE))
    pack = _LENGTH.pack
    texts = [message if isinstance(message, bytes) else encoded(message) for message in messages]
    return [front + pack(len(text)) + text + b"\0" for text in texts]


class Client:
    """One connection to a Scribe server, made by the first call and again after a failure. Not for several threads at once."""

    def __init__(self, host: str = "localhost", port: int = 1463, timeout: float = 30.0) -> None:
        """`host` may be the path of a unix socket. `timeout`: seconds for a connection, for a send and for an answer."""
        self._host, self._port, self._timeout = host, port, timeout
        self._socket: Optional[socket.socket] = None
        self._sequence = 0

    def log(self, category: Text, messages: Iterable[Text]) -> None:
        """Sends messages as one call. Returns once the server has them all, as durable as it promises for the category.

        Raises TryLater, Refused, or ScribeError where the answer is missing.
        """
        self.send(entries(category, messages))

    def send(self, batch: list[bytes]) -> None:
        """As `log`, with messages of any categories made by `entries`."""
        if not batch:
            return
        try:
            code = self._call(batch)
        except OSError as error:
            self.close()
            raise ScribeError(f"{self._host}:{self._port}: {error}") from error
        except ScribeError as error:
            if not isinstance(error, Refused):
                self.close()
            raise
        if code != 0:
            raise TryLater(f"{self._host}:{self._port}: TRY_LATER")

    def close(self) -> None:
        """Closes the connection. A later call makes a new one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _connect(self) -> socket.socket:
        if self._host.startswith("/"):
            connected = socket.socket(socket.AF_UNIX)
            connected.settimeout(self._timeout)
            connected.connect(self._host)
            return connected
        connected = socket.create_connection((self._host, self._port), self._timeout)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connected

    def _call(self, batch: list[bytes]) -> int:
        if self._socket is None:
            self._socket = self._connect()
        self._sequence = self._sequence % 0x7FFFFFFF + 1
        head = _HEAD.pack(_CALL, 3, b"Log", self._sequence) + _LIST.pack(_LIST_TYPE, 1, _STRUCT, len(batch))
        message = b"".join((head, *batch, b"\0"))
        self._socket.sendall(_LENGTH.pack(len(message)))
        view = memoryview(message)
        # sendall has one time limit for all of it: a slow link takes a large call piece by piece.
        for start in range(0, len(view), 1 << 16):
            self._socket.sendall(view[start : start + (1 << 16)])
        (length,) = _LENGTH.unpack(self._read(4))
        if length > _ANSWER_BYTES_MAX:
            raise ScribeError(f"an answer of {length} bytes")
        return self._code(self._read(length))

    def _read(self, length: int) -> bytes:
        assert self._socket is not None
        parts = []
        while length > 0:
            part = self._socket.recv(min(length, 1 << 16))
            if not part:
                raise ScribeError("the server closed the connection")
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _code(self, answer: bytes) -> int:
        try:
            kind, _, name, sequence = _HEAD.unpack_from(answer)
            if kind >> 16 != 0x8001 or name != b"Log" or sequence != self._sequence:
                raise ScribeError("the answer is no answer to Log")
            if kind & 0xFF == _EXCEPTION:
                raise Refused(f"the server refuses the call: {self._text(answer[_HEAD.size :])}")
            field, number, code = struct.unpack_from(">Bhi", answer, _HEAD.size)
        except struct.error as error:
            raise ScribeError("the answer is cut") from error
        if (field, number) != (_I32, 0):
            raise ScribeError("the answer has no result")
        return code

    @staticmethod
    def _text(fields: bytes) -> str:
        if len(fields) < 7 or fields[0] != _STRING:
            return "no reason given"
        (length,) = _LENGTH.unpack_from(fields, 3)
        return fields[7 : 7 + length].decode("utf-8", "replace")
