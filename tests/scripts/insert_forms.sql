# The forms of INSERT and REPLACE.
CREATE TABLE hits (page text, n int, tag string, j json, KEY (n));
----
ok, 0 rows

INSERT INTO hits SET id=1, page='cat one', n=10, tag='a', j='{"a": 1}';
----
ok, 1 rows

INSERT hits SET page='dog two', n=2*3;
----
ok, 1 rows

REPLACE INTO hits SET id=1, page='cat first', n=11;
----
ok, 1 rows

SELECT * FROM hits ORDER BY id ASC;
----
id | page | n | tag | j
1 | cat first | 11 |  | NULL
2 | dog two | 6 |  | NULL

# IGNORE leaves out known ids.
INSERT IGNORE INTO hits (id, page, n) VALUES (1, 'x', 1), (3, 'bird', 3), (3, 'y', 4), (4, 'fish', 4);
----
ok, 2 rows, 2 warnings

SHOW WARNINGS;
----
Level | Code | Message, 2 warnings
Warning | 1000 | id 1 is known: the row was left out
Warning | 1000 | id 3 is known: the row was left out

INSERT IGNORE INTO hits (page, n) VALUES ('new id', 5);
----
ok, 1 rows

INSERT IGNORE INTO hits (id, page, n) VALUES (1, 'x', 1);
----
ok, 0 rows, 1 warnings

INSERT IGNORE INTO hits (id, page, n) VALUES (9, 'x', 'nine');
----
error 1366 (HY000): incorrect int value 'nine' for column 'n' at row 1

SELECT id, page, n FROM hits ORDER BY id ASC;
----
id | page | n
1 | cat first | 11
2 | dog two | 6
3 | bird | 3
4 | fish | 4
5 | new id | 5

# ON DUPLICATE KEY UPDATE changes the stored row: 1 for a new row, 2 for a changed one, 0 for one that has the values.
INSERT INTO hits (id, page, n) VALUES (1, 'x', 5), (20, 'heron', 5), (20, 'y', 7) ON DUPLICATE KEY UPDATE n = n + VALUES(n), tag = 'seen';
----
ok, 5 rows

INSERT INTO hits (id, page, n) VALUES (1, 'x', 16) AS new ON DUPLICATE KEY UPDATE n = new.n;
----
ok, 0 rows

