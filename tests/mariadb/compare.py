#!/usr/bin/env python3
"""Conditions beside MariaDB: random SELECTs over types and constants must find the same rows on both servers.

    tests/mariadb/compare.py SEINE [--statements 4000] [--seed 1]

It starts mariadbd (Debian's mariadb-server) and SEINE on scratch folders, fills one table on both, and sends both the same
conditions: a column of each type, or a call that gives its value back, beside a constant or another column, in comparisons, IN, NOT
IN, BETWEEN and CASE, in sessions of several time zones, on a table and on a temporary copy of it. No value is NULL. Rows must be equal. Where they are not, the statement must be of a class that `listed.txt` names; each class has a bound on its
share of the statements there. Needs PyMySQL.
"""
import argparse
import collections
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pymysql

HERE = pathlib.Path(__file__).resolve().parent

COLUMNS = {
    "n": ("int", "int"),
    "w": ("bigint", "bigint"),
    "f": ("double", "double"),
    "m": ("decimal(8,2)", "decimal(8,2)"),
    "s": ("string", "varchar(40) character set utf8mb4"),
    "d": ("date", "date"),
    "a": ("datetime", "datetime"),
    "t": ("time", "time"),
    "y": ("year", "year"),
    "p": ("timestamp", "timestamp"),
}
# MariaDB knows zones by name only from tables that nobody has filled. tests/it/time_zones.rs has nights without an hour.
ZONES = ["+00:00", "+05:00", "-03:30"]
NUMBERS = ["n", "w", "f", "m"]
WHOLE = [0, 1, -1, 2, 3, 7, 12, 13, 100, 2023, 2024, 20240102, 101112, 9007199254740993, -9007199254740993]
REAL = [0.5, 1.5, 12.7, -0.25, 12.5, 1e10]
DATES = ["2023-12-31", "2024-01-01", "2024-01-02", "2024-02-29", "1999-07-09"]
CLOCKS = ["00:00:00", "10:11:12", "23:59:59", "03:04:05"]
TIMES = CLOCKS + ["-01:00:00", "100:00:00"]
WORDS = ["abc", "ABC", "zebra", "", "12", "12.50", "012", "1e1", "2024-01-02"]
BAD = ["abc", "12abc", "", "2024-13-01"]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def number(r):
    value = r.choice(WHOLE + REAL + [r.randint(-5, 20)])
    return str(value) if r.random() < 0.6 else quoted(str(value))


def moment(r):
    day = r.choice(DATES)
    forms = [day, f"{day} {r.choice(CLOCKS)}", day.replace("-0", "-"), day.replace("-", ""), day.replace("-", "/")]
    return quoted(r.choice(forms))


def constant(r, column):
    """A constant that suits the column; now and then one that does not."""
    if r.random() < 0.003:
        return quoted(r.choice(BAD))
    if column == "p":
        day = r.choice(DATES)
        return quoted(r.choice([day, f"{day} {r.choice(CLOCKS)}", f"{day} {r.choice(CLOCKS)}.5"]))
    if column in NUMBERS:
        return number(r)
    if column == "s":
        return quoted(r.choice(WORDS))
    if column in ("d", "a"):
        return moment(r) if r.random() < 0.9 else r.choice(["20240102", "20231231", "20240102030405"])
    if column == "t":
        return quoted(r.choice(TIMES + ["10:11", "1:2:3"])) if r.random() < 0.8 else str(r.choice([101112, 0, 235959]))
    return str(r.choice([1999, 2023, 2024])) if r.random() < 0.5 else quoted(str(r.choice([1999, 2023, 2024])))


def pair(r, column):
    """Another column, of a type that is compared by the same meaning."""
    if column == "p":
        return r.choice(["p", "a", "d"])
    for group in (NUMBERS + ["y"], ["d", "a"]):
        if column in group:
            return r.choice([other for other in group if other != column])
    return column


