#!/usr/bin/env python3
"""How long a server takes to be back, after SIGTERM and after SIGKILL: with many standing queries, or with many records.

    benchmarks/restart.py [DEFINITION] [RUNS]                # standing queries: selective-1m, 5; SEINE names the binary
    benchmarks/restart.py --records FILE [COPIES] [RUNS]     # records, `id<TAB>text`, as `seine bench search --corpus` reads them: 1, 5

The queries of a definition, or the records, are loaded into a server of its own; then, RUNS times each, it is ended, started again, and
timed until it has answered CALL PQ or a SELECT with MATCH. Records come through INSERT; before each end 5,000 more rows replace their
like, so that a tail stands in the journal. What it answers must be what it answered before the first end, or no time is printed.
"""
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEINE = os.environ.get("SEINE", str(ROOT / "target/release/seine"))
DOCUMENT = "google maps and retail politics of linux in star wars"
QUERIES = (f"CALL PQ('bench_restart', '{DOCUMENT}', 0 AS docs_json)", "SELECT COUNT(*) FROM bench_restart")
RECORDS = (
    "SELECT id, weight() FROM bench_search_auto WHERE MATCH('\"method results data\"/1') LIMIT 100",
    "SELECT COUNT(*) FROM bench_search_auto",
)
TAIL_ROWS = 5_000


def seine(*arguments):
    return subprocess.run([SEINE, *arguments], check=True, capture_output=True, text=True).stdout


def serve(data):
    """A server, and its address once it listens."""
    door = "127.0.0.1:0"
    command = [SEINE, "serve", "--data", data, "--mysql", door, "--http", door]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = server.stdout.readline()
    return server, dict(part.split("=", 1) for part in ready.split()[1:])["mysql"]


def answers(address, asked):
    return [seine("sql", "--json", "--addr", address, each) for each in asked]


def start(data, asked):
    """The server, its address, the seconds until it listened and until it had answered, and its answers."""
    begun = time.monotonic()
    server, address = serve(data)
    listening = time.monotonic() - begun
    first = answers(address, asked[:1])
    answered = time.monotonic() - begun
    return server, address, listening, answered, first + answers(address, asked[1:])


def anonymous_mib(server):
    for line in pathlib.Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def end(server, how):
    server.send_signal(how)
    server.wait()


def load_queries(folder, definition):
    """A server's directory with the queries of a definition in it, what it holds, and what it answers."""
    seine("bench", "percolate", definition, "--limit", "1", "--export", folder)
    lines = pathlib.Path(folder, "queries.txt").read_text().splitlines()
    queries = pathlib.Path(folder, "queries.csv")
    with queries.open("w") as file:
        file.write("id,query\n")
        for number, line in enumerate(lines, 1):
            file.write('%d,"%s"\n' % (number, line.replace("+", "")))
    data = str(pathlib.Path(folder, "data"))
    pathlib.Path(data).mkdir()
    server, address = serve(data)
    seine("sql", "--addr", address, "CREATE TABLE bench_restart (body text) type='pq'")
    seine("load", "bench_restart", str(queries), "--addr", address)
    answer = answers(address, QUERIES)
    end(server, signal.SIGTERM)
    return data, f"{definition}: {len(lines)} standing queries", answer


def load_records(folder, file, copies):
    """A server's directory with the records of a file in it, what it holds, and what it answers."""
    data = str(pathlib.Path(folder, "data"))
    pathlib.Path(data).mkdir()
    server, address = serve(data)
    measured = ["--runs", "1", "--seconds", "0.1", "--clients", "1", "--keep"]
    seine("bench", "search", "all-bm25", "--corpus", file, "--copies", copies, "--addr", address, *measured)
    answer = answers(address, RECORDS)
    end(server, signal.SIGTERM)
    return data, f"{file}, {copies} times, {next(iter(json.loads(answer[1]).values()))} records", answer


def replace_some(address):
    """Rows that are in the journal and in no segment yet: some of the first ones as they are."""
    asked = f"SELECT id, body FROM bench_search_auto LIMIT {TAIL_ROWS} OPTION max_matches={TAIL_ROWS}"
    rows = seine("sql", "--json", "--addr", address, asked)
    rows = [json.loads(line) for line in rows.splitlines()]
    literal = lambda text: "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
    for begin in range(0, len(rows), 100):
        values = ",".join(f"({row['id']},{literal(row['body'])})" for row in rows[begin : begin + 100])
        seine("sql", "--addr", address, f"REPLACE INTO bench_search_auto (id, body) VALUES {values}")


def main():
    arguments = sys.argv[1:]
    of_records = arguments[:1] == ["--records"]
    with tempfile.TemporaryDirectory(prefix="seine-restart-", dir=os.environ.get("DATA")) as folder:
        if of_records:
            file, copies, runs = (arguments[1:] + ["1", "5"][len(arguments) - 2 :])[:3]
            asked, (data, told, expected) = RECORDS, load_records(folder, file, copies)
        else:
            definition, runs = (arguments + ["selective-1m", "5"][len(arguments) :])[:2]
            asked, (data, told, expected) = QUERIES, load_queries(folder, definition)
        print(f"{told}, {runs} restarts each")
        for how in (signal.SIGTERM, signal.SIGKILL):
            answered, listened, memory = [], [], []
            for _ in range(int(runs)):
                server, address = start(data, asked)[:2]
                if of_records:
                    replace_some(address)
                end(server, how)
                server, _, listening, seconds, answer = start(data, asked)
                memory.append(anonymous_mib(server))
                end(server, signal.SIGTERM)
                if answer != expected:
                    sys.exit(f"after {how.name} it answers {answer}, before {expected}")
                listened.append(listening)
                answered.append(seconds)
            print(
                f"after {how.name}: listens {statistics.median(listened):.2f} s, answered "
                f"{statistics.median(answered):.2f} s (slowest {max(answered):.2f}), {statistics.median(memory):.0f} MiB anonymous"
            )


main()
