# The step of a worker: take a row, store its result, end it. All of it is one record.
CREATE TABLE jobs (v int NOT NULL) ENGINE=queue
----
ok, 0 rows

CREATE TABLE results (body text, v int)
----
ok, 0 rows

INSERT INTO jobs VALUES (1), (2), (3)
----
ok, 3 rows

BEGIN
----
ok, 0 rows

SELECT queue_wait('jobs', 0)
----
queue_wait('jobs', 0)
1

SELECT v FROM jobs
----
v
1

INSERT INTO results (body, v) VALUES ('done', 1)
----
ok, 1 rows

SELECT queue_end()
----
queue_end()
1

# The row is gone for the others, but nothing is stored yet.
[other] SELECT v FROM jobs
----
v
2
3

[other] SELECT COUNT(*) FROM results
----
COUNT(*)
0

ROLLBACK
----
ok, 0 rows

[other] SELECT v FROM jobs
----
v
1
2
3

[other] SELECT COUNT(*) FROM results
----
COUNT(*)
0

BEGIN
----
ok, 0 rows

CALL QUEUE_NEXT('jobs', 0)
----
v
1

INSERT INTO results (body, v) VALUES ('done', 1)
----
ok, 1 rows

CALL QUEUE_DONE()
----
ok, 0 rows

COMMIT
----
ok, 0 rows

SELECT v FROM jobs
----
v
2
3

SELECT COUNT(*) FROM results
----
COUNT(*)
1

# QUEUE_NEXT ends the row before it: that end waits for COMMIT, and the row that was taken stays owned behind it.
BEGIN
----
ok, 0 rows

CALL QUEUE_NEXT('jobs', 0)
----
v
2

COMMIT
----
ok, 0 rows

BEGIN
----
ok, 0 rows

INSERT INTO results (body, v) VALUES ('done', 2)
----
ok, 1 rows

CALL QUEUE_NEXT('jobs', 0)
----
v
3

COMMIT
----
ok, 0 rows

[other] SELECT v FROM jobs
----
v

SELECT queue_abort()
----
queue_abort()
1

SELECT v FROM jobs
----
v
3

# DELETE of the owned row is an end, too.
BEGIN
----
ok, 0 rows

SELECT queue_wait('jobs', 0)
----
queue_wait('jobs', 0)
1

DELETE FROM jobs
----
ok, 1 rows

SELECT v FROM jobs
----
v

COMMIT
----
ok, 0 rows

[other] SELECT v FROM jobs
----
v

SELECT queue_end()
----
queue_end()
1

# A client that vanishes gives the row back.
INSERT INTO jobs VALUES (4)
----
ok, 1 rows

[gone] BEGIN
----
ok, 0 rows

[gone] CALL QUEUE_NEXT('jobs', 0)
----
v
4

[gone] INSERT INTO results (body, v) VALUES ('lost', 4)
----
ok, 1 rows

[gone] CALL QUEUE_DONE()
----
ok, 0 rows

[gone] close
----
ok

CALL QUEUE_NEXT('jobs', 5)
----
v
4

SELECT queue_abort()
----
queue_abort()
1

# A row that TRUNCATE took away meanwhile refuses COMMIT: the result is not stored twice.
BEGIN
----
ok, 0 rows

CALL QUEUE_NEXT('jobs', 0)
----
v
4

INSERT INTO results (body, v) VALUES ('late', 4)
----
ok, 1 rows

CALL QUEUE_DONE()
----
ok, 0 rows

[other] TRUNCATE TABLE jobs
----
ok, 0 rows

COMMIT
----
error 1213 (40001): the transaction was rolled back: a row of 'jobs' is no longer held: its lease was over, or the row is gone

SELECT COUNT(*) FROM results
----
COUNT(*)
2

# After a crash a committed step is there, an open one is not.
INSERT INTO jobs VALUES (5)
----
ok, 1 rows

BEGIN
----
ok, 0 rows

CALL QUEUE_NEXT('jobs', 0)
----
v
5

INSERT INTO results (body, v) VALUES ('open', 5)
----
ok, 1 rows

CALL QUEUE_DONE()
----
ok, 0 rows

[server] kill
----
ok

[later] SELECT v FROM jobs
----
v
5

[later] SELECT body FROM results ORDER BY id ASC
----
body
done
done