def given(r, column):
    """A call that gives the column's value back, alone, or beside one of its kind; now and then beside one of another kind, and then
    its name is in lower case."""
    same = column if column == "p" else pair(r, column)  # NULLIF of a timestamp and a date is refused
    whole = str(r.choice(WHOLE + REAL))
    kin = {"s": quoted(r.choice(WORDS)), "d": same, "a": same, "t": column, "p": r.choice(["p", "a"])}.get(column, whole)
    other, call = r.choice(["NULL", column, same, kin]), str.upper
    # GREATEST of a date and a constant with a time is a date in MariaDB: the time is cut. Seine keeps it.
    bound = quoted(r.choice(DATES)) if column == "d" else constant(r, column)
    if r.random() < 0.05:
        other, call = r.choice([quoted("none"), "''", "0", "NOW()", constant(r, column), *COLUMNS]), str.lower
    return r.choice([
        f"{call('COALESCE')}({column}, {other})",
        f"{call('IFNULL')}({column}, {other})",
        f"{call('COALESCE')}(NULL, {column}, {other})",
        f"{call('IF')}(1, {column}, {other})",
        f"{call('IF')}(n > -100, {column}, {other})",
        f"{call('CASE')} WHEN y > 0 THEN {column} ELSE {other} END",
        f"IF(n > 0, {column}, {r.choice(['NULL', same])})",
        f"CASE WHEN n < 5 THEN {column} WHEN n >= 5 THEN {same} END",
        f"NULLIF({column}, {r.choice([constant(r, column), same, 'NULL'])})",
        f"GREATEST({column}, {r.choice([bound, same, column])})",
        f"LEAST({column}, {r.choice([bound, same, column])})",
    ])


