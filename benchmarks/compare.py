#!/usr/bin/env python3
"""Checks that a split table gives the same answers as a whole one (W1b).

It sends the study's queries, with every ranker, to tables of 1, 2, 3, 4 and 7 parts and to a distributed table over three tables.
It does so as loaded, and again after kill -9, FLUSH, a restart and OPTIMIZE.

    benchmarks/compare.py [FILE]        # records, `id<TAB>text`, .zst is unpacked; without it the bundled posts
    benchmarks/compare.py --small       # the bundled posts, one in five, and the first 400 queries: under a minute

Environment: SEINE names the binary, a release build; DATA a folder with room for three times the records; PARTS, RANKERS and
MATCHES are lists with commas. FIRST=n sends the first n queries, LIMIT=n asks for n rows, EVERY=n takes one record in n. The exit
status is 1 unless every line is 100 %, weights included.

1. Two servers start. One holds the table of one part, the other holds all other tables.
2. Each table gets the records in three thirds. The first two are flushed, so every table has segments and a tail.
3. Every 13th id is replaced with the text of another record, then every 11th id is deleted.
4. The answers of the table of one part are saved to files.
5. After every change of state, the answers of all tables are compared with these files; after the restart, with those of the
   live table of one part.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEINE = os.environ.get("SEINE", str(ROOT / "target/release/seine"))
POSTS = ROOT / "crates/cli/data/posts.ndjson.zst"
ARGUMENTS = [argument for argument in sys.argv[1:] if argument != "--small"]
SMALL = "--small" in sys.argv
FIRST = os.environ.get("FIRST", "400" if SMALL else "10000")
EVERY = int(os.environ.get("EVERY", "5" if SMALL else "1"))
LIMIT = os.environ.get("LIMIT", "100")
PARTS = os.environ.get("PARTS", "1,2,3,4,7").split(",")
RANKERS = os.environ.get("RANKERS", "proximity_bm25,bm25,matchany,bm25a").split(",")
MATCHES = os.environ.get("MATCHES", "any,all").split(",")
THIRDS = LOCALS = 3
DELETED, REPLACED = 11, 13
LINES = ("total results match", "total found match", "top 10 match", "document set match", "document groups match", "replies match")
COLUMNS = ("results", "found", "top 10", "set", "groups", "replies")


def seine(*arguments):
    ran = subprocess.run([SEINE, *arguments], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"seine {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout


class Node:
    """A server process and its tables: name → local part, or None where the table holds all records."""

    def __init__(self, folder):
        self.folder, self.tables = folder, {}
        folder.mkdir()
        self.start()

    def start(self):
        door = "127.0.0.1:0"
        command = [SEINE, "serve", "--data", str(self.folder), "--mysql", door, "--http", door]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ready = self.process.stdout.readline()
        self.address = dict(part.split("=", 1) for part in ready.split()[1:])["mysql"]

    def end(self, how):
        self.process.send_signal(how)
        self.process.wait()

    def sql(self, statement):
        return seine("sql", "--json", "--addr", self.address, statement)

    def each(self, statement):
        """Runs a statement for every table that holds rows; `{}` stands for the table's name."""
        for table in self.tables:
            self.sql(statement.format(table))

    def load(self, table, file):
        seine("load", table, str(file), "--addr", self.address)


def records():
    """Yields (id, text) of each record."""
    path = pathlib.Path(ARGUMENTS[0]) if ARGUMENTS else POSTS
    if path.suffix == ".zst":
        unpack = subprocess.Popen(["zstd", "-dc", str(path)], stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="strict")
        lines = unpack.stdout
    else:
        lines = path.open(encoding="utf-8")
    for number, line in enumerate(lines):
        if number % EVERY:
            continue
        if ARGUMENTS:
            identity, text = line.rstrip("\n").split("\t", 1)
        else:
            post = json.loads(line)
            identity, text = number + 1, post["body"]
        yield int(identity), text


