# What clients say when they connect, and statements that are nobody's.

SELECT @@version_comment LIMIT 1;
----

SELECT DATABASE();
----

SELECT 1;
----

SELECT 1 + 1;
----

SET NAMES utf8mb4;
----

SET autocommit = 1;
----

SET SESSION sql_mode = 'TRADITIONAL';
----

USE anything;
----

SHOW DATABASES;
----

SHOW WARNINGS;
----

SHOW VARIABLES LIKE 'max_allowed_packet';
----

BEGIN;
----

COMMIT;
----

CREATE TABLE t (body text);
----

INSERT INTO anything.t (id, body) VALUES (1, 'with a database name');
----

SELECT id FROM other.t;
----

SELEKT 1;
----

SELECT;
----

SELECT id FROM t WHERE;
----

SELECT id FROM t WHERE body = 'open;
----

UPDATE t SET body = 'x' WHERE id = 1;
----

ALTER TABLE t ADD COLUMN c int;
----

SHOW NOTHING;
----

