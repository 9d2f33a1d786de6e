#!/usr/bin/env python3
"""Finds the best setting of a percolating peer, then alternates the peer with `seine bench percolate`, and prints ratios.

A pair is a document and a query that it hits. A wrong number of pairs on either side ends the script before it prints the figure.
"""

import argparse
import json
import statistics
import subprocess
import sys

# Documents for finding the best setting: with 1,000, a pass of the slowest setting takes seconds.
SURVEY_DOCUMENTS = 1_000
SURVEY_SECONDS = 2


class Peer:
    """A peer: one process for all measurements, so that its code is warm."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.line()

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} ended early")
        return line.split()

    def measure(self, setting, seconds, documents):
        """Measures one setting. Returns documents a second, and the pairs of one pass."""
        print(setting, seconds, documents, file=self.process.stdin, flush=True)
        rate, pairs, _, _ = self.line()
        return float(rate), int(pairs)


def seine(options, batch, threads, documents, seconds):
    """Runs Seine once. Returns documents a second, and the pairs of one pass. `seine bench` checks its own pairs too."""
    command = [options.seine, "bench", "percolate", options.definition, "--limit", str(documents)]
    command += ["--batch", batch, "--clients", threads]
    command += ["--runs", "1", "--seconds", str(seconds), "--json"]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    cell = json.loads(told.stdout)["cells"][0]
    return cell["elements_per_second"], round(cell["facts"]["matches/doc"] * documents)


def equal(what, expected, found):
    if expected != found:
        sys.exit(f"wrong answer: {what} found {found} pairs, expected {expected}; no time is given")


def survey(peer, settings):
    """Returns the fastest setting for each number of threads. All settings must find the same number of pairs."""
    best, expected = {}, None
    print(f"# {peer.name}, every setting, first {SURVEY_DOCUMENTS} documents\nthreads;setting;docs/s;pairs")
    peer.measure(settings[0][1], SURVEY_SECONDS, SURVEY_DOCUMENTS)  # warms the code
    for threads, setting in settings:
        rate, pairs = peer.measure(setting, SURVEY_SECONDS, SURVEY_DOCUMENTS)
        expected = pairs if expected is None else expected
        equal(setting, expected, pairs)
        print(f"{threads};{setting};{rate:.0f};{pairs}", flush=True)
        best[threads] = max(best.get(threads, (0, "")), (rate, setting))
    return {threads: setting for threads, (_, setting) in best.items()}


def main():
    parser = argparse.ArgumentParser()
    for name in ("seine", "definition", "name"):
        parser.add_argument(f"--{name}", required=True)
    for name in ("documents", "pairs", "runs"):
        parser.add_argument(f"--{name}", required=True, type=int)
    parser.add_argument("--seconds", required=True, type=float)
    parser.add_argument("--batch", default="auto", help="Seine's batches, with commas")
    parser.add_argument("--setting", required=True, action="append", help="THREADS:WORDS that the peer reads")
    parser.add_argument("peer", nargs="+")
    options = parser.parse_args()
    peer = Peer(options.name, options.peer)
    best = survey(peer, [setting.split(":", 1) for setting in options.setting])
    print(f"# alternated, first {options.documents} documents, {options.pairs} pairs, tokenising included on both sides")
    print(f"threads;{peer.name} setting;{peer.name} docs/s;Seine batch;Seine docs/s;ratio")
    for threads, setting in best.items():
        ratios = {batch: [] for batch in options.batch.split(",")}
        for _ in range(options.runs):
            for batch, own in ratios.items():
                theirs, pairs = peer.measure(setting, options.seconds, options.documents)
                equal(peer.name, options.pairs, pairs)
                ours, pairs = seine(options, batch, threads, options.documents, options.seconds)
                equal("Seine", options.pairs, pairs)
                own.append(ours / theirs)
                print(f"{threads};{setting};{theirs:.0f};{batch};{ours:.0f};{own[-1]:.1f}", flush=True)
        for batch, own in ratios.items():
            print(f"# median, {threads} thread(s), Seine's batch {batch}: {statistics.median(own):.1f} x")


if __name__ == "__main__":
    main()
