"""Q4M's ways of using queues, through PyMySQL against a running server; see run.sh."""

import os
import threading

import pymysql

from asking import ask, refused


def connect(database="test"):
    place = {"host": os.environ["SEINE_HOST"], "port": int(os.environ["SEINE_PORT"])}
    if os.environ.get("SEINE_SOCKET"):
        place = {"unix_socket": os.environ["SEINE_SOCKET"]}
    return pymysql.connect(user="root", password="", database=database, autocommit=True, charset="utf8mb4", **place)


def make(connection, name, columns):
    ask(connection, f"DROP TABLE IF EXISTS {name}")
    ask(connection, f"CREATE TABLE {name} ({columns}) ENGINE=queue DEFAULT CHARSET=utf8mb4")


def types(connection):
    """PyMySQL reads every type as it reads MySQL's. Values that do not fit are refused."""
    make(
        connection,
        "yt",
        "a tinyint, b smallint unsigned, c bigint unsigned, d double, e varchar(5), f blob, g int NOT NULL DEFAULT 3",
    )
    row = (-128, 65535, 2**64 - 1, 0.1, "äöüß🎣", b"\x00\xff'\\")
    ask(connection, "INSERT INTO yt (a, b, c, d, e, f) VALUES (%s, %s, %s, %s, %s, _binary %s)", row)
    assert ask(connection, "SELECT * FROM yt") == (row + (3,),), ask(connection, "SELECT * FROM yt")
    refused(connection, 1264, "INSERT INTO yt (a) VALUES (128)")
    refused(connection, 1406, "INSERT INTO yt (e) VALUES ('sechs!')")
    refused(connection, 1048, "INSERT INTO yt (g) VALUES (NULL)")
    refused(connection, 1235, "CREATE TABLE yk (id int AUTO_INCREMENT PRIMARY KEY) ENGINE=queue")
    refused(connection, 1031, "UPDATE yt SET a = 1")


def one_statement(connection):
    """Waits and reads in one statement, as with MySQL before 5.6."""
    make(connection, "yq", "v int NOT NULL")
    ask(connection, "INSERT INTO yq VALUES (1), (2), (3)")
    assert ask(connection, "SELECT * FROM yq WHERE queue_wait('yq')") == ((1,),)
    assert ask(connection, "SELECT * FROM yq WHERE queue_wait('yq:v=3')") == ((3,),)
    assert ask(connection, "SELECT * FROM yq WHERE queue_wait('yq:v=3', 0)") == ()
    assert ask(connection, "SELECT queue_end()") == ((1,),)
    assert ask(connection, "SELECT * FROM yq") == ((2,),)


def next_row(connection):
    """Beyond Q4M: one call ends the last rows and takes the next 7."""
    make(connection, "yq", "v int NOT NULL, s text")
    with connection.cursor() as cursor:
        cursor.executemany("INSERT INTO yq VALUES (%s, %s)", [(n, f"row {n}") for n in range(100)])
    seen = []
    while rows := ask(connection, "CALL QUEUE_NEXT(%s, 0, 7)", ("yq",)):
        assert len(rows) <= 7
        seen.extend(rows)
    assert seen == [(n, f"row {n}") for n in range(100)], seen
    assert ask(connection, "SELECT COUNT(*) FROM yq") == ((0,),)
    assert ask(connection, "SELECT queue_end()") == ((1,),)


def woken(connection):
    """A row wakes one waiter; a dropped queue ends the other waits with 0."""
    make(connection, "yq", "v int NOT NULL")
    got = []

    def wait():
        own = connect("whatever")
        ((answer,),) = ask(own, "SELECT queue_wait('yq:v > 0', 60)")
        got.append((answer, ask(own, "SELECT v FROM yq") if answer else None))
        ask(own, "SELECT queue_end()")
        own.close()

    def waiting():
        return ask(connection, "SHOW STATUS LIKE 'queue\\_waiting'")[0][1]

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    while waiting() != "4":
        pass
    ask(connection, "INSERT INTO yq VALUES (-1), (5)")
    while waiting() != "3" or len(got) < 1:
        pass
    assert got == [(1, ((5,),))], got
    ask(connection, "DROP TABLE yq")
    for thread in threads:
        thread.join()
    assert got[1:] == [(0, None)] * 3, got


def looks(connection):
    make(connection, "yq", "v int NOT NULL")
    ask(connection, "INSERT INTO yq VALUES (1), (2)")
    assert ask(connection, "SELECT queue_wait('yq')") == ((1,),)
    with connection.cursor(pymysql.cursors.DictCursor) as cursor:
        cursor.execute("SHOW QUEUES LIKE 'yq'")
        (report,) = cursor.fetchall()
        assert (report["Rows"], report["Owned"]) == ("2", "1"), report
        cursor.execute("SHOW ENGINE QUEUE STATUS")
        (status,) = cursor.fetchall()
        assert status["Type"] == "QUEUE" and "rows_written" in status["Status"], status
    ((stats,),) = ask(connection, "SELECT queue_stats('yq')")
    lines = dict(line.split(": ") for line in stats.splitlines())
    assert (lines["rows_written"], lines["wait_immediate"]) == ("2", "1"), stats
    assert len(lines) == 9, stats
    assert ask(connection, "SELECT queue_compact('yq')") == ((1,),)
    assert ask(connection, "SELECT queue_rowid()") == ((1,),)
    ask(connection, "SELECT queue_end()")
    message = refused(connection, 1210, "SELECT queue_rowid()")
    assert message == "queue_rowid(): not in owner mode", message


def altered(connection, other):
    """Columns come and go while a row is owned."""
    make(connection, "yq", "a int NOT NULL, b int NOT NULL")
    ask(connection, "INSERT INTO yq VALUES (1, 1), (10, 10)")
    ask(connection, "SELECT queue_wait('yq')")
    ask(other, "ALTER TABLE yq ADD c int")
    ask(other, "INSERT INTO yq VALUES (20, 20, 20)")
    assert ask(other, "SELECT * FROM yq") == ((10, 10, None), (20, 20, 20))
    assert ask(connection, "SELECT * FROM yq") == ((1, 1, None),)
    ask(other, "ALTER TABLE yq DROP COLUMN a")
    assert ask(connection, "SELECT * FROM yq") == ((1, None),)
    assert ask(connection, "SELECT queue_abort()") == ((1,),)
    assert ask(other, "SELECT * FROM yq") == ((1, None), (10, None), (20, 20))
    ask(connection, "SELECT queue_wait('yq')")
    ask(other, "TRUNCATE yq")
    assert ask(connection, "SELECT * FROM yq") == ()
    assert ask(connection, "SELECT queue_end()") == ((1,),)


def main():
    connection = connect()
    types(connection)
    one_statement(connection)
    next_row(connection)
    woken(connection)
    looks(connection)
    altered(connection, connect("other"))
    for name in ("yt", "yq"):
        ask(connection, f"DROP TABLE IF EXISTS {name}")


main()
