#!/usr/bin/env python3
"""What other clients of a server feel beside costly statements. Needs nothing but Python.

    benchmarks/stall.py SEINE DIRECTORY [--classes NAME,…] [--except NAME,…] [--clients 2,8,32] [--seconds 4] [--memory 256MiB]
                        [--small --slack 10]

It starts SEINE with its data in a new folder below DIRECTORY and fills the tables of the classes of `attacks.py`. For each class and
each number of clients it starts a process of clients that send the class's statements, each client after its last answer. Beside
them, probes run for SECONDS, each in a process of its own:

    look-up    a row by id over an open connection, 200 a second: p50, p99, longest
    select 1, login, /livez, scribe    over an open connection, or a new one for each call; 20 to 50 a second: p99
    insert     a single row, 50 a second: p99
    kill       one more client runs the class's statement; from KILL QUERY, 0.1 s later, until it ends: the longest. `-`: the
               statement never ran so long
    time limit the class's statement alone under a `max_query_time` of 0.1 s: how long it goes on after that
    SIGTERM    with the most clients at work: seconds until the process has ended

A time counts from the moment when the call was due, so a stall counts for each call that it held up. `>10 s`: a call had no answer
within --limit. `client cpu` and `server cpu` are the shares of the machine's processor time that the costly clients and the server
took while the probes ran. The probes run at real-time priority where the system permits it, which the record says: they stand
for clients on other machines. `late` is the p99 of the delay with which the machine woke the look-ups' process: no server makes it
better. `MiB` is the server's greatest RssAnon. `answers` counts the costly statements that ended.

The class `alone` has no clients. `users` has two heavy users, with the clients of a cell each, that run `like`. A light user looks
rows up and counts rows by a short search; its p99 is compared with that of alone. `all` has a client of each class at once.

At the end stand the cells that miss the bounds below; the exit status is 1 if there are any. A cell misses, too, if the server
answered none of its costly statements and refused one for good, or still worked for the clients 10 s after they were gone. --csv FILE writes a record.

--small is for tests: less data, 4 clients, 0.8 s a cell, and SIGTERM beside `all` only; a minute or two. --slack N is for a
debug build or a machine that others use: all bounds of time are N times as long, or N times what the probe takes alone if that is
longer; INSERT and Scribe may take the seconds of a cell more, SIGTERM 10 s, RssAnon 160 % of --memory; and a cell that misses is measured once more and counts
if it misses again.
"""
import argparse
import contextlib
import csv
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import attacks
import doors
import probes
from server import Server, anonymous_mib, processor_time

# Milliseconds: which share of a probe's calls must not exceed which time.
BOUNDS_MS = {
    "look-up": (0.99, 20),
    "select 1": (0.99, 50),
    "login": (0.99, 50),
    "/livez": (0.99, 50),
    "kill": (1.0, 50),
    "time limit": (1.0, 50),
    "insert": (0.99, 100),
    "scribe": (0.99, 100),
}
SIGTERM_S = 5
SIGTERM_SLACK_S = 10
MEMORY_SLACK_RATIO = 1.6
LIGHT_RATIO = 2
MEMORY_RATIO = 1.25
WARM_S = 0.5
# Seconds after which nothing may be at work for clients that are gone.
GONE_S = 10
QUERY_TIME_S = 0.1
# Refusals that ask to try again: memory is taken. 1040 is MySQL's number, the others are HTTP's.
LATER = (1040, 429, 503)
TOO_LONG = 3024  # MySQL's number of the error of a statement that max_query_time has ended
ALONE = attacks.Attack("alone", [], attacks.one("SELECT 1"))
USERS = attacks.Attack("users", [attacks.texts], attacks.LIKE)
ALL = attacks.Mixture("all", attacks.ATTACKS)
UNITS = {"KiB": 2**-10, "MiB": 1, "GiB": 2**10}


