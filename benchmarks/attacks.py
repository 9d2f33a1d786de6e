"""Costly statements for `stall.py`, by class, and the tables that they need.

Each class is harmless to the server's data: it changes no row of a table that another class reads, so it may be repeated. Over
small data a statement repeats its work for a row (`Size.times`), so that it takes about a second of a processor there, too: a
thread that it holds is seen.
"""
import json
import random

WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor".split()


class Size:
    """How much data the tables have."""

    def __init__(self, rows, word_rows, texts, documents, queries, document_bytes, short_rows, huge_bytes, is_small=False):
        self.rows = rows  # of `s` and the queue `q`
        self.word_rows = word_rows  # of `w`
        self.texts = texts  # of `texts`, each of 11 KB
        self.documents = documents  # of `docs`, each of some 45 KB
        self.queries = queries  # standing queries of `alerts`
        self.document_bytes = document_bytes  # of a document of CALL PQ
        self.short_rows = short_rows  # of `short`, which INSERT … SELECT doubles
        self.huge_bytes = huge_bytes  # of each of the 20 texts that INSERT … SELECT copies
        self.is_small = is_small

    def times(self, count):
        """How often a statement repeats its work for a row: `count` times over small data, so that it, too, takes about a second."""
        return count if self.is_small else 1


FULL = Size(100_000, 100_000, 20_000, 1_000, 20_000, document_bytes=200_000, short_rows=524_288, huge_bytes=2_000_000)
SMALL = Size(5_000, 20_000, 2_000, 60, 1_000, document_bytes=20_000, short_rows=16_384, huge_bytes=100_000, is_small=True)
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
    yield from inserts("w", "id,body", map(row, range(1, size.word_rows + 1)))
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


def wide(size):
    """Four rows whose texts are nearly as long as a text may be."""
    yield "CREATE TABLE wide (body text, n int)"
    for id in range(1, 5):
        yield f"INSERT INTO wide (id,body,n) VALUES ({id},'{'lorem ipsum dolor sit amet ' * 580_000}',{id})"
    yield "FLUSH TABLE wide"


LEVENSHTEIN = "levenshtein(repeat(s,200), repeat(title,90))"
# No row fulfils it, so statements that change rows by it change nothing.
NEVER = f"{LEVENSHTEIN} > 100000 + @"
NESTED = "LENGTH(REPLACE(REPLACE(REPLACE(REPEAT(title,2000),'a','bb'),'b','cc'),'c','dd'))"


class Attack:
    """A class of costly statements.

    `statements(client, size)` are the texts that a client sends in turn, over and over; an `@` in them becomes another number each
    time, so that no answer and no condition is kept from an earlier statement. `door` is mysql, http (POST /sql), search (POST
    /search, where a text is a body), bulk (POST /bulk) or es-bulk (POST /_bulk). `own` are tables of a client's own, (name, what CREATE TABLE says behind it): `{}` in the
    name stands for the client's number, and with None the statements create the table. The first statement is the one that KILL
    ends, unless `killed` gives another.
    """

    def __init__(self, name, tables, statements, door="mysql", own=(), killed=None):
        self.name, self.tables, self.door, self.own = name, tables, door, own
        self.statements, self.killed = statements, killed

    def of(self, client):
        """The class of a client: this one."""
        return self

    def after(self, client):
        """Statements that drop the client's own tables."""
        return [f"DROP TABLE IF EXISTS {name.format(client)}" for name, _ in self.own]

    def before(self, client):
        """Statements that create the client's own tables anew."""
        creates = [f"CREATE TABLE {name.format(client)} {columns}" for name, columns in self.own if columns]
        return self.after(client) + creates

    def victim(self, size):
        """The statement that KILL ends; None if the door has none of its own."""
        if self.killed:
            return self.killed(0, size)[0]
        return None if self.door in ("search", "bulk", "es-bulk") else self.statements(0, size)[0]


class Mixture:
    """Clients of several classes at once: client `n` sends the statements of class `n`."""

    def __init__(self, name, attacks):
        self.name, self.attacks = name, attacks
        self.tables = list(dict.fromkeys(table for attack in attacks for table in attack.tables))

    def of(self, client):
        return self.attacks[client % len(self.attacks)]

    def victim(self, size):
        return self.attacks[0].victim(size)


def numbered(statement, number):
    """The statement with a number in the place of `@`."""
    return statement.replace("@", str(number))


def one(statement):
    """A client's statements where they are always this one."""
    return lambda client, size: [statement]