def written(folder):
    """Writes the rows as NDJSON: a file for each third and local table, and a file of replacements for each local table.

    Returns the number of records, the files of the thirds, and the files of the replacements.
    """
    all_records = list(records())
    size = -(-len(all_records) // THIRDS)
    thirds = []
    for begin in range(0, len(all_records), size):
        files = [folder / f"rows-{begin}-{local}.ndjson" for local in range(LOCALS)]
        write(files, all_records[begin : begin + size])
        thirds.append(files)
    others = zip(all_records, reversed(all_records))
    changes = [folder / f"changes-{local}.ndjson" for local in range(LOCALS)]
    write(changes, [(identity, text) for (identity, _), (_, text) in others if identity % REPLACED == 0])
    return len(all_records), thirds, changes


def write(files, rows):
    outs = [file.open("w", encoding="utf-8") for file in files]
    for identity, text in rows:
        outs[identity % LOCALS].write(json.dumps({"id": identity, "body": text}, ensure_ascii=False) + "\n")
    for out in outs:
        out.close()


def loaded(node, thirds, changes):
    """Loads the tables of a node: thirds, replacements, deletions."""
    mine = lambda table, files: files if node.tables[table] is None else [files[node.tables[table]]]
    for number, files in enumerate(thirds):
        for table in node.tables:
            for file in mine(table, files):
                node.load(table, file)
            if number < len(thirds) - 1:
                node.sql(f"FLUSH TABLE {table}")
    for table in node.tables:
        for file in mine(table, changes):
            node.load(table, file)
    node.each(f"DELETE FROM {{}} WHERE id % {DELETED} = 0")


def compared(one, other, match, ranker, save=None):
    """Runs `seine bench compare` and returns its numbers: queries, the shares of LINES in %, the share of mismatched documents,
    the largest and the median mismatch of a query, and the counts of queries by mismatch."""
    arguments = ["--match", match, "--ranker", ranker, "--first", FIRST, "--limit", LIMIT]
    text = seine("bench", "compare", one, other, *arguments, *(["--save", str(save)] if save else []))
    share = lambda name: float(re.search(rf"^{name} +([\d.]+) %", text, re.M)[1])
    if lacking := re.search(r"^(failed|not compared): .*", text, re.M):
        sys.exit(f"{one} beside {other}, match {match}, ranker {ranker}: {lacking[0]}")
    number = lambda name: float(re.search(rf"^{name} +([\d.]+) ", text, re.M)[1])
    spread = re.search(r"^queries by mismatch +([\d ]+?) +how", text, re.M)[1]
    queries = int(text.split()[0])
    return queries, [share(name) for name in LINES], share("documents mismatched"), int(number("max mismatch")), number("median mismatch"), spread


def compare_all(state, asked, one_of, found):
    """Prints a line for each table, matching and ranker, and appends it to `found`.

    `asked` holds pairs (name, address=table). `one_of(match, ranker)` gives the file or table to compare with.
    """
    cases = [(name, place, match, ranker) for match in MATCHES for ranker in RANKERS for name, place in asked]
    one = lambda case: compared(one_of(case[2], case[3]), case[1], case[2], case[3])
    # Two at once, one for each core of a small machine: a comparison uses one connection.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for (name, _, match, ranker), measured in zip(cases, pool.map(one, cases)):
            queries, shares, documents, most, _, _ = measured
            cells = "  ".join(f"{share:7.2f}" for share in shares)
            print(f"{state:<9}  {name:>11}  {match:>5}  {ranker:>14}  {cells}  {documents:10.2f}  {most:4}", flush=True)
            found.append((match, measured))


def study_table(found):
    """Prints the study's table: the worst value of each measure over all comparisons."""
    print("\n" + f"{'the worst of all':<32}" + "".join(f"  MATCH_{match.upper():<12}" for match in MATCHES))
    worst = lambda pick, choose: [choose(pick(measured) for of, measured in found if of == match) for match in MATCHES]
    rows = [(f"{name}, %", worst(lambda m, place=place: m[1][place], min)) for place, name in enumerate(LINES)]
    rows.append(("documents mismatched, %", worst(lambda m: m[2], max)))
    rows.append(("max mismatch, documents", worst(lambda m: m[3], max)))
    rows.append(("median mismatch, documents", worst(lambda m: m[4], max)))
    for name, values in rows:
        print(f"{name:<32}" + "".join(f"  {value:<18.2f}" for value in values))
    for match in MATCHES:
        spreads = {measured[5] for of, measured in found if of == match and measured[3]}
        print(f"{'mismatches of 1, 2, … 10, ' + match:<32}  {'; '.join(sorted(spreads)) or 'none'}")


def main():
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="seine-compare-", dir=os.environ.get("DATA")) as folder:
        folder = pathlib.Path(folder)
        count, thirds, changes = written(folder)
        one, rest = Node(folder / "one"), Node(folder / "rest")
        try:
            found = run(folder, one, rest, thirds, changes, count, begun)
        finally:
            for node in (one, rest):
                node.end(signal.SIGKILL)
    if not all(share == 100.0 for _, measured in found for share in measured[1]):
        sys.exit("answers differ")