def send(attack, ports, user, number, size, done):
    """The loop of a client: statements until its process is killed. `done` counts answers, refusals for good, and those for now."""
    statements = attack.statements(number, size)
    while True:
        try:
            client = doors.Mysql(ports["mysql"], user, 600)
            http = doors.Http(ports["http"], 600)
            posted = {"search": "/search", "bulk": "/bulk", "es-bulk": "/_bulk"}
            calls = {door: lambda body, path=path: http.call("POST", path, body) for door, path in posted.items()}
            calls |= {"mysql": client.ask, "http": http.sql}
            at = 0
            while True:
                text = attacks.numbered(statements[at % len(statements)], 1_000_000 * (number + 1) + at)
                try:
                    calls[attack.door](text)
                    done[0] += 1
                except doors.Refused as error:
                    done[2 if error.code in LATER else 1] += 1
                at += 1
        except (OSError, doors.Gone, doors.http.client.HTTPException):
            time.sleep(0.05)


def send_all(attack, ports, users, clients, size, done):
    """The body of the process of clients: a thread for each client of each user."""
    for number in range(clients * len(users)):
        user = users[number % len(users)]
        threading.Thread(target=send, args=(attack.of(number), ports, user, number, size, done), daemon=True).start()
    threading.Event().wait()


def tell(server, statements):
    """Runs statements over a connection of their own. One that is refused for now is sent again, for a minute."""
    connection = doors.Mysql(server.port, limit=600)
    until = time.monotonic() + 60
    for statement in statements:
        while True:
            try:
                connection.ask(statement)
                break
            except doors.Refused as error:
                if error.code not in LATER or time.monotonic() > until:
                    raise
                time.sleep(0.2)
    connection.close()


class Load:
    """A process of clients that send the statements of a class."""

    def __init__(self, attack, server, clients, size, users=("heavy",)):
        tell(server, [text for number in range(clients * len(users)) for text in attack.of(number).before(number)])
        self.done = probes.FORK.Array("l", 3)
        self.process = probes.FORK.Process(
            target=send_all, args=(attack, server.ports, users, clients, size, self.done), daemon=True
        )
        self.process.start()

    def processor_time(self):
        return processor_time(self.process.pid)

    def end(self):
        self.process.kill()
        self.process.join()


class Memory:
    """The server's greatest RssAnon while a block runs, in MiB, looked at every 50 ms."""

    def __init__(self, pid):
        self.pid, self.most, self.over = pid, 0.0, threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()
        return self

    def look(self):
        while not self.over.wait(0.05):
            with contextlib.suppress(OSError):
                self.most = max(self.most, anonymous_mib(self.pid))

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Cell:
    """What was measured beside one class and one number of clients."""

    def __init__(self, attack, clients):
        self.name, self.clients = attack.name, clients
        self.times, self.mib, self.done, self.sigterm = {}, 0.0, (0, 0, 0), None
        self.client_share = self.server_share = 0.0
        self.light = None  # of the class `users`: ratios of p99 to alone, by probe
        self.is_busy_alone = False  # the server went on for clients that were gone

    def misses(self, bounds):
        """Texts of the bounds that the cell misses."""
        found = []
        for name, ratio in (self.light or {}).items():
            if ratio > LIGHT_RATIO * bounds.slack and self.times[name].at(0.99) > bounds.light_s_min:
                found.append(f"{name} {ratio:.1f} x alone")
        for name, (share, _) in BOUNDS_MS.items():
            times = self.times.get(name)
            if times and times.seconds and (times.late or 1e3 * times.at(share) > bounds.most_ms(name)):
                found.append(f"{name} {times.told(share)}")
        if self.sigterm is not None and self.sigterm[0] > bounds.sigterm_s:
            found.append(f"SIGTERM {sigterm_text(self.sigterm)} s")
        if self.is_busy_alone:
            found.append(f"at work {GONE_S} s after its clients were gone")
        if self.done[1] and not self.done[0]:
            found.append("no statement was answered")
        if self.mib > bounds.mib_max:
            found.append(f"RssAnon {self.mib:.0f} MiB")
        return found


