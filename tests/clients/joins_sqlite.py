"""Random joins, UNIONs and lists, answered by a running server and by SQLite: the same rows; see run.sh.

Texts are compared with texts and numbers with numbers, since the two compare a text with a number in different ways.
"""

import os
import random
import sqlite3

import pymysql

SEED = int(os.environ.get("SEINE_JOINS_SEED", "1"))
STATEMENTS = int(os.environ.get("SEINE_JOINS", "600"))

TABLES = {
    "j_rows": "CREATE TABLE j_rows (n int, k bigint, s string, r float, KEY (k), KEY (s))",
    "j_more": "CREATE TABLE j_more (n int, k bigint, s string, r float)",
    "j_own": "CREATE TEMPORARY TABLE j_own (id bigint PRIMARY KEY, n int, k bigint, s varchar(20), r double)",
    "j_queue": "CREATE TABLE j_queue (id bigint, n int, k bigint, s varchar(20), r double) ENGINE=queue",
}
# Search tables store 0 and '' for NULL in Sphinx's types.
HAS_NULL = {"j_own", "j_queue"}


def rows(draw, table, count):
    def value(make):
        return None if table in HAS_NULL and draw.random() < 0.15 else make()

    for id in draw.sample(range(1, 4 * count), count):
        yield (
            id,
            value(lambda: draw.randrange(6)),
            value(lambda: draw.randrange(-3, 20)),
            value(lambda: draw.choice(["", "a", "B", "b", "cat", "Cat", "dog"])),
            value(lambda: draw.randrange(8) / 2),
        )


def condition(draw, left, right):
    """A condition of ON over two aliases."""
    a, b = draw.sample([left, right], 2)
    return draw.choice(
        [
            f"{a}.id = {b}.id",
            f"{a}.k = {b}.k",
            f"{a}.s = {b}.s",
            f"{a}.n = {b}.k AND {b}.n > {draw.randrange(4)}",
            f"{a}.k = {b}.id AND {a}.s <> {b}.s",
            f"{a}.r = {b}.n",
            f"{a}.n + 1 = {b}.n AND {a}.k = {b}.k",
            f"{a}.n = {b}.n AND ({a}.k > {b}.k OR {a}.s = {b}.s)",
        ]
    )


def where(draw, names):
    a, b = draw.choice(names), draw.choice(names)
    numbers = ", ".join(str(draw.randrange(-3, 60)) for _ in range(draw.randrange(1, 6)))
    pairs = ", ".join(f"({draw.randrange(6)}, {draw.randrange(20)})" for _ in range(4))
    return draw.choice(
        [
            "1 = 1",
            f"{a}.id IN ({numbers})",
            f"{a}.k = 3 OR {a}.k = 5 OR {b}.n = 1",
            f"({a}.n, {a}.k) IN ({pairs})",
            f"{a}.s IN ('a', 'DOG') AND {b}.n >= 2",
            f"{b}.s IS NULL OR {a}.n < {b}.k",
            f"NOT ({a}.k BETWEEN 2 AND 9)",
            f"{a}.n = {b}.n",
        ]
    )


def statement(draw):
    """A statement, and whether its order is stated wholly."""
    if draw.random() < 0.15:
        table = draw.choice(list(TABLES))
        parts = [f"SELECT id, s FROM {table} WHERE id = {draw.randrange(1, 60)}" for _ in range(draw.randrange(2, 12))]
        return f" UNION{draw.choice(['', ' ALL'])} ".join(parts), False
    names = ["a", "b", "c"][: draw.randrange(2, 4)]
    text = f"FROM {draw.choice(list(TABLES))} a"
    for place, name in enumerate(names[1:], 1):
        join = draw.choice(["JOIN", "INNER JOIN", "LEFT JOIN"])
        text += f" {join} {draw.choice(list(TABLES))} {name} ON {condition(draw, draw.choice(names[:place]), name)}"
    text += f" WHERE {where(draw, names)}"
    if draw.random() < 0.2:
        return f"SELECT COUNT(*) {text}", True
    items = [f"{name}.{column}" for name in names for column in ("id", "n", "k", "s")]
    shown = draw.sample(items, draw.randrange(1, len(items)))
    if draw.random() < 0.5:
        keys = [f"{name}.id" for name in names]
        draw.shuffle(keys)
        keys = [f"{key} {draw.choice(['ASC', 'DESC'])}" for key in keys]
        return f"SELECT {', '.join(shown)} {text} ORDER BY {', '.join(keys)} LIMIT {draw.randrange(1, 40)}", True
    return f"SELECT {', '.join(shown)} {text}", False


def main():
    draw = random.Random(SEED)
    ours = pymysql.connect(
        host=os.environ["SEINE_HOST"], port=int(os.environ["SEINE_PORT"]), user="any", autocommit=True, charset="utf8mb4"
    ).cursor()
    theirs = sqlite3.connect(":memory:").cursor()
    for table, create in TABLES.items():
        ours.execute(create)
        theirs.execute(f"CREATE TABLE {table} (id integer, n integer, k integer, s text COLLATE NOCASE, r real)")
        for row in rows(draw, table, 30):
            ours.execute(f"INSERT INTO {table} (id, n, k, s, r) VALUES (%s, %s, %s, %s, %s)", row)
            theirs.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", row)
    found = 0
    for _ in range(STATEMENTS):
        text, is_ordered = statement(draw)
        ours.execute(text)
        # SQLite gives of equal texts any one: their case is no part of the comparison.
        fold = lambda row: tuple(cell.lower() if isinstance(cell, str) else cell for cell in row)
        got = [fold(row) for row in ours.fetchall()]
        wanted = [fold(row) for row in theirs.execute(text).fetchall()]
        found += len(wanted)
        if not is_ordered:
            key = lambda row: tuple((cell is not None, cell if cell is not None else 0) for cell in row)
            got, wanted = sorted(got, key=key), sorted(wanted, key=key)
        assert got == wanted, f"{text}\nserver {len(got)}: {got[:20]}\nSQLite {len(wanted)}: {wanted[:20]}"
    for table in TABLES:
        ours.execute(f"DROP TABLE {table}")
    print(f"{STATEMENTS} statements, {found} rows: as SQLite has them")


main()
