# FROM a, b: search tables that are searched and ranked as one.

CREATE TABLE north (title text, n int, tags multi);
----
ok, 0 rows

CREATE TABLE south (title text, n int, tags multi) shards='2';
----
ok, 0 rows

CREATE TABLE `odd, name` (title text, n int, tags multi);
----
ok, 0 rows

INSERT INTO north (id, title, n, tags) VALUES (1, 'red apple', 1, (1, 2)), (3, 'red pear', 3, (2)), (5, 'apple pie', 5, ());
----
ok, 3 rows

INSERT INTO south (id, title, n, tags) VALUES (2, 'green apple', 2, (1)), (4, 'red red plum', 4, (3)), (5, 'apple cake', 6, (1));
----
ok, 3 rows

INSERT INTO `odd, name` (id, title, n) VALUES (7, 'red cherry', 7);
----
ok, 1 rows

CREATE TABLE everywhere type='distributed' local='north' local='south';
----
ok, 0 rows

# The same rows, weights and order as of a distributed table over them.

SELECT id, title, weight() FROM everywhere WHERE MATCH('red | apple');
----
id | title | weight()
1 | red apple | 2500
4 | red red plum | 1523
3 | red pear | 1516
2 | green apple | 1483
5 | apple pie | 1483
5 | apple cake | 1483

SELECT id, title, weight() FROM north, south WHERE MATCH('red | apple');
----
id | title | weight()
1 | red apple | 2500
4 | red red plum | 1523
3 | red pear | 1516
2 | green apple | 1483
5 | apple pie | 1483
5 | apple cake | 1483

SHOW META LIKE 'docs%';
----
Variable_name | Value
docs[0] | 3
docs[1] | 4

SELECT * FROM north, south;
----
id | title | n | tags
1 | red apple | 1 | 1,2
2 | green apple | 2 | 1
3 | red pear | 3 | 2
4 | red red plum | 4 | 3
5 | apple pie | 5 | 
5 | apple cake | 6 | 1

SELECT * FROM south, north WHERE id = 5;
----
id | title | n | tags
5 | apple cake | 6 | 1
5 | apple pie | 5 | 

SELECT id FROM south,north,`odd, name` WHERE n > 1 ORDER BY n DESC LIMIT 1, 2;
----
id
5
5

SELECT title FROM north, south WHERE MATCH('@title apple') AND n BETWEEN 2 AND 6 ORDER BY n ASC OPTION ranker=none;
----
title
green apple
apple pie
apple cake

SELECT COUNT(*) FROM db.north, db.south;
----
COUNT(*)
6

SELECT n > 3 AS big, COUNT(*) AS c, SUM(n), MIN(title) FROM north, south GROUP BY big ORDER BY c DESC, big ASC;
----
big | c | SUM(n) | MIN(title)
0 | 3 | 6 | green apple
1 | 3 | 15 | apple cake

SELECT SUM(n), COUNT(DISTINCT tags) FROM north, south WHERE MATCH('apple');
----
SUM(n) | COUNT(DISTINCT tags)
14 | 2

SELECT id FROM north, south WHERE MATCH('apple') LIMIT 1 FACET tags ORDER BY COUNT(*) DESC FACET n > 3 AS big;
----
id
1
--
tags | count(*)
1 | 3
2 | 1
--
big | count(*)
0 | 2
1 | 2

SHOW META LIKE 'total%';
----
Variable_name | Value
total | 4
total_found | 4
total_relation | eq

# A distributed table stands for its parts.

SELECT COUNT(*) FROM everywhere, `odd, name`;
----
COUNT(*)
7

SELECT id FROM everywhere, north;
----
error 1210 (HY000): table 'north' is there twice

# Where one SELECT may stand.

SELECT id FROM north, south WHERE MATCH('plum') UNION ALL (SELECT id FROM south, `odd, name` WHERE n > 5) ORDER BY id DESC;
----
id
7
5
4

