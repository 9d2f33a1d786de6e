"""PyMySQL against a running server; see run.sh."""

import os
import threading
import time

import pymysql

from asking import ask, refused


def connect(user="anyone", password="", database="any_database"):
    return pymysql.connect(
        host=os.environ["SEINE_HOST"],
        port=int(os.environ["SEINE_PORT"]),
        user=user,
        password=password,
        database=database,
        autocommit=True,
        charset="utf8mb4",
    )


def search_and_percolate(connection):
    ask(connection, "CREATE TABLE p_posts (body text, tag string, score int, big bigint, f float)")
    ask(connection, "CREATE TABLE p_hits (query_id bigint, doc_id bigint, body text) ENGINE=queue")
    ask(connection, "CREATE TABLE p_alerts type='pq' on='p_posts' into='p_hits'")
    with connection.cursor() as cursor:
        stored = cursor.executemany(
            "INSERT INTO p_alerts (id, query) VALUES (%s, %s)", [(1, "naïve"), (2, "emoji -plain")]
        )
        assert stored == 2, stored
    text = "It's a NAIVE \"emoji\" 🎣 with \\ backslash and \n line"
    ask(
        connection,
        "INSERT INTO p_posts (id, body, tag, score, big, f) VALUES (%s, %s, %s, %s, %s, %s)",
        (7, text, "ü", 4294967295, -(2**63), 0.5),
    )
    rows = ask(connection, "SELECT id, body, tag, score, big, f FROM p_posts WHERE MATCH(%s)", ("naive",))
    assert rows == ((7, text, "ü", 4294967295, -(2**63), 0.5),), rows
    hits = ask(connection, "SELECT query_id, doc_id, body FROM p_hits")
    assert sorted(hits) == [(1, 7, text), (2, 7, text)], hits
    assert ask(connection, "SELECT COUNT(*) FROM p_posts") == ((1,),)


def two_workers(connection):
    """Two workers never own the same row, a waiting worker is woken, and an aborted row comes back."""
    other = connect()
    assert ask(connection, "SELECT queue_wait('p_hits', 1)") == ((1,),)
    mine = ask(connection, "SELECT query_id FROM p_hits")
    assert ask(other, "SELECT queue_wait('p_hits', 1)") == ((1,),)
    theirs = ask(other, "SELECT query_id FROM p_hits")
    assert {mine, theirs} == {((1,),), ((2,),)}, (mine, theirs)
    ask(other, "SELECT queue_end()")

    answers = []
    waiter = threading.Thread(target=lambda: answers.append(ask(other, "SELECT queue_wait('p_hits', 20)")))
    waiter.start()
    ask(connection, "SELECT queue_abort()")
    waiter.join(timeout=10)
    assert answers == [((1,),)], answers
    assert ask(other, "SELECT query_id FROM p_hits") == mine
    other.close()


def timed_out_wait(connection):
    ask(connection, "CREATE TABLE p_empty (v int not null) ENGINE=queue")
    asked = time.monotonic()
    assert ask(connection, "SELECT queue_wait('p_empty', 1)") == ((0,),)
    assert 0.9 < time.monotonic() - asked < 5
    ask(connection, "SELECT queue_end()")


def batches(connection):
    rows = [(n, f"word{n % 10} common") for n in range(1000, 2000)]
    with connection.cursor() as cursor:
        cursor.executemany("REPLACE INTO p_posts (id, body) VALUES (%s, %s)", rows)
    found = ask(connection, "SELECT COUNT(*) FROM p_posts WHERE MATCH('word3 common')")
    assert found == ((100,),), found
    # A SELECT of a list of ids has no LIMIT of its own: all 1,000 rows come.
    ids = ",".join(str(n) for n in range(1000, 2000))
    assert len(ask(connection, f"SELECT id FROM p_posts WHERE id IN ({ids})")) == 1000


