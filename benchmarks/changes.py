#!/usr/bin/env python3
"""Changes of rows, look-ups by KEY and conditions on JSON paths, as clients see them. Needs PyMySQL and mysqlslap.

    benchmarks/changes.py SEINE DIRECTORY [ROWS] [RUNS]     # rows: 1,900,000; runs: 5

It starts SEINE with its data below DIRECTORY, which should be on a disk, and fills a table of ROWS rows: a text, an integer `n` and
the same number in the document `j`, an integer and a string with a KEY. Then, each figure with its answer checked:

    update      UPDATE … SET a = a + 1 of a million rows by a condition on `n`; beside it another connection inserts single rows,
                and the longest wait of these is printed
    by-id       UPDATE … SET b = b + 1 WHERE id = …, mysqlslap with 32 connections, durable; the sum of b must be their number
    key         one row by an integer KEY, by a string KEY; one client, beside the same row by id, in turns
    json        COUNT(*) by a range of `j.n` and by a text `j.s`, beside the same of the columns `n` and `c`, one client, in turns;
                no condition is asked twice, so none is kept from an earlier search

A run lasts five seconds (SECONDS). Printed are the runs and their median as CSV; a ratio is of the runs pair by pair.
"""
import os
import pathlib
import random
import statistics
import subprocess
import sys
import threading
import time

from server import Server, ask

MILLION = 1_000_000
SECONDS = float(os.environ.get("SECONDS", "5"))


def number(connection, text):
    return int(ask(connection, text)[0][0])


def check(what, found, expected):
    if found != expected:
        raise SystemExit(f"{what}: {found}, not {expected}")


def fill(connection, rows):
    columns = "body text, n int, j json, k bigint, s string, c string, a int, b int, KEY (k), KEY (s)"
    ask(connection, f"CREATE TABLE t ({columns})")
    for first in range(1, rows + 1, 20_000):
        row = []
        for id in range(first, min(first + 20_000, rows + 1)):
            n = id * 7_919 % rows
            j = f'{{"n":{n},"s":"c{n % 1_000}","user":{{"name":"u{id}","age":{id % 90}}},"tags":["a","b"]}}'
            row.append(f"({id},'post number {id} of many',{n},'{j}',{n},'k{n}','c{n % 1_000}',0,0)")
        ask(connection, "INSERT INTO t (id, body, n, j, k, s, c, a, b) VALUES " + ",".join(row))
    ask(connection, "OPTIMIZE TABLE t")
    check("rows", number(connection, "SELECT COUNT(*) FROM t"), rows)


def show(figure, unit, runs, note=""):
    shown = ";".join(f"{run:.3f}" for run in runs)
    print(f"{figure};{unit};{statistics.median(runs):.3f};{shown};{note}", flush=True)


def update(server, rows, runs):
    """Seconds of an UPDATE of a million rows, and the longest insert beside it in milliseconds."""
    connection, beside = server.connect(), server.connect()
    done = threading.Event()
    waits = []

    def insert():
        id = 10 * rows
        while not done.is_set():
            id += 1
            begun = time.perf_counter()
            ask(beside, f"INSERT INTO t (id, body, n) VALUES ({id}, 'beside', -1)")
            waits.append(time.perf_counter() - begun)

    writer = threading.Thread(target=insert)
    writer.start()
    took, longest, changed = [], [], 0
    for _ in range(runs):
        waits.clear()
        times, until = [], time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            begun = time.perf_counter()
            with connection.cursor() as cursor:
                check("rows changed", cursor.execute(f"UPDATE t SET a = a + 1 WHERE n >= {rows - MILLION}"), MILLION)
            times.append(time.perf_counter() - begun)
            changed += 1
        took.append(statistics.median(times))
        longest.append(1_000 * max(waits))
    done.set()
    writer.join()
    where = f"n >= {rows - MILLION} AND a = {changed}"
    check("changed", number(connection, f"SELECT COUNT(*) FROM t WHERE {where}"), MILLION)
    show("update-1m", "s", took, "wanted at most 1.5")
    show("longest insert beside it", "ms", longest, "wanted at most 50")
    ask(connection, "DELETE FROM t WHERE n = -1")