INSERT INTO hits (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE j.a = 7, j.b = VALUES(n);
----
ok, 2 rows

SELECT id, page, n, tag, j FROM hits WHERE id IN (1, 20) ORDER BY id ASC;
----
id | page | n | tag | j
1 | cat first | 16 | seen | {"a":7,"b":1}
20 | heron | 12 | seen | NULL

SELECT id FROM hits WHERE n = 16;
----
id
1

SELECT id FROM hits WHERE MATCH('heron');
----
id
20

SELECT LAST_INSERT_ID();
----
LAST_INSERT_ID()
20

INSERT INTO hits (id, page) VALUES (1, 'x') ON DUPLICATE KEY UPDATE page = 'z';
----
error 1210 (HY000): UPDATE cannot set the text column 'page', which is searched: REPLACE the row

INSERT INTO hits (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE id = 5;
----
error 1210 (HY000): UPDATE cannot set 'id': INSERT the row under its new id and DELETE the old one

INSERT INTO hits (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE nothing = 5;
----
error 1054 (42S22): no column 'nothing' in table 'hits'

INSERT INTO hits (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = VALUES(nothing);
----
error 1054 (42S22): no column 'VALUES(nothing)' in table 'hits'

INSERT INTO hits (id, n) VALUES (1, 1) ON DUPLICATE KEY UPDATE n = 'many';
----
error 1366 (HY000): incorrect int value 'many' for column 'n' at row 1

INSERT INTO hits (id, n) VALUES (30, 1), (1, 'x') ON DUPLICATE KEY UPDATE n = 1;
----
error 1366 (HY000): incorrect int value 'x' for column 'n' at row 2

INSERT INTO hits (id, n) VALUES (1, 1) ON DUPLICATE KEY;
----
error 1064 (42000): syntax error: expected the end of the statement near 'ON DUPLICATE KEY' at line 1, position 39

SELECT COUNT(*) FROM hits;
----
COUNT(*)
6

# REPLACE of single columns.
REPLACE INTO hits SET page='cat again' WHERE id=1;
----
ok, 1 rows

SELECT id, page, n, tag, j FROM hits WHERE MATCH('again');
----
id | page | n | tag | j
1 | cat again | 16 | seen | {"a":7,"b":1}

SELECT id FROM hits WHERE MATCH('first');
----
id

REPLACE INTO hits SET n=1 WHERE id=99;
----
error 1210 (HY000): REPLACE … SET: 'hits' has no row with id 99

REPLACE INTO hits SET n=1 WHERE n=3;
----
error 1064 (42000): syntax error: REPLACE … SET takes WHERE id = n near 'WHERE n=3' at line 1, position 26

REPLACE INTO hits SET n=m;
----
error 1064 (42000): syntax error: a value of INSERT is a constant near 'm' at line 1, position 24

# INSERT … SELECT.
CREATE TABLE old LIKE hits;
----
ok, 0 rows

INSERT INTO old SELECT * FROM hits;
----
ok, 6 rows

INSERT INTO old (page, n) SELECT page, n + 100 FROM hits WHERE n > 3 ORDER BY n ASC LIMIT 2;
----
ok, 2 rows

SELECT id, page, n, tag FROM old ORDER BY id ASC;
----
id | page | n | tag
1 | cat again | 16 | seen
2 | dog two | 6 | 
3 | bird | 3 | 
4 | fish | 4 | 
5 | new id | 5 | 
20 | heron | 12 | seen
21 | fish | 104 | 
22 | new id | 105 | 

INSERT INTO old SELECT * FROM hits;
----
error 1062 (23000): duplicate id '1' at row 1

INSERT IGNORE INTO old SELECT * FROM hits;
----
ok, 0 rows, 6 warnings

REPLACE INTO old (id, page) SELECT id, page FROM hits WHERE id = 3;
----
ok, 1 rows

INSERT INTO old (n) SELECT 7;
----
ok, 1 rows

INSERT INTO old (page) SELECT n, page FROM hits;
----
error 1136 (21S01): column count does not match value count at row 1

INSERT INTO old (n) SELECT page FROM hits;
----
error 1366 (HY000): incorrect int value 'cat again' for column 'n' at row 1

INSERT INTO old SELECT * FROM nothing;
----
error 1146 (42S02): no table 'nothing'

INSERT INTO old SELECT * FROM hits WHERE id = 12345;
----
ok, 0 rows

SELECT COUNT(*) FROM old;
----
COUNT(*)
9

CREATE TABLE q (page text, n int) ENGINE=queue;
----
ok, 0 rows

INSERT INTO q SELECT page, n FROM hits WHERE n = 4;
----
ok, 1 rows

SELECT * FROM q;
----
page | n
fish | 4

INSERT INTO old (id, page, n) SELECT 500, page, n FROM q;
----
ok, 1 rows

# In a transaction.
BEGIN;
----
ok, 0 rows

INSERT INTO hits (id, n) VALUES (1, 1), (50, 1) ON DUPLICATE KEY UPDATE n = n + 1;
----
ok, 3 rows

INSERT INTO hits (id, n) VALUES (50, 1) ON DUPLICATE KEY UPDATE n = n + 1;
----
ok, 2 rows

INSERT IGNORE INTO hits (id, n) VALUES (50, 9), (51, 9);
----
ok, 1 rows, 1 warnings

INSERT INTO old (id, n) SELECT id + 1000, n FROM hits WHERE id >= 50;
----
ok, 2 rows

SELECT id, n FROM hits WHERE id IN (1, 50, 51) ORDER BY id ASC;
----
id | n
1 | 17
50 | 2
51 | 9

COMMIT;
----
ok, 0 rows

SELECT id, n FROM hits WHERE id IN (1, 50, 51) ORDER BY id ASC;
----
id | n
1 | 17
50 | 2
51 | 9

SELECT id, n FROM old WHERE id > 1000 ORDER BY id ASC;
----
id | n
1050 | 2
1051 | 9

# Other tables.
INSERT IGNORE INTO q (page, n) VALUES ('x', 1);
----
ok, 1 rows

INSERT INTO q (page, n) VALUES ('x', 1) ON DUPLICATE KEY UPDATE n = 2;
----
error 1210 (HY000): 'q' is no search table: only rows of those are changed in place

CREATE TABLE rules (page text) type='pq';
----
ok, 0 rows

INSERT INTO rules (id, query) VALUES (1, 'cat');
----
ok, 1 rows

INSERT IGNORE INTO rules (id, query) VALUES (1, 'dog'), (2, 'bird');
----
ok, 1 rows, 1 warnings

SELECT id, query FROM rules ORDER BY id ASC;
----
id | query
1 | cat
2 | bird

