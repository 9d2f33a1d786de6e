#!/usr/bin/env python3
"""Finds Lucene Monitor's best setting, then alternates it with `seine bench percolate`, and prints ratios.

A wrong number of pairs on either side ends it before a figure is printed.
"""

import argparse
import json
import statistics
import subprocess
import sys

# Documents for finding the best setting: a pass of the slowest one takes seconds as it is.
SURVEY_DOCUMENTS = 1_000
SURVEY_SECONDS = 2
PRESEARCHERS = ("multipass", "term-filtered")
BATCHES = (1, 10, 200)
THREADS = (1, 2)


class Peer:
    """Lucene Monitor in a process that stays, so that its code is warm."""

    def __init__(self, command):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("Lucene Monitor ended early")
        return line.split()

    def measure(self, presearcher, batch, threads, seconds, documents):
        """Documents a second, and the pairs of one pass."""
        print(presearcher, batch, threads, seconds, documents, file=self.process.stdin, flush=True)
        rate, pairs, _, _ = self.line()
        return float(rate), int(pairs)


def seine(options, batch, threads, documents, seconds):
    """Documents a second; Seine checks its own pairs, and --export told how many they are."""
    command = [options.seine, "bench", "percolate", options.definition, "--limit", str(documents)]
    command += ["--batch", batch, "--clients", str(threads)]
    command += ["--runs", "1", "--seconds", str(seconds), "--json"]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    cell = json.loads(told.stdout)["cells"][0]
    return cell["elements_per_second"], round(cell["facts"]["matches/doc"] * documents)


def equal(what, expected, found):
    if expected != found:
        sys.exit(f"wrong answer: {what} found {found} pairs, expected {expected}; no time is given")


def survey(peer):
    """Rates of all settings, fastest first; all must agree about the pairs."""
    settings, expected = [], None
    print(f"# Lucene Monitor, every setting, first {SURVEY_DOCUMENTS} documents\npresearcher;batch;threads;docs/s;pairs")
    peer.measure(PRESEARCHERS[0], 1, 2, SURVEY_SECONDS, SURVEY_DOCUMENTS)  # warms the code
    for presearcher in PRESEARCHERS:
        for batch in BATCHES:
            for threads in THREADS:
                seconds = SURVEY_SECONDS if presearcher == "multipass" else 0
                rate, pairs = peer.measure(presearcher, batch, threads, seconds, SURVEY_DOCUMENTS)
                expected = pairs if expected is None else expected
                equal(f"{presearcher} {batch} {threads}", expected, pairs)
                print(f"{presearcher};{batch};{threads};{rate:.0f};{pairs}", flush=True)
                settings.append((rate, presearcher, batch, threads))
    return sorted(settings, reverse=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ("seine", "definition"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("documents", "pairs", "runs"):
        parser.add_argument(f"--{name}", required=True, type=int)
    parser.add_argument("--seconds", required=True, type=float)
    parser.add_argument("peer", nargs="+")
    options = parser.parse_args()
    peer = Peer(options.peer)
    settings = survey(peer)
    print(f"# alternated, first {options.documents} documents, {options.pairs} pairs, tokenising included on both sides")
    print("threads;Lucene setting;Lucene docs/s;Seine docs/s;ratio")
    for threads in THREADS:
        _, presearcher, batch, _ = next(each for each in settings if each[3] == threads)
        ratios = []
        for _ in range(options.runs):
            theirs, pairs = peer.measure(presearcher, batch, threads, options.seconds, options.documents)
            equal("Lucene Monitor", options.pairs, pairs)
            ours, pairs = seine(options, "auto", threads, options.documents, options.seconds)
            equal("Seine", options.pairs, pairs)
            ratios.append(ours / theirs)
            print(f"{threads};{presearcher} {batch};{theirs:.0f};{ours:.0f};{ratios[-1]:.1f}", flush=True)
        print(f"# median with {threads} threads: {statistics.median(ratios):.1f} x")


if __name__ == "__main__":
    main()
