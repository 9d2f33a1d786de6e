#!/usr/bin/env python3
"""How fast and how exact `seine attribution report` is, beside ChannelAttribution. Needs Python with `channelattribution` 2.2.5
(PyPI; GPL, so it is installed where the benchmark runs and never committed), pandas and matplotlib, which it imports.

    benchmarks/attribution.py paths SEINE [--paths 1000000] [--runs 5] [--directory /dev/shm]
    benchmarks/attribution.py data SEINE [--file Data.csv]
    benchmarks/attribution.py touches SEINE [--visitors 2000000] [--directory /dev/shm] [--data .]

`paths`: random paths of 5 touches over 20 channels, with conversions, money and nulls. In each run the report and the peer take turns,
both from the file on, with heuristic models (first, last, linear), and with a Markov chain of order 1. First, last and linear must be
equal to 1e-9; the largest difference of Markov is printed beside the peer's convergence parameter, and must be below it.

`data`: ChannelAttribution's example `Data`, from the installed package or a file: the same comparison, without times.

`touches`: 5 touches of each visitor on an average, an order of every fourth visitor; all models but Markov of order 2 and 3. The file is
also loaded into a table of a server. Reports over the file and over the table, and CALL ATTRIBUTION, must give the same exact figures.
Printed are the seconds of each, the memory (VmHWM) of a report, and the anonymous memory of the server before the call and at most.
"""

import argparse
import csv
import io
import pathlib
import random
import re
import statistics
import subprocess
import tempfile
import threading
import time

import doors
import server

MODELS = "first,last,linear,markov"
EQUAL = 1e-9
CONVERGED = 0.05
TOUCH_MODELS = (
    "first,last,last-non-direct,linear,even,distributed,fifty-fifty,position-based,time-decay,all-touches,markov,shapley"
)


def report(binary, *flags):
    """Runs the report; returns its seconds, its peak memory in MiB and the tables of its CSV."""
    command = [binary, "attribution", "report", "--csv", *flags]
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        highest = [0.0]
        watch = threading.Thread(target=watch_memory, args=(process.pid, highest))
        watch.start()
        out, err = process.stdout.read(), process.stderr.read()
        process.wait()
        watch.join()
    seconds = time.monotonic() - began
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}: {err}")
    tables = {}
    for part in out.split("\n\n")[1:]:
        name, rows = part.split("\n", 1)
        tables[name.removeprefix("# ")] = list(csv.DictReader(io.StringIO(rows)))
    return seconds, highest[0], tables


def watch_memory(process, highest):
    """Notes the peak memory of a process in MiB until it ends. What `wait4` tells of a child begins with the memory of its parent,
    which here holds the peer."""
    try:
        while found := re.search(r"^VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{process}/status").read_text(), re.M):
            highest[0] = int(found[1]) / 1024
            time.sleep(0.005)
    except (FileNotFoundError, ProcessLookupError):
        pass


def column(tables, table, model):
    return {row["channel"]: float(row[model]) for row in tables[table]}


def worst(ours, theirs, what):
    """The largest difference of two columns, relative to the total."""
    if ours.keys() != theirs.keys():
        raise SystemExit(f"{what}: other channels: {sorted(ours.keys() ^ theirs.keys())}")
    total = sum(theirs.values())
    return max(abs(ours[name] - theirs[name]) for name in ours) / total


def peer(frame, markov):
    """The columns of the peer, and its seconds."""
    import ChannelAttribution as channel_attribution

    arguments = {"var_path": "path", "var_conv": "total_conversions", "var_value": "total_conversion_value"}
    began = time.monotonic()
    if markov:
        result = channel_attribution.markov_model(
            frame, **arguments, var_null="total_null", order=1, conv_par=CONVERGED, seed=1, verbose=False
        )
    else:
        result = channel_attribution.heuristic_models(frame, **arguments)
    return result, time.monotonic() - began


def compared(tables, heuristic, markov):
    """Fails where the figures differ by more than they may; prints by how much they do."""
    for model in ("first", "last", "linear"):
        for table, end in (("transactions_exact", "conversions"), ("revenue_exact", "value")):
            theirs = dict(zip(heuristic["channel_name"], heuristic[f"{model}_touch_{end}" if model != "linear" else f"linear_touch_{end}"]))
            differs = worst(column(tables, table, model), theirs, model)
            print(f"{model} {end}: largest difference {differs:.1e} of the total")
            if differs > EQUAL:
                raise SystemExit(f"{model} {end} differs")
    for table, end in (("transactions_exact", "total_conversions"), ("revenue_exact", "total_conversion_value")):
        theirs = dict(zip(markov["channel_name"], markov[end]))
        differs = worst(column(tables, table, "markov"), theirs, "markov")
        print(f"markov {end}: largest difference {differs:.1e} of the total; the simulation converges to {CONVERGED}")
        if differs > CONVERGED:
            raise SystemExit(f"markov {end} differs")


def make_paths(file, count):
    draw = random.Random(7)
    names = [f"channel{number:02}" for number in range(20)]
    with file.open("w") as out:
        out.write("path,total_conversions,total_conversion_value,total_null\n")
        for _ in range(count):
            path = " > ".join(draw.choices(names, k=5))
            conversions = draw.choice((0, 0, 1, 1, 2))
            value = conversions * draw.randrange(100, 20_000) / 100
            out.write(f"{path},{conversions},{value:.2f},{draw.randrange(4)}\n")