def run(folder, one, rest, thirds, changes, count, begun):
    one.tables = {"parts_1": None}
    rest.tables = {f"parts_{parts}": None for parts in PARTS if parts != "1"} | {f"local_{local}": local for local in range(LOCALS)}
    for node in (one, rest):
        for table in node.tables:
            parts = table.split("_")[1] if table.startswith("parts") else "1"
            node.sql(f"CREATE TABLE {table} (body text) shards='{parts}'")
        loaded(node, thirds, changes)
    rest.sql("CREATE TABLE whole type='distributed' " + " ".join(f"local='local_{local}'" for local in range(LOCALS)))
    rows = json.loads(one.sql("SELECT COUNT(*) AS rows FROM parts_1"))["rows"]
    version = seine("--version").strip()
    print(f"{version}: {count} records, {rows} left, in two servers; loaded in {time.monotonic() - begun:.0f} s")
    print(f"the first {FIRST} of the study's queries, each once; {LIMIT} rows of each; shares in %, against the table of one part as loaded")
    columns = "  ".join(f"{column:>7}" for column in COLUMNS)
    print(f"{'state':<9}  {'table':>11}  match  {'ranker':>14}  {columns}  mismatched  most", flush=True)

    saved = {(match, ranker): folder / f"{match}-{ranker}.results" for match in MATCHES for ranker in RANKERS}
    found = []
    places = lambda: [("1 part", f"{one.address}=parts_1")] + [
        *((f"{table.split('_')[1]} parts", f"{rest.address}={table}") for table in rest.tables if table.startswith("parts")),
        ("distributed", f"{rest.address}=whole"),
    ]
    for (match, ranker), file in saved.items():
        found.append((match, compared(f"{one.address}=parts_1", f"{one.address}=parts_1", match, ranker, save=file)))
    of_file = lambda match, ranker: str(saved[match, ranker])
    compare_all("loaded", places()[1:], of_file, found)

    def restart(how):
        for node in (one, rest):
            node.end(how)
            node.start()

    def each(statement):
        for node in (one, rest):
            node.each(statement)

    restart(signal.SIGKILL)
    compare_all("kill -9", places(), of_file, found)
    each("FLUSH TABLE {}")
    compare_all("FLUSH", places(), of_file, found)
    restart(signal.SIGTERM)
    compare_all("restart", places()[1:], lambda match, ranker: places()[0][1], found)
    each("OPTIMIZE TABLE {}")
    compare_all("OPTIMIZE", places(), of_file, found)
    study_table(found)
    print(f"{len(found)} comparisons of {found[0][1][0]} queries in {time.monotonic() - begun:.0f} s")
    return found


main()
