"""Costly statements for `stall.py`, by class, and the tables that they need.

Each class is harmless to the server's data: it changes no row of a table that another class reads, so it may be repeated.
"""
import json
import random

WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor".split()


class Size:
    """How much data the tables have."""

    def __init__(self, rows, texts, documents, queries, document_bytes, short_rows, huge_bytes):
        self.rows = rows  # of `s`, `w` and the queue `q`
        self.texts = texts  # of `texts`, each of 11 KB
        self.documents = documents  # of `docs`, each of some 45 KB
        self.queries = queries  # standing queries of `alerts`
        self.document_bytes = document_bytes  # of a document of CALL PQ
        self.short_rows = short_rows  # of `short`, which INSERT … SELECT doubles
        self.huge_bytes = huge_bytes  # of each of the 20 texts that INSERT … SELECT copies


FULL = Size(100_000, 20_000, 1_000, 20_000, document_bytes=200_000, short_rows=524_288, huge_bytes=2_000_000)
SMALL = Size(5_000, 500, 30, 500, document_bytes=20_000, short_rows=16_384, huge_bytes=100_000)
TEXT_BYTES = 11_000

# Rows of `looked`, which the probes look up, and of `light`; rows of `light` that the light user counts.
LOOKUP_ROWS = 10_000
LIGHT_ROWS = sum(WORDS[id % 12] == "sit" for id in range(1, LOOKUP_ROWS + 1))


def inserts(table, columns, rows, bytes_max=1 << 20):
    """INSERT statements of up to about a megabyte for rows that are texts such as `(1,'a')`."""
    begin = f"INSERT INTO {table} ({columns}) VALUES "
    held, size = [], 0
    for row in rows:
        held.append(row)
        size += len(row)
        if size >= bytes_max or len(held) == 10_000:
            yield begin + ",".join(held)
            held, size = [], 0
    if held:
        yield begin + ",".join(held)


def letters(draw, count):
    return "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=count))


