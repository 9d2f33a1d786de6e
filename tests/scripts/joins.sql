# Look-ups of many rows: lists of rows, temporary tables, joins and UNION.
CREATE TABLE posts (body text, author int, lang string, score int, KEY (author))
----
ok, 0 rows

CREATE TABLE authors (name string, land string, KEY (land))
----
ok, 0 rows

CREATE TABLE seen (post bigint, n int NOT NULL) ENGINE=queue
----
ok, 0 rows

CREATE TABLE alerts (body text, lang string) type='pq'
----
ok, 0 rows

INSERT INTO posts (id, body, author, lang, score) VALUES (1, 'red fox', 10, 'en', 5), (2, 'blue hen', 20, 'en', 7), (3, 'red hen', 10, 'fr', 1), (4, 'grey owl', 30, 'en', 9), (5, 'red owl', 20, 'de', 2)
----
ok, 5 rows

INSERT INTO authors (id, name, land) VALUES (10, 'Ann', 'uk'), (20, 'Bob', 'fr'), (40, 'Cyd', 'uk')
----
ok, 3 rows

INSERT INTO seen VALUES (3, 1), (1, 2), (3, 3)
----
ok, 3 rows

INSERT INTO alerts (id, query, tags) VALUES (1, 'fox', 'a'), (2, 'owl', 'b')
----
ok, 2 rows

# Rows of keys.
SELECT id FROM posts WHERE (author, lang) IN ((10, 'en'), (20, 'de'), (30, 'xx'))
----
id
1
5

SELECT id FROM posts WHERE (author = 10 AND lang = 'fr') OR (author = 20 AND lang = 'EN')
----
id
2
3

SELECT id FROM posts WHERE (id, author) NOT IN ((1, 10), (2, NULL))
----
id
3
4
5

SELECT id FROM posts WHERE (author, lang) = (10, 'en')
----
id
1

SELECT id FROM posts WHERE ( ( id = 4 ) OR ( id = 2 ) OR ( id = 2 ) OR ( id = 99 ) )
----
id
2
4

# Temporary tables.
CREATE TEMPORARY TABLE picked (id bigint unsigned NOT NULL PRIMARY KEY, note varchar(10) DEFAULT 'none')
----
ok, 0 rows

INSERT INTO picked (id) VALUES (5), (3), (77)
----
ok, 3 rows

INSERT INTO picked VALUES (1, 'first')
----
ok, 1 rows

INSERT INTO picked VALUES (8, 'x'), (3, 'y')
----
error 1062 (23000): duplicate entry '3' for key (id)

INSERT IGNORE INTO picked VALUES (9, 'z'), (3, 'y')
----
ok, 1 rows, 1 warnings

SHOW WARNINGS
----
Level | Code | Message, 1 warnings
Warning | 1000 | duplicate entry '3' for key (id)

REPLACE INTO picked VALUES (9, 'nine')
----
ok, 2 rows

SELECT * FROM picked
----
id | note
5 | none
3 | none
77 | none
1 | first
9 | nine

SELECT note, id * 2 AS twice FROM picked WHERE id > 3 ORDER BY note ASC, id DESC LIMIT 2
----
note | twice
nine | 18
none | 154

SELECT COUNT(*) FROM picked WHERE note = 'NONE'
----
COUNT(*)
3

DELETE FROM picked WHERE id = 9
----
ok, 1 rows

DESCRIBE picked
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | MUL | NULL | 
note | varchar(10) | YES |  | none | 

SHOW TABLES
----
Table | Type
alerts | percolate
authors | rt
posts | rt
seen | queue

[other] SELECT * FROM picked
----
error 1146 (42S02): no table 'picked'

INSERT INTO picked VALUES (NULL, 'x')
----
error 1048 (23000): NULL given for column 'id' at row 1

INSERT INTO picked VALUES (12, 'much too long a note')
----
error 1406 (22001): value too long for column 'note' at row 1

UPDATE picked SET note = 'y'
----
error 1235 (42000): not yet: UPDATE of a temporary table

# Joins.
SELECT * FROM posts JOIN picked USING (id)
----
id | body | author | lang | score | note
1 | red fox | 10 | en | 5 | first
3 | red hen | 10 | fr | 1 | none
5 | red owl | 20 | de | 2 | none

