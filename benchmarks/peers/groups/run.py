#!/usr/bin/env python3
"""Groups, facets, filters and sorting over 1.9 M rows: Seine beside DuckDB and Sphinx 2.2.11, in turns and with equal answers.

    benchmarks/peers/groups/run.py SEINE DIRECTORY [ROWS] [RUNS]     # rows: 1,900,000; runs: 5

Needs Debian's sphinxsearch (`searchd` and `indexer` in PATH), PyMySQL and duckdb of PyPI, and 2 GB below DIRECTORY, which it makes.
All systems hold the same rows. DuckDB works in this process with THREADS (2) threads on a file, or in memory with DUCKDB=memory.
Seine and Sphinx are asked by PyMySQL, Seine over TCP and Sphinx at a unix socket; what the client does is timed. PARTS (abcde) are:

a  Seine and DuckDB: groups of 30 % of the rows, which both find by the same filter of a column. Seine's lines with `match` find the
   same rows by a word.
b  Seine and Sphinx: groups of the rows with a word that stands in 30 % of them. Sphinx uses one thread a query.
c  Seine alone: FACETs and COUNT(DISTINCT), as in benchmarks/groups.py.
d  Seine alone: MATCH with BETWEEN beside the same MATCH without it, 20 rows. Each query has bounds of its own, drawn at random. `v` has
   a random number in each row, `a` grows with the ids, as a time does.
e  Seine alone: ORDER BY an expression, as in benchmarks/groups.py.

Before it is timed, each statement is asked once of all, and the answers are compared; those of c to e with what DuckDB or Python
counts. A run is the median of SECONDS (2). The systems take turns, run by run. A ratio is the median of the ratios of the runs of
one turn. Printed is a table; the runs are in DIRECTORY/groups-peers.csv, and `missed` stands at a figure that is not what is wanted.

Bias. DuckDB's rows are made in this process: it has no protocol, where PyMySQL decodes 1,000 rows in some milliseconds. DuckDB's
filter reads a column of ten values. Sphinx has the rows in one plain index, Seine in one segment, as OPTIMIZE TABLE leaves them.
"""
import decimal
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(BENCHMARKS), str(BENCHMARKS.parent / "tests" / "sphinx")]

import duckdb

import groups
import servers
from server import Server, ask

SECONDS = float(os.environ.get("SECONDS", "2"))
PARTS = os.environ.get("PARTS", "abcde")
THREADS = os.environ.get("THREADS", "2")
COLUMNS = "g int, n bigint, s string, r double, c int, f int, v int, a bigint"
SPREAD = 1_000_000  # values of v
SPHINX = """
source t
{{
    type = tsvpipe
    tsvpipe_command = cat '{folder}/rows.tsv'
    tsvpipe_field = body
    tsvpipe_attr_uint = g
    tsvpipe_attr_bigint = n
    tsvpipe_attr_string = s
    tsvpipe_attr_float = r
    tsvpipe_attr_uint = c
    tsvpipe_attr_uint = f
    tsvpipe_attr_uint = v
    tsvpipe_attr_bigint = a
}}
index t
{{
    source = t
    path = {folder}/t
    dict = keywords
}}
indexer
{{
    mem_limit = 512M
}}
searchd
{{
    listen = {folder}/socket:mysql41
    workers = threads
    pid_file = {folder}/pid
    binlog_path =
    log = {folder}/log
    query_log = /dev/null
}}
"""