def by_id(server, rows, runs, directory):
    """Durable UPDATEs a second by 32 connections."""
    connection = server.connect()
    file = pathlib.Path(directory) / "by-id.sql"
    rates, sent = [], 0
    for _ in range(runs):
        ids = random.sample(range(1, rows + 1), 10_000)
        file.write_text(";".join(f"UPDATE t SET b = b + 1 WHERE id = {id}" for id in ids))
        queries, begun = 0, time.perf_counter()
        while time.perf_counter() < begun + SECONDS:
            command = ["mysqlslap", "-h127.0.0.1", f"-P{server.port}", "-ubench", "--concurrency=32", "--no-drop"]
            command += [f"--query={file}", "--delimiter=;", "--create-schema=seine", "--number-of-queries=320000"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            queries += 320_000
        rates.append(queries / (time.perf_counter() - begun))
        sent += queries
    total = sum(value for (value,) in ask(connection, f"SELECT b FROM t WHERE b > 0 LIMIT {rows}"))
    check("updates", total, sent)
    show("update by id, 32 connections", "1/s", rates, "wanted at least 30,000")


def rate(connection, statement, rows):
    """Seconds a look-up, over a fifth of a run's time. `statement`: a row by a number of its own."""
    count, begun = 0, time.perf_counter()
    while time.perf_counter() < begun + SECONDS / 5:
        for _ in range(100):
            found = ask(connection, statement(random.randrange(rows)))
            check("rows of a look-up", len(found), 1)
        count += 100
    return (time.perf_counter() - begun) / count


def look_ups(server, rows, runs):
    connection = server.connect()
    by_id = lambda at: f"SELECT n FROM t WHERE id = {at + 1}"
    for name, other in [("key", lambda at: f"SELECT n FROM t WHERE k = {at}"), ("text", lambda at: f"SELECT n FROM t WHERE s = 'k{at}'")]:
        took, ratios = [], []
        for _ in range(runs):
            pairs = [(rate(connection, other, rows), rate(connection, by_id, rows)) for _ in range(3)]
            took.append(1e6 * statistics.median(one for one, _ in pairs))
            ratios.append(statistics.median(one / other for one, other in pairs))
        show(f"look-up by KEY, {name}", "us", took)
        show(f"look-up by KEY, {name} : by id", "x", ratios, "wanted at most 1.5")


def conditions(server, rows, runs):
    connection = server.connect()
    labels = random.sample(range(1_000), 1_000)

    def took(text, expected):
        begun = time.perf_counter()
        check(text, number(connection, text), expected)
        return time.perf_counter() - begun

    def numbers():
        low = random.randrange(rows // 2)
        high = low + random.randrange(rows // 2)
        where = f"BETWEEN {low} AND {high}"
        return took(f"{select} j.n {where}", high - low + 1), took(f"{select} n {where}", high - low + 1)

    def texts():
        where = f"= 'c{labels.pop()}'"
        return took(f"{select} j.s {where}", rows // 1_000), took(f"{select} c {where}", rows // 1_000)

    select = "SELECT COUNT(*) FROM t WHERE"
    for name, pair in [("range of numbers", numbers), ("equal text", texts)]:
        ratios, paths, columns = [], [], []
        for _ in range(runs):
            pairs, until = [], time.perf_counter() + SECONDS
            while time.perf_counter() < until:
                pairs.append(pair())
            paths.append(1e3 * statistics.median(path for path, _ in pairs))
            columns.append(1e3 * statistics.median(column for _, column in pairs))
            ratios.append(statistics.median(path / column for path, column in pairs))
        show(f"{name} at a JSON path", "ms", paths)
        show(f"{name} of a column", "ms", columns)
        show(f"{name}, path : column", "x", ratios, "wanted at most 3")


def main():
    binary, directory = sys.argv[1], sys.argv[2]
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 1_900_000
    runs = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    server = Server(binary, directory, "changes")
    try:
        print(f"# {rows} rows, {runs} runs of {SECONDS:.0f} s; figure;unit;median;runs;note")
        fill(server.connect(), rows)
        look_ups(server, rows, runs)
        conditions(server, rows, runs)
        update(server, rows, runs)
        by_id(server, rows, runs, directory)
    finally:
        server.process.terminate()
        server.process.wait()


if __name__ == "__main__":
    main()
