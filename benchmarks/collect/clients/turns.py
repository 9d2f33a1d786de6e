"""Runs the clients in turns, and prints the median rate of each and the median of the ratios, pair by pair.

usage: turns.py HOST PORT FILES RUNS SECONDS LANGUAGE:COMMAND…    FILES: where the server has the files of a category
COMMAND has {client} where the script's name goes: bare or buffered.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import time

host, port, files, runs, seconds = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4]), sys.argv[5]


def lines(category):
    if not (files / category).is_dir():
        return 0
    # One look at each: the server renames its link to the newest file meanwhile.
    with os.scandir(files / category) as entries:
        return sum(entry.stat().st_size // 100 for entry in entries if entry.is_file(follow_symlinks=False))


def run(command, client, category):
    """Messages a second of one run, all of which the files have."""
    before = lines(category)
    whole = [*command.format(client=client).split(), host, port, seconds, category]
    sent, elapsed = map(float, subprocess.run(whole, check=True, capture_output=True, text=True).stdout.split())
    end = time.monotonic() + 60
    while lines(category) - before != sent:
        assert time.monotonic() < end, f"{lines(category) - before} of {sent} messages are in the files"
        time.sleep(0.05)
    return sent / elapsed


print("language,bare/s,buffered/s,buffered x bare,lowest,highest")
for named in sys.argv[6:]:
    language, command = named.split(":", 1)
    rates = {"bare": [], "buffered": []}
    for turn in range(runs):
        for client in sorted(rates, reverse=turn % 2 == 1):
            rates[client].append(run(command, client, f"{language}-{client}"))
    ratios = sorted(own / bare for own, bare in zip(rates["buffered"], rates["bare"]))
    medians = [f"{statistics.median(rates[client]):.0f}" for client in ("bare", "buffered")]
    print(language, *medians, f"{statistics.median(ratios):.2f}", f"{ratios[0]:.2f}", f"{ratios[-1]:.2f}", sep=",")
