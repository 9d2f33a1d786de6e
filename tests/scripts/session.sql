# What clients say when they connect, and statements that are nobody's.

SELECT @@version_comment LIMIT 1;
----
@@version_comment
Seine

SELECT DATABASE();
----
DATABASE()
NULL

SELECT 1;
----
1
1

SELECT 'a' 'b' "c" AS joined, 1 'one';
----
joined | one
abc | 1

SELECT 1 + 1;
----
1 + 1
2

SET NAMES utf8mb4;
----
ok, 0 rows

SET autocommit = 1;
----
ok, 0 rows

SET SESSION sql_mode = 'TRADITIONAL';
----
ok, 0 rows

USE anything;
----
ok, 0 rows

SHOW DATABASES;
----
Database
seine

SHOW WARNINGS;
----
Level | Code | Message

SHOW VARIABLES LIKE 'max_allowed_packet';
----
Variable_name | Value
max_allowed_packet | 134217728

BEGIN;
----
ok, 0 rows

COMMIT;
----
ok, 0 rows

CREATE TABLE t (body text);
----
ok, 0 rows

INSERT INTO anything.t (id, body) VALUES (1, 'with a database name');
----
ok, 1 rows

SELECT id FROM other.t;
----
id
1

SELEKT 1;
----
error 1064 (42000): syntax error: expected a statement near 'SELEKT 1' at line 1, position 0

SELECT;
----
error 1064 (42000): syntax error: expected a value at the end of the statement

SELECT id FROM t WHERE;
----
error 1064 (42000): syntax error: expected a value at the end of the statement

SELECT id FROM t WHERE body = 'open;
----
error 1064 (42000): syntax error: unclosed string near ''open;' at line 1, position 30

UPDATE t SET body = 'x' WHERE id = 1;
----
error 1210 (HY000): UPDATE cannot set the text column 'body', which is searched: REPLACE the row

ALTER TABLE t ADD COLUMN c int;
----
ok, 0 rows

SHOW NOTHING;
----
error 1064 (42000): syntax error: expected what to show, e.g. TABLES, STATUS or META near 'NOTHING' at line 1, position 5

