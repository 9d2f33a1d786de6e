#!/usr/bin/env python3
"""Compares the processor time of two builds for the same work, in pairs; the builds take turns to run first.

    benchmarks/pairs.py OLD NEW [PAIRS] [CASE…]     # two `seine` binaries; 9 pairs; all cases

In each pair, each build serves a new directory in memory (/dev/shm) with 100,000 rows, 1,000 standing queries and an empty queue.
The cases run in turn. Around each case the script reads the server's user and system time from /proc. It prints the ratio new : old
of processor time for each pair, and at the end the median ratios of processor time and of time by the clock. It compares the
answers of the two builds, and for `load` the number of rows. A difference ends the run before the medians.

The server is pinned to the first core and the client to the others. Unpinned, they share a core at some times and not at others:
the same build then switches between threads 0.5 to 1 times an operation, and single pairs of equal builds lie between 0.83 and 1.2.

    insert   100,000 single rows           queue    30,000 messages put, then taken and ended one by one
    batch    500 statements of 1,000 rows  load     2,000,000 rows through `seine load`
    lookup   100,000 rows by id            in       3,000 statements of 1,000 ids
    search   40,000 MATCHes of two words   sort     300 times the first 100 of all rows by a column
    pq       50,000 CALL PQ of one document
"""
import contextlib
import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from server import processor_time

WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor".split()


def text(row):
    return " ".join(WORDS[(row * 7 + k * k) % len(WORDS)] for k in range(8)) + f" w{row % 1000} x{row}"


def values(row):
    return f"({row},'{text(row)}',{row % 100})"


def inserts(first, end, rows, table="t"):
    """INSERT statements of `rows` rows each, for the ids `first` to `end` - 1, a line each."""
    starts = range(first, end, rows)
    return "".join(f"INSERT INTO {table} (id,body,n) VALUES {','.join(map(values, range(at, at + rows)))};\n" for at in starts)


def lines(count, line):
    return "".join(line(i) + ";\n" for i in range(count))


COUNT = "SELECT COUNT(*) FROM t;\n"
CASES = {
    "insert": lambda: inserts(200_001, 300_001, 1) + COUNT,
    "batch": lambda: inserts(300_001, 800_001, 1000) + COUNT,
    "queue": lambda: lines(30_000, lambda i: f"INSERT INTO q VALUES ({i},'message {i}')")
    + lines(30_000, lambda _: "SELECT queue_wait('q',1); SELECT * FROM q; SELECT queue_end()"),
    "load": None,
    "lookup": lambda: lines(100_000, lambda i: f"SELECT * FROM t WHERE id={i % 100_000 + 1}"),
    "in": lambda: lines(
        3000,
        lambda i: f"SELECT id FROM t WHERE id IN ({','.join(str((i * 37 + k * 101) % 100_000 + 1) for k in range(1000))}) LIMIT 1000",
    ),
    "search": lambda: lines(
        40_000, lambda i: f"SELECT id,WEIGHT() FROM t WHERE MATCH('w{i % 1000} {WORDS[i % 12]}') LIMIT 20"
    ),
    "sort": lambda: lines(300, lambda _: "SELECT id,n FROM t ORDER BY n DESC, id ASC LIMIT 100"),
    "pq": lambda: lines(50_000, lambda i: f"CALL PQ('p','{text(i)}',0 AS docs_json)"),
}


class Server:
    def __init__(self, binary, directory):
        cores = sorted(os.sched_getaffinity(0))
        door = "127.0.0.1:0"
        self.binary = binary
        self.process = subprocess.Popen(
            [binary, "serve", "--data", directory, "--mysql", door, "--http", door],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        for line in self.process.stdout:
            if "mysql" in line.lower() and "127.0.0.1:" in line:
                self.address = "127.0.0.1:" + line.split("127.0.0.1:")[1].split()[0].rstrip(".,;)")
                break
        else:
            sys.exit(f"{binary} ended before it listened")
        # After the start: a server that sees one core starts fewer threads. Threads that start later inherit the affinity.
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setaffinity(int(thread), cores[:1])
        self.client = ["taskset", "--cpu-list", ",".join(map(str, cores[1:] or cores))]
        self.sql("CREATE TABLE t (body text, n int); CREATE TABLE q (a int, b varchar(100)) ENGINE=QUEUE;")
        self.sql("CREATE TABLE p (body text) type='pq';" + inserts(1, 100_001, 1000))
        queries = ",".join(f"({i + 1},'w{i} {WORDS[i % 12]}')" for i in range(1000))
        self.sql(f"INSERT INTO p (id,query) VALUES {queries}; FLUSH TABLE t;")

    def sql(self, statements):
        """Runs statements in order on one connection and returns the digest of all answers."""
        command = [*self.client, self.binary, "sql", "--addr", self.address]
        answer = subprocess.run(command, input=statements.encode(), stdout=subprocess.PIPE, check=True).stdout
        return hashlib.sha256(answer).hexdigest()

    def load(self, rows):
        command = [*self.client, self.binary, "load", "t", rows, "--addr", self.address]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return self.sql(COUNT)

    def processor_time(self):
        return processor_time(self.process.pid)

    def end(self):
        self.process.terminate()
        self.process.wait()


@contextlib.contextmanager
def rows_of_load(count=2_000_000):
    """Path of the rows that the case `load` loads."""
    with tempfile.NamedTemporaryFile("w", dir="/dev/shm", suffix=".ndjson") as rows:
        for row in range(1_000_001, 1_000_001 + count):
            rows.write(json.dumps({"id": row, "body": text(row), "n": row % 100}) + "\n")
        rows.flush()
        yield rows.name


def measure(binary, cases, statements, rows):
    """Runs the cases on a new server. Returns for each: seconds of processor, seconds by the clock, digest of the answers."""
    directory = tempfile.mkdtemp(dir="/dev/shm")
    server = Server(binary, directory + "/data")
    taken = {}
    try:
        for case in cases:
            before, start = server.processor_time(), time.monotonic()
            answer = server.load(rows) if case == "load" else server.sql(statements[case])
            taken[case] = (server.processor_time() - before, time.monotonic() - start, answer)
    finally:
        server.end()
        shutil.rmtree(directory)
    return taken


def main():
    if len(sys.argv) < 3 or any(case not in CASES for case in sys.argv[4:]):
        sys.exit(__doc__)
    builds = sys.argv[1:3]
    pairs = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    cases = sys.argv[4:] or list(CASES)
    statements = {case: CASES[case]() for case in cases if CASES[case]}
    with rows_of_load() as rows:
        ratios = {case: [] for case in cases}
        for pair in range(pairs):
            taken = {}
            for build in builds if pair % 2 == 0 else reversed(builds):
                taken[build] = measure(build, cases, statements, rows)
            for case in cases:
                old, new = (taken[build][case] for build in builds)
                if old[2] != new[2]:
                    sys.exit(f"{case}: the two builds answer differently")
                ratios[case].append((new[0] / old[0], new[1] / old[1]))
            shown = ("%s %.3f (%.2f s)" % (case, ratios[case][-1][0], taken[builds[0]][case][0]) for case in cases)
            print(f"# pair {pair + 1}:", ", ".join(shown), flush=True)
    print("case,processor,clock,pairs")
    for case, both in ratios.items():
        processor, clock = (statistics.median(ratio[k] for ratio in both) for k in (0, 1))
        print(f"{case},{processor:.3f},{clock:.3f},{pairs}")


if __name__ == "__main__":
    main()
