# Joins, the names of their columns, and what a search table's names mean.
CREATE TABLE a (n int)
----
ok, 0 rows

CREATE TABLE b (body text, kind int)
----
ok, 0 rows

CREATE TABLE c (kind int, note string)
----
ok, 0 rows

INSERT INTO a (id, n) VALUES (1, 10), (2, 20), (3, 30)
----
ok, 3 rows

INSERT INTO b (id, body, kind) VALUES (1, 'red', 7), (2, 'blue', 8)
----
ok, 2 rows

INSERT INTO c (id, kind, note) VALUES (1, 7, 'seven')
----
ok, 1 rows

# A MATCH over the right table of a LEFT JOIN removes the rows without a match.
SELECT a.id, b.id FROM a LEFT JOIN b ON b.id = a.id WHERE MATCH('red', b)
----
id | id
1 | 1

SELECT a.id, b.id FROM a LEFT JOIN b ON b.id = a.id
----
id | id
1 | 1
2 | 2
3 | NULL

SELECT COUNT(*) FROM a LEFT JOIN b ON b.id = a.id WHERE MATCH('red', b)
----
COUNT(*)
1

SELECT a.n, COUNT(*) FROM a LEFT JOIN b ON b.id = a.id WHERE MATCH('red', b) GROUP BY a.n
----
n | COUNT(*)
10 | 1

SELECT a.id, b.body, c.note, weight() > 0 AS w FROM a LEFT JOIN b ON b.id = a.id LEFT JOIN c ON c.kind = b.kind WHERE MATCH('red | blue', b) ORDER BY a.id DESC
----
id | body | note | w
2 | blue | NULL | 1
1 | red | seven | 1

SELECT a.id, c.note FROM a LEFT JOIN c ON c.id = a.id LEFT JOIN b ON b.kind = c.kind WHERE MATCH('red | blue', b)
----
id | note
1 | seven

SELECT b.id, a.id FROM b LEFT JOIN a ON a.n = b.kind WHERE MATCH('red', b)
----
id | id
1 | NULL

SELECT a.id FROM a LEFT JOIN b ON b.id = a.id WHERE MATCH('green', b)
----
id

# A column called tags of a search table is a column as any other: only tables of standing queries have tags of their own.
CREATE TABLE sets (tags multi, n int)
----
ok, 0 rows

INSERT INTO sets (id, tags, n) VALUES (1, (3), 1), (2, (3, 4), 1), (3, (5), 2), (4, (), 2)
----
ok, 4 rows

SELECT id FROM sets WHERE any(tags) != 3
----
id
2
3

SELECT id FROM sets WHERE any(tags) = 3
----
id
1
2

SELECT id FROM sets WHERE any(tags) NOT IN (3)
----
id
2
3

SELECT id FROM sets WHERE tags ANY (4, 5)
----
id
2
3

SELECT s.id FROM sets s JOIN a USING (id) WHERE any(tags) != 3
----
id
2
3

DELETE FROM sets WHERE any(tags) != 3
----
ok, 2 rows

SELECT id FROM sets
----
id
1
4

CREATE TABLE documents (tags json)
----
ok, 0 rows

INSERT INTO documents (id, tags) VALUES (1, '["web", "film"]'), (2, '["web"]')
----
ok, 2 rows

SELECT id FROM documents WHERE any(tags) = 'film'
----
id
1

SELECT id FROM documents WHERE tags ANY ('film') OR any(tags) != 'web'
----
id
1

CREATE TABLE alerts (body text) type='pq'
----
ok, 0 rows

INSERT INTO alerts (id, query, tags) VALUES (1, 'fox', 'web,film'), (2, 'hen', 'web'), (3, 'owl', '')
----
ok, 3 rows

SELECT id FROM alerts WHERE any(tags) = 'web'
----
id
1
2

SELECT id FROM alerts WHERE tags ANY ('film') OR any(tags) = 'music'
----
id
1

SELECT id FROM alerts WHERE any(tags) NOT IN ('film')
----
id
2
3