def counted(table, condition, times=1):
    """Counts the rows that fulfil a condition, over small data `times` conditions that differ in a number."""
    return lambda client, size: [f"SELECT COUNT(*) FROM {table} WHERE {either(condition, size.times(times))}"]


def either(condition, times):
    return " OR ".join(condition.replace("@", f"@{n}") if n else condition for n in range(times))


def in_transaction(change, end="ROLLBACK"):
    return one(f"BEGIN; {change}; {end}")


def sorted_rows(client, size):
    key = "repeat(s,100000)"
    for _ in range(size.times(6) - 1):
        key = f"reverse({key})"
    return [f"SELECT id FROM s ORDER BY {key} DESC LIMIT 10"]


def grouped(client, size):
    most = ", ".join(f"MAX(CONCAT(title,{n}))" if n else "MAX(title)" for n in range(size.times(40)))
    return [f"SELECT CONCAT(s,title,n) AS k, COUNT(*) AS c, {most} FROM s GROUP BY k ORDER BY c DESC LIMIT 5"]


def matched(pattern, times):
    """Counts the rows that a MATCH finds, over small data that of `times` alternatives that differ in a number."""
    texts = lambda size: " | ".join(pattern.replace("@", f"@{n}") if n else pattern for n in range(size.times(times)))
    return lambda client, size: [f"SELECT COUNT(*) FROM w WHERE MATCH('{texts(size)}')"]


def percolated(client, size):
    draw = random.Random(client)
    made = pieces(random.Random(3))
    documents = ",".join(f"'{long_text(draw, made, size.document_bytes)}'" for _ in range(size.times(8)))
    return [f"CALL PQ('alerts', ({documents}), 0 AS docs_json, 1 AS docs, 1 AS highlight)"]


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


def upserted(client, size):
    """Rows that are inserted once, and then changed by a costly value."""
    rows = ",".join(f"({id},'abcdefgh')" for id in range(1, 5_001))
    value = "levenshtein(repeat(new.s,120), repeat(concat(new.s,'x'),100)) + @ - @"
    return [f"INSERT INTO upserted_{client} (id,s) VALUES {rows} AS new ON DUPLICATE KEY UPDATE n = {value}"]


def computed(client, size):
    """Rows of costly constants, some 2 ms each."""
    row = "(levenshtein(repeat('abcdefgh',120), repeat('abcdefghx',100)) + @ - @)"
    return [f"INSERT INTO computed_{client} (n) VALUES {','.join([row] * 20)}", f"TRUNCATE TABLE computed_{client}"]


