"""The cells of the guard, `builds.py`: kinds of work, each with the bound that a new build must hold against an old one.

A cell does the same work on every build. `prepare` fills its tables once for a build and checks answers that this program knows,
`measure` does the work once and gives its `Figures`.
"""
import dataclasses
import math
import pathlib
import re
import subprocess
import sys
import time

import groups
import pairs

# Most that the time of a new build may be, in times of that of the old one. LONG: searches that look at many rows, groups, joins.
SHORT, LONG = 1.02, 1.03
LOOKED_ROWS = 100_000
LOOK_UPS = 2_000
QUERIES = 1_000
DOCUMENTS = 4_000
DOCUMENTS_A_CALL = 100
STUDY_QUERIES = pathlib.Path(__file__).parent / "definitions/study-queries.txt"
POSTS_TABLE = "bench_search_auto"


@dataclasses.dataclass
class Figures:
    """What one run of a cell took, for one operation: a row, a statement, a document, a message."""

    seconds: float
    processor_s: float | None = None  # of the server; None: the work has no server
    p50_ms: float | None = None
    answer: str = ""  # equal in every run of every build


class Cell:
    """`p50_counts`: the bound holds for the median time of a call, too."""

    def __init__(self, name, bound=SHORT, p50_counts=False):
        self.name, self.bound, self.p50_counts = name, bound, p50_counts

    def prepare(self, build):
        pass

    def calibrate(self, build):
        """Chooses the amount of work, by a build on which the cell is prepared."""


class Within(Cell):
    """A test of `seine bench` in the process of each build's own program, which checks its answers."""

    def __init__(self, name, *arguments, bound=SHORT):
        super().__init__(name, bound)
        self.arguments = arguments

    def measure(self, build):
        more = ["--data", str(build.folder / "indexes")] if self.arguments[0] == "search" else []
        row, _ = build.bench(*self.arguments, *more, program=build.binary)
        return Figures(1 / float(row.get("throughput") or row["requests/s"]))


class Statements(Cell):
    """Statements over connections, by `seine bench statements`. `lines(run)` are those of the list; the list is sent several times."""

    def __init__(self, name, tables, lines, connections, bound=SHORT, p50_counts=False):
        super().__init__(f"{name}-{connections}", bound, p50_counts)
        self.tables, self.lines, self.connections, self.times = tables, lines, connections, 1

    def prepare(self, build):
        for table in self.tables:
            build.fill(table)

    def calibrate(self, build):
        """A run takes some --seconds on an old build. A first run warms it."""
        self.send(build, 1)
        taken = self.send(build, 1)
        least = math.ceil(4 * self.connections / len(self.listed(build.run, 1)))  # so that no connection is without work for long
        self.times = max(least, round(build.run.seconds / taken))

    def measure(self, build):
        self.send(build, self.times)
        return self.figures

    def listed(self, run, times):
        return self.lines(run) * times

    def send(self, build, times):
        """Sends the list so many times. Gives the seconds that it took."""
        file = build.run.folder / f"{self.name}-{times}.sql"
        if not file.exists():
            file.write_text("\n".join(line.rstrip(";\n") for line in self.listed(build.run, times)))
        before = build.server.processor_time()
        row, notes = build.bench("statements", str(file), "--once", "--connections", str(self.connections), addressed=True)
        count = int(row["elements count"])
        spent = (build.server.processor_time() - before) / count
        answer = next(note for note in notes if note.startswith("answers "))
        self.figures = Figures(float(row["total time"]) / count, spent, float(row["median latency, ms"]), answer)
        return float(row["total time"])


class Inserts(Statements):
    """Single rows into an empty table. Their count is checked."""

    COUNT = 2_000

    def __init__(self, connections):
        super().__init__("insert", [], None, connections)

    def listed(self, run, times):
        return pairs.inserts(1, self.COUNT * times + 1, 1, "inserted").splitlines()

    def send(self, build, times):
        build.ask("DROP TABLE IF EXISTS inserted; CREATE TABLE inserted (body text, n int)")
        taken = super().send(build, times)
        expect("rows inserted", build.ask("SELECT COUNT(*) FROM inserted"), [(str(self.COUNT * times),)])
        return taken


