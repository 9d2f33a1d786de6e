# Rows: values of every type, reading them back, replacing and deleting them.

CREATE TABLE t (body text, sub string, ts timestamp, n int, big bigint, f float, yes bool);
----

INSERT INTO t (id, body, sub, ts, n, big, f, yes) VALUES (1, 'red shoes', 'a', '2013-07-08T05:28:54Z', 5, -9223372036854775808, 0.5, 1), (2, 'blue shoes', 'b', 1373261334, 4294967295, 9223372036854775807, -2, 0), (3, 'Ärger über Straße', '', 0, -2147483648, 0, 0, 1);
----

SELECT * FROM t ORDER BY id ASC;
----

SELECT id, ts FROM t WHERE id = 1;
----

# Every kind of condition.
SELECT id FROM t WHERE n > 4 AND n <= 4294967295 ORDER BY id ASC;
----

SELECT id FROM t WHERE id IN (3, 1, 9) ORDER BY id DESC;
----

SELECT id FROM t WHERE id NOT IN (3, 1);
----

SELECT id FROM t WHERE n BETWEEN 0 AND 10 OR sub = 'b' ORDER BY id ASC;
----

SELECT id FROM t WHERE NOT (yes = 1);
----

SELECT id, n * 2 + 1 AS m FROM t WHERE id < 3 ORDER BY m DESC;
----

SELECT id FROM t ORDER BY sub DESC, id ASC LIMIT 2;
----

SELECT id FROM t ORDER BY id ASC LIMIT 1, 1;
----

SELECT id FROM t ORDER BY id ASC LIMIT 1 OFFSET 2;
----

SELECT COUNT(*) FROM t;
----

SELECT COUNT(*) AS c FROM t WHERE yes = 1;
----

# Missing columns are empty; an id is chosen where none is given.
INSERT INTO t (id, body) VALUES (10, 'only a body');
----

SELECT * FROM t WHERE id = 10;
----

INSERT INTO t (body) VALUES ('an id is chosen');
----

SELECT COUNT(*) FROM t WHERE MATCH('chosen');
----

# Bad values: nothing of the statement is stored.
INSERT INTO t (id, n) VALUES (20, 1), (21, 4294967296);
----

INSERT INTO t (id, n) VALUES (20, -2147483649);
----

INSERT INTO t (id, big) VALUES (20, 9223372036854775808);
----

INSERT INTO t (id, n) VALUES (20, 'many');
----

INSERT INTO t (id, ts) VALUES (20, 'yesterday');
----

INSERT INTO t (id, nothing) VALUES (20, 1);
----

INSERT INTO t (id, n) VALUES (20, 1), (21);
----

INSERT INTO t (id, n) VALUES (20, 1), (1, 1);
----

INSERT INTO t (id, n) VALUES (20, 1), (20, 2);
----

INSERT INTO nothing (id) VALUES (1);
----

SELECT COUNT(*) FROM t WHERE id >= 20 AND id <= 21;
----

REPLACE INTO t (id, body, n) VALUES (1, 'green hat', 6);
----

SELECT id, body, sub, n FROM t WHERE id = 1;
----

SELECT id FROM t WHERE MATCH('red');
----

DELETE FROM t WHERE id = 2;
----

DELETE FROM t WHERE id = 2;
----

DELETE FROM t WHERE n = 6;
----

SELECT id FROM t WHERE id < 5;
----

DELETE FROM t WHERE MATCH('body');
----

SELECT nothing FROM t;
----

SELECT id FROM t WHERE nothing = 1;
----

SELECT id FROM t ORDER BY nothing ASC;
----

SELECT id FROM nothing;
----

DELETE FROM nothing WHERE id = 1;
----

DELETE FROM t;
----

SELECT COUNT(*) FROM t;
----