def run_paths(options):
    import pandas

    file = options.directory / "seine-attribution-paths.csv"
    make_paths(file, options.paths)
    try:
        ratios = {"heuristic": [], "markov": []}
        for number in range(options.runs):
            heuristic_seconds, _, _ = report(options.seine, "--paths", str(file), "--model", "first,last,linear")
            markov_seconds, _, _ = report(options.seine, "--paths", str(file), "--model", "markov")
            began = time.monotonic()
            frame = pandas.read_csv(file)
            read = time.monotonic() - began
            heuristic, peer_heuristic = peer(frame, markov=False)
            markov, peer_markov = peer(frame, markov=True)
            ratios["heuristic"].append((peer_heuristic + read) / heuristic_seconds)
            ratios["markov"].append((peer_markov + read) / markov_seconds)
            print(
                f"run {number + 1}: heuristic {heuristic_seconds:.2f} s, peer {peer_heuristic + read:.2f} s; "
                f"markov {markov_seconds:.2f} s, peer {peer_markov + read:.2f} s"
            )
        _, memory, tables = report(options.seine, "--paths", str(file), "--model", MODELS)
        compared(tables, heuristic, markov)
        for name, values in ratios.items():
            print(f"{name}: {statistics.median(values):.1f} times as fast ({min(values):.1f} to {max(values):.1f})")
        print(f"memory of the report: {memory:.0f} MiB")
    finally:
        file.unlink()


def run_data(options):
    import pandas

    file = options.file
    if file is None:
        import ChannelAttribution

        folder = pathlib.Path(ChannelAttribution.__file__).parent.parent
        file = folder / "cypack" / "data" / "Data.csv"
    frame = pandas.read_csv(file, sep=";")
    _, _, tables = report(options.seine, "--paths", str(file), "--model", MODELS)
    heuristic, _ = peer(frame, markov=False)
    markov, _ = peer(frame, markov=True)
    compared(tables, heuristic, markov)


def run_touches(options):
    file = options.directory / "seine-attribution-touches.csv"
    draw = random.Random(7)
    touches = 0
    with file.open("w") as out:
        out.write("visitor,time,channel,value,order_id\n")
        for visitor in range(options.visitors):
            at = 1_700_000_000 + draw.randrange(30_000_000)
            for _ in range(draw.randrange(1, 10)):
                out.write(f"v{visitor},{at},channel{draw.randrange(20):02},,\n")
                at += draw.randrange(60, 400_000)
                touches += 1
            if visitor % 4 == 0:
                out.write(f"v{visitor},{at},,{draw.randrange(100, 20_000) / 100:.2f},o{visitor}\n")
    try:
        seconds, memory, tables = report(options.seine, "--touches", str(file), "--model", TOUCH_MODELS)
        print(f"{touches} touches of {options.visitors} visitors, --touches: {seconds:.1f} s, {memory:.0f} MiB", flush=True)
        with tempfile.TemporaryDirectory(dir=options.data) as data:
            from_table(options.seine, file, tables, data)
    finally:
        file.unlink()


def from_table(binary, file, tables, data):
    """The same figures from a table of a server."""
    started = server.Server(binary, data, "server", "--memory", "8GiB")
    try:
        client = doors.Mysql(started.port, limit=600)
        client.ask("CREATE TABLE touched (visitor string, time bigint, channel string, value decimal(12,2), order_id string)")
        address = f"127.0.0.1:{started.port}"
        subprocess.run([binary, "load", "--addr", address, "touched", str(file)], check=True, capture_output=True)
        started.settle(60)
        before, highest, ended = server.anonymous_mib(started.process.pid), [0.0], threading.Event()

        def watch():
            while not ended.wait(0.05):
                highest[0] = max(highest[0], server.anonymous_mib(started.process.pid))

        watching = threading.Thread(target=watch)
        watching.start()
        began = time.monotonic()
        called = client.ask(f"CALL ATTRIBUTION('touched', '{TOUCH_MODELS}' AS model)")
        seconds = time.monotonic() - began
        ended.set()
        watching.join()
        for channel, model, _, _, transactions, revenue in called:
            if channel != "(total)":
                wanted = tuple(column(tables, of, model.replace("-", "_"))[channel] for of in ("transactions_exact", "revenue_exact"))
                if (float(transactions), float(revenue)) != wanted:
                    raise SystemExit(f"CALL ATTRIBUTION: {channel} by {model}: {transactions}, {revenue} instead of {wanted}")
        print(f"CALL ATTRIBUTION: {seconds:.1f} s, the server {before:.0f} MiB before, {highest[0]:.0f} MiB at most", flush=True)
        seconds, memory, again = report(binary, "--table", "touched", "--addr", address, "--model", TOUCH_MODELS)
        if any(again[name] != tables[name] for name in ("transactions_exact", "revenue_exact")):
            raise SystemExit("--table gives other figures than --touches")
        print(f"--table: {seconds:.1f} s, {memory:.0f} MiB")
    finally:
        started.kill()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name, run in (("paths", run_paths), ("data", run_data), ("touches", run_touches)):
        verb = verbs.add_parser(name)
        verb.set_defaults(run=run)
        verb.add_argument("seine", help="the release build")
        verb.add_argument("--directory", type=pathlib.Path, default=pathlib.Path("/dev/shm"))
        if name == "paths":
            verb.add_argument("--paths", type=int, default=1_000_000)
            verb.add_argument("--runs", type=int, default=5)
        elif name == "data":
            verb.add_argument("--file", type=pathlib.Path)
        else:
            verb.add_argument("--visitors", type=int, default=2_000_000)
            verb.add_argument("--data", type=pathlib.Path, default=pathlib.Path("."), help="directory of the server's data")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
