# bleve's index alias and its internal values, as docs/compat.md shows them.

# An alias over one index; a new one is built beside it, then both change places in one step.
CREATE TABLE posts_1 (body text)
----
ok, 0 rows

INSERT INTO posts_1 (id, body) VALUES (1, 'first build')
----
ok, 1 rows

CREATE TABLE posts type='distributed' local='posts_1'
----
ok, 0 rows

SELECT id, body FROM posts WHERE MATCH('build')
----
id | body
1 | first build

CREATE TABLE posts_2 LIKE posts_1
----
ok, 0 rows

INSERT INTO posts_2 (id, body) VALUES (1, 'second build'), (2, 'one more build')
----
ok, 2 rows

ALTER TABLE posts local='posts_2'
----
ok, 0 rows

SELECT id, body FROM posts WHERE MATCH('build') ORDER BY id ASC
----
id | body
1 | second build
2 | one more build

# Add and Remove are the list of all parts, with and without one.
ALTER TABLE posts local='posts_1', local='posts_2'
----
ok, 0 rows

SELECT COUNT(*) FROM posts
----
COUNT(*)
3

ALTER TABLE posts local='posts_2'
----
ok, 0 rows

DROP TABLE posts_1
----
ok, 0 rows

# SetInternal, GetInternal, DeleteInternal.
CREATE TABLE internal (k string, v string)
----
ok, 0 rows

BEGIN
----
ok, 0 rows

DELETE FROM internal WHERE k = '_mapping'
----
ok, 0 rows

INSERT INTO internal (k, v) VALUES ('_mapping', '{"a":1}')
----
ok, 1 rows

COMMIT
----
ok, 0 rows

BEGIN
----
ok, 0 rows

DELETE FROM internal WHERE k = '_mapping'
----
ok, 1 rows

INSERT INTO internal (k, v) VALUES ('_mapping', '{"a":2}')
----
ok, 1 rows

COMMIT
----
ok, 0 rows

SELECT v FROM internal WHERE k = '_mapping'
----
v
{"a":2}

SELECT v FROM internal WHERE k = 'absent'
----
v

DELETE FROM internal WHERE k = '_mapping'
----
ok, 1 rows

SELECT COUNT(*) FROM internal
----
COUNT(*)
0