def committed(client, size):
    """A transaction of many short changes by id, each with a condition that COMMIT must decide again."""
    table = f"committed_{client}"
    ids = range(1, 20_000 // size.times(4) + 1)
    rows = ",".join(f"({id},1)" for id in ids)
    changes = "; ".join(f"UPDATE {table} SET n = n + 1 WHERE id = {id} AND n > 0" for id in ids)
    return [f"REPLACE INTO {table} (id,n) VALUES {rows}", f"FLUSH TABLE {table}", f"BEGIN; {changes}; COMMIT"]


def committed_scans(client, size):
    """A transaction of changes that look at many rows for one, which COMMIT must find again."""
    table = f"scanned_{client}"
    changes = "; ".join(f"UPDATE {table} SET n = n + 1 WHERE g = {k} AND n >= 0 - @ LIMIT 1" for k in range(200))
    filled = f"REPLACE INTO {table} (id,n,g) SELECT id,n,g FROM s LIMIT {size.rows // 2}"
    return [filled, f"FLUSH TABLE {table}", f"BEGIN; {changes}; COMMIT"]


def stored_queries(client, size):
    """Standing queries that each take some milliseconds to compile."""
    table = f"stored_{client}"
    return [long_expressions(table, 1, 1_001), f"TRUNCATE TABLE {table}"]


def long_expression(id):
    return f"REGEX(/(a|b|ab){{1,100}}(c|d){{1,100}}{id}/)"


def long_expressions(table, first, end):
    rows = ",".join(f"({id},'{long_expression(id)}')" for id in range(first, end))
    return f"REPLACE INTO {table} (id,query) VALUES {rows}"


def stored_within(client, size):
    """As `stored_queries`, in a transaction of many statements."""
    # All open transactions take an eighth of the memory at most, and so does what is compiled of them.
    stored = [long_expressions(f"within_{client}", first, first + 10) for first in range(1, 31, 10)]
    return [f"BEGIN; {'; '.join(stored)}; COMMIT"]


def bulk_queries(client, size):
    """Standing queries of 500 bytes, 8,000 in a request; and those that each take some milliseconds to compile."""
    draw = random.Random(client)
    put = lambda id, query: json.dumps({"replace": {"table": f"bulked_{client}", "id": id, "doc": {"query": query}}})
    long = [put(id, long_expression(id)) for id in range(1, 201)]
    short = [put(id, f'"{" ".join(draw.choices(WORDS, k=80))}"') for id in range(1, 8_000 // size.times(4))]
    return ["\n".join(lines) + "\n" for lines in (long, short)]


def es_bulk_queries(client, size):
    """The short ones of `bulk_queries`, and as many that are refused."""
    draw = random.Random(client)
    put = lambda id: json.dumps({"index": {"_index": f"percolator_{client}", "_id": str(id)}})
    phrase = lambda id: {"match_phrase": {"body": " ".join(draw.choices(WORDS, k=80))}}
    stored = [f"{put(id)}\n{json.dumps({'query': phrase(id)})}" for id in range(1, 8_000 // size.times(4))]
    refused = [f"{put(id)}\n{json.dumps({'query': {'bool': {'must_not': [phrase(id)]}}})}" for id in range(1, 8_000 // size.times(4))]
    return ["\n".join(lines) + "\n" for lines in (stored, refused)]


def short_reads(client, size):
    """Reads that are short enough for a socket's thread, 200 in a text."""
    return ["; ".join(f"SELECT COUNT(*) FROM looked WHERE n * 3 + 7 > {n} - @ AND id < 5000" for n in range(200))]


def nested(bytes):
    """A JSON document of numbers, as deep as one may be."""
    return '{"a":' * 63 + "[" + "1," * (bytes // 2) + "1]" + "}" * 63


def nested_inserts(client, size):
    table = f"nested_{client}"
    return [f"INSERT INTO {table} (j) VALUES ('{nested(2_000_000 // size.times(4))}')", f"TRUNCATE TABLE {table}"]


def nested_within(client, size):
    """JSON in a transaction, of a size that all open transactions have memory for."""
    return [f"BEGIN; INSERT INTO nested_within_{client} (j) VALUES ('{nested(400_000 // size.times(4))}'); COMMIT", f"TRUNCATE TABLE nested_within_{client}"]


def nested_updates(client, size):
    table, text = f"nested_updates_{client}", nested(2_000_000 // size.times(4))
    documents = ",".join(f"({id},'{text}')" for id in range(1, 5))
    return [f"REPLACE INTO {table} (id,j) VALUES {documents}", f"UPDATE {table} SET j.x = @ WHERE id > 0"]


def new_words(client, size):
    """A text of 14 MB in which no word stands twice, and its removal."""
    draw = random.Random(client)
    text = " ".join(letters(draw, 12) + str(k) for k in range(800_000 // size.times(8)))
    return [f"INSERT INTO new_words_{client} (body) VALUES ('{text}')", f"TRUNCATE TABLE new_words_{client}"]


def highlighted(client, size):
    query = {"query_string": WORDS[client % 12]}
    return [json.dumps({"table": "texts", "query": query, "limit": 200 * size.times(5), "highlight": {"number_of_fragments": 0}})]


# It takes some milliseconds to compile.
COMPILED = "(a|b|ab){1,200}(c|d){1,200}(x[a-z]{1,50}){1,10}"
ALWAYS = f"{LEVENSHTEIN} > 5 - @"
COUNT_S = counted("s", ALWAYS)
COUNT_NESTED = counted("s", f"{NESTED} > 5 - @")
LIKE = counted("texts", "b LIKE '%dolor@%'", 8)
REGEXP = counted("texts", "b REGEXP '(lo|do)[a-z]+ [a-z]*x[a-z]*q[a-z]* (sit|amet@)'", 10)
PAIRS = one("SELECT COUNT(*) FROM s x JOIN s y ON x.n < y.n AND x.g > y.g + 990 + @ - @")
JSON_PATHS = counted("docs", "ANY(x.a = 5 AND x.b > 990 - @ FOR x IN j.list) AND j.list[999].name LIKE '%q@%'", 80)
DELETE = f"DELETE FROM s WHERE {NEVER}"
UPDATE = f"UPDATE s SET n = n + 1 WHERE {NEVER}"
DELETE_QUEUED = f"DELETE FROM q WHERE {NEVER}"
# The text of a standing query is its row's only long value.
DELETE_STANDING = "DELETE FROM alerts WHERE levenshtein(repeat(query,40), repeat(query,39)) > 100000 + @"

ATTACKS = [
    Attack("levenshtein", [s], COUNT_S),
    Attack("like", [texts], LIKE),
    Attack("sort", [s], sorted_rows),
    Attack("replace", [s], COUNT_NESTED),
    Attack("regexp", [texts], REGEXP),
    Attack("regex-match", [words], matched("REGEX(/[a-z]*q[a-z]*x[a-z]*[0-9]+7.?9@?/)", 60)),
    Attack("wildcard", [words], matched("*q*z*7* | *x*y*9? | *k*@*", 20)),
    Attack("json", [docs], JSON_PATHS),
    Attack("groups", [s], grouped),
    Attack("join", [s], PAIRS),
    Attack("highlight", [texts], highlighted, door="search"),
    Attack("percolate", [alerts], percolated),
    Attack("load", [], loaded, own=[("bulk_{}", "(body text, n int)")]),
    Attack("ddl", [s], ddl, own=[("ddl_{}", None)], killed=COUNT_S),
    Attack("delete", [s], one(DELETE)),
    Attack("update", [s], one(UPDATE)),
    Attack("update-tx", [s], in_transaction(UPDATE)),
    Attack("delete-tx", [s], in_transaction(DELETE)),
    Attack("commit", [s], in_transaction(UPDATE, "COMMIT")),
    Attack("delete-queue", [queue], one(DELETE_QUEUED)),
    Attack("delete-queue-tx", [queue], in_transaction(DELETE_QUEUED)),
    # KILL QUERY ends searches; a wait ends with its own timeout, once all rows were asked.
    Attack("queue-wait", [queue], one(f'SELECT queue_wait("q:{NEVER}", 1)'), killed=lambda client, size: [None]),
    Attack("upsert", [], upserted, own=[("upserted_{}", "(s string, n int)")]),
    Attack("values", [], computed, own=[("computed_{}", "(n int)")]),
    Attack("commit-many", [], committed, own=[("committed_{}", "(n int)")]),
    Attack("commit-scans", [s], committed_scans, own=[("scanned_{}", "(n int, g int)")]),
    Attack("store-queries", [], stored_queries, own=[("stored_{}", "(body text) type='pq'")]),
    Attack("store-within", [], stored_within, own=[("within_{}", "(body text) type='pq'")]),
    Attack("bulk", [], bulk_queries, door="bulk", own=[("bulked_{}", "(body text) type='pq'")]),
    Attack("es-bulk", [], es_bulk_queries, door="es-bulk", own=[("percolator_{}", "(body text) type='pq'")]),
    Attack("regexp-short", [], one(f"SELECT id FROM looked WHERE id = 5 AND body REGEXP '{COMPILED}@'")),
    Attack("short-reads", [], short_reads),
    Attack("json-insert", [], nested_inserts, own=[("nested_{}", "(j json)")]),
    Attack("json-within", [], nested_within, own=[("nested_within_{}", "(j json)")]),
    Attack("json-update", [], nested_updates, own=[("nested_updates_{}", "(j json)")]),
    Attack("wide-like", [wide], counted("wide", "body LIKE '%dolor@%'")),
    Attack("wide-sort", [wide], one("SELECT id FROM wide ORDER BY CONCAT(body,@) DESC, body LIMIT 5")),
    Attack("wide-groups", [wide], one("SELECT COUNT(*), MIN(body), MAX(n - @) FROM wide GROUP BY body LIMIT 5")),
    Attack("wide-concat", [wide], one("SELECT LENGTH(GROUP_CONCAT(body)), MAX(n - @) FROM wide WHERE id = 1")),
    Attack("new-words", [], new_words, own=[("new_words_{}", "(body text)")]),
    Attack("delete-pq", [alerts], one(DELETE_STANDING)),
    Attack("insert-select", [short], doubled, own=[("sink_{}", "(body text, n int)")]),
    Attack("insert-texts", [short], doubled_texts, own=[("sink_{}", "(body text)")]),
    Attack("http-levenshtein", [s], COUNT_S, door="http"),
    Attack("http-like", [texts], LIKE, door="http"),
    Attack("http-sort", [s], sorted_rows, door="http"),
    Attack("http-replace", [s], COUNT_NESTED, door="http"),
    Attack("http-delete", [s], one(DELETE), door="http"),
]
