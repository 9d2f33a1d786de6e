# Errors name what was wrong: the value, its column, and the name that may have been meant.
CREATE TABLE goods (title text, j json, n int, d date, f float, m multi)
----
ok, 0 rows

INSERT INTO goods (id, j) VALUES (1, '{x:1}')
----
error 1366 (HY000): '{x:1}' is not JSON at byte 1, for column 'j' at row 1

INSERT INTO goods (id, n) VALUES (1, 'abc')
----
error 1366 (HY000): incorrect int value 'abc' for column 'n' at row 1

INSERT INTO goods (id, n) VALUES (1, 1), (2, 'a text that is far too long to be shown whole in the one line of an error')
----
error 1366 (HY000): incorrect int value 'a text that is far too long to be shown whole in the one line of…' for column 'n' at row 2

INSERT INTO goods (id, n) VALUES (1, 99999999999)
----
error 1264 (22003): out of range value '99999999999' for column 'n' at row 1

INSERT INTO goods (id, d) VALUES (1, '2024-13-01')
----
error 1366 (HY000): incorrect date value '2024-13-01' for column 'd' at row 1

INSERT INTO goods (id, m) VALUES (1, '1,b')
----
error 1366 (HY000): incorrect multi value '1,b' for column 'm' at row 1

INSERT INTO goods (id, title, j) VALUES (1, 'a hat', '{"a":1}')
----
ok, 1 rows

UPDATE goods SET n = 'abc' WHERE id = 1
----
error 1366 (HY000): incorrect int value 'abc' for column 'n' at row 1

UPDATE goods SET j = '[1' WHERE id = 1
----
error 1366 (HY000): '[1' is not JSON at byte 2, for column 'j' at row 1

INSERT INTO goods (id, titel) VALUES (2, 'a')
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

INSERT INTO good (id, title) VALUES (2, 'a')
----
error 1146 (42S02): no table 'good', did you mean goods?

UPDATE goods SET titel = 'a' WHERE id = 1
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

DELETE FROM goods WHERE titel = 'a'
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

SELECT titel FROM goods
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

SELECT id FROM goods ORDER BY titel ASC
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

SELECT COUNT(*) FROM goods GROUP BY titel
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

SELECT a.id FROM goods a JOIN goods b ON a.id = b.nn
----
error 1054 (42S22): no column 'b.nn' in table 'goods, goods'

SELECT id FROM good
----
error 1146 (42S02): no table 'good', did you mean goods?

SELECT id FROM goods WHERE MATCH('@titel hat')
----
error 1064 (42000): query text at byte 1: no field 'titel' found in schema: write \@titel for the handle; did you mean title?

SELECT id FROM goods WHERE MATCH('@nothing hat')
----
error 1064 (42000): query text at byte 1: no field 'nothing' found in schema: write \@nothing for the handle

SHOW CREATE TABLE good
----
error 1146 (42S02): no table 'good', did you mean goods?

DROP TABLE good
----
error 1146 (42S02): no table 'good', did you mean goods?

ALTER TABLE goods DROP COLUMN titel
----
error 1054 (42S22): no column 'titel' in table 'goods', did you mean title?

ALTER TABLE goods ADD COLUMN k int NOT NULL DEFAULT 'x'
----
error 1366 (HY000): incorrect int value 'x' for column 'k' at row 1


# Lists of REMAP: fractions make doubles; kinds are not mixed; constants are values of the column.
CREATE TABLE kinds (n int, f float, s string, d date, at timestamp, t time, m multi, j json)
----
ok, 0 rows

INSERT INTO kinds (id, n, f, s, d, at, t, m, j) VALUES (1, 1, 1.5, 'zeta', '2024-01-01', 1000, '10:11:12', '1,2', '{"p":1,"q":[3,"b",5]}'), (2, 2, 2.5, '10', '2023-01-01', 2000, '09:00:00', '2,3', '{"p":"ten"}'), (3, 3, 3.5, '2', '2022-01-01', 3000, '23:00:00', '3', '{"p":9.5}')
----
ok, 3 rows

