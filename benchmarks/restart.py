#!/usr/bin/env python3
"""How long a server with many standing queries takes to be back, after SIGTERM and after SIGKILL.

    benchmarks/restart.py [DEFINITION] [RUNS]        # selective-1m, 5; SEINE names the binary

The queries of a definition are loaded into a server of its own; then, RUNS times each, it is ended, started again, and timed until
it has answered CALL PQ. What it answers must be what it answered before the first end, or no time is printed.
"""
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
ASKED = (f"CALL PQ('bench_restart', '{DOCUMENT}', 0 AS docs_json)", "SELECT COUNT(*) FROM bench_restart")


def seine(*arguments):
    return subprocess.run([SEINE, *arguments], check=True, capture_output=True, text=True).stdout


def start(data):
    """The server, its address, and the seconds until it listened and until it had answered."""
    begun = time.monotonic()
    door = "127.0.0.1:0"
    command = [SEINE, "serve", "--data", data, "--mysql", door, "--http", door]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    ready = server.stdout.readline()
    listening = time.monotonic() - begun
    address = dict(part.split("=", 1) for part in ready.split()[1:])["mysql"]
    answer = [seine("sql", "--json", "--addr", address, ASKED[0])]
    answered = time.monotonic() - begun
    answer.append(seine("sql", "--json", "--addr", address, ASKED[1]))
    return server, address, listening, answered, answer


def anonymous_mib(server):
    for line in pathlib.Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def end(server, how):
    server.send_signal(how)
    server.wait()


def load(folder, definition):
    """A server's directory with the queries of a definition in it, and what it answers."""
    seine("bench", "percolate", definition, "--limit", "1", "--export", folder)
    lines = pathlib.Path(folder, "queries.txt").read_text().splitlines()
    queries = pathlib.Path(folder, "queries.csv")
    with queries.open("w") as file:
        file.write("id,query\n")
        for number, line in enumerate(lines, 1):
            file.write('%d,"%s"\n' % (number, line.replace("+", "")))
    data = str(pathlib.Path(folder, "data"))
    pathlib.Path(data).mkdir()
    door = "127.0.0.1:0"
    command = [SEINE, "serve", "--data", data, "--mysql", door, "--http", door]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = dict(part.split("=", 1) for part in server.stdout.readline().split()[1:])["mysql"]
    seine("sql", "--addr", address, "CREATE TABLE bench_restart (body text) type='pq'")
    seine("load", "bench_restart", str(queries), "--addr", address)
    answer = [seine("sql", "--json", "--addr", address, asked) for asked in ASKED]
    end(server, signal.SIGTERM)
    return data, len(lines), answer


def main():
    definition = sys.argv[1] if len(sys.argv) > 1 else "selective-1m"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="seine-restart-") as folder:
        data, count, expected = load(folder, definition)
        print(f"{definition}: {count} standing queries, {runs} restarts each")
        for how in (signal.SIGTERM, signal.SIGKILL):
            answered, listened, memory = [], [], []
            for _ in range(runs):
                server = start(data)[0]
                end(server, how)
                server, _, listening, seconds, answer = start(data)
                memory.append(anonymous_mib(server))
                end(server, signal.SIGTERM)
                if answer != expected:
                    sys.exit(f"after {how.name} it answers {answer}, before {expected}")
                listened.append(listening)
                answered.append(seconds)
            print(
                f"after {how.name}: listens {statistics.median(listened):.2f} s, CALL PQ answered "
                f"{statistics.median(answered):.2f} s (slowest {max(answered):.2f}), {statistics.median(memory):.0f} MiB anonymous"
            )


main()
