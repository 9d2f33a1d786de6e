#!/usr/bin/env python3
"""What the query log costs, and how fast `seine log report` reads one. Needs nothing but Python; mawk and gawk where they are there.

    benchmarks/query_log.py cost SEINE [--pairs 9] [--seconds 5] [--directory /dev/shm]
    benchmarks/query_log.py report SEINE [--lines 5000000] [--runs 5] [--directory /dev/shm]

`cost`: two servers of one build, with the log (sphinxql) and without, over 20,000 rows that are made here.
In each pair both answer the same look-ups by id, 500 in a packet, and then the same searches, in an order that changes; printed is the
processor time of a statement (the kernel's clock of the process) without and with the log, their difference and ratio: medians of
the pairs, lowest and highest. Answers of both must be equal, and the log must have one line for each statement.

`report`: lines of W2 by `seine-bench log-lines` (SEINE-bench, or `seine bench`), as they are, packed by gzip and by zstd. In each run
the report, mawk and gawk (which only add up the times) take turns. The report must count every line, and find the study's shares
again: 60, 80 and 99 % within 10, 100 and 500 ms, to 0.1 %; the sums of mawk must agree with its mean. Printed are lines/s, MB/s and
the memory (VmHWM) of the report.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

import doors
import server

ROWS, IN_A_PACKET = 20_000, 500


def look_up(at):
    return f"SELECT n FROM posts WHERE id={at * 7919 % ROWS + 1}"


def search(at):
    return f"SELECT id FROM posts WHERE MATCH('word{at % 97} | other{at % 13}') LIMIT 20"


def filled(binary, directory, name, *flags):
    """A server with the rows, and a connection to it."""
    started = server.Server(binary, directory, name, *flags)
    mysql = doors.Mysql(started.port)
    mysql.ask("CREATE TABLE posts (body text, n int)")
    for first in range(0, ROWS, 1000):
        rows = (f"({i + 1},'word{i % 97} other{i % 13} more',{i})" for i in range(first, first + 1000))
        mysql.ask("INSERT INTO posts (id, body, n) VALUES " + ",".join(rows))
    started.settle(30)
    return started, mysql


def measured(of, statement, seconds):
    """Answers of packets for this time, how many statements they were, and the processor time of one in microseconds."""
    started, mysql = of
    before, until, asked, answers = started.processor_time(), time.monotonic() + seconds, 0, []
    while time.monotonic() < until:
        answers.append(mysql.ask(";".join(statement(asked + i) for i in range(IN_A_PACKET))))
        asked += IN_A_PACKET
    return answers, asked, (started.processor_time() - before) / asked * 1e6


def cost(taken, directory):
    log = pathlib.Path(directory) / "query.log"
    without, logged = filled(taken.seine, directory, "without"), filled(taken.seine, directory, "with", "--query-log", log)
    expected = 0
    print("statement;without_us;with_us;difference_us;lowest;highest;ratio;lowest;highest")
    for name, statement in (("look-up", look_up), ("search", search)):
        pairs = []
        for pair in range(taken.pairs):
            order = [without, logged] if pair % 2 else [logged, without]
            one = {id(of): measured(of, statement, taken.seconds) for of in order}
            (a, _, off), (b, count, on) = one[id(without)], one[id(logged)]
            if any(x != y for x, y in zip(a, b)):
                raise SystemExit(f"{name}: the answers differ")
            expected += count
            pairs.append((off, on))
        differences, ratios = [on - off for off, on in pairs], [on / off for off, on in pairs]
        middle = statistics.median
        print(f"{name};{middle(p[0] for p in pairs):.2f};{middle(p[1] for p in pairs):.2f};{middle(differences):.2f};"
              f"{min(differences):.2f};{max(differences):.2f};{middle(ratios):.3f};{min(ratios):.3f};{max(ratios):.3f}", flush=True)
    for started, _ in (without, logged):
        started.end()
    lines = sum(1 for _ in log.open("rb"))
    if lines != expected:
        raise SystemExit(f"{lines} lines of {expected} statements: the others were lost")
    print(f"# {lines} lines, one for each statement")


def run(command, **options):
    """Output, seconds, and the largest memory of a command in MiB."""
    begun = time.monotonic()
    done = subprocess.Popen(command, stdout=subprocess.PIPE, **options)
    out = done.stdout.read()
    _, status, used = os.wait4(done.pid, 0)
    if status:
        raise SystemExit(f"{command}: status {status}")
    return out, time.monotonic() - begun, used.ru_maxrss / 1024


def check(report, lines):
    """The report has every line and the study's shares."""
    found = {of: report[f"within_{of}_share"] for of in ("10ms", "100ms", "500ms")}
    wanted = {"10ms": 0.60, "100ms": 0.80, "500ms": 0.99}
    if report["queries"] != lines or any(abs(found[of] - share) > 0.001 for of, share in wanted.items()):
        raise SystemExit(f"{report['queries']} queries of {lines}, shares {found}")


def report(taken, directory):
    bench = f"{taken.seine}-bench" if os.path.exists(f"{taken.seine}-bench") else [taken.seine, "bench"]
    bench = [bench] if isinstance(bench, str) else bench
    print("what;lines_s;lowest;highest;mb_s;memory_mib")
    for packed in ("", "--gzip", "--zstd"):
        folder = pathlib.Path(directory) / (packed.strip("-") or "plain")
        make = [*bench, "log-lines", "--lines", str(taken.lines), "--out", str(folder)] + ([packed] if packed else [])
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        files = sorted(str(of) for of in folder.glob("search*"))
        commands = {f"seine {packed.strip('-') or 'plain'}": [taken.seine, "log", "report", *files, "--json"]}
        if not packed:
            size = sum(os.path.getsize(of) for of in files)
            for peer in ("mawk", "gawk"):
                if shutil.which(peer):
                    commands[peer] = [peer, "{s+=$6} END{printf \"%.3f\", s}", *files]
        times = {name: [] for name in commands}
        memory, sums = {}, {}
        for at in range(taken.runs):
            for name in list(commands)[at % len(commands):] + list(commands)[:at % len(commands)]:
                out, seconds, mib = run(commands[name], stderr=subprocess.DEVNULL)
                times[name].append(seconds)
                memory[name] = max(mib, memory.get(name, 0))
                if name.startswith("seine"):
                    told = json.loads(out)
                    check(told, taken.lines)
                    sums["seine"] = told["mean_seconds"] * taken.lines
                else:
                    sums[name] = float(out)
        for name in sums:
            if abs(sums[name] - sums["seine"]) > 0.001 * sums["seine"]:
                raise SystemExit(f"the sums of times differ: {sums}")
        for name, all_seconds in times.items():
            rates = [taken.lines / seconds for seconds in all_seconds]
            print(f"{name};{statistics.median(rates):.0f};{min(rates):.0f};{max(rates):.0f};"
                  f"{size / taken.lines * statistics.median(rates) / 1e6:.0f};{memory[name]:.0f}", flush=True)
        shutil.rmtree(folder)
    print(f"# {taken.lines} lines of {size / taken.lines:.1f} bytes; counts, shares and sums agree")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "report"))
    parser.add_argument("seine")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--directory", default="/dev/shm")
    taken = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=taken.directory) as directory:
        {"cost": cost, "report": report}[taken.what](taken, directory)


if __name__ == "__main__":
    main()