CREATE TABLE copy (title text, n int);
----
ok, 0 rows

INSERT INTO copy (title, n) SELECT title, n FROM north, south WHERE MATCH('red');
----
ok, 3 rows

CREATE TEMPORARY TABLE best AS SELECT id, weight() AS w FROM north, south WHERE MATCH('red');
----
ok, 3 rows

SELECT id FROM best WHERE w > 1;
----
id
4
1
3

# A transaction sees its own rows, in whichever table.

BEGIN;
----
ok, 0 rows

INSERT INTO south (id, title, n) VALUES (9, 'red grape', 9);
----
ok, 1 rows

SELECT id FROM north, south WHERE MATCH('grape | pear');
----
id
3
9

[other] SELECT id FROM north, south WHERE MATCH('grape | pear');
----
id
3

ROLLBACK;
----
ok, 0 rows

SELECT id FROM north, south WHERE MATCH('grape | pear');
----
id
3

# Refused.

SELECT id FROM north, south, north;
----
error 1064 (42000): syntax error: table 'north' is twice in FROM near 'north' at line 1, position 29

SELECT id FROM north, missing;
----
error 1146 (42S02): no table 'missing'

SELECT id FROM north, best;
----
error 1210 (HY000): 'best' is no search table: only these are searched as one, use JOIN or UNION ALL

CREATE TABLE other (title text, m int);
----
ok, 0 rows

SELECT id FROM north, other;
----
error 1210 (HY000): table 'other' differs from table 'north': its column 'm' int stands where 'n' int does

CREATE TABLE stemmed (title text, n int, tags multi) morphology='stem_en';
----
ok, 0 rows

SELECT id FROM north, stemmed;
----
error 1210 (HY000): table 'stemmed' differs from table 'north': its settings of analysis

CREATE TABLE pq (title text) type='pq';
----
ok, 0 rows

SELECT id FROM north, pq;
----
error 1210 (HY000): table 'pq' is not a search table

CREATE TABLE q (n int) ENGINE=queue;
----
ok, 0 rows

SELECT n FROM q, north;
----
error 1210 (HY000): table 'q' is not a search table

SELECT n FROM q, q WHERE queue_wait('q', 0);
----
error 1064 (42000): syntax error: table 'q' is twice in FROM near 'q WHERE queue_wait('q', 0)' at line 1, position 17

SELECT n FROM q, north WHERE queue_wait('q', 0);
----
error 1064 (42000): syntax error: queue_wait in WHERE takes one table in FROM at the end of the statement

SELECT north.id FROM north, south WHERE south.id = north.id;
----
error 1064 (42000): syntax error: 'north.' before a column: FROM a, b searches its tables as one, JOIN joins them near 'north.id FROM north, south WHERE south.id = north.id' at line 1, position 7

SELECT id FROM north n, south s WHERE n.id = s.id;
----
error 1064 (42000): syntax error: 'n.' before a column: FROM a, b searches its tables as one, JOIN joins them near 'n.id = s.id' at line 1, position 38

SELECT n.* FROM north n, south s;
----
error 1064 (42000): syntax error: 'n.' before a column: FROM a, b searches its tables as one, JOIN joins them near 'n.* FROM north n, south s' at line 1, position 7

SELECT id FROM north, south JOIN copy ON copy.n = n;
----
error 1235 (42000): not yet: tables with commas beside JOIN: write JOIN for each

SELECT id FROM north JOIN south USING (id), copy;
----
error 1235 (42000): not yet: tables with commas beside JOIN: write JOIN for each

SELECT id FROM north, (SELECT 1);
----
error 1235 (42000): not yet: sub-selects beside tables in FROM

SELECT id FROM north, ;
----
error 1064 (42000): syntax error: expected a table name at the end of the statement

SELECT nothing FROM north, south;
----
error 1054 (42S22): no column 'nothing' in table '`north`, `south`'

DELETE FROM north, south;
----
error 1235 (42000): not yet: DELETE over several tables