class Bounds:
    """What a cell must not exceed. `alone`, a cell, has the times of the probes without clients."""

    def __init__(self, slack, options, alone=None):
        self.slack, self.seconds, self.alone = slack, options.seconds, alone
        self.mib_max = mebibytes(options.memory) * (MEMORY_RATIO if slack <= 1 else MEMORY_SLACK_RATIO)
        self.sigterm_s = SIGTERM_S if slack <= 1 else SIGTERM_SLACK_S
        # With slack a light user may be many times slower than alone while that is short.
        self.light_s_min = 0 if slack <= 1 else self.most_ms("look-up") / 1e3

    def most_ms(self, name):
        share, most_ms = BOUNDS_MS[name]
        times = self.alone.times.get(name) if self.alone and self.slack > 1 else None
        if times and times.seconds:
            most_ms = max(most_ms, 1e3 * times.at(share))
        # Calls that each wait for one turn of the writer pile up, for as long as the probe calls; behind a held writer they wait longer.
        piled_ms = 1e3 * self.seconds if name in ("insert", "scribe") and self.slack > 1 else 0
        return self.slack * most_ms + piled_ms


def mebibytes(text):
    return float(text[:-3]) * UNITS[text[-3:]]


def sigterm_text(sigterm):
    seconds, has_ended = sigterm
    return f"{seconds:.1f}" if has_ended else f">{seconds:.0f}"


class Bench:
    """A server with filled tables. It is started anew on its data whenever a class has left it busy or ended."""

    def __init__(self, options, directory):
        self.options, self.directory = options, directory
        self.size = attacks.SMALL if options.small else attacks.FULL
        self.bounds = Bounds(options.slack, options)  # with the times of `alone` once that is measured
        self.filled = set()
        self.start()
        self.fill([attacks.probed])

    def start(self):
        self.server = Server(self.options.binary, self.directory, "data", "--memory", self.options.memory)

    def restart(self):
        self.server.kill()
        self.start()

    def fill(self, tables):
        for table in tables:
            if table not in self.filled:
                tell(self.server, table(self.size))
                self.filled.add(table)
        self.server.settle(60)

    def measure(self, attack, clients, is_last, users=("heavy",), kinds=probes.PROBES):
        """Measures a cell, and SIGTERM in the class's last one. The server is idle again afterwards, or another."""
        cell, seconds, limit = Cell(attack, clients), self.options.seconds, self.options.limit
        kill = attack.victim(self.size) if kinds is probes.PROBES else None
        server = self.server
        watched = probes.watch(server.ports, seconds, limit, kill, kinds)
        with Memory(server.process.pid) as memory:
            load = Load(attack, server, clients, self.size, users)
            time.sleep(WARM_S)
            before, begun = (load.processor_time(), server.processor_time()), time.monotonic()
            cell.times = probes.results(watched, seconds, limit)
            whole = (time.monotonic() - begun) * os.cpu_count()
            cell.client_share = (load.processor_time() - before[0]) / whole
            cell.server_share = (server.processor_time() - before[1]) / whole
            cell.done = tuple(load.done)
            if is_last:
                cell.sigterm = self.sigterm()
            load.end()
        cell.mib = memory.most
        if is_last:
            self.start()
        elif not server.settle(GONE_S):
            cell.is_busy_alone = clients > 0
            self.restart()
        elif kill:
            cell.times["time limit"] = self.past_limit(kill)
        tell(self.server, [text for number in range(clients) for text in attack.of(number).after(number)])
        return cell

    def past_limit(self, statement):
        """How long a statement goes on after `max_query_time`. No time if it ends before, in one piece."""
        times = probes.Times(self.options.limit)
        connection = doors.Mysql(self.server.port, "victim", QUERY_TIME_S + self.options.limit)
        tell(self.server, [f"SET GLOBAL max_query_time = '{1e3 * QUERY_TIME_S:.0f}ms'"])
        begun = time.monotonic()
        try:
            connection.ask(attacks.numbered(statement, 1))
        except doors.Refused as error:
            if error.code != TOO_LONG:
                times.errors.append(str(error))
        except probes.BROKEN as error:
            times.late = isinstance(error, TimeoutError)
            times.errors.append(repr(error))
        took = time.monotonic() - begun
        if took > QUERY_TIME_S:
            times.seconds.append(took - QUERY_TIME_S)
        connection.close()
        if times.late:
            self.restart()  # nothing answers, perhaps
        else:
            tell(self.server, ["SET GLOBAL max_query_time = DEFAULT"])
        return times

    def sigterm(self):
        taken = self.server.end(self.options.sigterm_limit)
        return (taken, True) if taken is not None else (self.options.sigterm_limit, False)

    def run(self, attack):
        self.fill(attack.tables)
        if attack is USERS:
            yield from self.run_users()
        elif attack is ALONE:
            cell = self.measure(ALONE, 0, False)
            self.bounds = Bounds(self.options.slack, self.options, cell)
            yield cell
        elif isinstance(attack, attacks.Mixture):
            yield self.measure(attack, len(attack.attacks), True)
        else:
            for clients in self.options.clients:
                is_last = clients == self.options.clients[-1] and not self.options.small
                yield self.measure(attack, clients, is_last)

    def run_users(self):
        """Two heavy users and a light one. The light one's p99 is compared with that of alone."""
        kinds = {"look-up": probes.Lookup, "light search": probes.Light}
        seconds, limit = self.options.seconds, self.options.limit
        alone = probes.results(probes.watch(self.server.ports, seconds, limit, kinds=kinds), seconds, limit)
        for clients in self.options.clients:
            cell = self.measure(USERS, clients, False, ("heavy-a", "heavy-b"), kinds)
            cell.light = {name: cell.times[name].at(0.99) / alone[name].at(0.99) for name in kinds}
            cell.alone = alone
            yield cell


