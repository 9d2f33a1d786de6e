#!/usr/bin/env python3
"""Time of GROUP BY and aggregates over a search table, as a client sees it. Needs PyMySQL.

    benchmarks/groups.py SEINE DIRECTORY [ROWS] [RUNS]     # rows: 1,900,000; runs: 5

It starts SEINE with its data below DIRECTORY and fills a table of ROWS rows: a text, in which `thirty` stands in 30 % of the rows, an
integer `g` and a string `s` of 1,000 values, an integer `c` of 20, an integer `n` that is another one in each row, and a double `r`.
Each statement is asked once before it is timed; its answer is compared with what this program counts. A run is the median of SECONDS
(2). Printed are the runs and their median as CSV, in milliseconds.
"""
import collections
import os
import statistics
import sys
import time

from server import Server, ask

SECONDS = float(os.environ.get("SECONDS", "2"))


def mixed(id):
    """A number that looks like chance: a step of splitmix64."""
    id = id * 0x9E3779B97F4A7C15 % 2**64
    id = (id ^ id >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    return ((id ^ id >> 27) * 0x94D049BB133111EB % 2**64) >> 32


def row(id, rows):
    """Whether the row has `thirty`, then g and n."""
    return mixed(id) % 10 < 3, mixed(id + rows) % 1_000, id * 7_919 % rows


def filling(rows, table):
    """Statements that create the table and fill it."""
    yield f"CREATE TABLE {table} (body text, g int, n bigint, s string, r double, c int)"
    for first in range(1, rows + 1, 20_000):
        lines = []
        for id in range(first, min(first + 20_000, rows + 1)):
            has, g, n = row(id, rows)
            lines.append(f"({id},'post number {id} of {'thirty' if has else 'seventy'}',{g},{n},'s{g}',{n}.25,{mixed(n) % 20})")
        yield f"INSERT INTO {table} (id, body, g, n, s, r, c) VALUES " + ",".join(lines)
    yield f"OPTIMIZE TABLE {table}"


def expected(rows):
    """Of each group with `thirty`: rows, sum of n, least and highest n."""
    groups = collections.defaultdict(list)
    for id in range(1, rows + 1):
        has, g, n = row(id, rows)
        if has:
            groups[g].append(n)
    return {g: (len(of), sum(of), min(of), max(of)) for g, of in groups.items()}


def statements(rows, table="t"):
    """Name, statement, and what its answer must be, if this program knows."""
    groups = expected(rows)
    most = sorted(groups.values(), reverse=True)[:20]
    counts = sorted((of[0] for of in groups.values()), reverse=True)[:20]
    match = f"FROM {table} WHERE MATCH('thirty')"
    page = "ORDER BY c DESC LIMIT 20"
    total = sum(of[0] for of in groups.values())
    return [
        ("count, match", f"SELECT g, COUNT(*) AS c {match} GROUP BY g {page}", lambda rows: [row[1] for row in rows] == counts),
        (
            "count sum avg min max, match",
            f"SELECT g, COUNT(*) AS c, SUM(n), MIN(n), MAX(n), AVG(n) {match} GROUP BY g ORDER BY c DESC, SUM(n) DESC LIMIT 20",
            lambda rows: [tuple(int(value) for value in row[1:5]) for row in rows] == most,
        ),
        ("no key, match", f"SELECT COUNT(*), SUM(n) {match}", lambda rows: rows[0][0] == total),
        ("by string, match", f"SELECT s, COUNT(*) AS c {match} GROUP BY s {page}", lambda rows: [row[1] for row in rows] == counts),
        ("by expression, match", f"SELECT g DIV 2 AS h, COUNT(*) AS c {match} GROUP BY h {page}", None),
        ("sum of double, match", f"SELECT g, SUM(r) AS c {match} GROUP BY g {page}", None),
        ("count, all rows", f"SELECT g, COUNT(*) AS c FROM {table} GROUP BY g {page}", None),
        ("distinct, all rows", f"SELECT COUNT(DISTINCT n) FROM {table}", lambda found: found[0][0] == rows),
        ("distinct by group, match", f"SELECT g, COUNT(DISTINCT n) AS c {match} GROUP BY g {page}", lambda rows: [row[1] for row in rows] == counts),
        ("a group a row, match", f"SELECT n, COUNT(*) AS c {match} GROUP BY n {page}", lambda rows: {row[1] for row in rows} == {1}),
        (
            "facet of three columns, match",
            f"SELECT id {match} LIMIT 10 FACET g ORDER BY COUNT(*) DESC FACET s ORDER BY COUNT(*) DESC FACET c ORDER BY c ASC",
            lambda rows: [row[1] for row in rows[10:50]] == 2 * counts and sum(row[1] for row in rows[50:]) == total,
        ),
        (
            "facet of three integers, match",
            f"SELECT id {match} LIMIT 10 FACET g ORDER BY COUNT(*) DESC FACET g DIV 10 LIMIT 100 FACET c ORDER BY c ASC",
            lambda rows: [row[1] for row in rows[10:30]] == counts and sum(row[1] for row in rows[30:]) == 2 * total,
        ),
        ("order by an expression, match", f"SELECT id {match} ORDER BY n % 1000 + g DESC LIMIT 20", None),
    ]


def check(name, is_right, found):
    """Ends the program at a wrong answer, if `is_right` can tell."""
    if is_right and not is_right([[int(v) if str(v).isdigit() else v for v in row] for row in found]):
        raise SystemExit(f"{name}: a wrong answer: {found[:5]}")


def main():
    binary, directory = sys.argv[1:3]
    rows, runs = [int(text) for text in sys.argv[3:]] + [1_900_000, 5][len(sys.argv) - 3 :]
    server = Server(binary, directory, "groups")
    try:
        connection = server.connect()
        for statement in filling(rows, "t"):
            ask(connection, statement)
        print("statement;unit;median;runs", flush=True)
        for name, statement, is_right in statements(rows):
            found = ask(connection, statement)
            check(name, is_right, found)
            medians = []
            for _ in range(runs):
                times, until = [], time.perf_counter() + SECONDS
                while not times or time.perf_counter() < until:
                    begun = time.perf_counter()
                    ask(connection, statement)
                    times.append(1e3 * (time.perf_counter() - begun))
                medians.append(statistics.median(times))
            shown = ";".join(f"{run:.2f}" for run in medians)
            print(f"{name};ms;{statistics.median(medians):.2f};{shown}", flush=True)
    finally:
        server.process.terminate()
        server.process.wait()


if __name__ == "__main__":
    main()
