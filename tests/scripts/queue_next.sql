# Queues beyond Q4M, in SQL.

CREATE TABLE q (v int, prio int) ENGINE=queue;
----
ok, 0 rows

INSERT INTO q VALUES (1, 0), (2, 1), (3, 0), (4, 1), (5, 0);
----
ok, 5 rows

# Takes the next row and acknowledges the last one in one call.
CALL QUEUE_NEXT('q');
----
v | prio
1 | 0

CALL QUEUE_NEXT('q', 1, 2);
----
v | prio
2 | 1
3 | 0

[b]
SELECT v FROM q;
----
v
4
5

[b]
CALL QUEUE_NEXT(('q:prio > 0', 'q'), 0, 10);
----
v | prio
4 | 1

[b]
CALL QUEUE_DONE();
----
ok, 0 rows

SELECT v FROM q;
----
v
2
3

CALL QUEUE_DONE();
----
ok, 0 rows

CALL QUEUE_NEXT('q', 0, 100);
----
v | prio
5 | 0

# Nothing there: no rows, and nothing owned.
CALL QUEUE_NEXT('q', 0);
----
v | prio

CALL QUEUE_DONE();
----
ok, 0 rows

SHOW QUEUES;
----
Queue | Rows | Owned | Waiting | Restored | Paused
q | 0 | 0 | 0 | 0 | NO

CALL QUEUE_NEXT('nothing', 0);
----
error 1146 (42S02): no table 'nothing'

CALL QUEUE_NEXT('q:nothing = 1', 0);
----
error 1054 (42S22): no column 'nothing' in table 'q'

CALL QUEUE_NEXT('q:v =', 0);
----
error 1064 (42000): syntax error: argument 1: condition of 'q': expected a value, found the end at byte 3 near ''q:v =', 0)' at line 1, position 16

CREATE TABLE s (a text) rows_max='10';
----
error 1210 (HY000): rows_max= belongs to queues: ENGINE=queue

CREATE TABLE r (v int) ENGINE=queue visible_again='soon';
----
error 1210 (HY000): visible_again: "soon" is not a time with its unit, such as 250ms, 30s or 8h

CREATE TABLE r (v int) ENGINE=queue row_max='10';
----
error 1210 (HY000): no table option 'row_max', did you mean rows_max?

