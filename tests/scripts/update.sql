# UPDATE sets attributes: at once, durable, without touching the texts.
CREATE TABLE posts (title text, n int, price float, tag string, day timestamp);
----
ok, 0 rows

INSERT INTO posts VALUES (1, 'a black cat', 1, 1.5, 'a', 10), (2, 'a white dog', 2, 2.5, 'b', 20), (3, 'black and white', 3, 3.5, 'c', 30);
----
ok, 3 rows

UPDATE posts SET n = 10 WHERE id = 1;
----
ok, 1 rows

# The rows that have the value already do not count.
UPDATE posts SET n = 10 WHERE id IN (1, 2, 99);
----
ok, 1 rows

SELECT id, n, price, tag, day FROM posts ORDER BY id ASC;
----
id | n | price | tag | day
1 | 10 | 1.500000 | a | 10
2 | 10 | 2.500000 | b | 20
3 | 3 | 3.500000 | c | 30

# Expressions see the values of earlier assignments, as in MySQL.
UPDATE posts p SET p.n = n + 1, price = n * 2, tag = 'x' WHERE MATCH('black') AND p.id > 1;
----
ok, 1 rows

SELECT * FROM posts;
----
id | title | n | price | tag | day
1 | a black cat | 10 | 1.500000 | a | 10
2 | a white dog | 10 | 2.500000 | b | 20
3 | black and white | 4 | 8.000000 | x | 30

SELECT id FROM posts WHERE MATCH('black') AND n = 4;
----
id
3

UPDATE posts SET day = '2024-01-02T03:04:05Z', tag = NULL WHERE n >= 4 ORDER BY id DESC LIMIT 1;
----
ok, 1 rows

SELECT id, day, tag FROM posts;
----
id | day | tag
1 | 10 | a
2 | 20 | b
3 | 1704164645 | 

# Without a condition every row is changed.
UPDATE posts SET n = 0;
----
ok, 3 rows

SELECT id, n FROM posts WHERE n = 0;
----
id | n
1 | 0
2 | 0
3 | 0

FLUSH TABLE posts;
----
ok, 0 rows

UPDATE posts SET n = id * 100 WHERE id < 3;
----
ok, 2 rows

SELECT id, n, tag FROM posts ORDER BY n DESC;
----
id | n | tag
2 | 200 | b
1 | 100 | a
3 | 0 | 

[server] kill
----
ok

SELECT id, n, tag FROM posts ORDER BY n DESC;
----
id | n | tag
2 | 200 | b
1 | 100 | a
3 | 0 | 

OPTIMIZE TABLE posts;
----
ok, 0 rows

SELECT id, n, tag, title FROM posts WHERE MATCH('cat | dog') ORDER BY n DESC;
----
id | n | tag | title
2 | 200 | b | a white dog
1 | 100 | a | a black cat

# Refused, and nothing is changed.
UPDATE posts SET title = 'other' WHERE id = 1;
----
error 1210 (HY000): UPDATE cannot set the text column 'title', which is searched: REPLACE the row

UPDATE posts SET id = 7 WHERE id = 1;
----
error 1210 (HY000): UPDATE cannot set 'id': INSERT the row under its new id and DELETE the old one

UPDATE posts SET n = 5000000000;
----
error 1264 (22003): out of range value '5000000000' for column 'n' at row 1

UPDATE posts SET n = 'many' WHERE id = 2;
----
error 1366 (HY000): incorrect int value 'many' for column 'n' at row 2

UPDATE posts SET n = 1, n = 2;
----
error 1210 (HY000): column 'n' twice

UPDATE posts SET colour = 1;
----
error 1054 (42S22): no column 'colour' in table 'posts'

UPDATE posts SET n = colour;
----
error 1054 (42S22): no column 'colour' in table 'posts'

UPDATE posts SET n = 1 WHERE colour = 1;
----
error 1054 (42S22): no column 'colour' in table 'posts'

UPDATE nothing SET n = 1;
----
error 1146 (42S02): no table 'nothing'

UPDATE posts SET;
----
error 1064 (42000): syntax error: expected a column name at the end of the statement

UPDATE posts, other SET n = 1;
----
error 1235 (42000): not yet: UPDATE over several tables

CREATE TABLE alerts type='pq' on='posts';
----
ok, 0 rows

UPDATE alerts SET tags = 'x';
----
error 1210 (HY000): 'alerts' holds standing queries: REPLACE stores one again

SELECT id, n, title FROM posts;
----
id | n | title
1 | 100 | a black cat
2 | 200 | a white dog
3 | 0 | black and white

