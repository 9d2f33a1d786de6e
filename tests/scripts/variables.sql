# User variables in expressions, and lists of numbers behind IN.

CREATE TABLE posts (title text, n int, tags multi, KEY (n));
----
ok, 0 rows

INSERT INTO posts (id, title, n, tags) VALUES (1, 'red apple', 10, (1, 2)), (2, 'green apple', 20, (3)), (3, 'red pear', 30, ()), (7, 'plum', 70, (7));
----
ok, 4 rows

SET @ids = (7, 1, 5);
----
ok, 0 rows

SELECT id FROM posts WHERE id IN @ids;
----
id
1
7

SELECT id FROM posts WHERE id NOT IN @ids AND n > 5;
----
id
2
3

SELECT id FROM posts WHERE MATCH('apple | plum') AND id IN @IDS;
----
id
7
1

SELECT id FROM posts WHERE tags IN @ids ORDER BY id DESC;
----
id
7
1

SELECT id, n IN @ids AS hit FROM posts WHERE id IN @ids OR id IN (2) OR id IN @ids OR id = 3 ORDER BY id ASC;
----
id | hit
1 | 0
2 | 0
3 | 0
7 | 0

SELECT n IN @ids AS k, COUNT(*) FROM posts GROUP BY k;
----
k | COUNT(*)
0 | 4

SELECT id FROM posts LIMIT 1 FACET id IN @ids AS known;
----
id
1
--
known | count(*)
1 | 2
0 | 2

SELECT p.id FROM posts p JOIN posts q ON q.id = p.id AND q.id IN @ids WHERE p.n <> 70;
----
id
1

SELECT id FROM posts WHERE id IN @ids UNION SELECT n FROM posts WHERE id NOT IN @ids;
----
id
1
7
20
30

SELECT @ids, @missing, 7 IN @ids AS seven, 8 IN @ids AS eight;
----
@ids | @missing | seven | eight
7,1,5 | NULL | 1 | 0

SET @low = 15, @top = 60;
----
ok, 0 rows

SELECT id, n + @low AS more FROM posts WHERE n BETWEEN @low AND @top;
----
id | more
2 | 35
3 | 45

SELECT @low, @low * 2 AS twice, -@low;
----
@low | twice | -@low
15 | 30 | -15

SET @word = 'PLUM';
----
ok, 0 rows

SELECT id FROM posts WHERE title = @word;
----
id
7

# Lists for every connection.

SET GLOBAL @best = (2, 3);
----
ok, 0 rows

[other] SELECT id FROM posts WHERE id IN @best;
----
id
2
3

[other] SELECT id FROM posts WHERE id IN @ids;
----
error 1193 (HY000): no variable '@ids': SET @ids comes before it

[other] SET @best = (1);
----
ok, 0 rows

[other] SELECT id FROM posts WHERE id IN @best;
----
id
1

[other] SET @best = DEFAULT;
----
ok, 0 rows

[other] SELECT id FROM posts WHERE id IN @best;
----
id
2
3

UPDATE posts SET n = n + 1 WHERE id IN @best;
----
ok, 2 rows

DELETE FROM posts WHERE id IN @best AND n = 31;
----
ok, 1 rows

SELECT id, n FROM posts;
----
id | n
1 | 10
2 | 21
7 | 70

BEGIN;
----
ok, 0 rows

INSERT INTO posts (id, title, n) VALUES (3, 'back', 1);
----
ok, 1 rows

SELECT id FROM posts WHERE id IN @best;
----
id
2
3

COMMIT;
----
ok, 0 rows

CREATE TEMPORARY TABLE own (id bigint, PRIMARY KEY (id));
----
ok, 0 rows

INSERT INTO own VALUES (1), (2), (3);
----
ok, 3 rows

SELECT id FROM own WHERE id IN @best;
----
id
2
3

CREATE TABLE q (n int) ENGINE=queue;
----
ok, 0 rows

INSERT INTO q VALUES (2), (4);
----
ok, 2 rows

SELECT n FROM q WHERE n IN @best;
----
n
2

SET GLOBAL @best = ();
----
ok, 0 rows

SELECT id FROM posts WHERE id IN @best;
----
id

SELECT COUNT(*) FROM posts WHERE id NOT IN @best;
----
COUNT(*)
4

SET GLOBAL @best = DEFAULT;
----
ok, 0 rows