# Part a: name, what is selected, the filter, the rest. {found} is `f < 3`, or MATCH in Seine's lines of that name.
ALL = "GROUP BY g ORDER BY g ASC LIMIT 1000"
FIVE = "g, COUNT(*) AS c1, SUM(n) AS s1, MIN(n) AS l, MAX(n) AS h, AVG(n) AS m"
BESIDE_DUCKDB = [
    ("count, 1,000 groups", f"SELECT g, COUNT(*) AS c1 FROM t WHERE {{found}} {ALL}"),
    ("count, top 20", "SELECT g, COUNT(*) AS c1 FROM t WHERE {found} GROUP BY g ORDER BY c1 DESC, g ASC LIMIT 20"),
    ("count sum min max avg, 1,000 groups", f"SELECT {FIVE} FROM t WHERE {{found}} {ALL}"),
    ("count sum min max avg, top 20", f"SELECT {FIVE} FROM t WHERE {{found}} GROUP BY g ORDER BY c1 DESC, g ASC LIMIT 20"),
    ("sum of double, top 20", "SELECT g, SUM(r) AS s1 FROM t WHERE {found} GROUP BY g ORDER BY s1 DESC LIMIT 20"),
    ("by string, top 20", "SELECT s, COUNT(*) AS c1 FROM t WHERE {found} GROUP BY s ORDER BY c1 DESC, s ASC LIMIT 20"),
    ("distinct by group, top 20", "SELECT g, COUNT(DISTINCT n) AS d FROM t WHERE {found} GROUP BY g ORDER BY d DESC, g ASC LIMIT 20"),
    ("a group a row, first 20", "SELECT n, COUNT(*) AS c1 FROM t WHERE {found} GROUP BY n ORDER BY n ASC LIMIT 20"),
    ("no key", "SELECT COUNT(*), SUM(n), MIN(n), MAX(n), AVG(n) FROM t WHERE {found}"),
    ("all rows, top 20", "SELECT g, COUNT(*) AS c1 FROM t GROUP BY g ORDER BY c1 DESC, g ASC LIMIT 20"),
]
# Part b. Sphinx's AVG has the precision of a float.
BESIDE_SPHINX = [
    ("count, 1,000 groups", f"SELECT g, COUNT(*) AS c1 FROM t WHERE MATCH('thirty') {ALL} OPTION max_matches=1000"),
    ("count, 1,000 groups, ranker=none", f"SELECT g, COUNT(*) AS c1 FROM t WHERE MATCH('thirty') {ALL} OPTION max_matches=1000, ranker=none"),
    ("count, top 20", "SELECT g, COUNT(*) AS c1 FROM t WHERE MATCH('thirty') GROUP BY g ORDER BY c1 DESC, g ASC LIMIT 20 OPTION max_matches=1000"),
    (
        "count sum min max, 1,000 groups",
        f"SELECT g, COUNT(*) AS c1, SUM(n) AS s1, MIN(n) AS l, MAX(n) AS h FROM t WHERE MATCH('thirty') {ALL} OPTION max_matches=1000",
    ),
    ("by string, 1,000 groups", "SELECT s, COUNT(*) AS c1 FROM t WHERE MATCH('thirty') GROUP BY s ORDER BY s ASC LIMIT 1000 OPTION max_matches=1000"),
    ("a group a row, first 1,000", "SELECT n, COUNT(*) AS c1 FROM t WHERE MATCH('thirty') GROUP BY n ORDER BY n ASC LIMIT 1000 OPTION max_matches=1000000"),
]
# Part d: the search of 0.1 %, 3 % and 30 % of the rows, and what finds the same rows in DuckDB; shares of the rows between the bounds.
RARE, THREE, THIRTY = "regexp_matches(body, '\\brare\\b')", "regexp_matches(body, '\\bthree\\b')", "f < 3"
WORDS = [("rare", RARE), ("three", THREE), ("thirty", THIRTY)]
SEVERAL = [("thirty number", THIRTY), ("three | thirty", f"({THREE} OR {THIRTY})")]
BETWEEN = [0.01, 0.1, 0.5, 0.9]