class Queue(Cell):
    """Q4M's `multirw`: each connection puts a message, takes one and ends it. `seine bench queue` counts them."""

    def __init__(self, connections):
        super().__init__(f"queue-{connections}")
        self.arguments = ["queue", "multirw", "--door", "statements", "--concurrency", str(connections)]

    def measure(self, build):
        row, _ = build.bench(*self.arguments, addressed=True)
        return Figures(1 / float(row["throughput"]), float(row["server us/msg"]) / 1e6, float(row["median latency, ms"]))


class Load(Cell):
    """Rows through `seine load` into an empty table."""

    def __init__(self):
        super().__init__("load")

    def measure(self, build):
        build.ask("DROP TABLE IF EXISTS loaded; CREATE TABLE loaded (body text, n int)")
        before, begun = build.server.processor_time(), time.monotonic()
        command = [*build.run.client, "load", "loaded", build.run.rows_file, "--addr", build.address]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        taken, spent = time.monotonic() - begun, build.server.processor_time() - before
        expect("rows loaded", build.ask("SELECT COUNT(*) FROM loaded"), [(str(build.run.load_rows),)])
        build.ask("DROP TABLE loaded")
        return Figures(taken / build.run.load_rows, spent / build.run.load_rows)


class Collect(Cell):
    """Messages over Scribe's door into files, 200 a call, 8 connections. `seine bench collect` compares the files."""

    def __init__(self):
        super().__init__("collect")

    def measure(self, build):
        before = build.server.processor_time()
        collector = f"seine=scribe@127.0.0.1:{build.server.ports['scribe']}@{build.files}"
        row, _ = build.bench("collect", "--collector", collector, "--per-call", "200", "--connections", "8")
        count = int(row["elements count"])
        return Figures(1 / float(row["throughput"]), (build.server.processor_time() - before) / count)


