"""Probes of a server beside a load: each kind in a process of its own, with a limit for every call.

A probe calls at fixed times. A call's time runs from the moment when it was due, if the call before kept the probe from it; so a
stall of a second counts for every call that it held up. If the probe itself woke up late, the call's time runs from then, and the
delay is told apart: it is the machine's, not the server's. For the same reason a probe runs at real-time priority, where it may.
"""
import itertools
import math
import multiprocessing
import os
import sys
import threading
import time

import attacks
import doors

FORK = multiprocessing.get_context("fork")

# What a connection, a call or a KILL raises where the server does not answer.
BROKEN = (OSError, doors.Gone)


class Times:
    """Seconds of the calls of a probe. `late`: calls that were not answered within the limit. `errors`: texts of refusals."""

    def __init__(self, limit):
        self.limit, self.seconds, self.late, self.errors, self.woken_late = limit, [], 0, [], []

    def at(self, share):
        """The least time, in seconds, that this share of the calls does not exceed; None without calls."""
        if not self.seconds:
            return None
        rising = sorted(self.seconds)
        return rising[max(0, math.ceil(share * len(rising)) - 1)]

    def told(self, share):
        """That time in milliseconds as text, or the limit where a call passed it."""
        value = self.at(share)
        if value is None:
            return "-"
        if self.late and value >= self.limit:
            return f">{self.limit:.0f} s"
        return f"{1e3 * value:.1f}"


class Lookup:
    every = 0.005

    def __init__(self, ports, limit):
        self.client = doors.Mysql(ports["mysql"], "light", limit)
        self.ids = itertools.cycle(range(1, attacks.LOOKUP_ROWS + 1, 37))

    def call(self):
        id = next(self.ids)
        rows = self.client.ask(f"SELECT id, n FROM looked WHERE id = {id}")
        check(rows == [(str(id), str(id % 100))], rows)


class Select:
    every = 0.02

    def __init__(self, ports, limit):
        self.client = doors.Mysql(ports["mysql"], "light", limit)

    def call(self):
        rows = self.client.ask("SELECT 1")
        check(rows == [("1",)], rows)


class Login:
    every = 0.05

    def __init__(self, ports, limit):
        self.port, self.limit = ports["mysql"], limit

    def call(self):
        doors.Mysql(self.port, "light", self.limit).close()


class Livez:
    every = 0.05

    def __init__(self, ports, limit):
        self.port, self.limit = ports["http"], limit

    def call(self):
        client = doors.Http(self.port, self.limit)
        client.get("/livez")
        client.close()


class Insert:
    every = 0.02

    def __init__(self, ports, limit):
        self.client = doors.Mysql(ports["mysql"], "light", limit)

    def call(self):
        self.client.ask("INSERT INTO inserted (body, n) VALUES ('a row of the probe', 1)")
        check(self.client.affected == 1, self.client.affected)


class Scribe:
    every = 0.05

    def __init__(self, ports, limit):
        self.client = doors.Scribe(ports["scribe"], limit)

    def call(self):
        check(self.client.log("probe", "a message of the probe\n"), "TRY_LATER")


class Light:
    """The light user's search: some milliseconds of work, with another condition each time, so that none is kept."""

    every = 0.1

    def __init__(self, ports, limit):
        self.client = doors.Mysql(ports["mysql"], "light", limit)
        self.numbers = itertools.count(1)

    def call(self):
        rows = self.client.ask(f"SELECT COUNT(*) FROM light WHERE t LIKE '%sit%sit%' AND CONCAT(t, n) <> 'x{next(self.numbers)}'")
        check(rows == [(str(attacks.LIGHT_ROWS),)], rows)


PROBES = {"look-up": Lookup, "select 1": Select, "login": Login, "/livez": Livez, "insert": Insert, "scribe": Scribe}


def take_precedence():
    """Gives this process real-time priority; False where the system does not permit it.

    A probe stands for a client on another machine. At the usual priority it waits, as each process here, until a thread of the server
    has ended its slice of 3 ms or more, before it reads an answer that has come.
    """
    try:
        # Threads that it starts have the usual priority.
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError:
        return False
    return True


def may_take_precedence():
    """Whether the system permits it: tried in a process of its own."""
    process = FORK.Process(target=lambda: sys.exit(not take_precedence()))
    process.start()
    process.join()
    return process.exitcode == 0


def check(is_right, found):
    if not is_right:
        raise AssertionError(f"a wrong answer: {found}")


