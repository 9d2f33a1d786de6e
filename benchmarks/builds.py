#!/usr/bin/env python3
"""The guard for speed: whether a build of `seine` is as fast as another, over one list of cells. Needs nothing but Python.

    benchmarks/builds.py OLD NEW [--pairs 9] [--seconds 3] [--cells NAME,…] [--pin] [--client SEINE] [--directory /dev/shm]

    look-up    rows by id                        or, and, phrase, matchany    the study's queries, over MySQL
    insert     single rows                       scan, groups, join           of 300,000 rows (--grouped), over MySQL
    queue      put, take and end                 percolate                    common-100k, CALL PQ of 100 documents
    load       rows through `seine load`         …-within                     in the process of each build: 1 client, 1 thread
    collect    messages over Scribe's door       …-1, …-32                    connections

Three servers run all the time, with data below --directory: of OLD, of OLD again, of NEW. In each of the pairs a cell is measured on
each of them, in an order that rotates, once all three are idle. One program asks all of them: NEW, or --client. Its answers must be
equal everywhere, and right where this program knows them; otherwise there are no figures.

A build whose `seine bench` starts a program of its own needs that beside it, as BINARY-bench: `seine-77-bench` for `seine-77`.

A ratio is the time of an operation in NEW by that in OLD, the geometric mean of both servers of OLD. Printed are CSV with `;`, a line
a cell: the median ratio of the pairs, the lowest and the highest; that of the server's processor time; that of the median time of a
call (p50); the same of OLD against OLD, A:A; the bound; and whether the cell holds it:

    holds      the median ratio is within the bound; so is that of processor time, and of p50 in look-ups
    misses     one of them is not
    unclear    as misses, but OLD against OLD differs by as much in some pair: measure again, on a quiet machine

and `spread x %` where the A:A ratios lie more than 1 % apart. The last line names the cells that miss and those that are unclear; the
exit status is 1 if there are any. --pin gives the servers the first core and the client the others: a pair then differs less, but
32 connections no longer compete for the cores. RECORDS is a file of records for the searches instead of the bundled posts.
"""
import argparse
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cells
import doors
import pairs
from server import Server

SPREAD_TOLD = 0.01
# Seconds beside the measured ones, of a run and of the preparation of a cell: for the estimate that is printed up front.
RUN_MORE_S, PREPARE_S = 2, 20


class Run:
    """Facts that all cells share."""

    def __init__(self, options, folder, rows_file):
        self.folder, self.seconds, self.rows_file = folder, options.seconds, rows_file
        self.load_rows, self.grouped_rows = options.load_rows, options.grouped
        cores = sorted(os.sched_getaffinity(0))
        self.server_cores = cores[:1] if options.pin else None
        self.client_cores = ",".join(map(str, cores[1:] or cores))
        self.client = ["taskset", "--cpu-list", self.client_cores] * options.pin + [options.client or options.new]
        self.records = ["--corpus", os.environ["RECORDS"]] if "RECORDS" in os.environ else []
        self.pairs = None  # of a document and a query of `common-100k`, once `words` has them

    def words(self, name):
        """Lines of a file that `seine bench percolate --export` writes."""
        if self.pairs is None:
            self.pairs = cells.export(self)
        return (self.folder / name).read_text().splitlines()


