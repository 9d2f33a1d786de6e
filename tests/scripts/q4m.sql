# Q4M's statements, as its manual and its own tests have them.

INSTALL PLUGIN queue SONAME 'libqueue_engine.so';
----
ok, 0 rows

CREATE FUNCTION queue_wait RETURNS INT SONAME 'libqueue_engine.so';
----
ok, 0 rows

CREATE FUNCTION queue_stats RETURNS STRING SONAME 'libqueue_engine.so';
----
ok, 0 rows

DROP FUNCTION queue_stats;
----
ok, 0 rows

CREATE FUNCTION mine RETURNS INT SONAME 'mine.so';
----
error 1235 (42000): not yet: functions of one's own

CREATE TABLE high (v int NOT NULL) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE low (v int NOT NULL, prio tinyint NOT NULL, s varchar(20)) ENGINE=queue DEFAULT CHARSET=utf8;
----
ok, 0 rows

# Several queues: the first that has a row gives it; the answer is its place.
SELECT queue_wait('high', 'low', 0);
----
queue_wait('high', 'low', 0)
0

SELECT queue_end();
----
queue_end()
1

INSERT INTO low VALUES (1, 0, 'a'), (2, 1, 'b'), (3, 1, 'c');
----
ok, 3 rows

INSERT INTO high VALUES (10);
----
ok, 1 rows

SELECT queue_wait('high', 'test.low', 1);
----
queue_wait('high', 'test.low', 1)
1

SELECT * FROM high;
----
v
10

# Owner mode: other queues look empty.
SELECT * FROM low;
----
v | prio | s

SELECT COUNT(*) FROM high;
----
COUNT(*)
1

SELECT queue_wait('high', 'test.low', 1);
----
queue_wait('high', 'test.low', 1)
2

SELECT v FROM low;
----
v
1

SELECT queue_rowid();
----
queue_rowid()
1

SELECT queue_abort();
----
queue_abort()
1

SELECT queue_rowid();
----
error 1210 (HY000): queue_rowid(): not in owner mode

SELECT queue_abort();
----
error 1210 (HY000): queue_abort(): not in owner mode

# Conditions. Priorities within one queue.
SELECT queue_wait('low:prio=1', 'low:prio=0', 1);
----
queue_wait('low:prio=1', 'low:prio=0', 1)
1

SELECT v FROM low;
----
v
2

SELECT queue_wait('low:prio=1 && v!=3', 'low:prio=0', 1);
----
queue_wait('low:prio=1 && v!=3', 'low:prio=0', 1)
2

SELECT v FROM low;
----
v
1

SELECT queue_abort();
----
queue_abort()
1

SELECT queue_wait('low:(v & 0x2) << 1 = 4 and not v is null xor pow(v, 2) = 8', 0);
----
queue_wait('low:(v & 0x2) << 1 = 4 and not v is null xor pow(v, 2) = 8', 0)
1

SELECT queue_abort();
----
queue_abort()
1

# Beyond Q4M: texts, IN, BETWEEN.
SELECT queue_wait("low:s IN ('x', 'c') AND v BETWEEN 1 AND 5", 0);
----
queue_wait("low:s IN ('x', 'c') AND v BETWEEN 1 AND 5", 0)
1

SELECT s FROM low;
----
s
c

SELECT queue_abort();
----
queue_abort()
1

SELECT queue_wait('low:v div 0 = 1', 0);
----
queue_wait('low:v div 0 = 1', 0)
0

SELECT queue_end();
----
queue_end()
1

# What cannot be is NULL, and the warning says where.
SELECT queue_wait('low:prio >', 0);
----
queue_wait('low:prio >', 0), 1 warnings
NULL

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | queue_wait(): argument 1: condition of 'low': expected a value, found the end at byte 6

SELECT queue_wait('low:nothing = 1', 0);
----
queue_wait('low:nothing = 1', 0), 1 warnings
NULL

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | no column 'nothing' in table 'low'

SELECT queue_wait('nothing', 0);
----
queue_wait('nothing', 0), 1 warnings
NULL

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | no table 'nothing'

SELECT queue_wait('low', 'high');
----
queue_wait('low', 'high'), 1 warnings
NULL

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | queue_wait(): the last of several arguments is the seconds to wait, from 0

SELECT queue_end();
----
queue_end()
1

# A relay: what was received before is passed over.
SELECT queue_set_srcid(0, 'a', 5);
----
queue_set_srcid(0, 'a', 5)
1

INSERT INTO high VALUES (20);
----
ok, 1 rows

SELECT queue_set_srcid(0, 'a', 5);
----
queue_set_srcid(0, 'a', 5)
1

INSERT INTO high VALUES (20);
----
ok, 1 rows

SELECT v FROM high;
----
v
20

SELECT queue_set_srcid('0', 'w', '4');
----
queue_set_srcid('0', 'w', '4')
1

INSERT INTO high VALUES (21);
----
ok, 1 rows

SELECT v FROM high;
----
v
20
21

SELECT queue_set_srcid(64, 'a', 5);
----
queue_set_srcid(64, 'a', 5), 1 warnings
NULL

SELECT queue_set_srcid(0, 'x', 5);
----
queue_set_srcid(0, 'x', 5), 1 warnings
NULL

# An owner that deletes its row and aborts: the row stays deleted.
SELECT queue_wait('high', 0);
----
queue_wait('high', 0)
1