SELECT p.id, note, score FROM posts p INNER JOIN picked k ON p.id = k.id WHERE k.note = 'none' ORDER BY score DESC
----
id | note | score
5 | none | 2
3 | none | 1

SELECT k.id, p.body FROM picked k LEFT JOIN posts p USING (id)
----
id | body
5 | red owl
3 | red hen
77 | NULL
1 | red fox

SELECT k.id FROM picked k LEFT JOIN posts p USING (id) WHERE p.body IS NULL
----
id
77

SELECT p.id, a.name FROM posts p JOIN authors a ON p.author = a.id WHERE MATCH('red')
----
id | name
1 | Ann
3 | Ann
5 | Bob

SELECT p.id, weight(p), a.* FROM posts p JOIN authors a ON p.author = a.id WHERE MATCH('red | hen', p) AND a.land = 'fr'
----
id | weight(p) | id | name | land
2 | 1543 | 20 | Bob | fr
5 | 1500 | 20 | Bob | fr

SELECT a.name, p.id FROM authors a LEFT JOIN posts p ON p.author = a.id AND p.lang = 'en' ORDER BY a.name ASC, p.id DESC
----
name | id
Ann | 1
Bob | 2
Cyd | NULL

SELECT COUNT(*) FROM posts p JOIN authors a ON p.author = a.id JOIN picked k ON k.id = p.id
----
COUNT(*)
3

SELECT a.id, b.id FROM posts a JOIN posts b ON a.author = b.author AND a.id < b.id
----
id | id
1 | 3
2 | 5

SELECT s.n, p.body FROM seen s JOIN posts p ON p.id = s.post
----
n | body
1 | red hen
2 | red fox
3 | red hen

SELECT q.query, k.note FROM alerts q JOIN picked k USING (id)
----
query | note
fox | first

SELECT p.id FROM posts p CROSS JOIN authors a LIMIT 3, 2
----
id
2
2

SELECT id FROM posts p JOIN authors a ON p.author = a.id
----
id
1
2
3
5

SELECT nothing FROM posts p JOIN authors a ON p.author = a.id
----
error 1054 (42S22): no column 'nothing' in table 'posts, authors'

SELECT p.id FROM posts p JOIN nowhere n ON p.author = n.id
----
error 1146 (42S02): no table 'nowhere'

SELECT p.id FROM posts p JOIN picked k USING (id) WHERE MATCH('red', k)
----
error 1210 (HY000): MATCH needs a search table, 'k' is none

# UNION.
SELECT id, body FROM posts WHERE id = 4 UNION ALL SELECT id, body FROM posts WHERE id = 2 UNION ALL SELECT id, body FROM posts WHERE id = 4 UNION ALL SELECT id, body FROM posts WHERE id = 99
----
id | body
4 | grey owl
2 | blue hen
4 | grey owl

SELECT lang FROM posts UNION SELECT name FROM authors ORDER BY lang DESC LIMIT 4
----
lang
fr
en
de
Cyd

(SELECT id FROM posts ORDER BY score DESC LIMIT 2) UNION ALL (SELECT id FROM authors) ORDER BY 1 LIMIT 1, 3
----
id
4
10
20

SELECT 1, 'a' UNION SELECT 1, 'A' UNION ALL SELECT 2, 'b'
----
1 | a
1 | a
2 | b

SELECT id FROM posts UNION SELECT id, name FROM authors
----
error 1136 (21S01): the SELECTs of a UNION have different numbers of columns: the first has 1, number 2 has 2

SELECT id FROM posts UNION SELECT id FROM authors ORDER BY nothing
----
error 1054 (42S22): ORDER BY takes columns of the UNION or sub-select: it has no 'nothing'

# A transaction covers the rows of temporary tables.
BEGIN
----
ok, 0 rows

INSERT INTO picked VALUES (50, 'lost')
----
ok, 1 rows

DELETE FROM picked WHERE id = 5
----
ok, 1 rows

SELECT id FROM picked
----
id
3
77
1
50

ROLLBACK
----
ok, 0 rows

SELECT id FROM picked
----
id
5
3
77
1

BEGIN
----
ok, 0 rows

INSERT INTO posts (id, body, author) VALUES (6, 'new cat', 10)
----
ok, 1 rows

INSERT INTO picked VALUES (6, 'mine')
----
ok, 1 rows