SELECT id, any(tags) = 'film' AS f FROM alerts ORDER BY any(tags) = 'film' DESC, id DESC
----
id | f
1 | 1
3 | 0
2 | 0

SELECT tags, COUNT(*) FROM alerts WHERE any(tags) = 'web' GROUP BY tags
----
tags | COUNT(*)
web,film | 1
web | 1

SELECT a.id, p.id FROM a LEFT JOIN alerts p ON p.id = a.id AND any(p.tags) = 'film'
----
id | id
1 | 1
2 | NULL
3 | NULL

CALL PQ('alerts', 'fox and hen', 0 AS docs_json, 'any(tags)=''film''' AS only)
----
id
1

SELECT tags, any(tags) = 'web', COUNT(*) FROM alerts GROUP BY tags
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

SELECT id, COUNT(*) FROM alerts GROUP BY tags HAVING any(tags) = 'web'
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

SELECT id FROM alerts WHERE any(tags) != 'web'
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

SELECT id, tags AS t FROM alerts WHERE any(t) = 'web'
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

SELECT a.id FROM a LEFT JOIN alerts p ON p.id = a.id WHERE any(p.tags) = 'film'
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

DELETE FROM alerts WHERE all(tags) = 'web'
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

DELETE FROM alerts WHERE any(tags) = 'film'
----
ok, 1 rows

SELECT id FROM alerts
----
id
2
3

# REMAP takes lists of any length.
CREATE TABLE numbers (n int, j json)
----
ok, 0 rows

INSERT INTO numbers (id, n, j) VALUES (1, 1, '[1, 2]'), (2, 2, '2'), (3, 3, NULL)
----
ok, 3 rows

SELECT id, remap(n, n, (2), (22)) AS r, remap(n, 0, (1, 2), (11, 22)) AS s, remap(n, 0, j, j) AS t FROM numbers
----
id | r | s | t
1 | 1 | 11 | 1
2 | 22 | 22 | 2
3 | 3 | 0 | NULL

SELECT id FROM numbers WHERE remap(n, n, (2), (22)) = 22
----
id
2

SELECT remap(2, 0, (1, 2), (22))
----
error 1064 (42000): syntax error: remap() needs lists of one length, these have 2 and 1 values near 'remap(2, 0, (1, 2), (22))' at line 1, position 7

SELECT id FROM numbers WHERE remap(n, 0, (2), (1, 2, 3)) = 1
----
error 1064 (42000): syntax error: remap() needs lists of one length, these have 1 and 3 values near 'remap(n, 0, (2), (1, 2, 3)) = 1' at line 1, position 29

# The rows of a group stay together: ORDER BY orders groups by their first rows.
CREATE TABLE sales (city string, price int)
----
ok, 0 rows

INSERT INTO sales (id, city, price) VALUES (1, 'Bonn', 5), (2, 'Rome', 9), (3, 'Bonn', 8), (4, 'Rome', 1), (5, 'Bonn', 2), (6, 'Oslo', 7)
----
ok, 6 rows

SELECT id, city, price FROM sales GROUP 2 BY city ORDER BY id DESC
----
id | city | price
6 | Oslo | 7
2 | Rome | 9
4 | Rome | 1
1 | Bonn | 5
3 | Bonn | 8

SELECT id, city, price FROM sales GROUP 2 BY city WITHIN GROUP ORDER BY price DESC ORDER BY price DESC
----
id | city | price
2 | Rome | 9
4 | Rome | 1
3 | Bonn | 8
1 | Bonn | 5
6 | Oslo | 7

SELECT id, city, price FROM sales GROUP 2 BY city WITHIN GROUP ORDER BY price ASC ORDER BY price ASC
----
id | city | price
4 | Rome | 1
2 | Rome | 9
5 | Bonn | 2
1 | Bonn | 5
6 | Oslo | 7

SELECT id, city, COUNT(*) FROM sales GROUP 2 BY city WITHIN GROUP ORDER BY price DESC ORDER BY COUNT(*) DESC LIMIT 3
----
id | city | COUNT(*)
3 | Bonn | 3
1 | Bonn | 3
2 | Rome | 2