def condition(r):
    column = r.choice(list(COLUMNS))
    of = given(r, column) if r.random() < 0.5 else column
    if column in ("p", "a") and r.random() < 0.3:
        unit = r.choice(["SECOND", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"])
        of = f"{column} {r.choice('+-')} INTERVAL {r.randint(0, 40)} {unit}"
    return compared(r, column, of)


def compared(r, column, of):
    """A comparison of an expression, whose values are those of a column, with constants that suit the column."""
    operator = r.choice(["=", "<>", "<", "<=", ">", ">=", "<=>"])
    form = r.random()
    if form < 0.45:
        return f"{of} {operator} {constant(r, column)}"
    if form < 0.55:
        return f"{constant(r, column)} {operator} {of}"
    if form < 0.70:
        negated = r.choice(["", "NOT "])
        return f"{of} {negated}IN ({', '.join(constant(r, column) for _ in range(r.randint(1, 4)))})"
    if form < 0.85:
        return f"{of} {r.choice(['', 'NOT '])}BETWEEN {constant(r, column)} AND {constant(r, column)}"
    if form < 0.94:
        return f"{of} {operator} {pair(r, column)}"
    if form < 0.95 and column in ("d", "a"):
        # Of a number or a text that is no date MariaDB makes one of zeros, which has an order.
        return f"{column} {r.choice(['=', '<=>'])} {r.choice(['s', 'w'])}"
    return f"CASE WHEN {of} {operator} {constant(r, column)} THEN 1 ELSE 0 END = 1"


def row(r):
    return {
        "n": r.choice([0, 1, -1, 12, 13, 100, 2024, r.randint(-5, 20)]),
        "w": r.choice([0, 1, 12, 20240102, 9007199254740993, -9007199254740993, 9007199254740992]),
        "f": r.choice([0.0, 0.5, 12.7, 12.0, -0.25, 9007199254740992.0, 1e10]),
        "m": r.choice(["0.00", "12.70", "12.50", "-0.25", "100.00", "12.00"]),
        "s": r.choice(WORDS),
        "d": r.choice(DATES),
        "a": f"{r.choice(DATES)} {r.choice(CLOCKS)}",
        "t": r.choice(TIMES),
        "y": r.choice([1999, 2023, 2024]),
        "p": f"{r.choice(DATES)} {r.choice(CLOCKS)}",
    }


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def waited(connect):
    end = time.monotonic() + 60
    while True:
        try:
            return connect()
        except pymysql.err.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


class Servers:
    """Both servers on a scratch folder."""

    def __init__(self, seine, scratch):
        data = scratch / "mariadb"
        install = shutil.which("mariadb-install-db") or shutil.which("mysql_install_db")
        user = ["--user=root"]
        subprocess.run([install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", *user],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = scratch / "mariadb.sock"
        server = shutil.which("mariadbd") or shutil.which("mysqld") or "/usr/sbin/mariadbd"
        self.running = [subprocess.Popen(
            [server, "--no-defaults", f"--datadir={data}", f"--socket={path}", "--skip-networking", "--sql-mode=", *user],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
        port = free_port()
        self.running.append(subprocess.Popen(
            [seine, "serve", "--data", scratch / "seine", "--mysql", f"127.0.0.1:{port}", "--http", f"127.0.0.1:{free_port()}",
             "--scribe", "off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        self.mariadb = waited(lambda: pymysql.connect(unix_socket=str(path), user="root", autocommit=True))
        self.seine = waited(lambda: pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True))

    def stop(self):
        for process in self.running:
            process.terminate()
        for process in self.running:
            process.wait()


def fill(servers, rows):
    ours = ", ".join(f"{name} {kinds[0]}" for name, kinds in COLUMNS.items())
    theirs = ", ".join(f"{name} {kinds[1]} NOT NULL" for name, kinds in COLUMNS.items())
    values = ", ".join(
        f"({number}, {', '.join(quoted(str(row[name])) for name in COLUMNS)})" for number, row in enumerate(rows, 1))
    insert = f"INSERT INTO r (id, {', '.join(COLUMNS)}) VALUES {values}"
    with servers.mariadb.cursor() as cursor:
        cursor.execute("CREATE DATABASE beside")
        cursor.execute("USE beside")
        cursor.execute(f"CREATE TABLE r (id bigint primary key, {theirs})")
        cursor.execute("SET time_zone = '+00:00'")
        cursor.execute(insert)
        cursor.execute(f"CREATE TEMPORARY TABLE own SELECT id, {', '.join(COLUMNS)} FROM r")
    waited(lambda: asked_once(servers.seine, "SHOW TABLES"))
    with servers.seine.cursor() as cursor:
        cursor.execute(f"CREATE TABLE r (body text, {ours})")
        cursor.execute(insert)
        cursor.execute(f"CREATE TEMPORARY TABLE own SELECT id, {', '.join(COLUMNS)} FROM r LIMIT 1000")


def asked_once(connection, text):
    """Raises OperationalError while the server reads its journal."""
    with connection.cursor() as cursor:
        cursor.execute(text)


def asked(connection, text):
    """The ids, or the number of the error."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(text)
            return sorted(row[0] for row in cursor.fetchall())
        except pymysql.err.MySQLError as error:
            return error.args[0]


def class_of(where, ours):
    """The class of a difference that is meant; None: it is none."""
    if ours == 1292 and any(quoted(bad) in where for bad in BAD):
        return "refused"
    if re.search(r"\b(coalesce|ifnull|if|case)\b", where):
        return "kinds"
    if re.search(r"\bf\b", where) and re.search(r"\bw\b|9007199254740993", where):
        return "exact"
    # A list, or a call, of texts and numbers is compared as doubles, too.
    if re.search(r"\(.*\bw\b|\bw\b.*\(", where) and "9007199254740993" in where:
        return "exact"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seine")
    parser.add_argument("--statements", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    taken = parser.parse_args()
    listed = {}
    for line in (HERE / "listed.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            share, name = line.split(None, 1)
            listed[name.split(":")[0]] = float(share.rstrip("%")) / 100
    scratch = pathlib.Path(tempfile.mkdtemp())
    servers = None
    try:
        servers = Servers(taken.seine, scratch)
        r = random.Random(taken.seed)
        fill(servers, [row(r) for _ in range(60)])
        found, other = collections.Counter(), []
        zone = ZONES[0]
        for number in range(taken.statements):
            if number % 20 == 0:
                zone = r.choice(ZONES)
                for server in (servers.mariadb, servers.seine):
                    asked_once(server, f"SET time_zone = '{zone}'")
            where = condition(r)
            text = f"SELECT id FROM {r.choice(['r', 'own'])} WHERE {where} LIMIT 1000"
            theirs = asked(servers.mariadb, text)
            ours = asked(servers.seine, text)
            if ours == theirs:
                continue
            of = class_of(where, ours)
            if of is None:
                other.append((f"{zone}: {text}", ours, theirs))
            found[of] += 1
        for where, ours, theirs in other[:20]:
            print(f"{where}\n    seine   {ours}\n    mariadb {theirs}")
        count = taken.statements
        too_many = [of for of, number in found.items() if of is not None and number > listed.get(of, 0) * count]
        differ = sum(found.values())
        for of, number in found.items():
            print(f"{number:6} {100 * number / count:.2f} %  {of or 'not listed'}")
        print(f"{count} statements, {count - differ} equal, {differ} of listed classes or unlike")
        if other or too_many or sum(listed.values()) > 0.02:
            sys.exit(f"beside MariaDB: {len(other)} differ and are of no class; too many of: {', '.join(too_many) or 'none'}")
    finally:
        if servers:
            servers.stop()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
