#!/usr/bin/env python3
"""Measures each operator of the query language beside Sphinx, over equal rows.

    tests/sphinx/speed.py BINARY TEXTS      # a release build; searchd and indexer of Debian's sphinxsearch must be in PATH

TEXTS has lines of `id<TAB>text`, such as the abstracts of benchmarks/README.md: the first eight words are the title, the rest is
the body. QUERIES (benchmarks/definitions/operator-queries.txt) has lines of `operator<TAB>query`. One client asks both servers in
turns for the first 20 rows by `proximity_bm25`: Sphinx by its own API, Seine by SQL. The time of a query is the best of TIMES: from
the first byte sent to the last byte of the answer, for both.
The script prints, for each operator, the medians of both servers, the median of the queries' ratios and the lowest one, and the
queries whose totals differ. The exit status is 1 if Seine is slower in an operator's median.

ROWS=n takes the first n texts (100,000), ONLY=operator one operator, TIMES=n (5).
"""

import os
import pathlib
import socket
import statistics
import struct
import sys
import tempfile
import time

import servers

SHOWN = 20
TITLE_WORDS = 8
QUERIES = pathlib.Path(__file__).parents[2] / "benchmarks/definitions/operator-queries.txt"
# Seine's own operators, which Sphinx does not have.
OWN = {"notnear"}


def texts(path, rows):
    with open(path, encoding="utf-8") as lines:
        for number, line in zip(range(rows), lines):
            words = line.rstrip("\n").split("\t", 1)[1].split(" ")
            yield number + 1, " ".join(words[:TITLE_WORDS]), " ".join(words[TITLE_WORDS:])


