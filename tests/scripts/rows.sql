# Rows: values of every type, reading them back, replacing and deleting them.

CREATE TABLE t (body text, sub string, ts timestamp, n int, big bigint, f float, yes bool);
----
ok, 0 rows

INSERT INTO t (id, body, sub, ts, n, big, f, yes) VALUES (1, 'red shoes', 'a', '2013-07-08T05:28:54Z', 5, -9223372036854775808, 0.5, 1), (2, 'blue shoes', 'b', 1373261334, 4294967295, 9223372036854775807, -2, 0), (3, 'Ärger über Straße', '', 0, -2147483648, 0, 0, 1);
----
ok, 3 rows

SELECT * FROM t ORDER BY id ASC;
----
id | body | sub | ts | n | big | f | yes
1 | red shoes | a | 1373261334 | 5 | -9223372036854775808 | 0.500000 | 1
2 | blue shoes | b | 1373261334 | 4294967295 | 9223372036854775807 | -2.000000 | 0
3 | Ärger über Straße |  | 0 | -2147483648 | 0 | 0.000000 | 1

SELECT id, ts FROM t WHERE id = 1;
----
id | ts
1 | 1373261334

# Every kind of condition.
SELECT id FROM t WHERE n > 4 AND n <= 4294967295 ORDER BY id ASC;
----
id
1
2

SELECT id FROM t WHERE id IN (3, 1, 9) ORDER BY id DESC;
----
id
3
1

SELECT id FROM t WHERE id NOT IN (3, 1);
----
id
2

SELECT id FROM t WHERE n BETWEEN 0 AND 10 OR sub = 'b' ORDER BY id ASC;
----
id
1
2

SELECT id FROM t WHERE NOT (yes = 1);
----
id
2

SELECT id, n * 2 + 1 AS m FROM t WHERE id < 3 ORDER BY m DESC;
----
id | m
2 | 8589934591
1 | 11

SELECT id FROM t ORDER BY sub DESC, id ASC LIMIT 2;
----
id
2
1

SELECT id FROM t ORDER BY id ASC LIMIT 1, 1;
----
id
2

SELECT id FROM t ORDER BY id ASC LIMIT 1 OFFSET 2;
----
id
3

SELECT COUNT(*) FROM t;
----
COUNT(*)
3

SELECT COUNT(*) AS c FROM t WHERE yes = 1;
----
c
2

# Missing columns are empty; an id is chosen where none is given.
INSERT INTO t (id, body) VALUES (10, 'only a body');
----
ok, 1 rows

SELECT * FROM t WHERE id = 10;
----
id | body | sub | ts | n | big | f | yes
10 | only a body |  | 0 | 0 | 0 | 0.000000 | 0

INSERT INTO t (body) VALUES ('an id is chosen');
----
ok, 1 rows

SELECT COUNT(*) FROM t WHERE MATCH('chosen');
----
COUNT(*)
1

# Bad values: nothing of the statement is stored.
INSERT INTO t (id, n) VALUES (20, 1), (21, 4294967296);
----
error 1264 (22003): out of range value '4294967296' for column 'n' at row 2

INSERT INTO t (id, n) VALUES (20, -2147483649);
----
error 1264 (22003): out of range value '-2147483649' for column 'n' at row 1

INSERT INTO t (id, big) VALUES (20, 9223372036854775808);
----
error 1264 (22003): out of range value '9223372036854775808' for column 'big' at row 1

INSERT INTO t (id, n) VALUES (20, 'many');
----
error 1366 (HY000): incorrect int value 'many' for column 'n' at row 1

INSERT INTO t (id, ts) VALUES (20, 'yesterday');
----
error 1366 (HY000): incorrect timestamp value 'yesterday' for column 'ts' at row 1

INSERT INTO t (id, nothing) VALUES (20, 1);
----
error 1054 (42S22): no column 'nothing' in table 't'

INSERT INTO t (id, n) VALUES (20, 1), (21);
----
error 1136 (21S01): column count does not match value count at row 2

INSERT INTO t (id, n) VALUES (20, 1), (1, 1);
----
error 1062 (23000): duplicate id '1' at row 2

INSERT INTO t (id, n) VALUES (20, 1), (20, 2);
----
error 1062 (23000): duplicate id '20' at row 2

INSERT INTO nothing (id) VALUES (1);
----
error 1146 (42S02): no table 'nothing'

SELECT COUNT(*) FROM t WHERE id >= 20 AND id <= 21;
----
COUNT(*)
0

REPLACE INTO t (id, body, n) VALUES (1, 'green hat', 6);
----
ok, 1 rows

SELECT id, body, sub, n FROM t WHERE id = 1;
----
id | body | sub | n
1 | green hat |  | 6

SELECT id FROM t WHERE MATCH('red');
----
id

DELETE FROM t WHERE id = 2;
----
ok, 1 rows

DELETE FROM t WHERE id = 2;
----
ok, 0 rows

DELETE FROM t WHERE n = 6;
----
ok, 1 rows

SELECT id FROM t WHERE id < 5;
----
id
3

DELETE FROM t WHERE MATCH('body');
----
ok, 1 rows

SELECT nothing FROM t;
----
error 1054 (42S22): no column 'nothing' in table 't'

SELECT id FROM t WHERE nothing = 1;
----
error 1054 (42S22): no column 'nothing' in table 't'

SELECT id FROM t ORDER BY nothing ASC;
----
error 1054 (42S22): no column 'nothing' in table 't'

SELECT id FROM nothing;
----
error 1146 (42S02): no table 'nothing'

DELETE FROM nothing WHERE id = 1;
----
error 1146 (42S02): no table 'nothing'

DELETE FROM t;
----
ok, 2 rows

SELECT COUNT(*) FROM t;
----
COUNT(*)
0