COLUMNS = ("class", "clients", "look-up ms p50", "p99", "longest", "select 1", "login", "/livez", "kill", "time limit", "insert", "scribe", "SIGTERM s")
COSTS = ("MiB", "client cpu", "server cpu", "late", "answers")


def line(cell):
    """The cells of the table's line."""
    told = lambda name, share: cell.times[name].told(share) if name in cell.times else "-"
    looks = [told("look-up", share) for share in (0.5, 0.99, 1.0)]
    others = [told(name, BOUNDS_MS[name][0]) for name in ("select 1", "login", "/livez", "kill", "time limit", "insert", "scribe")]
    late = sorted(cell.times["look-up"].woken_late)
    late = f"{1e3 * late[int(0.99 * (len(late) - 1))]:.1f}" if late else "-"
    costs = [f"{cell.mib:.0f}", f"{cell.client_share:.0%}", f"{cell.server_share:.0%}", late]
    answers = f"{cell.done[0]}" + (f" + {sum(cell.done[1:])} refused" if any(cell.done[1:]) else "")
    sigterm = sigterm_text(cell.sigterm) if cell.sigterm else "-"
    return [cell.name, str(cell.clients), *looks, *others, sigterm, *costs, answers]


def show(texts):
    widths = (16, 8, 14, 8, 8, 9, 8, 8, 8, 10, 8, 8, 9, 6, 10, 10, 6, 8)
    print(" ".join(f"{text:>{width}}" for text, width in zip(texts, widths)), flush=True)


def record(path, options, version, cells):
    """Writes the cells as CSV with `;`: milliseconds, and the facts of the machine in lines that begin with #."""
    with open(path, "w", newline="") as file:
        for fact in facts(options, version):
            file.write(f"# {fact}\n")
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        writer.writerow([*COLUMNS, *COSTS, "misses"])
        for cell in cells:
            writer.writerow([*line(cell), ", ".join(cell.misses(Bounds(1, options)))])


