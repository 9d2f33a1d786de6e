SELEC 1
SELECT
SELECT * FROM
SELECT * form posts
SELECT id FROM posts WHERE
SELECT id FROM posts WHERE MATCH('a') OR id = 1
SELECT id FROM posts WHERE NOT MATCH('a')
SELECT id FROM posts WHERE MATCH('a') AND MATCH('b')
SELECT id FROM posts WHERE MATCH(title) AGAINST('a')
SELECT id FROM posts WHERE MATCH('a
SELECT id FROM posts LIMIT -1
SELECT id FROM posts LIMIT 1 2
SELECT id FROM posts GROUP BY tag
SELECT id FROM posts ORDER BY count(*)
SELECT id FROM posts ORDER BY 7
SELECT DISTINCT id FROM posts
SELECT count(distinct id) FROM posts
SELECT max(id) FROM posts
SELECT a.id FROM a, b
SELECT a.id FROM a JOIN b ON a.id = b.id
SELECT 1 UNION SELECT 2
SELECT * FROM (SELECT 1 FROM t)
SELECT id FROM posts FACET tag
SELECT table_name FROM information_schema.tables
SELECT sleep(5)
SELECT 1 + nothing
SELECT now(6)
SELECT queue_wait('a', 'b', 5)
SELECT queue_wait('a:prio=1')
SELECT queue_wait('a', -1)
SELECT queue_rowid()
SELECT queue_end(), 1
INSERT posts
INSERT INTO posts VALUES
INSERT INTO posts VALUES (1, 2
INSERT INTO posts VALUES (1 2)
INSERT INTO posts VALUES (1),
INSERT INTO posts VALUES (1) x
INSERT INTO posts VALUES (0xZZ)
INSERT INTO posts VALUES (12abc)
INSERT INTO posts VALUES ((1,2))
INSERT INTO posts VALUES (?)
INSERT INTO posts VALUES (DEFAULT)
INSERT INTO posts (a,) VALUES (1)
INSERT INTO posts SET a = 1
INSERT INTO posts SELECT * FROM t
INSERT INTO posts (a) SELECT a FROM t
INSERT IGNORE INTO posts VALUES (1)
INSERT INTO posts VALUES (1) ON DUPLICATE KEY UPDATE a = 1
REPLACE INTO posts SET a = 1
DELETE posts
DELETE FROM posts ORDER BY id LIMIT 1
UPDATE posts SET a = 1
ALTER TABLE posts ADD COLUMN x int
TRUNCATE TABLE
TRUNCATE TABLE posts WITH RECONFIGURE
CREATE TABLE
CREATE TABLE t (a)
CREATE TABLE t (a int
CREATE TABLE t (a nothing)
CREATE TABLE t (a int, A text)
CREATE TABLE t (id int PRIMARY KEY)
CREATE TABLE t (a int, PRIMARY KEY (a))
CREATE TABLE t (a int AUTO_INCREMENT) ENGINE=queue
CREATE TABLE t (a int UNIQUE)
CREATE TABLE t (a int, KEY k (a))
CREATE TABLE t (a enum('x'))
CREATE TABLE t (id text)
CREATE TABLE t (a int) type='rt' type='pq'
CREATE TABLE t (a int) type=
CREATE TABLE t LIKE u
CREATE DATABASE d
CREATE TEMPORARY TABLE t (a int)
DROP TABLE
DROP TABLE a, b
DROP DATABASE d
CALL PQ('t')
CALL PQ('t', 'd', 'x')
CALL PQ(1, 'd')
CALL PQ('t', 1)
CALL PQ('t', ('a', 2))
CALL PQ('t', 'd', 1 AS nothing)
CALL PQ('t', 'd', 'x' AS docs)
CALL PQ('t', 'd', 1 AS docs_id)
CALL PQ('t', 'd', 'other' AS mode)
CALL PQ('t', 'd' 
CALL PQ('t', 'd', ('x') AS docs)
CALL PQ('t', 'd', 1 AS only)
CALL PQ('t', 'd', 'any(query)=1' AS only)
CALL PQ('t', 'd', 'some(tags)=1' AS only)
CALL PQ('t', 'd', 'id >' AS only)
CALL PQ('t', 'd', -1 AS limit)
CALL PQ('t', 'd', 'x' AS limit)
CALL PQ('t', 'd', 0 AS top)
CALL PQ('t', 'd', 99999999999999999999 AS shift)
CALL PQ_BACKFILL('t')
CALL PQ_BACKFILL('t', 'x')
CALL PQ_BACKFILL('t', 1, 0)
CALL PQ_BACKFILL('t', 1, 1 AS days)
CALL SUGGEST('x', 't')
CALL NOTHING()
SHOW
SHOW NOTHING
SHOW PROFILE
SHOW ENGINE QUEUE STATUS
SHOW CREATE DATABASE d
SHOW TABLE posts
SHOW TABLE posts SETTINGS
SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'
EXPLAIN SELECT 1
SET
SET x
SET x =
SET a = (1
SET PASSWORD = 'x'
USE
KILL x
START SLAVE
BEGIN 5
FLUSH TABLE t
LOCK TABLES t READ
/* open
`posts`
SELECT 'a' 'b
SELECT 1; SELECT 2
