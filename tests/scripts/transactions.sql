# BEGIN … COMMIT is one unit: what it writes is seen by its own connection at once, by others after COMMIT, and not after ROLLBACK.
CREATE TABLE posts (body text, n int)
----
ok, 0 rows

CREATE TABLE jobs (v int NOT NULL) ENGINE=queue
----
ok, 0 rows

CREATE TABLE pq (body text) type='pq'
----
ok, 0 rows

BEGIN
----
ok, 0 rows

SELECT @@autocommit, @@in_transaction
----
@@autocommit | @@in_transaction
1 | 1

INSERT INTO posts (body, n) VALUES ('red fox', 1), ('red hen', 2)
----
ok, 2 rows

SELECT LAST_INSERT_ID()
----
LAST_INSERT_ID()
1,2

INSERT INTO posts VALUES (7, 'blue hen', 3)
----
ok, 1 rows

INSERT INTO posts VALUES (7, 'blue cat', 4)
----
error 1062 (23000): duplicate id '7'

SELECT id, n FROM posts WHERE MATCH('hen') ORDER BY id ASC
----
id | n
2 | 2
7 | 3

DELETE FROM posts WHERE n = 2
----
ok, 1 rows

REPLACE INTO posts VALUES (7, 'grey hen', 5)
----
ok, 1 rows

SELECT id, body, n FROM posts ORDER BY id ASC
----
id | body | n
1 | red fox | 1
7 | grey hen | 5

SELECT COUNT(*) FROM posts
----
COUNT(*)
2

INSERT INTO pq (query) VALUES ('cat')
----
ok, 1 rows

SELECT id, query FROM pq
----
id | query
1 | cat

INSERT INTO jobs VALUES (1), (2)
----
ok, 2 rows

SELECT * FROM jobs
----
v
1
2

# Nobody else sees any of it.
[other] SELECT COUNT(*) FROM posts
----
COUNT(*)
0

[other] SELECT * FROM jobs
----
v

[other] SELECT id FROM pq
----
id

ROLLBACK
----
ok, 0 rows

SELECT COUNT(*) FROM posts
----
COUNT(*)
0

SELECT * FROM jobs
----
v

SELECT @@in_transaction
----
@@in_transaction
0

# As AUTO_INCREMENT does, the assigned ids of a transaction that was rolled back leave a gap: here 1 and 2. The 7 that the client
# gave does not.
START TRANSACTION
----
ok, 0 rows

INSERT INTO posts (body, n) VALUES ('one', 1)
----
ok, 1 rows

SELECT LAST_INSERT_ID()
----
LAST_INSERT_ID()
3

INSERT INTO posts (body, n) VALUES ('two', 2)
----
ok, 1 rows

COMMIT
----
ok, 0 rows

[other] SELECT id, body FROM posts ORDER BY id ASC
----
id | body
3 | one
4 | two

# A refused statement is left out; the others stay.
BEGIN
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (20, 'twenty', 1)
----
ok, 1 rows

INSERT INTO posts (id, body, n) VALUES (20, 'twenty', 1)
----
error 1062 (23000): duplicate id '20'

INSERT INTO nowhere VALUES (1)
----
error 1146 (42S02): no table 'nowhere'

INSERT INTO posts (id, missing) VALUES (21, 1)
----
error 1054 (42S22): no column 'missing' in table 'posts'

COMMIT
----
ok, 0 rows

SELECT id, body FROM posts ORDER BY id ASC
----
id | body
3 | one
4 | two
20 | twenty

# An id that another connection takes meanwhile refuses the whole COMMIT.
BEGIN
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (29, 'mine', 1)
----
ok, 1 rows

INSERT INTO posts (id, body, n) VALUES (30, 'mine', 1)
----
ok, 1 rows

[other] INSERT INTO posts (id, body, n) VALUES (30, 'theirs', 1)
----
ok, 1 rows

COMMIT
----
error 1062 (23000): the transaction was rolled back: statement 2: duplicate id '30'

SELECT id, body FROM posts WHERE id IN (29, 30)
----
id | body
30 | theirs

SELECT @@in_transaction
----
@@in_transaction
0

# Read committed; a condition that would choose other rows at COMMIT refuses it.
BEGIN
----
ok, 0 rows

DELETE FROM posts WHERE id IN (20, 30)
----
ok, 2 rows

[other] INSERT INTO posts (id, body, n) VALUES (31, 'seen', 1)
----
ok, 1 rows

SELECT id FROM posts ORDER BY id ASC
----
id
3
4
31

INSERT INTO posts (id, body, n) VALUES (20, 'again', 1)
----
ok, 1 rows

[other] DELETE FROM posts WHERE id = 30
----
ok, 1 rows

COMMIT
----
error 1213 (40001): the transaction was rolled back: statement 1: another connection changed rows of 'posts': the statement would have another outcome

BEGIN
----
ok, 0 rows

DELETE FROM posts WHERE id IN (20, 30)
----
ok, 1 rows

INSERT INTO posts (id, body, n) VALUES (20, 'again', 1)
----
ok, 1 rows

COMMIT
----
ok, 0 rows

SELECT id, body FROM posts ORDER BY id ASC
----
id | body
3 | one
4 | two
20 | again
31 | seen

# CREATE, ALTER, DROP and TRUNCATE commit first, and so does BEGIN.
BEGIN
----
ok, 0 rows