def long_text(draw, pieces, bytes):
    return " ".join(draw.choices(pieces, k=max(1, bytes // 1_000)))


def pieces(draw):
    """Texts of about 1,000 bytes, of a vocabulary of 5,000 words and `WORDS`."""
    vocabulary = [letters(draw, draw.randint(3, 9)) for _ in range(5_000)] + WORDS * 50
    return [" ".join(draw.choices(vocabulary, k=145)) for _ in range(300)]


def probed(size):
    yield "CREATE TABLE looked (body text, n int)"
    yield from inserts("looked", "id,body,n", (f"({id},'{WORDS[id % 12]} w{id}',{id % 100})" for id in range(1, LOOKUP_ROWS + 1)))
    yield "FLUSH TABLE looked"
    yield "CREATE TABLE inserted (body text, n int)"
    yield "CREATE TABLE light (t string, n int)"
    yield from inserts("light", "id,t,n", (f"({id},'{WORDS[id % 12] * 20}',{id})" for id in range(1, LOOKUP_ROWS + 1)))
    yield "FLUSH TABLE light"


def s(size):
    draw = random.Random(1)
    yield "CREATE TABLE s (body text, s string, title string, n int, g int)"
    row = lambda id: f"({id},'{WORDS[id % 12]} x{id}','{letters(draw, 5)}','{letters(draw, 11)}',{id * 7919 % size.rows},{id % 1000})"
    yield from inserts("s", "id,body,s,title,n,g", map(row, range(1, size.rows + 1)))
    yield "FLUSH TABLE s"


def words(size):
    """Rows of five words that no other row has."""
    draw = random.Random(2)
    yield "CREATE TABLE w (body text)"
    row = lambda id: f"({id},'{' '.join(letters(draw, 8) + str(id * 5 + k) for k in range(5))}')"
    yield from inserts("w", "id,body", map(row, range(1, size.rows + 1)))
    yield "FLUSH TABLE w"


def texts(size):
    draw = random.Random(3)
    made = pieces(draw)
    yield "CREATE TABLE texts (b text, n int)"
    row = lambda id: f"({id},'{long_text(draw, made, TEXT_BYTES)}',{id})"
    yield from inserts("texts", "id,b,n", map(row, range(1, size.texts + 1)))
    yield "FLUSH TABLE texts"


def docs(size):
    draw = random.Random(4)
    yield "CREATE TABLE docs (body text, j json)"
    item = lambda k: {"a": draw.randrange(1000), "b": draw.randrange(1000), "name": letters(draw, 12)}
    row = lambda id: "(%d,'doc','%s')" % (id, json.dumps({"list": [item(k) for k in range(1_000)], "last": id}))
    yield from inserts("docs", "id,body,j", map(row, range(1, size.documents + 1)))
    yield "FLUSH TABLE docs"


def alerts(size):
    """Standing queries of phrases and NEAR over the words of the texts, and one document of 200 KB in memory."""
    draw = random.Random(5)
    vocabulary = " ".join(pieces(random.Random(3))).split()
    yield "CREATE TABLE alerts (body text) type='pq'"
    forms = ('"{0} {1}"', "{0} NEAR/9 {1}", "{0} {1} -{2}", "({0} | {1}) {2}")
    row = lambda id: "(%d,'%s')" % (id, forms[id % 4].format(*draw.choices(vocabulary, k=3)))
    yield from inserts("alerts", "id,query", map(row, range(1, size.queries + 1)))


def queue(size):
    draw = random.Random(6)
    yield "CREATE TABLE q (a int, s varchar(20), title varchar(20)) ENGINE=queue"
    row = lambda id: f"({id},'{letters(draw, 5)}','{letters(draw, 11)}')"
    yield from inserts("q", "a,s,title", map(row, range(size.rows)))


def short(size):
    yield "CREATE TABLE short (body text, n int)"
    yield from inserts("short", "id,body,n", (f"({id},'w{id % 977}',{id})" for id in range(1, size.short_rows + 1)))
    yield "FLUSH TABLE short"
    yield "CREATE TABLE huge (body text)"
    text = long_text(random.Random(7), pieces(random.Random(3)), size.huge_bytes)
    for id in range(1, 21):
        yield f"INSERT INTO huge (id,body) VALUES ({id},'{text}')"
    yield "FLUSH TABLE huge"


LEVENSHTEIN = "levenshtein(repeat(s,200), repeat(title,90))"
# No row fulfils it, so statements that change rows by it change nothing.
NEVER = f"{LEVENSHTEIN} > 100000 + @"
NESTED = "LENGTH(REPLACE(REPLACE(REPLACE(REPEAT(title,2000),'a','bb'),'b','cc'),'c','dd'))"


class Attack:
    """A class of costly statements.

    `statements(client, size)` are the texts that a client sends in turn, over and over; an `@` in them becomes another number each
    time, so that no answer and no condition is kept from an earlier statement. `door` is mysql, http (POST /sql) or search (POST
    /search, where a text is a body). `own` are tables of a client's own, (name, columns): `{}` in the name stands for the client's
    number, and without columns the statements create the table. The first statement is the one that KILL ends, unless `killed` is
    another.
    """

    def __init__(self, name, tables, statements, door="mysql", own=(), killed=None):
        self.name, self.tables, self.door, self.own = name, tables, door, own
        self.statements = statements if callable(statements) else lambda client, size: [statements]
        self.killed = killed

    def after(self, client):
        """Statements that drop the client's own tables."""
        return [f"DROP TABLE IF EXISTS {name.format(client)}" for name, _ in self.own]

    def before(self, client):
        """Statements that create the client's own tables anew."""
        creates = [f"CREATE TABLE {name.format(client)} ({columns})" for name, columns in self.own if columns]
        return self.after(client) + creates

    def victim(self, size):
        """The statement that KILL ends; None if the door has none of its own."""
        if self.killed:
            return self.killed
        return None if self.door == "search" else self.statements(0, size)[0]


def numbered(statement, number):
    """The statement with a number in the place of `@`."""
    return statement.replace("@", str(number))


def in_transaction(change):
    return lambda client, size: [f"BEGIN; {change}; ROLLBACK"]


def percolated(client, size):
    draw = random.Random(client)
    text = long_text(draw, pieces(random.Random(3)), size.document_bytes)
    return [f"CALL PQ('alerts', ('{text}'), 0 AS docs_json, 1 AS docs, 1 AS highlight)"]


def loaded(client, size):
    """Bulk INSERTs of 1 MB: 2,000 rows of 500 bytes."""
    draw = random.Random(client)
    text = " ".join(draw.choices(WORDS, k=80))
    rows = ",".join(f"('{text}',{n})" for n in range(2_000))
    return [f"INSERT INTO bulk_{client} (body,n) VALUES {rows}"] * 50 + [f"TRUNCATE TABLE bulk_{client}"]


def ddl(client, size):
    table = f"ddl_{client}"
    columns = ", ".join(f"c{n} int" for n in range(200))
    return [
        f"CREATE TABLE {table} (body text, {columns})",
        f"INSERT INTO {table} (body) SELECT body FROM s LIMIT {size.rows // 10}",
        f"ALTER TABLE {table} ADD COLUMN e bigint, DROP COLUMN c7",
        f"ALTER TABLE {table} ADD KEY (c9)",
        f"DROP TABLE {table}",
    ]


def doubled(client, size):
    table = f"sink_{client}"
    twice = f"INSERT INTO {table} (body,n) SELECT body,n FROM "
    return [twice + "short", twice + table, f"TRUNCATE TABLE {table}"]


def doubled_texts(client, size):
    table = f"sink_{client}"
    return [f"INSERT INTO {table} (body) SELECT body FROM huge", f"TRUNCATE TABLE {table}"]


def highlighted(client, size):
    query = {"query_string": WORDS[client % 12]}
    return [json.dumps({"table": "texts", "query": query, "limit": 200, "highlight": {"number_of_fragments": 0}})]


ALWAYS = f"{LEVENSHTEIN} > 5 - @"
COUNT_S = "SELECT COUNT(*) FROM s WHERE "
LIKE = "SELECT COUNT(*) FROM texts WHERE b LIKE '%dolor@%'"
REGEXP = "SELECT COUNT(*) FROM texts WHERE b REGEXP '(lo|do)[a-z]+ [a-z]*x[a-z]*q[a-z]* (sit|amet@)'"
GROUPS = "SELECT CONCAT(s,title,n) AS k, COUNT(*) AS c, MAX(title) FROM s GROUP BY k ORDER BY c DESC LIMIT 5"
PAIRS = "SELECT COUNT(*) FROM s x JOIN s y ON x.n < y.n AND x.g > y.g + 990 + @ - @"
JSON_PATHS = "SELECT COUNT(*) FROM docs WHERE ANY(x.a = 5 AND x.b > 990 - @ FOR x IN j.list) AND j.list[999].name LIKE '%q@%'"
DELETE = f"DELETE FROM s WHERE {NEVER}"

ATTACKS = [
    Attack("levenshtein", [s], COUNT_S + ALWAYS),
    Attack("like", [texts], LIKE),
    Attack("sort", [s], "SELECT id FROM s ORDER BY repeat(s,100000) DESC LIMIT 10"),
    Attack("replace", [s], f"{COUNT_S} {NESTED} > 5 - @"),
    Attack("regexp", [texts], REGEXP),
    Attack("regex-match", [words], "SELECT COUNT(*) FROM w WHERE MATCH('REGEX(/[a-z]*q[a-z]*x[a-z]*[0-9]+7.?9@?/)')"),
    Attack("wildcard", [words], "SELECT COUNT(*) FROM w WHERE MATCH('*q*z*7* | *x*y*9? | *k*@*')"),
    Attack("json", [docs], JSON_PATHS),
    Attack("groups", [s], GROUPS),
    Attack("join", [s], PAIRS),
    Attack("highlight", [texts], highlighted, door="search"),
    Attack("percolate", [alerts], percolated),
    Attack("load", [], loaded, own=[("bulk_{}", "body text, n int")]),
    Attack("ddl", [s], ddl, own=[("ddl_{}", None)], killed=COUNT_S + ALWAYS),
    Attack("delete", [s], DELETE),
    Attack("update", [s], f"UPDATE s SET n = n + 1 WHERE {NEVER}"),
    Attack("update-tx", [s], in_transaction(f"UPDATE s SET n = n + 1 WHERE {NEVER}")),
    Attack("delete-tx", [s], in_transaction(DELETE)),
    Attack("delete-queue", [queue], f"DELETE FROM q WHERE {NEVER}"),
    Attack("insert-select", [short], doubled, own=[("sink_{}", "body text, n int")]),
    Attack("insert-texts", [short], doubled_texts, own=[("sink_{}", "body text")]),
    Attack("http-levenshtein", [s], COUNT_S + ALWAYS, door="http"),
    Attack("http-like", [texts], LIKE, door="http"),
    Attack("http-sort", [s], "SELECT id FROM s ORDER BY repeat(s,100000) DESC LIMIT 10", door="http"),
    Attack("http-delete", [s], DELETE, door="http"),
]