def row(id, rows):
    """A row in the order of the tables. `thirty` stands where f < 3; each word stands there once to three times."""
    has, g, n = groups.row(id, rows)
    chance = groups.mixed(id + 3 * rows)
    words = ["thirty " * (1 + chance % 3) if has else "seventy "]
    words += ["three " * (1 + chance // 3 % 3)] * (chance // 9 % 100 < 3) + ["rare " * (1 + chance // 3 % 3)] * (chance // 900 % 1_000 == 0)
    f, v = groups.mixed(id) % 10, groups.mixed(id + 2 * rows) % SPREAD
    return id, f"post number {id} of {''.join(words).rstrip()}", g, n, f"s{g}", n + 0.25, groups.mixed(n) % 20, f, v, 1_600_000_000 + 10 * id


def fill(connection, rows, path):
    """Fills Seine's table and writes the rows into a file for the others."""
    ask(connection, f"CREATE TABLE t (body text, {COLUMNS})")
    with path.open("w") as file:
        for first in range(1, rows + 1, 20_000):
            some = [row(id, rows) for id in range(first, min(first + 20_000, rows + 1))]
            file.writelines("\t".join(map(str, row)) + "\n" for row in some)
            ask(connection, f"INSERT INTO t (id, body, {', '.join(c.split()[0] for c in COLUMNS.split(', '))}) VALUES " + ",".join(map(repr, some)))
    ask(connection, "OPTIMIZE TABLE t")


def in_duckdb(folder):
    connection = duckdb.connect(":memory:" if os.environ.get("DUCKDB") == "memory" else str(folder / "duckdb"), config={"threads": THREADS})
    columns = [tuple(column.split()) for column in f"id bigint, body string, {COLUMNS}".split(", ")]
    connection.execute(f"CREATE TABLE t ({', '.join(' '.join(column) for column in columns)})")
    connection.execute(f"COPY t FROM '{folder}/rows.tsv' (DELIMITER '\t', HEADER false)")
    connection.execute("CHECKPOINT")
    return connection


def in_sphinx(folder):
    (folder / "sphinx.conf").write_text(SPHINX.format(folder=folder))
    return servers.searchd(folder / "sphinx.conf")


def value(cell):
    """A cell as a number, if it is one."""
    if isinstance(cell, (str, bytes, decimal.Decimal)):
        try:
            number = float(cell)
        except ValueError:
            return cell
        return int(cell) if number.is_integer() and "." not in str(cell) else number
    return cell


def equal(left, right):
    def same(one, other):
        one, other = value(one), value(other)
        return math.isclose(one, other, rel_tol=1e-6) if isinstance(one, float) or isinstance(other, float) else one == other

    return len(left) == len(right) and all(len(a) == len(b) and all(map(same, a, b)) for a, b in zip(left, right))


def run(asks):
    """The median time of `asks` in SECONDS, in milliseconds."""
    times, until = [], time.perf_counter() + SECONDS
    while not times or time.perf_counter() < until:
        begun = time.perf_counter()
        asks()
        times.append(1e3 * (time.perf_counter() - begun))
    return statistics.median(times)


def turns(systems, runs):
    """The runs of each system, in turns; each second turn goes backwards."""
    found = {name: [] for name in systems}
    for turn in range(runs):
        for name in list(systems)[:: -1 if turn % 2 else 1]:
            found[name].append(run(systems[name]))
    return found


class Report:
    def __init__(self, path, rows, runs):
        self.csv, self.missed = path.open("w"), []
        sphinx = subprocess.run(["searchd", "--help"], capture_output=True, text=True).stdout.split("\n")[0]
        print(f"# {rows} rows in one table; {runs} runs of {SECONDS:g} s; DuckDB {duckdb.__version__}, {THREADS} threads; {sphinx}", file=self.csv)
        print("part;statement;system;unit;median;runs", file=self.csv, flush=True)
        print(f"{'':2}{'statement':58} {'Seine ms':>9} {'other ms':>9} {'ratio':>6}  wanted", flush=True)

    def line(self, part, name, found, wanted=None, ratio=None):
        """`wanted` is (sign, number); `ratio` gives a pair's ratio from Seine's time and that of the other system."""
        for system, times in found.items():
            print(f"{part};{name};{system};ms;{statistics.median(times):.2f};{';'.join(f'{time:.2f}' for time in times)}", file=self.csv)
        medians = [statistics.median(times) for times in found.values()]
        figure = medians[0]
        if ratio:
            ratios = [ratio(*pair) for pair in zip(*found.values())]
            figure = statistics.median(ratios)
            systems = " : ".join(reversed(found)) if part in "ab" else " : ".join(found)
            print(f"{part};{name};{systems};x;{figure:.3f};{';'.join(f'{one:.3f}' for one in ratios)}", file=self.csv)
        self.csv.flush()
        is_missed = wanted and not (figure <= wanted[1] if wanted[0] == "<=" else figure >= wanted[1])
        if is_missed:
            self.missed.append((part, name))
        shown = f"{medians[1]:9.2f} {figure:6.2f}" if ratio else " " * 16
        said = f"{wanted[0]} {wanted[1]:g}{'' if ratio else ' ms'}{', missed' if is_missed else ''}" if wanted else ""
        print(f"{part} {name:58} {medians[0]:9.2f} {shown}  {said}", flush=True)


def check(name, left, right):
    if not equal(left, right):
        raise SystemExit(f"{name}: answers differ: {left[:3]} … {right[:3]}")


def beside_duckdb(report, seine, duck, runs):
    for name, statement in BESIDE_DUCKDB:
        theirs = statement.format(found="f < 3")
        answer = duck.execute(theirs).fetchall()
        for found in ("f < 3", "MATCH('thirty')"):
            ours = statement.format(found=found)
            if found != "f < 3" and ours == theirs:
                continue
            check(ours, ask(seine, ours), answer)
            times = turns({"seine": lambda: ask(seine, ours), "duckdb": lambda: duck.execute(theirs).fetchall()}, runs)
            means = "" if ours == theirs else ", match"
            report.line("a", name + means, times, (">=", 0.5), lambda ours, theirs: theirs / ours)


def beside_sphinx(report, seine, sphinx, runs):
    for name, statement in BESIDE_SPHINX:
        for means in ("", ", threads=1") if statement == BESIDE_SPHINX[0][1] else ("",):
            ours = statement + means
            check(ours, ask(seine, ours), ask(sphinx, statement))
            times = turns({"seine": lambda: ask(seine, ours), "sphinx": lambda: ask(sphinx, statement)}, runs)
            report.line("b", name + means, times, (">=", 8), lambda ours, theirs: theirs / ours)


def alone(report, part, seine, rows, runs, wanted):
    """Those statements of benchmarks/groups.py that `wanted` names."""
    for name, statement, is_right in groups.statements(rows):
        if name in wanted:
            found = ask(seine, statement)
            if is_right and not is_right([[value(cell) for cell in row] for row in found]):
                raise SystemExit(f"{name}: a wrong answer: {found[:5]}")
            report.line(part, name, turns({"seine": lambda: ask(seine, statement)}, runs), wanted[name])


def between(report, seine, duck, rows, runs):
    chance = random.Random(1)
    shapes = [("", "v", search) for search in WORDS + SEVERAL]
    shapes += [(order, "v", search) for order in ("ORDER BY n ASC", "ORDER BY v DESC, id ASC") for search in WORDS]
    shapes += [(order, "a", WORDS[-1]) for order in ("", "ORDER BY a DESC")]
    for order, column, (words, same), share in [(*shape, share) for shape in shapes for share in BETWEEN]:
        least, values = (0, SPREAD) if column == "v" else (1_600_000_010, 10 * rows)

        def bounds():
            low = least + chance.randrange(int(values * (1 - share)) + 1)
            return low, low + int(values * share) - 1

        def statement(bounds):
            condition = f" AND {column} BETWEEN {bounds[0]} AND {bounds[1]}" if bounds else ""
            return f"SELECT id, {column} FROM t WHERE MATCH('{words}'){condition} {order} LIMIT 20"

        for _ in range(3):
            tried = bounds()
            condition = f"FROM t WHERE {same} AND {column} BETWEEN {tried[0]} AND {tried[1]}"
            found = ask(seine, statement(tried))
            total = int(dict(ask(seine, "SHOW META"))["total_found"])
            check(f"{statement(tried)}, total", [[total]], duck.execute(f"SELECT COUNT(*) {condition}").fetchall())
            if order:
                check(statement(tried), found, duck.execute(f"SELECT id, {column} {condition} {order} LIMIT 20").fetchall())
            else:
                assert len(found) == min(20, total) and all(tried[0] <= row[1] <= tried[1] for row in found), statement(tried)
        systems = {"with": lambda: ask(seine, statement(bounds())), "without": lambda: ask(seine, statement(None))}
        name = f"{words}, {column} between {share:.0%}{', ' + order.lower() if order else ''}"
        report.line("d", name, turns(systems, runs), ("<=", 1.5), lambda with_it, without: with_it / without)


def main():
    binary, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    rows, runs = [int(text) for text in sys.argv[3:]] + [1_900_000, 5][len(sys.argv) - 3 :]
    folder.mkdir(parents=True, exist_ok=True)
    server, sphinx = Server(binary, folder, "seine"), None
    try:
        seine = server.connect()
        fill(seine, rows, folder / "rows.tsv")
        duck = in_duckdb(folder)
        report = Report(folder / "groups-peers.csv", rows, runs)
        if "a" in PARTS:
            beside_duckdb(report, seine, duck, runs)
        if "b" in PARTS:
            sphinx = in_sphinx(folder)
            beside_sphinx(report, seine, sphinx.connect(), runs)
        if "c" in PARTS:
            named = ("facet of three columns, match", "facet of three integers, match", "distinct by group, match")
            alone(report, "c", seine, rows, runs, {"distinct, all rows": ("<=", 60), **dict.fromkeys(named)})
        if "d" in PARTS:
            between(report, seine, duck, rows, runs)
        if "e" in PARTS:
            alone(report, "e", seine, rows, runs, {"order by an expression, match": ("<=", 25)})
        print(f"missed: {len(report.missed)}" + "".join(f"\n  {part} {name}" for part, name in report.missed))
    finally:
        if sphinx:
            sphinx.end()
        server.process.terminate()
        server.process.wait()


if __name__ == "__main__":
    main()
