-- a comment alone
/* nothing */ ;
select @@version_comment limit 1
SELECT DATABASE()
SELECT USER(), CURRENT_USER, VERSION(), CONNECTION_ID()
SELECT database() AS db, 'x', 1+1 two, NOW(), CURRENT_TIMESTAMP, UNIX_TIMESTAMP() FROM dual
SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS `character_set_client`, @@GLOBAL.max_allowed_packet, @own
/* mysql-connector-j-8.4.0 (Revision: x) */SELECT  @@session.transaction_isolation
SELECT queue_wait('Hits')
SELECT queue_wait('db.hits', 1.5) AS got;
SELECT QUEUE_END()
select queue_abort() x
SELECT * FROM posts
SELECT id, body, weight() AS w, price*2 FROM db.`Posts` p WHERE MATCH('star wars') ORDER BY w DESC, id ASC LIMIT 10
SELECT COUNT(*) FROM posts WHERE MATCH("it\"s") AND price > 5 AND ts BETWEEN 1 AND 2
SELECT count(*) total FROM posts WHERE a = 1 AND (b = 2 OR c IN (1,2,3)) AND MATCH('x | y') AND d IS NOT NULL
SELECT t.*, weight() FROM posts t LIMIT 5, 20
SELECT *, weight() FROM posts WHERE id IN (1, 2, 3) ORDER BY weight() DESC LIMIT 20 OFFSET 40 OPTION ranker=bm25, field_weights=(title=10, body=3), comment='a, b', max_query_time=100;
SELECT id FROM posts ORDER BY 1 desc, @weight desc, @id
SELECT id, price * 2 AS p FROM posts t WHERE MATCH('x') LIMIT 5 OPTION ranker=bm25 FACET t.tag AS label, p BY p LIMIT 1, 10 FACET `Size` DISTINCT Brand ORDER BY COUNT(*) DESC, FACET() ASC, 1
SELECT n, SUM(k) FROM posts GROUP BY n FACET weight() ORDER BY count(distinct j.a) facet INTERVAL(n, 1, 2) r order by r limit 3;
INSERT INTO posts VALUES (1, 'hello', -2.5, NULL), (2, "it's", 0x41, true)
insert db.posts (ID, `Body`) VALUES (18446744073709551615,'x');
REPLACE INTO posts (id, body) VALUE (1, _binary 'x')
INSERT INTO posts () VALUES ()
DELETE FROM posts
DELETE FROM posts WHERE id = 1 LIMIT 5
DELETE FROM posts WHERE MATCH('spam') AND score < 3
CREATE TABLE posts (body text, sub string, ts timestamp, score int)
CREATE TABLE t (id bigint PRIMARY KEY, a int, s string, KEY (a), INDEX by_s USING HASH (s(10) DESC) COMMENT 'c', PRIMARY KEY (id))
CREATE TABLE IF NOT EXISTS posts (id bigint, title text indexed stored, price float DEFAULT 1.5, ok bool NOT NULL) charset=utf8mb4 COLLATE utf8mb4_general_ci COMMENT='x'
CREATE TABLE alerts (body text, sub string) type='pq'
CREATE TABLE alerts type='pq' on='posts' into='hits'
CREATE TABLE hits (query_id bigint unsigned NOT NULL, tags varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT 'x' COMMENT 'labels', doc_id bigint, body text) ENGINE=queue DEFAULT CHARSET=utf8mb4
DROP TABLE posts
DROP TABLE IF EXISTS db.posts;
CALL PQ('alerts', '{"body":"x"}')
CALL PQ('db.alerts', ('{"body":"x"}', '[{"body":"y"}]'), 1 AS docs, 1 AS query, 'id' AS docs_id, 'sharded' AS mode, 10 as shift, 1 as skip_bad_json, 0 as verbose, 1 as skip_empty);
call pq ('alerts', 'plain text', 0 as docs_json)
call pq('alerts', ('a', 'b'), 0 as docs_json, 1 as docs)
CALL PQ('alerts', ('a', 'b'), 0 AS docs_json, 1 AS docs)
CALL PQ('alerts', 'x', 'any(tags)=''web'' AND id>100' AS only, 1 AS count, 10 AS limit, 5 AS after, 3 AS top, 1 AS weights, 1 AS highlight)
CALL PQ('alerts', 'x', "tags IN ('a', 'b') OR any(tags) NOT IN ('c') AND last_hit < 5" AS only)
CALL PQ_BACKFILL('db.Alerts', 18446744073709551615)
call pq_backfill('alerts', 7, 30);
CALL ATTRIBUTION('db.Touches')
call attribution('touches', 'markov,linear' AS model, 30 AS Window, 2.5 AS half_life, ('a', 'b') AS direct, '2024-06-01' AS from)
TRUNCATE TABLE db.Alerts
DELETE FROM alerts WHERE any(tags) = 'web' AND id > 5
truncate alerts;
SHOW TABLES
SHOW FULL TABLES FROM `db` LIKE 'p%'
SHOW TABLES LIKE 'a\_b'
DESCRIBE posts
DESC `posts` 'b%'
EXPLAIN posts
EXPLAIN SELECT a FROM posts WHERE b = 1
EXPLAIN ANALYZE SELECT a FROM posts
EXPLAIN QUERY posts 'a b'
SHOW PLAN
SHOW PROFILE LIKE 's%'
SHOW TABLE posts SETTINGS
SHOW TABLE posts INDEXES
SHOW VERSION
SHOW COLUMNS FROM posts FROM db LIKE '%'
SHOW FULL COLUMNS FROM `posts`
SHOW FIELDS IN posts
SHOW CREATE TABLE db.posts
SHOW TABLE posts STATUS
SHOW TABLE status STATUS
SHOW TABLE STATUS
SHOW TABLE STATUS FROM db LIKE 'posts'
SHOW META
SHOW META LIKE 'total%'
SHOW GLOBAL STATUS LIKE 'uptime'
SHOW VARIABLES LIKE 'sql_mode'
SHOW SESSION VARIABLES WHERE Variable_name = 'language' OR Variable_name = 'net_write_timeout'
SHOW WARNINGS
SHOW COUNT(*) WARNINGS
SHOW WARNINGS LIMIT 10
SHOW DATABASES
SHOW SCHEMAS LIKE 'x'
SHOW STORAGE ENGINES
SHOW CHARACTER SET
SHOW COLLATION LIKE 'utf8%'
SHOW PLUGINS
SHOW FULL PROCESSLIST
SHOW INDEX FROM posts
SHOW KEYS FROM `posts` FROM `db`
SHOW TRIGGERS LIKE 'x'
SHOW FUNCTION STATUS
SHOW GRANTS FOR CURRENT_USER()
SET NAMES utf8mb4
SET NAMES 'utf8' COLLATE 'utf8_general_ci', autocommit=0
SET CHARACTER SET utf8
SET autocommit=1, @@session.sql_mode = 'STRICT_ALL_TABLES', GLOBAL x := ON, @a = -1.5
SET sql_mode=CONCAT(@@sql_mode, ',STRICT_TRANS_TABLES')
SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
SET character_set_results = NULL
/*!40101 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
USE `My DB`
BEGIN
START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY
COMMIT WORK;
COMMIT AND NO CHAIN NO RELEASE
ROLLBACK WORK NO RELEASE
DROP TABLES a, b
ROLLBACK
BACKUP TO '/var/backups/seine-1'
KILL 5
KILL QUERY 18446744073709551615
SELECT queue_wait('q', '10')
SELECT queue_wait('a', 'db.b:prio = 0x10 && `s` <> ''x''', 'c', 0.5)
SELECT queue_wait('`My Q`:a:b')
SELECT queue_wait('q:prio >')
SELECT queue_wait('q:a b', 1)
SELECT queue_wait('q', -1)
SELECT queue_wait('q', 'p')
SELECT queue_wait('', 1)
SELECT queue_wait()
SELECT queue_wait(1)
SELECT queue_rowid() AS id
SELECT queue_set_srcid('63', 'a', '18446744073709551615')
SELECT queue_set_srcid(64, 'a', 1)
SELECT queue_set_srcid(1, 'x', 1)
SELECT queue_set_srcid(1, 'w', 'x')
SELECT queue_compact('db.Q') FROM dual LIMIT 1
SELECT queue_stats('q')
SELECT queue_stats('q:a = 1')
SELECT queue_end(1)
SELECT * FROM q WHERE queue_wait('q')
SELECT a FROM q WHERE queue_wait('q:a > 5', 'p', 10) = 1 AND a < 7 LIMIT 1
CALL QUEUE_NEXT('q')
CALL QUEUE_NEXT(('a', 'b:prio > 3'), '2.5', 100, group = 'G')
call queue_next('q', 0, 1, 'g' AS group)
CALL QUEUE_DONE()
CALL queue_done
CALL QUEUE_PAUSE('db.Q', group='g')
CALL QUEUE_RESUME('q')
CALL QUEUE_PURGE('q')
SHOW QUEUES LIKE 'q%'
SHOW ENGINE queue STATUS
UPDATE LOW_PRIORITY db.Q SET a = 'x', b = b + 1 WHERE c = 2
UPDATE q SET j.Price = j.n + 1, db.Q.j['tags'][0] = (1, 2), q.a = 5 WHERE c = 2 LIMIT 3 OPTION strict=0, ignore_nonexistent_columns=1
ALTER TABLE db.Q ADD COLUMN b int unsigned NOT NULL DEFAULT 5 AFTER a, ADD c text FIRST, DROP COLUMN d, MODIFY e varchar(10) CHARACTER SET utf8 BINARY NULL, CHANGE COLUMN f f bigint;
ALTER TABLE q ADD (a int, b int)
ALTER TABLE q ADD INDEX (a), DROP KEY b
ALTER TABLE q CHANGE a b int, RENAME COLUMN c TO d
ALTER TABLE q ADD a multi64
INSTALL PLUGIN queue SONAME 'libqueue_engine.so'
UNINSTALL PLUGIN queue
CREATE FUNCTION queue_wait RETURNS INT SONAME 'libqueue_engine.so'
DROP FUNCTION IF EXISTS queue_set_srcid
INSERT INTO q VALUES (11, 11*10), (1 + 2, -(3)), ((4), 'x')
DELETE FROM q WHERE v=2 ORDER BY w DESC, v + 1 LIMIT 1
FLUSH TABLE t
FLUSH TABLES
OPTIMIZE TABLE t
SELECT p.`Id`, posts.title, db.posts.* FROM db.posts AS p WHERE p.price > 5 AND tags NOT ANY ('a', 'b') ORDER BY p.id
DROP TABLE a, db.b
TRUNCATE RTINDEX t
TRUNCATE rtindex
SHOW INDEX t STATUS LIKE 'a%'
DESC pq TABLE LIKE 'a%'
OPTIMIZE TABLE t OPTION cutoff=1, sync=1
INSERT INTO posts SET a = 1
INSERT INTO posts SELECT * FROM t
INSERT INTO posts (a) SELECT a FROM t
INSERT IGNORE INTO posts VALUES (1)
INSERT INTO posts VALUES (1) ON DUPLICATE KEY UPDATE a = 1
REPLACE INTO posts SET a = 1
INSERT INTO posts (id, a) VALUES (1, 2) AS new ON DUPLICATE KEY UPDATE a = new.a + VALUES(a), j.b[0] = new.a
INSERT IGNORE posts SELECT 1, 'a'
REPLACE posts SET a = -1, b = (1, 2) WHERE id = 7
SELECT a.id, b.*, weight(a), a.j.k + 1 AS k FROM db.a JOIN b ON a.id = b.id WHERE MATCH('x') AND MATCH('y', b) AND b.n > 2 ORDER BY a.id DESC LIMIT 5
SELECT * FROM big AS t INNER JOIN tmp USING (id, k) LEFT OUTER JOIN c x ON x.id = t.ref AND x.n = 3
SELECT count(*) FROM a CROSS JOIN b
SELECT 1 UNION SELECT 2
SELECT id FROM a WHERE id = 1 UNION ALL SELECT id FROM a WHERE id = 2 UNION ALL SELECT id FROM a WHERE id = 3 UNION ALL SELECT id FROM a WHERE id = 4
SELECT * FROM a WHERE id = 1 UNION ALL SELECT * FROM a WHERE id = 2 UNION ALL SELECT * FROM a WHERE id = 3 UNION ALL SELECT * FROM a WHERE id = 4
(SELECT id FROM a ORDER BY n LIMIT 3) UNION DISTINCT (SELECT id FROM b) ORDER BY id DESC, 1 LIMIT 2, 4
SELECT id FROM a UNION SELECT id FROM b ORDER BY id LIMIT 2
SELECT id FROM t WHERE (a, b) IN ((1, 'x'), (2, 'y'), (3, 'z'))
SELECT id FROM t WHERE (a = 1 AND b = 2) OR (a = 3 AND b = 4) OR (a = 5 AND b = 6)
SELECT id FROM t WHERE ( ( id = '1' ) OR ( id = '2' ) OR ( id = '3' ) )
SELECT id FROM t WHERE (a, b) NOT IN ((1, NULL)) AND (c, d) = (1, 2.5)
CREATE TEMPORARY TABLE t (id bigint unsigned NOT NULL PRIMARY KEY, name varchar(20) DEFAULT 'x', KEY (name), UNIQUE KEY u (id, name)) ENGINE=MEMORY
CREATE TEMPORARY TABLE IF NOT EXISTS t AS SELECT id FROM posts WHERE n = 1
CREATE TEMPORARY TABLE t (id int) SELECT id FROM a UNION SELECT id FROM b
DROP TEMPORARY TABLE IF EXISTS t
INSERT INTO t SELECT id FROM a UNION ALL SELECT id FROM b
SELECT id FROM posts, db.`old posts` WHERE MATCH('fox') AND j.posts = 1 FACET n
SELECT * FROM (SELECT id, n * 2 AS e FROM posts WHERE MATCH('fox') ORDER BY weight() DESC LIMIT 1000 OPTION ranker=bm25) ORDER BY e ASC, 1 LIMIT 5, 10
SELECT t.e AS x, *, weight() FROM ((SELECT weight(), e FROM a) UNION ALL (SELECT 1, 2)) AS t ORDER BY t.e DESC LIMIT 1
SELECT * FROM (SELECT * FROM (SELECT 1 AS a) x ORDER BY a) y UNION SELECT 2
SET GLOBAL @ids = (1, -5, 7), @one = (1), @x = 5, @none = ()
SELECT id, @x + 1 AS y FROM posts WHERE id IN @IDS AND n NOT IN @other OR n IN @ids OR n = 3
SHOW SCROLL
SHOW SLOW QUERIES LIKE '2%'
EXPLAIN UPDATE posts SET a = 1 WHERE b = 1
EXPLAIN DELETE FROM posts WHERE b = 1 LIMIT 2
