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