def call_pq(connection):
    """CALL PQ in the forms of the manual and of the public stress-tester, with a large document, and beyond Manticore."""
    ask(connection, "CREATE TABLE p_pq (title text, body text) type='pq'")
    queries = [(1, "red shoes", "web,shop"), (2, "blue", "shop"), (3, "red", "")]
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO p_pq (id, query, tags) VALUES (%s, %s, %s)", queries)
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("CALL PQ('p_pq', (%s, %s), 0 AS docs_json, 1 AS docs, 1 AS query)", ("a red shoe", "blue red shoes"))
        rows = cursor.fetchall()
        assert [(row["id"], row["documents"], row["tags"]) for row in rows] == [
            (1, "2", "web,shop"),
            (2, "2", "shop"),
            (3, "1,2", ""),
        ], rows
        cursor.execute("call pq('p_pq', (%s, %s), 0 as docs_json, 1 as docs)", ("red", "blue"))
        rows = cursor.fetchall()
        assert [(row["id"], row["Documents"]) for row in rows] == [(2, "2"), (3, "1")], rows
        assert all(row["documents"] == row["Documents"] for row in rows), rows
        cursor.execute("SHOW META")
        meta = {row["Variable name"]: row["Value"] for row in cursor.fetchall()}
        assert (meta["queries_matched"], meta["total_queries_stored"]) == ("2", "3"), meta
    only = ask(connection, "CALL PQ('p_pq', 'red blue shoes', 0 AS docs_json, %s AS only)", ("any(tags)='shop' AND id>1",))
    assert only == ((2,),), only
    assert ask(connection, "CALL PQ('p_pq', ('red', 'x'), 0 AS docs_json, 1 AS count)") == ((1, 1),)
    assert ask(connection, "CALL PQ('p_pq', 'red blue shoes', 0 AS docs_json, 1 AS limit, 1 AS after)") == ((2,),)
    large = "red " * (16 * 1024 * 1024 // 4)
    assert ask(connection, "CALL PQ('p_pq', (%s, %s), 0 AS docs_json, 1 AS docs)", (large, "blue")) == ((2, "2"), (3, "1"))
    refused(connection, 1064, "CALL PQ('p_pq', ('{}', 'bad'))")
    refused(connection, 1064, "CALL PQ('p_pq', 'x', 1 AS nonsense)")
    ask(connection, "TRUNCATE TABLE p_pq")
    assert ask(connection, "CALL PQ('p_pq', 'red', 0 AS docs_json)") == ()


def facets(connection):
    """The result sets of a statement with FACETs, one after the other; a driver that reads only the first skips the rest."""
    statement = (
        "SELECT id FROM p_posts WHERE MATCH(%s) ORDER BY id ASC LIMIT 2 "
        "FACET id DIV 100 AS hundred ORDER BY hundred ASC LIMIT 3 FACET tag DISTINCT score"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, ("word3 common",))
        sets = []
        while True:
            sets.append(([column[0] for column in cursor.description], cursor.fetchall()))
            if not cursor.nextset():
                break
    assert sets == [
        (["id"], ((1003,), (1013,))),
        (["hundred", "count(*)"], ((10, 10), (11, 10), (12, 10))),
        (["tag", "count(distinct score)", "count(*)"], (("", 1, 100),)),
    ], sets
    assert ask(connection, statement, ("word3 common",)) == ((1003,), (1013,))
    assert ask(connection, "SELECT 1") == ((1,),)
    refused(connection, 1054, "SELECT id FROM p_posts FACET nothing")


def bad_input(connection):
    refused(connection, 1146, "SELECT * FROM p_missing")
    refused(connection, 1054, "INSERT INTO p_posts (id, nothing) VALUES (1, 2)")
    refused(connection, 1136, "INSERT INTO p_posts (id, body) VALUES (1)")
    refused(connection, 1264, "INSERT INTO p_posts (id, score) VALUES (1, -2147483649)")
    refused(connection, 1064, "SELECT id FROM p_posts WHERE MATCH('(open')")
    connection.ping(reconnect=False)


def transactions(connection):
    """A worker's result and the end of its row are one commit; a rollback and a vanished client undo both."""
    other = connect()
    ask(connection, "CREATE TABLE p_jobs (n int) ENGINE=queue")
    ask(connection, "CREATE TABLE p_done (body text, n int)")
    ask(connection, "INSERT INTO p_jobs VALUES (1)")
    for ending, stored, left in [("rollback", 0, 1), ("close", 0, 1), ("commit", 2, 0)]:
        worker = connect()
        worker.begin()
        assert worker.server_status & 1, "SERVER_STATUS_IN_TRANS"
        assert ask(worker, "CALL QUEUE_NEXT('p_jobs', 20)") == ((1,),)
        ask(worker, "INSERT INTO p_done (body, n) VALUES ('one', 1)")
        ask(worker, "INSERT INTO p_done (body, n) VALUES ('two', 2)")
        ask(worker, "CALL QUEUE_DONE()")
        assert ask(worker, "SELECT COUNT(*) FROM p_done") == ((2,),)
        assert ask(other, "SELECT COUNT(*) FROM p_done") == ((0,),)
        getattr(worker, ending)()
        assert ask(other, "SELECT COUNT(*) FROM p_done") == ((stored,),)
        if ending != "close":
            assert not worker.server_status & 1, ending
            assert ask(other, "SELECT COUNT(*) FROM p_jobs") == ((left,),)
            worker.close()
    ask(connection, "DROP TABLE p_jobs, p_done")
    other.close()


def mixed_types(connection):
    """Values at one path of documents may differ in type; a client decodes them all by the type of the column."""
    ask(connection, "CREATE TABLE p_mixed (j json)")
    rows = ["(1, '{\"k\":7}')", "(2, '{\"k\":2.5}')", "(3, '{\"k\":\"x\"}')", "(4, '{}')"]
    ask(connection, "INSERT INTO p_mixed (id, j) VALUES " + ", ".join(rows))
    assert ask(connection, "SELECT j.k FROM p_mixed WHERE id < 2") == ((7,),)
    assert ask(connection, "SELECT j.k FROM p_mixed WHERE id < 3") == ((7.0,), (2.5,))
    assert ask(connection, "SELECT j.k FROM p_mixed") == (("7",), ("2.500000",), ("x",), (None,))
    assert ask(connection, "SELECT id FROM p_mixed ORDER BY j.k ASC") == ((4,), (2,), (1,), (3,))
    ask(connection, "DROP TABLE p_mixed")


def main():
    connection = connect()
    search_and_percolate(connection)
    two_workers(connection)
    timed_out_wait(connection)
    batches(connection)
    facets(connection)
    call_pq(connection)
    bad_input(connection)
    mixed_types(connection)
    transactions(connection)
    for table in ("p_alerts", "p_hits", "p_posts", "p_empty", "p_pq"):
        ask(connection, f"DROP TABLE {table}")
    connection.close()


main()