SELECT id, city, COUNT(*) FROM sales GROUP 2 BY city WITHIN GROUP ORDER BY price DESC ORDER BY COUNT(*) DESC LIMIT 3, 9
----
id | city | COUNT(*)
4 | Rome | 2
6 | Oslo | 1

# max_matches bounds the groups of an answer, and the rows of joins and of all kinds of tables.
SELECT city, COUNT(*) FROM sales GROUP BY city OPTION max_matches=2
----
city | COUNT(*)
Bonn | 3
Rome | 2

SHOW META LIKE 'total%'
----
Variable_name | Value
total | 2
total_found | 3
total_relation | eq

SELECT city, COUNT(*) FROM sales GROUP BY city ORDER BY COUNT(*) ASC LIMIT 1, 5 OPTION max_matches=2
----
city | COUNT(*)
Rome | 2

SELECT city, COUNT(*) FROM sales GROUP BY city LIMIT 2, 1 OPTION max_matches=2
----
error 1210 (HY000): offset out of bounds (offset=2, max_matches=2)

SELECT id, city FROM sales GROUP 2 BY city OPTION max_matches=3
----
id | city
1 | Bonn
3 | Bonn
2 | Rome

SELECT kind, COUNT(*) FROM b WHERE MATCH('red | blue') GROUP BY kind OPTION max_matches=1
----
kind | COUNT(*)
7 | 1

SELECT COUNT(*) FROM sales OPTION max_matches=2
----
COUNT(*)
6

SELECT a.id FROM a JOIN b USING (id) OPTION max_matches=1
----
id
1

SELECT tags, COUNT(*) FROM alerts GROUP BY tags OPTION max_matches=1
----
tags | COUNT(*)
web | 1

SELECT id FROM alerts OPTION max_matches=1
----
id
2

(SELECT city, COUNT(*) FROM sales GROUP BY city OPTION max_matches=2) UNION ALL (SELECT note, 0 FROM c)
----
city | COUNT(*)
Bonn | 3
Rome | 2
seven | 0

CREATE TEMPORARY TABLE few (n int)
----
ok, 0 rows

INSERT INTO few VALUES (1), (2), (3)
----
ok, 3 rows

SELECT n FROM few LIMIT 3 OPTION max_matches=2
----
n
1
2

SELECT n FROM few LIMIT 2, 1 OPTION max_matches=2
----
error 1210 (HY000): offset out of bounds (offset=2, max_matches=2)

CREATE TABLE jobs (n int) ENGINE=queue
----
ok, 0 rows

INSERT INTO jobs VALUES (1), (2), (3)
----
ok, 3 rows

SELECT n FROM jobs OPTION max_matches=2
----
n
1
2

SHOW META LIKE 'total%'
----
Variable_name | Value
total | 2
total_found | 3
total_relation | eq

SELECT n FROM jobs LIMIT 5, 1 OPTION max_matches=2
----
error 1210 (HY000): offset out of bounds (offset=5, max_matches=2)

# An id without a table's name is that of the first table.
SELECT id, a.n, b.kind FROM a JOIN b ON b.kind = a.n DIV 2 + 2
----
id | n | kind
1 | 10 | 7

SELECT id, b.id, c.id FROM b JOIN c ON c.kind = b.kind WHERE id = 1 ORDER BY id ASC
----
id | id | id
1 | 1 | 1

SELECT id, c.id, b.id FROM c JOIN b ON b.kind < 9 WHERE id = 1 ORDER BY b.id DESC
----
id | id | id
1 | 1 | 2
1 | 1 | 1

SELECT id, COUNT(*) FROM c JOIN b ON b.kind < 9 GROUP BY id
----
id | COUNT(*)
1 | 2

SELECT id, j.n FROM jobs j JOIN b ON b.id = j.n
----
id | n
1 | 1
2 | 2

SELECT b.id FROM a JOIN b ON b.id = a.id JOIN c USING (id)
----
error 1210 (HY000): column 'id' is ambiguous: write the name of its table before it

SELECT kind FROM b JOIN c ON c.kind = b.kind
----
error 1210 (HY000): column 'kind' is ambiguous: write the name of its table before it