SELECT id, REMAP(n, n, (1, 2), (3.5, 4)) AS r, REMAP(f, 0, (1.5, 2.5), (10, 20)) AS x, REMAP(n, 'none', (1, 2), ('one', 'two')) AS w FROM kinds
----
id | r | x | w
1 | 3.500000 | 10 | one
2 | 4.000000 | 20 | two
3 | 3 | 0 | none

SELECT id, REMAP(d, 0, ('2024-1-1', '20230101'), (1, 2)) AS r, REMAP(s, 0, ('10', 'ZETA'), (1, 2)) AS x, REMAP(j.p, 0, (1, 9.5), (5, 6)) AS w FROM kinds
----
id | r | x | w
1 | 1 | 2 | 5
2 | 2 | 1 | 0
3 | 0 | 0 | 6

SELECT id FROM kinds WHERE REMAP(n, n, (1, 2), (3.5, 4)) = 3.5
----
id
1

SELECT REMAP(n, 0, (1, 2), (3.5)) FROM kinds
----
error 1064 (42000): syntax error: remap() needs lists of one length, these have 2 and 1 values near 'REMAP(n, 0, (1, 2), (3.5)) FROM kinds' at line 1, position 7

SELECT REMAP(n, 0, (1, 2), (3.5, 'a')) FROM kinds
----
error 1064 (42000): syntax error: remap() takes lists of numbers or of texts, this one has both: 3.500000 and 'a' near '(3.5, 'a')) FROM kinds' at line 1, position 27

SELECT REMAP(n, 0, (1, n), (3, 4)) FROM kinds
----
error 1064 (42000): syntax error: expected a constant near 'n), (3, 4)) FROM kinds' at line 1, position 23

SELECT REMAP(n, 0, ('x', 'y'), (3, 4)) FROM kinds
----
error 1292 (22007): 'x' is no value of column 'n', which is int

# Values of several kinds.
SELECT id, GREATEST(n, s) AS g, LEAST(s, n) AS l, GREATEST(n, j.p) AS j, MAX(n, f) AS m FROM kinds
----
id | g | l | j | m
1 | NULL | NULL | 1 | 1.500000
2 | 10 | 2 | NULL | 2.500000
3 | 3 | 2 | 9.500000 | 3.500000

SELECT id, GREATEST(d, '2023-6-1') AS a, GREATEST(20230601, d) AS b, LEAST(d, NOW()) AS c, GREATEST(at, '1970-01-01 00:30:00') AS e, GREATEST(n, 1.5) AS f FROM kinds
----
id | a | b | c | e | f
1 | 2024-01-01 | 2024-01-01 | 2024-01-01 00:00:00 | 1800 | 1.500000
2 | 2023-06-01 | 2023-06-01 | 2023-01-01 00:00:00 | 2000 | 2
3 | 2023-06-01 | 2023-06-01 | 2022-01-01 00:00:00 | 3000 | 3

SELECT id, GREATEST(j.q) AS g, LEAST(j.q) AS l, NULLIF(d, '2023-1-1') AS n, INTERVAL(d, '2022-06-01', 20230601) AS i, INTERVAL(at, '1970-01-01 00:20:00', 2500) AS t, INTERVAL(s, 5) AS s FROM kinds
----
id | g | l | n | i | t | s
1 | b | 3 | 2024-01-01 | 2 | 0 | NULL
2 | NULL | NULL | NULL | 1 | 1 | 1
3 | NULL | NULL | 2022-01-01 | 0 | 2 | 0

SELECT id, GREATEST(t, '12:00:00') AS g, NULLIF(t, '9:0:0') AS n, INTERVAL(t, '10:00', '20:00') AS i, LEAST(at, NOW()) AS l, REMAP(t, 0, ('10:11:12', '9:00'), (1, 2)) AS r FROM kinds
----
id | g | n | i | l | r
1 | 12:00:00 | 10:11:12 | 1 | 1000 | 1
2 | 12:00:00 | NULL | 0 | 2000 | 2
3 | 23:00:00 | 23:00:00 | 2 | 3000 | 0