SELECT id FROM posts WHERE id IN @best;
----
error 1193 (HY000): no variable '@best': SET @best comes before it

# Refused.

SELECT id FROM posts WHERE id = @nothing;
----
error 1193 (HY000): no variable '@nothing': SET @nothing comes before it

SELECT id FROM posts WHERE id = @ids;
----
error 1210 (HY000): '@ids' is a list: it stands behind IN

SELECT id FROM posts WHERE id IN @low;
----
error 1210 (HY000): '@low' is no list: IN takes one of SET @low = (1, 5, 7)

SELECT id FROM posts WHERE id IN (@low, 3);
----
error 1064 (42000): syntax error: expected a constant near '@low, 3)' at line 1, position 34

SELECT id FROM posts WHERE id IN @@version;
----
error 1235 (42000): not yet: variables of the server in expressions

SELECT id FROM posts WHERE (id, n) IN @ids;
----
error 1064 (42000): syntax error: expected IN ((…), …) behind a row near '@ids' at line 1, position 38

SET @ids = (1, 'a');
----
error 1064 (42000): syntax error: a list takes whole numbers of 64 bits: SET @ids = (1, 5, 7) near '(1, 'a')' at line 1, position 11

SET @ids = (1, 2.5);
----
error 1064 (42000): syntax error: a list takes whole numbers of 64 bits: SET @ids = (1, 5, 7) near '(1, 2.5)' at line 1, position 11

SET @ids = (SELECT 1);
----
error 1064 (42000): syntax error: expected a constant near 'SELECT 1)' at line 1, position 12

SET @ids = (18446744073709551615);
----
error 1064 (42000): syntax error: a list takes whole numbers of 64 bits: SET @ids = (1, 5, 7) near '(18446744073709551615)' at line 1, position 11

SET @ids = (1, 2;
----
error 1064 (42000): syntax error: expected , or ) at the end of the statement

SELECT @ids;
----
@ids
7,1,5

SET GLOBAL @best = 5;
----
error 1210 (HY000): SET GLOBAL @best takes a list, as (1, 5, 7), or DEFAULT, which removes it: SET @best is for one connection

SET GLOBAL max_connections = (1, 2);
----
error 1238 (HY000): SET GLOBAL max_connections: it is none of the settings that SET GLOBAL changes: max_threads_per_query, max_query_time, search_memory, connections_max, connections_per_address, idle_timeout, client_timeout, log, query_log_min_msec

SELECT queue_wait('q:n IN @ids', 0);
----
queue_wait('q:n IN @ids', 0), 1 warnings
NULL

CREATE TABLE pq (title text, n int) type='pq';
----
ok, 0 rows

INSERT INTO pq (query, filters) VALUES ('apple', 'n IN @ids');
----
error 1235 (42000): not yet: filters of row 1: variables in expressions that outlive their statement at byte 5

CALL PQ('pq', '{"title": "apple", "n": 1}', 'id IN @ids' AS only);
----
id

SHOW VARIABLES WHERE value = @low;
----
Variable_name | Value

INSERT INTO posts (id, title) VALUES (@low, 'x');
----
ok, 1 rows

# Settings: what SIGHUP may change, SET GLOBAL may, until the next SIGHUP or start.
SHOW VARIABLES LIKE 'seine_max_query_time';
----
Variable_name | Value
seine_max_query_time | 

SET GLOBAL max_query_time = '1500ms', GLOBAL seine_max_threads_per_query = 2;
----
ok, 0 rows

[other] SHOW VARIABLES LIKE 'seine_max_%';
----
Variable_name | Value
seine_max_query_time | …ms
seine_max_threads_per_query | 2

SELECT @@global.seine_max_query_time, @@seine_max_threads_per_query;
----
@@global.seine_max_query_time | @@seine_max_threads_per_query
1500ms | 2

SET @@global.max_query_time = '';
----
ok, 0 rows

SET GLOBAL max_threads_per_query = DEFAULT;
----
ok, 0 rows

SHOW VARIABLES LIKE 'seine_max_%';
----
Variable_name | Value
seine_max_query_time | 
seine_max_threads_per_query | idle

SET GLOBAL search_memory = 5;
----
ok, 0 rows

[other] SELECT COUNT(*) AS c, title FROM posts GROUP BY title ORDER BY c DESC;
----
error 1038 (HY001): the rows found, or the words of wildcards, take more than 5 bytes of memory: say LIMIT, or raise search_memory