INSERT INTO jobs VALUES (3)
----
ok, 1 rows

CREATE TABLE later (body text)
----
ok, 0 rows

ROLLBACK
----
ok, 0 rows

SELECT * FROM jobs
----
v
3

BEGIN
----
ok, 0 rows

INSERT INTO jobs VALUES (4)
----
ok, 1 rows

BEGIN
----
ok, 0 rows

ROLLBACK
----
ok, 0 rows

SELECT * FROM jobs
----
v
3
4

# A table that is altered or dropped meanwhile refuses COMMIT.
BEGIN
----
ok, 0 rows

INSERT INTO later (body) VALUES ('late')
----
ok, 1 rows

INSERT INTO posts (id, body, n) VALUES (40, 'with it', 1)
----
ok, 1 rows

[other] DROP TABLE later
----
ok, 0 rows

COMMIT
----
error 1213 (40001): the transaction was rolled back: statement 1: table 'later' was altered or dropped

SELECT id FROM posts WHERE id = 40
----
id

# autocommit=0: the first write begins a transaction.
SET autocommit=0
----
ok, 0 rows

SELECT @@autocommit, @@in_transaction
----
@@autocommit | @@in_transaction
0 | 0

INSERT INTO posts (id, body, n) VALUES (50, 'manual', 1)
----
ok, 1 rows

SELECT @@autocommit, @@in_transaction
----
@@autocommit | @@in_transaction
0 | 1

ROLLBACK
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (51, 'manual', 1)
----
ok, 1 rows

SET autocommit=1
----
ok, 0 rows

[other] SELECT id FROM posts WHERE id IN (50, 51)
----
id
51

# A connection that goes, goes without its transaction.
[gone] BEGIN
----
ok, 0 rows

[gone] INSERT INTO posts (id, body, n) VALUES (60, 'gone', 1)
----
ok, 1 rows

[gone] close
----
ok

SELECT id FROM posts WHERE id = 60
----
id

# What is missing is refused by name.
BEGIN
----
ok, 0 rows

SAVEPOINT a
----
error 1235 (42000): not yet: SAVEPOINT

ROLLBACK TO a
----
error 1235 (42000): not yet: savepoints

COMMIT AND CHAIN
----
error 1235 (42000): not yet: AND CHAIN

SET TRANSACTION ISOLATION LEVEL REPEATABLE READ
----
ok, 0 rows

ROLLBACK
----
ok, 0 rows

# Hits of standing queries are part of the unit.
CREATE TABLE rang (query_id bigint, doc_id bigint) ENGINE=queue
----
ok, 0 rows

CREATE TABLE heard type='pq' on='posts' into='rang'
----
ok, 0 rows

INSERT INTO heard (query) VALUES ('bell')
----
ok, 1 rows

BEGIN
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (70, 'a bell', 1)
----
ok, 1 rows

ROLLBACK
----
ok, 0 rows

SELECT COUNT(*) FROM rang
----
COUNT(*)
0

BEGIN
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (71, 'a bell', 1)
----
ok, 1 rows

SELECT COUNT(*) FROM rang
----
COUNT(*)
1

COMMIT
----
ok, 0 rows

SELECT COUNT(*) FROM rang
----
COUNT(*)
1

# UPDATE inside: seen at once by its own connection, by others after COMMIT, over the values of then.
CREATE TABLE counted (body text, n int);
----
ok, 0 rows

INSERT INTO counted VALUES (1, 'a', 1), (2, 'b', 2);
----
ok, 2 rows

BEGIN;
----
ok, 0 rows

UPDATE counted SET n = n + 10 WHERE n < 5;
----
ok, 2 rows

INSERT INTO counted VALUES (3, 'c', 3);
----
ok, 1 rows

UPDATE counted SET n = n + 100 WHERE id IN (2, 3);
----
ok, 2 rows

SELECT id, n FROM counted WHERE id IN (2, 3) ORDER BY id ASC;
----
id | n
2 | 112
3 | 103

[other]
SELECT id, n FROM counted ORDER BY id ASC;
----
id | n
1 | 1
2 | 2

[other]
UPDATE counted SET n = n + 2 WHERE id = 1;
----
ok, 1 rows

COMMIT;
----
ok, 0 rows

SELECT id, n FROM counted ORDER BY id ASC;
----
id | n
1 | 13
2 | 112
3 | 103

# A row that the transaction has changed and read must be what it was shown.
BEGIN;
----
ok, 0 rows

UPDATE counted SET n = n + 1 WHERE id = 1;
----
ok, 1 rows

SELECT n FROM counted WHERE id = 1;
----
n
14

[other]
UPDATE counted SET n = n - 0 WHERE id = 1;
----
ok, 0 rows

[other]
UPDATE counted SET body = 'b', n = 5 WHERE id = 1;
----
error 1210 (HY000): UPDATE cannot set the text column 'body', which is searched: REPLACE the row

[other]
REPLACE INTO counted VALUES (1, 'b', 1011);
----
ok, 1 rows

COMMIT;
----
error 1213 (40001): the transaction was rolled back: another connection changed a row of 'counted' that the transaction has changed and read

BEGIN;
----
ok, 0 rows

UPDATE counted SET n = 0;
----
ok, 3 rows

ROLLBACK;
----
ok, 0 rows

[server] kill
----
ok

SELECT id, n FROM counted ORDER BY id ASC;
----
id | n
1 | 1011
2 | 112
3 | 103

