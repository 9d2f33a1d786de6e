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