def expect(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: {found}, expected {expected}; no time is given")


# Tables: functions that fill one on a build and check answers that are known.


def looked(build):
    build.ask("CREATE TABLE looked (body text, n int)")
    for line in pairs.inserts(1, LOOKED_ROWS + 1, 1_000, "looked").splitlines():
        build.ask(line.rstrip(";"))
    build.ask("FLUSH TABLE looked")
    for id in (1, LOOKED_ROWS):
        expect(f"row {id}", build.ask(f"SELECT * FROM looked WHERE id={id}"), [(str(id), pairs.text(id), str(id % 100))])


def posts(build):
    """The bundled posts, or RECORDS, filled and checked by `seine bench search`."""
    arguments = ["search", "any-matchany", "--keep", "--limit", "20", "--clients", "1", "--seconds", "0.1"]
    build.bench(*arguments, *build.run.records, addressed=True, seconds=None)


def grouped(build):
    rows = build.run.grouped_rows
    for statement in groups.filling(rows, "grouped"):
        build.ask(statement)
    for name, statement, is_right in groups.statements(rows, "grouped"):
        groups.check(name, is_right, build.ask(statement))


def labels(build):
    """A label for each value of `grouped.g`."""
    build.ask("CREATE TABLE labels (body text, kind int, name string)")
    rows = ",".join(f"({g + 1},'label',{g % 20},'name {g}')" for g in range(1_000))
    build.ask(f"INSERT INTO labels (id, body, kind, name) VALUES {rows}")
    build.ask("FLUSH TABLE labels")
    rows = (groups.row(id, build.run.grouped_rows) for id in range(1, build.run.grouped_rows + 1))
    right = sum(has and g % 20 == 3 for has, g, _ in rows)
    expect("rows of a join", build.ask(joins(build.run)[0]), [(str(right),)])


def alerts(build):
    build.ask("CREATE TABLE alerts (body text) type='pq'")
    queries = [line.replace("+", "") for line in build.run.words("queries.txt")]
    for first in range(0, len(queries), 10_000):
        rows = ",".join(f"({first + at + 1},'{query}')" for at, query in enumerate(queries[first : first + 10_000]))
        build.ask(f"INSERT INTO alerts (id, query) VALUES {rows}")
    listed = (row[1] for line in calls(build.run) for row in build.ask(line))
    expect("pairs of CALL PQ", sum(1 + text.count(",") for text in listed), build.run.pairs)


# Lists of statements.


def look_ups(run):
    return [f"SELECT * FROM looked WHERE id={at * 7_919 % LOOKED_ROWS + 1}" for at in range(LOOK_UPS)]


def searches(form, ranker):
    def lines(run):
        queries = STUDY_QUERIES.read_text().splitlines()[:QUERIES]
        select = f"SELECT id, weight() FROM {POSTS_TABLE} WHERE MATCH"
        return [f"{select}('{form.format(words)}') LIMIT 100 OPTION max_matches=1000, ranker={ranker}" for words in queries]

    return lines


def scans(run):
    """Searches over all rows, with conditions that differ, so that none is kept from an earlier search."""
    counts = [f"SELECT COUNT(*) FROM grouped WHERE body LIKE '%number 1{at}%of s%'" for at in range(20)]
    sorts = [f"SELECT id, n FROM grouped ORDER BY n % {1_000 + at} + g DESC LIMIT 20" for at in range(20)]
    return [line for both in zip(counts, sorts) for line in both]


def groupings(run):
    return [statement for _, statement, _ in groups.statements(run.grouped_rows, "grouped")]


def joins(run):
    joined = "FROM grouped p JOIN labels l ON l.id = p.g + 1 WHERE MATCH('thirty', p)"
    return [
        f"SELECT COUNT(*) {joined} AND l.kind = 3",
        f"SELECT p.id, l.name {joined} AND l.kind = 7 ORDER BY p.n DESC LIMIT 20",
        f"SELECT l.kind, COUNT(*) AS c, SUM(p.n) {joined} GROUP BY l.kind ORDER BY c DESC",
    ]


def calls(run):
    texts = [f"'{line}'" for line in run.words("documents.txt")]
    some = (",".join(texts[first : first + DOCUMENTS_A_CALL]) for first in range(0, len(texts), DOCUMENTS_A_CALL))
    return [f"CALL PQ('alerts', ({documents}), 0 AS docs_json, 1 AS docs)" for documents in some]


def export(run):
    """Queries and documents of `common-100k` as files of words. Gives the right number of pairs."""
    command = [*run.client, "bench", "percolate", "common-100k", "--limit", str(DOCUMENTS), "--export", str(run.folder)]
    told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return int(re.search(r"\d+", told).group())


SEARCH = ("--clients", "1", "--threads", "1", "--limit", "3000")

CELLS = [
    *(Statements("look-up", [looked], look_ups, count, p50_counts=True) for count in (1, 32)),
    *(Statements("or", [posts], searches('"{}"/1', "bm25a"), count) for count in (1, 32)),
    *(Statements("and", [posts], searches("{}", "bm25a"), count) for count in (1, 32)),
    *(Statements("phrase", [posts], searches('"{}"', "bm25a"), count) for count in (1, 32)),
    *(Statements("matchany", [posts], searches('"{}"/1', "matchany"), count) for count in (1, 32)),
    *(Statements("scan", [grouped], scans, count, LONG) for count in (1, 32)),
    *(Statements("groups", [grouped], groupings, count, LONG) for count in (1, 32)),
    *(Statements("join", [grouped, labels], joins, count, LONG) for count in (1, 32)),
    *(Statements("percolate", [alerts], calls, count) for count in (1, 32)),
    *(Inserts(count) for count in (1, 32)),
    *(Queue(count) for count in (1, 32)),
    Load(),
    Collect(),
    Within("or-within", "search", "any-bm25a", *SEARCH),
    Within("and-within", "search", "all-bm25a", *SEARCH),
    Within("phrase-within", "search", "phrase-bm25a", *SEARCH),
    Within("percolate-within", "percolate", "common-100k", "--batch", "200", "--limit", "20000"),
]
