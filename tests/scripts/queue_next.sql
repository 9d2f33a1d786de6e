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
Queue | Group | Rows | Owned | Waiting | Delayed | Redelivered | Restored | Oldest_s | Paused
q |  | 0 | 0 | 0 | 0 | 0 | 0 |  | NO

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
error 1210 (HY000): visible_again: "soon" is not a time with its unit, such as 250ms, 30s or 8h; units are ms, s, m (minutes), h and d

CREATE TABLE r (v int) ENGINE=queue row_max='10';
----
error 1210 (HY000): no table option 'row_max', did you mean rows_max?

# Options.
CREATE TABLE jobs_dead (v int, k varchar(10), due bigint) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE jobs (v int, k varchar(10), due bigint) ENGINE=queue visible_again='30s' max_deliveries='2' dead='jobs_dead' groups='mail,audit' rows_max='1000' bytes_max='1m' when_full='drop_oldest' order_by='k' unique_by='v' unique_for='10m' deliver_at='due' sync='100ms';
----
ok, 0 rows

SHOW CREATE TABLE jobs;
----
Table | Create Table
jobs | CREATE TABLE `jobs` (\n  `v` int,\n  `k` varchar(10),\n  `due` bigint\n) ENGINE=queue visible_again='30s' max_deliveries='2' dead='jobs_dead' groups='mail,audit' rows_max='1000' bytes_max='1048576' when_full='drop_oldest' order_by='k' unique_by='v' unique_for='600s' deliver_at='due' sync='100ms'

INSERT INTO jobs VALUES (1, 'a', NULL), (2, 'a', NULL), (3, 'b', NULL), (1, 'b', NULL), (4, 'c', 9000000000000000);
----
ok, 4 rows

# One row a key at a time, each group by itself; what is due in the year 2255 stays.
CALL QUEUE_NEXT('jobs', 0, 10, group='mail');
----
v | k | due
1 | a | NULL
3 | b | NULL

[b]
CALL QUEUE_NEXT('jobs', 0, 10, group='audit');
----
v | k | due
1 | a | NULL
3 | b | NULL

[c]
CALL QUEUE_NEXT('jobs', 0, 10, group='mail');
----
v | k | due

CALL QUEUE_NEXT('jobs', 0, 10, group='mail');
----
v | k | due
2 | a | NULL

SELECT queue_abort();
----
queue_abort()
1

CALL QUEUE_NEXT('jobs', 0, 1, group='mail');
----
v | k | due
2 | a | NULL

# Given back twice: it is dead for this group.
SELECT queue_abort();
----
queue_abort()
1

CALL QUEUE_NEXT('jobs', 0, 1, group='mail');
----
v | k | due

SELECT queue_end();
----
queue_end()
1

SELECT v FROM jobs_dead;
----
v
2

CALL QUEUE_NEXT('jobs', 0);
----
error 1210 (HY000): queue 'jobs' has the consumer groups mail, audit: name one of them

CALL QUEUE_PAUSE('jobs', group='audit');
----
ok, 0 rows

CALL QUEUE_RESUME('jobs', group='audit');
----
ok, 0 rows

CREATE TABLE bad (v int) ENGINE=queue dead='bad';
----
error 1210 (HY000): dead= needs max_deliveries=: after so many deliveries a row goes there

CREATE TABLE bad (v int) ENGINE=queue unique_by='v';
----
error 1210 (HY000): unique_by= and unique_for= go together: a column, and for how long

CREATE TABLE bad (v int) ENGINE=queue order_by='w';
----
error 1054 (42S22): no column 'w' in table 'bad'

