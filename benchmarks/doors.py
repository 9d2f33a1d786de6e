"""Clients of a server's doors, by Python's standard library alone: MySQL, HTTP, Scribe.

Each call has a time limit, the client's `limit` in seconds, for every single wait on the socket. `TimeoutError` means that it passed;
the client is of no use afterwards. `Refused` is an error that the server answered; the client goes on.
"""
import http.client
import json
import socket
import struct

HOST = "127.0.0.1"
# LONG_PASSWORD, PROTOCOL_41, TRANSACTIONS, SECURE_CONNECTION, MULTI_STATEMENTS, MULTI_RESULTS, PLUGIN_AUTH.
CAPABILITIES = 0x1 | 0x200 | 0x2000 | 0x8000 | 0x10000 | 0x20000 | 0x80000
MORE_RESULTS = 0x8
QUERY = b"\x03"
PACKET_BYTES_MAX = (1 << 24) - 1  # a longer payload goes on in packets behind it


class Refused(Exception):
    """An error of the server: its number and text."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Gone(Exception):
    """The server closed the connection."""


class Mysql:
    """A connection that has logged in without a password."""

    def __init__(self, port, user="bench", limit=60.0):
        self.socket = socket.create_connection((HOST, port), timeout=limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb", buffering=1 << 16)
        self.sequence = 0
        greeting = self.packet()
        if greeting[0] == 0xFF:
            raise refusal(greeting)
        login = struct.pack("<IIB23x", CAPABILITIES, 1 << 24, 45) + user.encode() + b"\0\0mysql_native_password\0"
        self.send(login)
        while (answer := self.packet())[0] != 0:
            if answer[0] == 0xFF:
                raise refusal(answer)
            if answer[0] == 0xFE:  # another way of logging in: without a password the answer is empty in each
                self.send(b"")

    def send(self, payload):
        for at in range(0, len(payload) + 1, PACKET_BYTES_MAX):
            part = payload[at : at + PACKET_BYTES_MAX]
            self.socket.sendall(struct.pack("<I", len(part) | self.sequence << 24) + part)
            self.sequence = (self.sequence + 1) % 256

    def packet(self):
        head = self.file.read(4)
        if len(head) < 4:
            raise Gone()
        length = head[0] | head[1] << 8 | head[2] << 16
        self.sequence = (head[3] + 1) % 256
        payload = self.file.read(length)
        if length == 0xFFFFFF:
            payload += self.packet()
        return payload

    def post(self, text):
        """Sends statements; `answer` reads their results."""
        self.sequence = 0
        self.send(QUERY + (text if isinstance(text, bytes) else text.encode()))

    def answer(self):
        """The rows of all result sets, as tuples of texts and None; an empty list without any."""
        rows, more = [], True
        while more:
            head = self.packet()
            if head[0] == 0xFF:
                raise refusal(head)
            if head[0] == 0:
                at = number(head, number(head, 1)[1])[1]
                self.affected = number(head, 1)[0]
                more = struct.unpack_from("<H", head, at)[0] & MORE_RESULTS
                continue
            while not is_end(self.packet()):
                pass
            while not is_end(row := self.packet()):
                if row[0] == 0xFF:
                    raise refusal(row)
                rows.append(cells(row))
            more = struct.unpack_from("<H", row, 3)[0] & MORE_RESULTS
        return rows

    def ask(self, text):
        self.post(text)
        return self.answer()

    def close(self):
        self.file.close()
        self.socket.close()


def is_end(packet):
    return packet[0] == 0xFE and len(packet) < 9


def refusal(packet):
    return Refused(struct.unpack_from("<H", packet, 1)[0], packet[9:].decode(errors="replace"))


def number(packet, at):
    """A length-encoded number and the place behind it."""
    first = packet[at]
    if first < 0xFB:
        return first, at + 1
    width = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(packet[at + 1 : at + 1 + width], "little"), at + 1 + width


def cells(packet):
    row, at = [], 0
    while at < len(packet):
        if packet[at] == 0xFB:
            row.append(None)
            at += 1
            continue
        length, at = number(packet, at)
        row.append(packet[at : at + length].decode(errors="replace"))
        at += length
    return tuple(row)


class Http:
    """A connection that sends one request after the other."""

    def __init__(self, port, limit=60.0):
        self.connection = http.client.HTTPConnection(HOST, port, timeout=limit)

    def get(self, path):
        return self.call("GET", path, None)

    def sql(self, statement):
        return self.call("POST", "/sql?mode=raw", statement)

    def post(self, path, body):
        return self.call("POST", path, json.dumps(body))

    def call(self, method, path, body):
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise Refused(answer.status, text[:200].decode(errors="replace"))
        return text

    def close(self):
        self.connection.close()


class Scribe:
    """A connection that calls Scribe's `Log`, framed and without a version."""

    def __init__(self, port, limit=60.0):
        self.socket = socket.create_connection((HOST, port), timeout=limit)
        self.file = self.socket.makefile("rb")

    def log(self, category, message):
        """Sends one message. Whether the answer is OK; otherwise it is TRY_LATER."""
        text = lambda bytes: struct.pack(">I", len(bytes)) + bytes
        entry = b"\x0b\0\x01" + text(category.encode()) + b"\x0b\0\x02" + text(message.encode()) + b"\0"
        call = text(b"Log") + b"\x01" + struct.pack(">I", 0) + b"\x0f\0\x01\x0c" + struct.pack(">I", 1) + entry + b"\0"
        self.socket.sendall(text(call))
        head = self.file.read(4)
        if len(head) < 4:
            raise Gone()
        answer = self.file.read(struct.unpack(">I", head)[0])
        # Name, REPLY, sequence id, then field 0: an i32.
        return answer[7] == 2 and answer[12:15] == b"\x08\0\0" and struct.unpack(">I", answer[15:19])[0] == 0

    def close(self):
        self.file.close()
        self.socket.close()