SELECT p.id, k.note FROM posts p JOIN picked k USING (id)
----
id | note
1 | first
3 | none
5 | none
6 | mine

[other] SELECT COUNT(*) FROM posts
----
COUNT(*)
5

COMMIT
----
ok, 0 rows

# Rows of a SELECT.
CREATE TEMPORARY TABLE reds AS SELECT id, body, score * 2 AS twice FROM posts WHERE MATCH('red')
----
ok, 3 rows

SELECT * FROM reds
----
id | body | twice
1 | red fox | 10
3 | red hen | 2
5 | red owl | 4

INSERT INTO reds SELECT id, name, 0 FROM authors UNION ALL SELECT id, body, 1 FROM posts WHERE id = 6
----
ok, 4 rows

SELECT COUNT(*) FROM reds
----
COUNT(*)
7

INSERT INTO seen (post, n) SELECT p.id, k.id FROM posts p JOIN picked k USING (id) WHERE p.id < 4
----
ok, 2 rows

SELECT * FROM seen
----
post | n
3 | 1
1 | 2
3 | 3
1 | 1
3 | 3

TRUNCATE TABLE reds
----
ok, 0 rows

SELECT * FROM reds
----
id | body | twice

# A temporary table hides the other one of its name.
CREATE TEMPORARY TABLE authors (id int)
----
ok, 0 rows

SELECT * FROM authors
----
id

DROP TABLE authors
----
ok, 0 rows

SELECT name FROM authors WHERE id = 20
----
name
Bob

CREATE TEMPORARY TABLE picked (id int)
----
error 1050 (42S01): table 'picked' exists already

CREATE TEMPORARY TABLE IF NOT EXISTS picked (id int)
----
ok, 0 rows

DROP TEMPORARY TABLE nowhere
----
error 1146 (42S02): no table 'nowhere'

DROP TEMPORARY TABLE IF EXISTS nowhere, picked
----
ok, 0 rows

SELECT * FROM picked
----
error 1146 (42S02): no table 'picked'

# `*` of standing queries shows the same columns everywhere: no counters.
SELECT a.* FROM alerts a JOIN alerts b ON a.id = b.id LIMIT 1
----
id | query | tags | filters
1 | fox | a | 

SELECT * FROM alerts WHERE id = 1 UNION ALL SELECT * FROM alerts WHERE id = 2 UNION ALL SELECT * FROM alerts WHERE id = 3
----
id | query | tags | filters
1 | fox | a | 
2 | owl | b | 


# What is worked out is compared by = as its column is, and what is of several kinds by the kind of each value.
CREATE TABLE moved (da date, tm time, ts timestamp)
----
ok, 0 rows

CREATE TABLE beside (n bigint, s string)
----
ok, 0 rows

INSERT INTO moved (id, da, tm, ts) VALUES (1, '2024-01-02', '10:11:12', '2024-01-02 00:00:00'), (2, NULL, NULL, '2024-01-03 00:00:00')
----
ok, 2 rows

INSERT INTO beside (id, n, s) VALUES (1, 20240102, '2024-01-02'), (2, 1704240000, '10:11:12'), (3, 20240103, '20240102')
----
ok, 3 rows

SELECT a.id, b.id FROM moved AS a JOIN beside AS b ON a.da + INTERVAL 0 DAY = b.n
----
id | id
1 | 1

SELECT a.id, b.id FROM moved AS a JOIN beside AS b ON b.s = (a.da + INTERVAL 0 DAY)
----
id | id
1 | 1
1 | 3

SELECT a.id, b.id FROM moved AS a LEFT JOIN beside AS b ON a.da + INTERVAL 0 DAY = b.n WHERE b.id IS NULL
----
id | id
2 | NULL

SELECT a.id, b.id FROM moved AS a JOIN beside AS b ON COALESCE(a.tm, a.tm) = b.s
----
id | id
1 | 2

SELECT a.id, b.id FROM moved AS a JOIN beside AS b ON COALESCE(a.da, a.ts) = b.n
----
id | id
1 | 1
2 | 2

SELECT a.id, b.id FROM moved AS a JOIN beside AS b ON COALESCE(a.tm, '') = b.s
----
id | id
1 | 2

SELECT a.id, b.id FROM moved AS a JOIN beside AS b ON COALESCE(a.da, a.ts) < b.n
----
id | id
1 | 3

