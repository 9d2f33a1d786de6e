# OPTION scroll: the rows behind those of the page before.

CREATE TABLE t (title text, n int, j json);
----
ok, 0 rows

INSERT INTO t (id, title, n) VALUES (4, 'red', 1), (7, 'red red', 3), (5, 'red', 3), (9, 'green', 8), (2, 'red', 3);
----
ok, 5 rows

SHOW SCROLL;
----
scroll_token

SELECT id, n FROM t ORDER BY n ASC LIMIT 2;
----
id | n
4 | 1
2 | 3

SHOW SCROLL;
----
scroll_token

SELECT id, n FROM t ORDER BY n ASC LIMIT 4 OPTION scroll=1;
----
id | n
4 | 1
2 | 3
5 | 3
7 | 3

SHOW SCROLL;
----
scroll_token
01056e20415343010701010103

SHOW META LIKE 'total%';
----
Variable_name | Value
total | 5
total_found | 5
total_relation | eq

# Rows in front of the place are not sent, those behind it are.
INSERT INTO t (id, title, n) VALUES (1, 'new', 3), (3, 'new', 2), (8, 'new', 3), (10, 'new', 5);
----
ok, 4 rows

DELETE FROM t WHERE id = 7;
----
ok, 1 rows

SELECT id, n FROM t ORDER BY n ASC LIMIT 2 OPTION scroll='01056e20415343010701010103';
----
id | n
8 | 3
10 | 5

SELECT id, n FROM t ORDER BY n ASC LIMIT 1, 1 OPTION scroll='01056e20415343010701010103', max_matches=2;
----
id | n
10 | 5

SELECT id FROM t WHERE MATCH('red') LIMIT 1 OPTION scroll=1, ranker=none;
----
id
2

SHOW SCROLL;
----
scroll_token
010d7765696768742829204445534301020100

SELECT id FROM t WHERE MATCH('red') LIMIT 5 OPTION scroll='010d7765696768742829204445534301020100', ranker=none;
----
id
4
5

SELECT id FROM t WHERE MATCH('red') ORDER BY weight() DESC, id ASC LIMIT 2 OPTION scroll=1, ranker=wordcount FACET n;
----
id
2
4
--
n | count(*)
3 | 2
1 | 1

# Behind the last row there is no token.
SELECT id FROM t WHERE n > 100 LIMIT 2 OPTION scroll=1;
----
id

SHOW SCROLL;
----
scroll_token

# Refused.

SELECT id FROM t ORDER BY n DESC LIMIT 2 OPTION scroll='01056e20415343010701010103';
----
error 1210 (HY000): the scroll token is one of ORDER BY n ASC, and this SELECT has ORDER BY n DESC

SELECT id FROM t LIMIT 2 OPTION scroll='01056e20415343010701010103';
----
error 1210 (HY000): the scroll token is one of ORDER BY n ASC, and this SELECT has ORDER BY id ASC

SELECT id FROM t ORDER BY n ASC LIMIT 2 OPTION scroll='01056e204153430107010101';
----
error 1210 (HY000): scroll is 1, or the token that SHOW SCROLL gave

SELECT id FROM t ORDER BY n ASC LIMIT 2 OPTION scroll='01056e2041534301070100';
----
error 1210 (HY000): scroll is 1, or the token that SHOW SCROLL gave

SELECT id FROM t LIMIT 2 OPTION scroll='next';
----
error 1210 (HY000): scroll is 1, or the token that SHOW SCROLL gave

UPDATE t SET j = '{"a": 1}' WHERE id = 2;
----
ok, 1 rows

SELECT id FROM t WHERE id = 2 ORDER BY j ASC LIMIT 2 OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll: a JSON document is no key to scroll by

SELECT COUNT(*) FROM t OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables

SELECT n, COUNT(*) FROM t GROUP BY n OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables

SELECT t.id FROM t JOIN t u ON u.id = t.n LIMIT 1 OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables

SELECT id FROM t UNION SELECT id FROM t OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables

SELECT * FROM (SELECT id FROM t LIMIT 2 OPTION scroll=1) ORDER BY id ASC;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables

CREATE TABLE q (n int) ENGINE=queue;
----
ok, 0 rows

SELECT n FROM q OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables

CREATE TABLE pq (title text) type='pq';
----
ok, 0 rows

SELECT id FROM pq OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables

CREATE TEMPORARY TABLE own (n int);
----
ok, 0 rows

SELECT n FROM own OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll is for the rows of search tables: not for joins, groups, UNION and other tables


# An order of this moment has no next page. A seed makes one.
SELECT id FROM t ORDER BY RAND() ASC LIMIT 2 OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll: ORDER BY has NOW() or RAND(), so the next page would have another order: RAND(7), with a seed, keeps it

SELECT id, RAND() + 1 AS r, r * 2 AS q FROM t ORDER BY n ASC, Q DESC LIMIT 2 OPTION scroll=1;
----
error 1210 (HY000): OPTION scroll: ORDER BY has NOW() or RAND(), so the next page would have another order: RAND(7), with a seed, keeps it

SELECT id FROM t ORDER BY NOW() - n ASC LIMIT 2 OPTION scroll=1 FACET n;
----
error 1210 (HY000): OPTION scroll: ORDER BY has NOW() or RAND(), so the next page would have another order: RAND(7), with a seed, keeps it

SELECT id FROM t ORDER BY RAND(7) ASC LIMIT 2 OPTION scroll=1;
----
id
4
1

# An alias of another meaning is another order.
SELECT id, n AS k FROM t ORDER BY k ASC LIMIT 1 OPTION scroll=1;
----
id | k
4 | 1

SHOW SCROLL;
----
scroll_token
01056e20415343010401010101

SELECT id, 0 - n AS k FROM t ORDER BY k ASC LIMIT 1 OPTION scroll='01056e20415343010701010103';
----
error 1210 (HY000): the scroll token is one of ORDER BY n ASC, and this SELECT has ORDER BY 0 - n ASC