DELETE FROM high;
----
ok, 1 rows

SELECT queue_abort();
----
queue_abort()
1

SELECT v FROM high;
----
v
21

# The one-statement way of MySQL before 5.6.
SELECT v, s FROM low WHERE queue_wait('low');
----
v | s
1 | a

SELECT v FROM low WHERE queue_wait('low:v > 100', 0);
----
v

SELECT v FROM low WHERE queue_wait('low', 'high', 1) = 1 AND v > 0;
----
v
3

SELECT queue_end();
----
queue_end()
1

SELECT v FROM low;
----
v

# UPDATE is refused, and keys are.
UPDATE high SET v = 1;
----
error 1031 (HY000): 'high' is a queue: its rows are inserted, taken and deleted, not updated

UPDATE nothing SET v = 1;
----
error 1146 (42S02): no table 'nothing'

REPLACE INTO high VALUES (1);
----
error 1210 (HY000): 'high' is a queue: it has no ids to replace

CREATE TABLE k (id int PRIMARY KEY) ENGINE=queue;
----
error 1235 (42000): not yet: PRIMARY KEY (search and pq tables have an implied unique `id`, queues have no key; leave it out)

CREATE TABLE k (id int UNIQUE) ENGINE=queue;
----
error 1235 (42000): not yet: UNIQUE (ids are unique in search and pq tables, and a queue has the option unique_by; leave it out)

CREATE TABLE k (id int AUTO_INCREMENT) ENGINE=queue;
----
error 1235 (42000): not yet: AUTO_INCREMENT (search and pq tables have an implied unique `id`, queues have no key; leave it out)

CREATE TABLE k (id int, INDEX (id)) ENGINE=queue;
----
error 1235 (42000): not yet: INDEX (a queue has no keys, and a search table takes KEY (column) behind its columns; leave it out)

# Types, ranges, NULL and defaults.
CREATE TABLE types (a tinyint, b tinyint unsigned, c smallint, d mediumint unsigned, e int, f bigint, g bigint unsigned, h varchar(3) CHARACTER SET utf8 COLLATE utf8_bin, i tinytext, j varbinary(2), k longblob, l double, m char(2) NOT NULL DEFAULT 'x', n int NOT NULL DEFAULT 7) ENGINE=queue;
----
ok, 0 rows

INSERT INTO types (a, b, c, d, e, f, g, h, i, j, k, l) VALUES (-128, 255, -32768, 16777215, -2147483648, -9223372036854775808, 18446744073709551615, 'äöü', 't', x'FFFE', x'4142', 0.1);
----
ok, 1 rows

SELECT a, b, c, d, e, f, g, h, i, k, l, m, n FROM types;
----
a | b | c | d | e | f | g | h | i | k | l | m | n
-128 | 255 | -32768 | 16777215 | -2147483648 | -9223372036854775808 | 18446744073709551615 | äöü | t | AB | 0.1 | x | 7

INSERT INTO types (a) VALUES (128);
----
error 1264 (22003): out of range value '128' for column 'a' at row 1

INSERT INTO types (b) VALUES (-1);
----
error 1264 (22003): out of range value '-1' for column 'b' at row 1

INSERT INTO types (g) VALUES (18446744073709551616);
----
error 1264 (22003): out of range value '18446744073709551616' for column 'g' at row 1

INSERT INTO types (h) VALUES ('four');
----
error 1406 (22001): value too long for column 'h' at row 1

INSERT INTO types (j) VALUES (x'414243');
----
error 1406 (22001): value too long for column 'j' at row 1

INSERT INTO types (n) VALUES (NULL);
----
error 1048 (23000): NULL given for column 'n' at row 1

INSERT INTO types (a) VALUES ('x');
----
error 1366 (HY000): incorrect tinyint value 'x' for column 'a' at row 1

SELECT COUNT(*) FROM types;
----
COUNT(*)
1

# DELETE … ORDER BY … LIMIT.
CREATE TABLE pairs (v int NOT NULL, w int NOT NULL) ENGINE=queue;
----
ok, 0 rows

INSERT INTO pairs VALUES (1, 3), (2, 2), (2, 1), (3, 0);
----
ok, 4 rows

DELETE FROM pairs WHERE v = 2 ORDER BY w LIMIT 1;
----
ok, 1 rows

SELECT * FROM pairs;
----
v | w
1 | 3
2 | 2
3 | 0

DELETE FROM pairs ORDER BY v DESC LIMIT 2;
----
ok, 2 rows

SELECT * FROM pairs;
----
v | w
1 | 3

# DELETE … LIMIT takes the first.
INSERT INTO high VALUES (1), (2), (3), (4*10);
----
ok, 4 rows

DELETE FROM high WHERE v < 10 LIMIT 2;
----
ok, 2 rows

SELECT v FROM high;
----
v
21
3
40

SELECT queue_compact('high');
----
queue_compact('high')
1

SELECT queue_compact('nothing');
----
queue_compact('nothing'), 1 warnings
NULL

SELECT queue_stats('nothing');
----
queue_stats('nothing'), 1 warnings
NULL

TRUNCATE TABLE high;
----
ok, 0 rows

SELECT COUNT(*) FROM high;
----
COUNT(*)
0

DROP TABLE low;
----
ok, 0 rows

SELECT queue_wait('low', 0);
----
queue_wait('low', 0), 1 warnings
NULL

