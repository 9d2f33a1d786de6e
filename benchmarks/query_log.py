#!/usr/bin/env python3
"""What the query log costs, and how fast `seine log report` reads one. Needs nothing but Python; mawk and gawk where they are there.

    benchmarks/query_log.py cost SEINE [--starts 9] [--pairs 3] [--seconds 2] [--directory /dev/shm]
    benchmarks/query_log.py report SEINE [--lines 5000000] [--runs 5] [--directory /dev/shm]

`cost`: two servers of one build, with the log (sphinxql) and without, over 20,000 rows that are made here.
In each pair both answer the same look-ups by id, 500 in a packet, and then the same searches, in an order that changes. Where a
process happens to lie in memory makes two servers without a log differ by more than a log costs, so both are started anew for each
few pairs. Printed is the processor time of a statement (the kernel's clock of the process) without and with the log, their
difference and ratio: medians of the starts, each of which is the median of its pairs; quarters of the starts; and the part of the
thread that writes the log. Answers of both must be equal, and the log must have one line for each statement.

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


def writing_time(of):
    """Processor time of the thread that writes the log, in seconds."""
    for task in pathlib.Path(f"/proc/{of[0].process.pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "query log":
            return int((task / "schedstat").read_text().split()[0]) / 1e9
    return 0.0


def measured(of, statement, seconds):
    """Answers of packets for this time, how many statements they were, the processor time of one in microseconds, and the part of it
    that the writer of the log took."""
    started, mysql = of
    before, written = started.processor_time(), writing_time(of)
    until, asked, answers = time.monotonic() + seconds, 0, []
    while time.monotonic() < until:
        answers.append(mysql.ask(";".join(statement(asked + i) for i in range(IN_A_PACKET))))
        asked += IN_A_PACKET
    took = lambda now, before: (now - before) / asked * 1e6
    return answers, asked, took(started.processor_time(), before), took(writing_time(of), written)


def compared(taken, directory):
    """For each kind of statement the times of one start: medians of its pairs."""
    directory.mkdir()
    log = directory / "query.log"
    without, logged = filled(taken.seine, directory, "without"), filled(taken.seine, directory, "with", "--query-log", log)
    expected, found = 0, {}
    for name, statement in (("look-up", look_up), ("search", search)):
        pairs = []
        for pair in range(taken.pairs):
            order = [without, logged] if pair % 2 else [logged, without]
            one = {id(of): measured(of, statement, taken.seconds) for of in order}
            (a, _, off, _), (b, count, on, writing) = one[id(without)], one[id(logged)]
            if any(x != y for x, y in zip(a, b)):
                raise SystemExit(f"{name}: the answers differ")
            expected += count
            pairs.append((off, on, on - off, on / off, writing))
        found[name] = [statistics.median(column) for column in zip(*pairs)]
    for started, _ in (without, logged):
        started.end()
    lines = sum(1 for _ in log.open("rb"))
    if lines != expected:
        raise SystemExit(f"{lines} lines of {expected} statements: the others were lost")
    shutil.rmtree(directory)
    return found


def cost(taken, directory):
    starts = [compared(taken, pathlib.Path(directory) / f"start-{start}") for start in range(taken.starts)]
    print("statement;without_us;with_us;difference_us;quarter;three_quarters;ratio;quarter;three_quarters;writer_us")
    for name in starts[0]:
        off, on, differences, ratios, writing = zip(*(start[name] for start in starts))
        middle = statistics.median
        spread = lambda of: statistics.quantiles(of, n=4)[::2]
        (low, high), (least, most) = spread(differences), spread(ratios)
        print(f"{name};{middle(off):.2f};{middle(on):.2f};{middle(differences):.2f};{low:.2f};{high:.2f};"
              f"{middle(ratios):.3f};{least:.3f};{most:.3f};{middle(writing):.2f}")


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
    parser.add_argument("--starts", type=int, default=9)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--directory", default="/dev/shm")
    taken = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=taken.directory) as directory:
        {"cost": cost, "report": report}[taken.what](taken, directory)


if __name__ == "__main__":
    main()