def observe(kind, ports, seconds, limit, go, pipe):
    """The body of a probe's process: connects, waits for `go`, calls for `seconds`, sends its `Times`."""
    times = Times(limit)
    probe = kind(ports, limit)
    take_precedence()
    pipe.send("ready")
    go.wait()
    begun = time.monotonic()
    due = begun
    while due < begun + seconds:
        now = time.monotonic()
        if now < due:
            time.sleep(due - now)
            start = time.monotonic()
            times.woken_late.append(start - due)
        else:
            start = due
        is_broken = False
        try:
            probe.call()
        except doors.Refused as error:
            times.errors.append(str(error))
        except BROKEN as error:
            is_broken = True
            if not isinstance(error, TimeoutError):
                times.errors.append(repr(error))
        took = time.monotonic() - start
        times.seconds.append(took)
        times.late += took >= limit
        due += kind.every
        if is_broken:
            try:
                probe = kind(ports, limit)
            except (*BROKEN, doors.Refused) as error:
                times.errors.append(repr(error))
                break
        if time.monotonic() > begun + seconds + limit:
            break
    pipe.send(times)


def observe_kill(statement, ports, seconds, limit, go, pipe):
    """Runs the statement, and ends it by KILL QUERY a tenth of a second later. A call's time is from KILL to the statement's end."""
    times = Times(limit)
    # The victim waits longer than the killer, so that the limit which passes first is that of KILL.
    victim, killer = (doors.Mysql(ports["mysql"], "victim", patience) for patience in (3 * limit, limit))
    id = victim.ask("SELECT CONNECTION_ID()")[0][0]
    take_precedence()
    pipe.send("ready")
    go.wait()
    until = time.monotonic() + seconds
    numbers = itertools.count(1)
    while time.monotonic() < until and not times.late:
        text = attacks.numbered(statement, next(numbers))
        ended = threading.Event()
        outcome = []

        def run():
            take_precedence()
            try:
                victim.ask(text)
                outcome.append("answered")
            except doors.Refused as error:
                outcome.append(error.code)
            except BROKEN as error:
                outcome.append(repr(error))
            ended.set()

        threading.Thread(target=run, daemon=True).start()
        if ended.wait(0.1):
            continue  # it was over before KILL; `-` in the table if it always is
        begun = time.monotonic()
        try:
            killer.ask(f"KILL QUERY {id}")
            ended.wait(max(0.0, limit - (time.monotonic() - begun)))
        except (*BROKEN, doors.Refused) as error:
            if not isinstance(error, TimeoutError):
                times.errors.append(repr(error))
        took = time.monotonic() - begun
        times.late += not ended.is_set()
        times.seconds.append(took if ended.is_set() else max(took, limit))
        if ended.is_set() and outcome[0] not in (1317, "answered"):
            times.errors.append(f"ended with {outcome[0]}")
            if isinstance(outcome[0], str):
                break
    pipe.send(times)


class Probe:
    """A probe's process. It is connected when the constructor returns."""

    def __init__(self, body, *arguments):
        self.limit = arguments[-1]
        self.pipe, theirs = FORK.Pipe()
        self.go = FORK.Event()
        self.process = FORK.Process(target=body, args=(*arguments, self.go, theirs), daemon=True)
        self.process.start()
        theirs.close()
        if not self.pipe.poll(self.limit + 5) or self.received() != "ready":
            raise SystemExit(f"{body.__name__}: a probe could not connect")

    def received(self):
        try:
            return self.pipe.recv()
        except EOFError:
            return None

    def times(self, until):
        """The times, or those of a single call that has no end: the process is ended at `until`."""
        times = self.received() if self.pipe.poll(max(0.0, until - time.monotonic())) else None
        self.process.kill()
        self.process.join()
        if times is None:
            times = Times(self.limit)
            times.late, times.seconds = 1, [self.limit]
            times.errors.append("the probe got no answer, or a wrong one")
        return times


def watch(ports, seconds, limit, statement=None, kinds=PROBES):
    """Starts a probe of each kind, and one of KILL where there is a statement to end. Gives them, connected, by name."""
    probes = {name: Probe(observe, kind, ports, seconds, limit) for name, kind in kinds.items()}
    if statement:
        probes["kill"] = Probe(observe_kill, statement, ports, seconds, limit)
    return probes


def results(probes, seconds, limit):
    """Lets the probes go, and gives the times of each."""
    for probe in probes.values():
        probe.go.set()
    until = time.monotonic() + seconds + 3 * limit
    return {name: probe.times(until) for name, probe in probes.items()}