SET GLOBAL search_memory = DEFAULT;
----
ok, 0 rows

SET GLOBAL connections_max = 0;
----
error 1210 (HY000): SET GLOBAL: connections_max: "0" is not a whole number above 0

SET GLOBAL log = loud;
----
error 1210 (HY000): SET GLOBAL: log: "loud" is not a level: off, error, warn, info, debug, trace

SET GLOBAL connections_max = NULL;
----
error 1210 (HY000): SET GLOBAL: connections_max: "NULL" is not a whole number above 0

SHOW VARIABLES LIKE 'seine_connections_max';
----
Variable_name | Value
seine_connections_max | 1000

# Others are those of seine.toml.
SET GLOBAL memory = '1GiB';
----
error 1238 (HY000): SET GLOBAL memory: write it in seine.toml, the next start reads it

SET GLOBAL seine_auth_password = 'x';
----
error 1238 (HY000): SET GLOBAL auth.password: write it in seine.toml, SIGHUP reads it again

SET GLOBAL webhook_allow = 'example.com';
----
error 1238 (HY000): SET GLOBAL webhook.allow: write it in seine.toml, SIGHUP reads it again

SET GLOBAL max_connections = 5;
----
error 1238 (HY000): SET GLOBAL max_connections: it is none of the settings that SET GLOBAL changes: max_threads_per_query, max_query_time, search_memory, connections_max, connections_per_address, idle_timeout, client_timeout, log, query_log_min_msec

# GLOBAL is of one assignment. Nothing is done if a setting stands without it.
SET GLOBAL connections_max = '77', max_query_time = '66s';
----
error 1229 (HY000): SET max_query_time: it is a setting of the server, not of a connection: SET GLOBAL max_query_time changes it or says what does, OPTION max_query_time= bounds one SELECT

SHOW VARIABLES LIKE 'seine_connections_max';
----
Variable_name | Value
seine_connections_max | 1000

SET max_query_time = 1;
----
error 1229 (HY000): SET max_query_time: it is a setting of the server, not of a connection: SET GLOBAL max_query_time changes it or says what does, OPTION max_query_time= bounds one SELECT

SET SESSION max_query_time = '3s';
----
error 1229 (HY000): SET max_query_time: it is a setting of the server, not of a connection: SET GLOBAL max_query_time changes it or says what does, OPTION max_query_time= bounds one SELECT

SET @@seine_search_memory = '1MiB';
----
error 1229 (HY000): SET seine_search_memory: it is a setting of the server, not of a connection: SET GLOBAL seine_search_memory changes it or says what does

SET max_threads_per_query = 1, autocommit = 1;
----
error 1229 (HY000): SET max_threads_per_query: it is a setting of the server, not of a connection: SET GLOBAL max_threads_per_query changes it or says what does, OPTION threads= bounds one SELECT

SET data = '/tmp';
----
error 1229 (HY000): SET data: it is a setting of the server, not of a connection: SET GLOBAL data changes it or says what does

SET GLOBAL max_query_time = '66s', autocommit = 1, net_read_timeout = 5;
----
ok, 0 rows

SELECT @@max_query_time, @@global.max_query_time, @@session.seine_max_query_time, @@global.net_read_timeout, @@net_read_timeout;
----
@@max_query_time | @@global.max_query_time | @@session.seine_max_query_time | @@global.net_read_timeout | @@net_read_timeout
66s | 66s | 66s | 60 | 5

SET GLOBAL max_query_time = DEFAULT;
----
ok, 0 rows

SET GLOBAL connections_max = 9;
----
error 1210 (HY000): SET GLOBAL: connections_max: 9 is below 10: who undoes it might find no place; seine.toml takes less

SET GLOBAL connections_max = 10;
----
ok, 0 rows

SET GLOBAL connections_max = DEFAULT;
----
ok, 0 rows

SELECT @@global.nothing;
----
error 1193 (HY000): unknown system variable 'nothing'

SET PERSIST max_query_time = '5s';
----
error 1235 (42000): not yet: SET PERSIST: write the setting in seine.toml

[server] restart
----
ok

SHOW VARIABLES LIKE 'seine_max_%';
----
Variable_name | Value
seine_max_query_time | 
seine_max_threads_per_query | idle

