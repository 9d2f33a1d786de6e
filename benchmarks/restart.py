#!/usr/bin/env python3
"""Measures how long a restart takes, after SIGTERM and after SIGKILL, with many standing queries or many records.

    benchmarks/restart.py [DEFINITION] [RUNS]                # standing queries: selective-1m, 5; SEINE names the binary
    benchmarks/restart.py --records FILE [COPIES] [RUNS]     # records, `id<TAB>text`, as `seine bench search --corpus` reads them: 1, 5

The script starts a server and loads the queries of a definition, or the records through INSERT. Then, RUNS times for each signal, it
ends the server, starts it again, and takes the time until the server has answered CALL PQ or a SELECT with MATCH. With records it
first replaces 5,000 rows by equal rows, so that the journal holds a tail at the end. Every answer must equal the answer before the
first end; otherwise no time is printed.
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
    """Starts a server, waits until it listens, and returns it with its MySQL address."""
    door = "127.0.0.1:0"
    command = [SEINE, "serve", "--data", data, "--mysql", door, "--http", door]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = server.stdout.readline()
    return server, dict(part.split("=", 1) for part in ready.split()[1:])["mysql"]


def answers(address, asked):
    return [seine("sql", "--json", "--addr", address, each) for each in asked]


def start(data, asked):
    """Starts a server and asks it. Returns the server, its address, seconds until it listened, seconds until its first answer, and
    all answers."""
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
    """Fills a data directory with the queries of a definition. Returns its path, a line that describes it, and the answers."""
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
    """Fills a data directory with the records of a file. Returns its path, a line that describes it, and the answers."""
    data = str(pathlib.Path(folder, "data"))
    pathlib.Path(data).mkdir()
    server, address = serve(data)
    measured = ["--runs", "1", "--seconds", "0.1", "--clients", "1", "--keep"]
    seine("bench", "search", "all-bm25", "--corpus", file, "--copies", copies, "--addr", address, *measured)
    answer = answers(address, RECORDS)
    end(server, signal.SIGTERM)
    return data, f"{file}, {copies} times, {next(iter(json.loads(answer[1]).values()))} records", answer


def replace_some(address):
    """Replaces TAIL_ROWS rows by equal rows. These stand in the journal and in no segment yet."""
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