def facts(options, version):
    model = next((at.split(":", 1)[1].strip() for at in open("/proc/cpuinfo") if at.startswith("model name")), "unknown processor")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield f"machine: {model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()} {platform.release()}; load at the start {options.load:.1f}"
    size = "small" if options.small else "full"
    yield f"benchmarks/stall.py, {version}, {size} size, {options.seconds} s a cell, --memory {options.memory}, data in {options.place}"
    priority = "real-time" if options.is_real_time else "the usual"
    yield f"probes at {priority} priority, clients of the load at the usual one"
    yield "milliseconds; longest of kill, p99 of the others; a time counts from the moment when the call was due"


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("directory", help="where the new folder of data is made")
    parser.add_argument("--classes", help="names with commas; all without it")
    parser.add_argument("--except", dest="left_out", default="", help="names with commas that are left out")
    parser.add_argument("--clients", help="numbers of clients, with commas: 2,8,32")
    parser.add_argument("--seconds", type=float, help="of the probes, a cell: 4")
    parser.add_argument("--limit", type=float, help="longest wait for an answer, in seconds: 10")
    parser.add_argument("--sigterm-limit", type=float, help="longest wait for the end after SIGTERM: 30")
    parser.add_argument("--memory", default="256MiB")
    parser.add_argument("--slack", type=float, default=1)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--csv", help="a file for the record")
    taken = parser.parse_args()
    usual = ("4", 0.8, 3.0, 10.0) if taken.small else ("2,8,32", 4.0, 10.0, 30.0)
    taken.clients = [int(text) for text in (taken.clients or usual[0]).split(",")]
    taken.seconds = taken.seconds or usual[1]
    taken.limit = taken.limit or usual[2]
    taken.sigterm_limit = taken.sigterm_limit or usual[3]
    taken.load = os.getloadavg()[0]
    taken.is_real_time = probes.may_take_precedence()
    taken.place = f"{taken.directory} ({file_system(taken.directory)})"
    known = {attack.name: attack for attack in [ALONE, *attacks.ATTACKS, USERS, ALL]}
    names = taken.classes.split(",") if taken.classes else list(known)
    left_out = taken.left_out.split(",") if taken.left_out else []
    for name in names + left_out:
        if name not in known:
            parser.error(f"no class {name}; there are {', '.join(known)}")
    kept = [attack for attack in attacks.ATTACKS if attack.name not in left_out]
    known[ALL.name] = attacks.Mixture(ALL.name, kept)
    taken.attacks = [known[name] for name in names if name not in left_out]
    return taken


def file_system(directory):
    found = subprocess.run(["stat", "--file-system", "--format=%T", directory], capture_output=True, text=True)
    return found.stdout.strip() or "unknown file system"


def told_cells(bench, attack):
    """Measures a class, and prints its cells as they come."""
    cells = []
    for cell in bench.run(attack):
        cells.append(cell)
        show(line(cell))
        for name, ratio in (cell.light or {}).items():
            alone, beside = cell.alone[name], cell.times[name]
            print(f"# light user, {name}: p99 {beside.told(0.99)}, alone {alone.told(0.99)}: {ratio:.1f} x")
        for name, times in cell.times.items():
            if times.errors:
                print(f"# {name}: {len(times.errors)} refused or broken, such as {times.errors[0][:100]}")
    return cells


def main():
    taken = options()
    version = subprocess.run([taken.binary, "--version"], capture_output=True, text=True).stdout.strip()
    for fact in facts(taken, version):
        print(f"# {fact}")
    folder = tempfile.mkdtemp(prefix="seine-stall-", dir=taken.directory)
    cells, bench = [], None
    try:
        bench = Bench(taken, folder)
        show([*COLUMNS, *COSTS])
        for attack in taken.attacks:
            measured = told_cells(bench, attack)
            if taken.slack > 1 and any(cell.misses(bench.bounds) for cell in measured):
                print(f"# {attack.name} misses a bound: once more")
                measured = told_cells(bench, attack)
            cells += measured
    finally:
        if bench:
            bench.server.kill()
        shutil.rmtree(folder)
    if taken.csv:
        record(taken.csv, taken, version, cells)
    misses = [(cell, texts) for cell in cells if (texts := cell.misses(bench.bounds))]
    for cell, texts in misses:
        print(f"misses: {cell.name} x {cell.clients}: {', '.join(texts)}")
    print(f"{len(cells) - len(misses)} of {len(cells)} cells hold their bounds")
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()
