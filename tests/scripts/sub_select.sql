# Sub-selects: the rows of a SELECT, ordered and cut once more.

CREATE TABLE posts (title text, n int, j json);
----
ok, 0 rows

INSERT INTO posts (id, title, n, j) VALUES (1, 'red apple', 5, '{"a": 1}'), (2, 'green apple', 2, '{"a": 2}'), (3, 'red pear', 3, '{}'), (4, 'red red plum', 1, '{}'), (5, 'apple pie red', 4, '{}');
----
ok, 5 rows

SELECT * FROM (SELECT id, n * 2 AS e, weight() FROM posts WHERE MATCH('red') ORDER BY weight() DESC LIMIT 3) ORDER BY e ASC LIMIT 2;
----
id | e | weight()
3 | 6 | 1412
5 | 8 | 1412

SHOW META LIKE 'total%';
----
Variable_name | Value
total | 4
total_found | 4
total_relation | eq

SHOW META LIKE 'keyword%';
----
Variable_name | Value
keyword[0] | red

SELECT e, id AS doc FROM (SELECT id, n * 2 AS e FROM posts WHERE MATCH('red') LIMIT 3) ORDER BY doc DESC;
----
e | doc
8 | 5
6 | 3
10 | 1

# Columns by their headers, with an alias of the rows as MySQL wants it, by number, and columns that are not shown.

SELECT t.e, weight() FROM (SELECT id, n AS e, weight() FROM posts WHERE MATCH('red') LIMIT 3) AS t ORDER BY weight() ASC, 1 DESC;
----
e | weight()
5 | 1412
4 | 1412
3 | 1412

SELECT id FROM (SELECT id, n FROM posts ORDER BY n DESC LIMIT 3) ORDER BY n ASC;
----
id
3
5
1

SELECT id, j.a FROM (SELECT id, j.a FROM posts LIMIT 2) ORDER BY 2 DESC;
----
id | j.a
2 | 2
1 | 1

SELECT *, id AS again FROM (SELECT id, n FROM posts LIMIT 2) LIMIT 1, 1;
----
id | n | again
2 | 2 | 2

# Without LIMIT the rows are those of a UNION: all.

SELECT id FROM (SELECT id FROM posts) LIMIT 10;
----
id
1
2
3
4
5

SELECT * FROM (SELECT n > 2 AS big, COUNT(*) AS c, MAX(n) FROM posts GROUP BY big) ORDER BY c DESC;
----
big | c | MAX(n)
1 | 3 | 5
0 | 2 | 2

SELECT * FROM (SELECT p.id, q.n FROM posts p JOIN posts q ON q.id = p.n LIMIT 3) ORDER BY n DESC;
----
id | n
1 | 4
3 | 3
2 | 2

SELECT * FROM (SELECT id FROM posts WHERE n > 3 UNION ALL SELECT 7 ORDER BY id DESC LIMIT 2) x ORDER BY id ASC;
----
error 1235 (42000): not yet: ORDER in a SELECT without a table

SELECT * FROM ((SELECT id FROM posts WHERE n > 3) UNION ALL (SELECT 7) LIMIT 2) x ORDER BY id ASC;
----
id
1
5

SELECT * FROM (SELECT * FROM (SELECT id, n FROM posts LIMIT 4) ORDER BY n DESC LIMIT 2) ORDER BY id DESC;
----
id | n
3 | 3
1 | 5

SELECT 0, 0 UNION ALL SELECT * FROM (SELECT id, n FROM posts LIMIT 2) ORDER BY 2 DESC;
----
0 | 0
1 | 5
2 | 2
0 | 0

(SELECT * FROM (SELECT id, n FROM posts LIMIT 2) ORDER BY n ASC LIMIT 1) UNION ALL (SELECT id, n FROM posts WHERE id = 5);
----
id | n
2 | 2
5 | 4

CREATE TABLE others (title text, n int, j json);
----
ok, 0 rows

INSERT INTO others (id, title, n) SELECT id, title, n FROM (SELECT id, 'copied' AS title, n FROM posts ORDER BY n ASC LIMIT 2) ORDER BY id ASC LIMIT 1;
----
ok, 1 rows

CREATE TEMPORARY TABLE best AS SELECT * FROM (SELECT id, n FROM posts, others LIMIT 3) ORDER BY n DESC;
----
ok, 3 rows

SELECT * FROM (SELECT id, n FROM best) ORDER BY n ASC LIMIT 2;
----
id | n
2 | 2
2 | 2

BEGIN;
----
ok, 0 rows

INSERT INTO posts (id, title, n) VALUES (9, 'red grape', 9);
----
ok, 1 rows

SELECT * FROM (SELECT id, n FROM posts WHERE MATCH('red') LIMIT 10) ORDER BY n DESC LIMIT 1;
----
id | n
9 | 9

ROLLBACK;
----
ok, 0 rows

# Options hold for the SELECT inside.

SELECT * FROM (SELECT id, weight() AS w FROM posts WHERE MATCH('red') OPTION ranker=wordcount) ORDER BY w DESC, id DESC LIMIT 2;
----
id | w
4 | 2
5 | 1

SELECT * FROM (SELECT id FROM posts OPTION rankr=none) LIMIT 2;
----
error 1210 (HY000): no option 'rankr', did you mean ranker?

# Refused.

SELECT n FROM (SELECT id FROM posts) LIMIT 1;
----
error 1054 (42S22): the list around a sub-select takes * and names of its columns: it has no 'n'

SELECT id + 1 FROM (SELECT id FROM posts) LIMIT 1;
----
error 1054 (42S22): the list around a sub-select takes * and names of its columns: it has no 'id + 1'

SELECT COUNT(*) FROM (SELECT id FROM posts);
----
error 1054 (42S22): the list around a sub-select takes * and names of its columns: it has no 'COUNT(*)'

SELECT * FROM (SELECT id FROM posts) ORDER BY n ASC;
----
error 1054 (42S22): ORDER BY takes columns of the UNION or sub-select: it has no 'n'

SELECT id FROM (SELECT id, n FROM posts) ORDER BY 2 ASC;
----
error 1054 (42S22): ORDER BY takes columns of the UNION or sub-select: it has no 2

SELECT * FROM (SELECT id FROM missing) LIMIT 1;
----
error 1146 (42S02): no table 'missing'

SELECT * FROM (SELECT id, n FROM posts) WHERE n > 1;
----
error 1235 (42000): not yet: WHERE behind a sub-select, which takes ORDER BY and LIMIT: write it inside the brackets

SELECT * FROM (SELECT id, n FROM posts) x, others;
----
error 1235 (42000): not yet: tables beside a sub-select in FROM

SELECT x.id FROM (SELECT id, n FROM posts) x JOIN others USING (id);
----
error 1235 (42000): not yet: JOIN behind a sub-select, which takes ORDER BY and LIMIT: write it inside the brackets

SELECT * FROM (SELECT id FROM posts FACET n);
----
error 1064 (42000): syntax error: expected `)` near 'FACET n)' at line 1, position 36

SELECT * FROM (SELECT queue_end());
----
error 1064 (42000): syntax error: expected the end of the statement near ')' at line 1, position 33

SELECT *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, * FROM (SELECT *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, * FROM (SELECT id, n FROM posts));
----
error 1105 (HY000): around a sub-select stand at most 4096 columns