SELECT GREATEST(1, 'a'), GREATEST('a', 1), GREATEST('10', 9), LEAST(9, '10', 9.5)
----
GREATEST(1, 'a') | GREATEST('a', 1) | GREATEST('10', 9) | LEAST(9, '10', 9.5)
NULL | NULL | 10 | 9

SELECT GREATEST(n, 'abc') FROM kinds
----
error 1292 (22007): 'abc' is no value of column 'n', which is int

SELECT INTERVAL(n, 1, 'abc') FROM kinds
----
error 1292 (22007): 'abc' is no value of column 'n', which is int

SELECT GREATEST(d, at) FROM kinds
----
GREATEST(d, at)
1704067200
1672531200
1640995200

SELECT id FROM kinds WHERE LEAST(n, m) > 1
----
error 1210 (HY000): least() compares values of one kind: 'n' is int, 'm' is multi

SELECT NULLIF(t, n) FROM kinds
----
error 1210 (HY000): nullif() compares values of one kind: 't' is time, 'n' is int

SELECT MIN(j.p), MAX(j.p), MIN(IF(n = 1, n, s)), MAX(IF(n = 1, n, s)) FROM kinds
----
MIN(j.p) | MAX(j.p) | MIN(IF(n = 1, n, s)) | MAX(IF(n = 1, n, s))
1 | ten | 1 | 2

SELECT id, IF(n = 1, n, s) AS v, COALESCE(NULL, d, n) AS c, CASE WHEN n = 1 THEN at ELSE d END AS w FROM kinds ORDER BY v ASC
----
id | v | c | w
1 | 1 | 2024-01-01 | 1000
2 | 10 | 2023-01-01 | 2023-01-01
3 | 2 | 2022-01-01 | 2022-01-01

SELECT 1 UNION SELECT 'a' UNION SELECT '1' UNION SELECT 1.0
----
1
1
a
1

# A list as a value.
INSERT INTO kinds (id, n) VALUES (9, (1, 'b'))
----
error 1064 (42000): syntax error: expected a constant; a list as a value has whole numbers alone, as (1, 2) near '(1, 'b'))' at line 1, position 37

INSERT INTO kinds (id, m) VALUES (9, (1, 2.5))
----
error 1064 (42000): syntax error: expected a constant; a list as a value has whole numbers alone, as (1, 2) near '(1, 2.5))' at line 1, position 37

INSERT INTO kinds (id, n) VALUES (9, (SELECT 1))
----
error 1235 (42000): not yet: SELECT in brackets as a value

UPDATE kinds SET m = (1, 'b') WHERE id = 1
----
error 1064 (42000): syntax error: expected IN ((…), …) or = (…) behind a row (a, b); a list as a value has whole numbers alone, as (1, 2) near 'WHERE id = 1' at line 1, position 30

SELECT (1, 'b')
----
error 1064 (42000): syntax error: expected IN ((…), …) or = (…) behind a row (a, b); a list as a value has whole numbers alone, as (1, 2) at the end of the statement

INSERT INTO kinds (id, j) VALUES (9, '{"a": 1, "b": tru}')
----
error 1366 (HY000): '{"a": 1, "b": tru}' is not JSON at byte 17, for column 'j' at row 1

UPDATE kinds SET j = '{"a": 1}}' WHERE id = 1
----
error 1366 (HY000): '{"a": 1}}' is not JSON at byte 8, for column 'j' at row 1


# A moment, a time of day and a year are of three kinds.
CREATE TABLE three (ts timestamp, tm time, y year)
----
ok, 0 rows

SELECT id FROM three WHERE ts > tm
----
error 1210 (HY000): a condition compares values of one kind: 'ts' is timestamp, 'tm' is time

SELECT id FROM three WHERE y = ts
----
error 1210 (HY000): a condition compares values of one kind: 'y' is year, 'ts' is timestamp

SELECT id FROM three WHERE IFNULL(tm, '1:00:00') = y
----
error 1210 (HY000): a condition compares values of one kind: 'tm' is time, 'y' is year

SELECT x.id FROM three AS x JOIN three AS z ON x.ts = z.tm
----
error 1210 (HY000): a condition compares values of one kind: 'x.ts' is timestamp, 'z.tm' is time