class Sphinx:
    """A persistent connection that speaks Sphinx's API, commands of version 1.25."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.read(4)
        self.socket.sendall(struct.pack(">I", 1) + struct.pack(">HHII", 4, 0, 4, 1))

    def read(self, length):
        parts = b""
        while len(parts) < length:
            part = self.socket.recv(length - len(parts))
            if not part:
                raise OSError("searchd closed the connection")
            parts += part
        return parts

    def found(self, index, query):
        """The number of rows, and how long the answer took, read to its last byte."""
        text = lambda text: struct.pack(">I", len(text.encode())) + text.encode()
        numbers = lambda *numbers: struct.pack(f">{len(numbers)}I", *numbers)
        # One query; rows from 0; extended mode, proximity_bm25, by relevance; every id; no filter, group, cutoff or time limit.
        body = numbers(0, 1, 0, SHOWN, 6, 0, 0) + text("") + text(query) + numbers(0) + text(index)
        body += numbers(1, 0, 0, 0, 0, 0, 0) + text("") + numbers(1000) + text("@group desc") + numbers(0, 0, 0) + text("")
        body += numbers(0, 0, 0, 0) + text("") + numbers(0) + text("*")
        start = time.perf_counter()
        self.socket.sendall(struct.pack(">HHI", 0, 0x119, len(body)) + body)
        status, _, length = struct.unpack(">HHI", self.read(8))
        answer = self.read(length)
        taken = time.perf_counter() - start
        at = 0

        def number():
            nonlocal at
            at += 4
            return struct.unpack_from(">I", answer, at - 4)[0]

        def skip():
            nonlocal at
            length = number()
            at += length

        of_query = number()
        if status or of_query not in (0, 3):
            raise ValueError(f"{query}: {answer[8:]!r}")
        if of_query:
            skip()
        for _ in range(number()):
            skip()
        attributes = number()
        for _ in range(attributes):
            skip()
            number()
        rows, is_wide = number(), number()
        at += rows * ((8 if is_wide else 4) + 4 + 4 * attributes)
        number()
        return number(), taken


class Seine:
    """A connection that sends statements by MySQL's protocol and reads their answers' bytes, as `Sphinx` does: no driver takes part."""

    def __init__(self, server):
        self.server = server
        # The driver shakes hands; nobody else uses its socket.
        self.connection = server.connect()
        self.socket = self.connection._sock

    def found(self, table, query):
        """The number of rows, and how long the answer took, read to its last byte."""
        statement = f"SELECT id, weight() FROM {table} WHERE MATCH({self.connection.escape(query)}) LIMIT {SHOWN} OPTION ranker=proximity_bm25"
        _, taken = self.ask(statement)
        (meta, _) = self.ask("SHOW META LIKE 'total_found'")
        return int(meta[0][1]), taken

    def ask(self, statement):
        """The rows of an answer, and how long it took."""
        body = b"\x03" + statement.encode()
        start = time.perf_counter()
        self.socket.sendall(struct.pack("<I", len(body)) + body)
        answer, packets, at, ends = b"", [], 0, 0
        while ends < 2:
            part = self.socket.recv(65_536)
            if not part:
                raise OSError("the server closed the connection")
            answer += part
            while len(answer) >= at + 5 and len(answer) >= at + 4 + (length := int.from_bytes(answer[at : at + 3], "little")):
                packet = answer[at + 4 : at + 4 + length]
                if packet[0] == 0xFF:
                    raise ValueError(f"{statement}: {packet!r}")
                # An answer has two packets of this form: behind its columns and behind its rows.
                ends += packet[0] == 0xFE and length < 9
                packets.append(packet)
                at += 4 + length
        taken = time.perf_counter() - start
        columns = packets[0][0]
        return [fields(row) for row in packets[columns + 2 : -1]], taken


def fields(row):
    """The texts of a row, each of at most 250 bytes."""
    found, at = [], 0
    while at < len(row):
        found.append(row[at + 1 : at + 1 + row[at]])
        at += 1 + row[at]
    return found


def measure(both, query, table, times):
    """The totals and the best times of both."""
    sphinx, ours = both
    best, totals = [float("inf")] * 2, [0, 0]
    for _ in range(times):
        totals[0], taken = sphinx.found(table, query)
        best[0] = min(best[0], taken)
        totals[1], taken = ours.found(table, query)
        best[1] = min(best[1], taken)
    return totals, best


def main():
    binary, path = sys.argv[1:3]
    rows, times = int(os.environ.get("ROWS", 100_000)), int(os.environ.get("TIMES", 5))
    lines = QUERIES.read_text(encoding="utf-8").splitlines()
    queries = {}
    for operator, query in (line.split("\t") for line in lines):
        if operator not in OWN and os.environ.get("ONLY", operator) == operator:
            queries.setdefault(operator, []).append(query)
    slower, documents = [], list(texts(path, rows))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        running = []
        try:
            running.append(servers.sphinx(folder, documents))
            running.append(servers.seine(binary, folder, documents))
            running[0].connect().close()
            running[1].sql("OPTIMIZE TABLE plain")
            running[1].sql("OPTIMIZE TABLE english")
            both = Sphinx(str(folder / "api")), Seine(running[1])
            print(f"{'operator':16} {'queries':>7} {'Sphinx':>9} {'Seine':>9} {'ratio':>6} {'lowest':>6}   median ms; other totals")
            for operator, asked in queries.items():
                table = "english" if operator in ("sentence", "paragraph") else "plain"
                measured = [measure(both, query, table, times) for query in asked]
                medians = [statistics.median(best[side] for _, best in measured) * 1e3 for side in (0, 1)]
                ratios = [best[0] / best[1] for _, best in measured]
                other = [f"{query} ({totals[0]}, {totals[1]})" for query, (totals, _) in zip(asked, measured) if totals[0] != totals[1]]
                print(
                    f"{operator:16} {len(asked):7} {medians[0]:9.3f} {medians[1]:9.3f} {statistics.median(ratios):6.1f} "
                    f"{min(ratios):6.1f}   {len(other)} {'; '.join(other[:2])}",
                    flush=True,
                )
                if medians[1] > medians[0]:
                    slower.append(operator)
        finally:
            for server in running:
                server.end()
    sys.exit(f"slower: {', '.join(slower)}" if slower else 0)


main()