class Build:
    """A binary and its server, with the tables that cells have filled."""

    def __init__(self, run, name, binary):
        self.run, self.name, self.binary = run, name, binary
        self.folder = run.folder / name
        self.files = self.folder / "collected"
        self.files.mkdir(parents=True)
        store = ["<store>", "category=bench", "type=file", f"file_path={self.files}", "base_filename=bench", "max_size=100000000000"]
        configuration = self.folder / "scribe.conf"
        configuration.write_text("\n".join([*store, "</store>", ""]))
        self.server = Server(binary, self.folder, "data", "--scribe-config", str(configuration))
        if run.server_cores:
            # After the start: a server that sees one core starts fewer threads. Threads that start later inherit the affinity.
            for thread in os.listdir(f"/proc/{self.server.process.pid}/task"):
                os.sched_setaffinity(int(thread), run.server_cores)
        self.address = f"127.0.0.1:{self.server.port}"
        self.connection = doors.Mysql(self.server.port, limit=600)
        self.filled = set()

    def ask(self, text):
        return self.connection.ask(text)

    def fill(self, table):
        if table not in self.filled:
            table(self)
            self.filled.add(table)

    def bench(self, *arguments, addressed=False, program=None, seconds=True):
        """One run of `seine bench`: its line of CSV by the names of columns, and its notes."""
        command = [program] if program else list(self.run.client)
        command += ["bench", *arguments, "--runs", "1", "--csv"]
        command += ["--seconds", str(self.run.seconds)] * bool(seconds) + ["--addr", self.address] * addressed
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ended.returncode:
            sys.exit(f"{self.name}: {' '.join(command)}: {ended.stderr.strip()}")
        lines = ended.stdout.splitlines()
        header, row = [line.split(";") for line in lines if not line.startswith("#")][:2]
        return dict(zip(header, row)), [line[2:] for line in lines if line.startswith("# ")]

    def end(self):
        self.connection.close()
        self.server.end()


class Ratios:
    """Ratios of a figure, pair by pair: of NEW to OLD, and of OLD's second server to its first."""

    def __init__(self):
        self.new, self.same = [], []

    def add(self, old, again, new):
        if old and again and new:
            self.new.append(new / math.sqrt(old * again))
            self.same.append(again / old)

    def exceed(self, bound):
        return bool(self.new) and statistics.median(self.new) > bound

    def is_noise(self):
        """Whether OLD differs from OLD in some pair by as much as NEW does in the median."""
        return max(max(self.same), 1 / min(self.same)) >= statistics.median(self.new)

    def spread(self):
        return max(self.same) - min(self.same)

    def texts(self):
        """Median, lowest, highest of NEW; the same of A:A."""
        shown = lambda of: [f"{pick(of):.3f}" for pick in (statistics.median, min, max)] if of else ["-"] * 3
        return shown(self.new), shown(self.same)


class Outcome:
    """A cell's ratios and whether it holds its bound."""

    def __init__(self, cell):
        self.cell = cell
        self.ratios = {"time": Ratios(), "processor": Ratios(), "p50": Ratios()}

    def add(self, old, again, new):
        answers = {figures.answer for figures in (old, again, new)}
        if len(answers) > 1:
            sys.exit(f"{self.cell.name}: the builds answer differently; no time is given")
        for name, field in (("time", "seconds"), ("processor", "processor_s"), ("p50", "p50_ms")):
            self.ratios[name].add(*(getattr(figures, field) for figures in (old, again, new)))

    def exceeding(self):
        """Names of the figures that exceed the bound, and whether all of them may be noise."""
        counted = [name for name in self.ratios if name != "p50" or self.cell.p50_counts]
        names = [name for name in counted if self.ratios[name].exceed(self.cell.bound)]
        return names, all(self.ratios[name].is_noise() for name in names)

    def verdict(self):
        names, is_noise = self.exceeding()
        told = "holds" if not names else ("unclear: " if is_noise else "misses: ") + ", ".join(names)
        spread = self.ratios["time"].spread()
        return told + (f"; spread {spread:.1%}" if spread > SPREAD_TOLD else "")

    def line(self):
        time, same = self.ratios["time"].texts()
        processor, p50 = (self.ratios[name].texts()[0][0] for name in ("processor", "p50"))
        return ";".join([self.cell.name, *time, processor, p50, *same, f"{self.cell.bound}", self.verdict().replace(";", ",")])


HEADER = "cell;ratio;lowest;highest;processor;p50;A:A;A:A lowest;A:A highest;bound;verdict"


