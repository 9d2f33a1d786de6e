"""Random GROUP BY and aggregates, answered by a running server and by SQLite: the same rows; see run.sh.

Reals are halves, so that every sum is exact in both. Columns that are no key are left out: SQLite shows those of any row.
"""

import os
import random
import sqlite3

import pymysql

SEED = int(os.environ.get("SEINE_GROUPS_SEED", "1"))
STATEMENTS = int(os.environ.get("SEINE_GROUPS", "600"))

TABLES = {
    "g_rows": "CREATE TABLE g_rows (n int, k bigint, s string, r float)",
    "g_own": "CREATE TEMPORARY TABLE g_own (id bigint PRIMARY KEY, n int, k bigint, s varchar(20), r double)",
    "g_queue": "CREATE TABLE g_queue (id bigint, n int, k bigint, s varchar(20), r double) ENGINE=queue",
}
# Search tables store 0 and '' for NULL in Sphinx's types.
HAS_NULL = {"g_own", "g_queue"}


def rows(draw, table, count):
    def value(make):
        return None if table in HAS_NULL and draw.random() < 0.2 else make()

    for id in range(1, count + 1):
        yield (
            id,
            value(lambda: draw.randrange(5)),
            value(lambda: draw.randrange(-3, 20)),
            value(lambda: draw.choice(["", "a", "B", "b", "cat", "Cat"])),
            value(lambda: draw.randrange(8) / 2),
        )


def aggregate(draw):
    number = draw.choice(["n", "k", "r", "n + k", "id"])
    return draw.choice(
        [
            "COUNT(*)",
            f"COUNT({draw.choice(['n', 's', 'r'])})",
            f"COUNT(DISTINCT {draw.choice(['n', 'k', 's', 'r'])})",
            f"SUM({number})",
            f"AVG({number})",
            f"MIN({draw.choice(['k', 's', 'r'])})",
            f"MAX({draw.choice(['k', 's', 'r'])})",
            f"SUM({number}) + COUNT(*)",
        ]
    )


def statement(draw):
    """A statement, and whether its order is stated wholly."""
    text = f"FROM {draw.choice(list(TABLES))}"
    text += draw.choice(["", f" WHERE k > {draw.randrange(15)}", " WHERE s = 'b' OR n = 2", " WHERE id < 0"])
    aggregates = [aggregate(draw) for _ in range(draw.randrange(1, 4))]
    keys = draw.sample(["n", "s", "r", "k"], draw.randrange(0, 3))
    if not keys:
        return f"SELECT {', '.join(aggregates)} {text}", True
    text = f"SELECT {', '.join(keys + aggregates)} {text} GROUP BY {', '.join(keys)}"
    if draw.random() < 0.5:
        text += f" HAVING {draw.choice(['COUNT(*) > 1', 'SUM(k) > 9', 'MIN(n) = 0', 'COUNT(DISTINCT s) < 3'])}"
    if draw.random() < 0.5:
        # SQLite orders an aggregate of texts by their bytes.
        by = aggregate(draw).replace("MIN(s)", "MIN(k)").replace("MAX(s)", "MAX(k)")
        order = [f"{by} DESC"] + [f"{key} ASC" for key in keys]
        return f"{text} ORDER BY {', '.join(order)} LIMIT {draw.randrange(1, 20)}", True
    return f"{text} LIMIT 1000", False


def main():
    draw = random.Random(SEED)
    ours = pymysql.connect(
        host=os.environ["SEINE_HOST"], port=int(os.environ["SEINE_PORT"]), user="any", autocommit=True, charset="utf8mb4"
    ).cursor()
    theirs = sqlite3.connect(":memory:").cursor()
    for table, create in TABLES.items():
        ours.execute(create)
        theirs.execute(f"CREATE TABLE {table} (id integer, n integer, k integer, s text COLLATE NOCASE, r real)")
        for row in rows(draw, table, 60):
            ours.execute(f"INSERT INTO {table} (id, n, k, s, r) VALUES (%s, %s, %s, %s, %s)", row)
            theirs.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", row)

    def cell(value):
        # Computed columns come as texts, reals with six decimals; SQLite gives of equal texts any one.
        try:
            return value if value is None else round(float(value), 6)
        except ValueError:
            return value.lower()

    found = 0
    for _ in range(STATEMENTS):
        text, is_ordered = statement(draw)
        ours.execute(text)
        got = [tuple(map(cell, row)) for row in ours.fetchall()]
        wanted = [tuple(map(cell, row)) for row in theirs.execute(text).fetchall()]
        found += len(wanted)
        if not is_ordered:
            key = lambda row: tuple((value is not None, str(value)) for value in row)
            got, wanted = sorted(got, key=key), sorted(wanted, key=key)
        assert got == wanted, f"{text}\nserver {len(got)}: {got[:20]}\nSQLite {len(wanted)}: {wanted[:20]}"
    for table in TABLES:
        ours.execute(f"DROP TABLE {table}")
    print(f"{STATEMENTS} statements, {found} rows: as SQLite has them")


main()
