#!/usr/bin/env python3
"""Throughput of two builds in `seine bench`, in pairs that take turns at going first.

    benchmarks/builds.py OLD NEW [PAIRS] [CASE…]    # two `seine` binaries; 9 pairs; all cases

    percolate    common-100k, 200 posts a call, in process          matchany   the study's ORs by matchany, over MySQL
    percolate-mysql   the same over MySQL                           multirw    Q4M's test, over MySQL
    and, or, phrase   the study's queries by bm25a, in process      load       2,000,000 rows through `seine load`

In process each build measures itself. Over MySQL one client, that of NEW, asks a server of each build; both servers run all the
time, with data in memory (/dev/shm). A run takes SECONDS (3 unless set). Printed are each pair's ratio new : old of throughput,
then its median, lowest and highest. The records are the posts of the repository, or RECORDS, a file of lines id<TAB>text.
"""
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import pairs

SECONDS = os.environ.get("SECONDS", "3")
RECORDS = ["--corpus", os.environ["RECORDS"]] if "RECORDS" in os.environ else []
SEARCH = ["--clients", "1", "--threads", "1", "--limit", "3000", *RECORDS]
WITHIN = {
    "percolate": ["percolate", "common-100k", "--batch", "200"],
    "and": ["search", "all-bm25a", *SEARCH],
    "or": ["search", "any-bm25a", *SEARCH],
    "phrase": ["search", "phrase-bm25a", *SEARCH],
}
SERVED = {
    "percolate-mysql": ["percolate", "common-100k", "--batch", "200"],
    "matchany": ["search", "any-matchany", "--keep", *SEARCH],
    "multirw": ["queue", "multirw", "--door", "statements"],
}
CASES = [*WITHIN, *SERVED, "load"]


def figure(binary, arguments, address=None):
    """Throughput of a test of `seine bench`."""
    more = ["--addr", address] if address else []
    command = [binary, "bench", *arguments, *more, "--runs", "1", "--seconds", SECONDS, "--csv"]
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    rows = [line.split(";") for line in lines if not line.startswith("#")]
    column = next(rows[0].index(name) for name in ("throughput", "requests/s") if name in rows[0])
    return float(rows[1][column])


class Build:
    """A binary, and its server once a case needs one."""

    def __init__(self, binary, client):
        self.binary, self.client, self.process = binary, client, None
        self.directory = tempfile.mkdtemp(dir="/dev/shm")

    def serve(self):
        if not self.process:
            door = "127.0.0.1:0"
            command = [self.binary, "serve", "--data", self.directory + "/data", "--mysql", door, "--http", door]
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.address = "127.0.0.1:" + re.search(r"mysql=127\.0\.0\.1:(\d+)", self.until_ready()).group(1)
        return self.address

    def until_ready(self):
        for line in self.process.stdout:
            if "mysql=" in line:
                return line
        sys.exit(f"{self.binary} ended before it listened")

    def measure(self, case, rows):
        if case in WITHIN:
            return figure(self.binary, WITHIN[case])
        address = self.serve()
        if case in SERVED:
            return figure(self.client, SERVED[case], address)
        sql = [self.client, "sql", "--addr", address, "DROP TABLE IF EXISTS t; CREATE TABLE t (body text, n int)"]
        subprocess.run(sql, stdout=subprocess.DEVNULL, check=True)
        start = time.monotonic()
        subprocess.run(
            [self.client, "load", "t", rows, "--addr", address],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
        )
        return 2_000_000 / (time.monotonic() - start)

    def end(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        shutil.rmtree(self.directory)


def main():
    if len(sys.argv) < 3 or any(case not in CASES for case in sys.argv[4:]):
        sys.exit(__doc__)
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    old, new = (Build(binary, sys.argv[2]) for binary in sys.argv[1:3])
    try:
        with pairs.rows_of_load() as rows:
            print("case,median,lowest,highest,pairs")
            for case in sys.argv[4:] or CASES:
                ratios = []
                for build in (old, new):  # fills tables and caches, and is not counted
                    build.measure(case, rows)
                for pair in range(count):
                    order = (old, new) if pair % 2 == 0 else (new, old)
                    taken = {build: build.measure(case, rows) for build in order}
                    ratios.append(taken[new] / taken[old])
                    print(f"# {case}: {ratios[-1]:.3f} ({taken[old]:.0f})", flush=True)
                print(f"{case},{statistics.median(ratios):.3f},{min(ratios):.3f},{max(ratios):.3f},{count}", flush=True)
    finally:
        old.end()
        new.end()


if __name__ == "__main__":
    main()