def measure(cell, builds, count):
    """Measures a cell on the servers of OLD, OLD and NEW, in `count` pairs."""
    outcome = Outcome(cell)
    for build in builds:
        cell.prepare(build)
    cell.calibrate(builds[0])
    for build in builds:  # warms the build, and is not counted
        cell.measure(build)
    for pair in range(count):
        taken = {}
        for turn in range(len(builds)):
            build = builds[(pair + turn) % len(builds)]
            for other in builds:
                other.server.settle(20)
            taken[build] = cell.measure(build)
        old, again, new = (taken[build] for build in builds)
        outcome.add(old, again, new)
        ratio = outcome.ratios["time"]
        print(f"# {cell.name}: {ratio.new[-1]:.3f}, A:A {ratio.same[-1]:.3f} ({1e6 * old.seconds:.1f} us)", flush=True)
    return outcome


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=3, help="of a run: 3")
    parser.add_argument("--cells", help="names with commas, or their beginnings; all without it")
    parser.add_argument("--pin", action="store_true")
    parser.add_argument("--client", help="the program that asks; NEW without it")
    parser.add_argument("--directory", default="/dev/shm", help="where the servers' data are")
    parser.add_argument("--load-rows", type=int, default=2_000_000, help="of the cell load: 2,000,000")
    parser.add_argument("--grouped", type=int, default=300_000, help="rows of scan, groups and join: 300,000")
    taken = parser.parse_args()
    wanted = taken.cells.split(",") if taken.cells else [""]
    taken.chosen = [cell for cell in cells.CELLS if any(cell.name.startswith(name) for name in wanted)]
    if not taken.chosen or any(not any(cell.name.startswith(name) for cell in taken.chosen) for name in wanted):
        parser.error("there are the cells " + ", ".join(cell.name for cell in cells.CELLS))
    measured = {taken.old, taken.new} if any(isinstance(cell, cells.Within) for cell in taken.chosen) else set()
    for binary in sorted(measured | {taken.client or taken.new}):
        if lacks_bench(binary):
            parser.error(f"{binary} bench does not start: put the seine-bench of that build beside it, as {binary}-bench")
    return taken


def lacks_bench(binary):
    """Whether `BINARY bench` starts nothing. Without a PATH it cannot start the benchmarks of another build."""
    command = [binary, "bench", "--help"]
    return bool(subprocess.run(command, env={"PATH": "/nonexistent"}, capture_output=True).returncode)


def told(taken):
    version = lambda binary: subprocess.run([binary, "--version"], capture_output=True, text=True).stdout.strip()
    place = subprocess.run(["stat", "--file-system", "--format=%T", taken.directory], capture_output=True, text=True).stdout.strip()
    minutes = len(taken.chosen) * ((taken.pairs + 1) * 3 * (taken.seconds + RUN_MORE_S) + PREPARE_S) / 60
    cores = "servers on the first core, client on the others" if taken.pin else "servers and client share all cores"
    print(f"# benchmarks/builds.py: {version(taken.old)} ({taken.old}) against {version(taken.new)} ({taken.new})")
    print(f"# {len(taken.chosen)} cells, {taken.pairs} pairs of {taken.seconds} s; data in {taken.directory} ({place}); {cores}")
    print(f"# load of the machine {os.getloadavg()[0]:.1f}; it takes about {minutes:.0f} minutes", flush=True)


def last_line(outcomes):
    """What missed, and whether anything did."""
    found = {False: [], True: []}
    for outcome in outcomes:
        names, is_noise = outcome.exceeding()
        if names:
            found[is_noise].append(f"{outcome.cell.name} ({', '.join(names)})")
    listed = lambda texts: ", ".join(texts) or "none"
    return f"# misses: {listed(found[False])}; unclear: {listed(found[True])}", bool(found[False] or found[True])


def main():
    taken = options()
    told(taken)
    begun = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="seine-guard-", dir=taken.directory))
    builds, outcomes = [], []
    try:
        with pairs.rows_of_load(taken.load_rows) as rows_file:
            run = Run(taken, folder, rows_file)
            for name, binary in (("old", taken.old), ("old-again", taken.old), ("new", taken.new)):
                builds.append(Build(run, name, binary))
            print(HEADER, flush=True)
            for cell in taken.chosen:
                outcomes.append(measure(cell, builds, taken.pairs))
                print(outcomes[-1].line(), flush=True)
    finally:
        for build in builds:
            build.end()
        shutil.rmtree(folder)
    text, is_missed = last_line(outcomes)
    print(f"# {(time.monotonic() - begun) / 60:.0f} minutes")
    print(text)
    sys.exit(is_missed)


if __name__ == "__main__":
    main()
