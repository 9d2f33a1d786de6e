# Everything acknowledged is there after kill -9 and after a stop.

CREATE TABLE posts (body text, score int);
----
ok, 0 rows

CREATE TABLE hits (query_id bigint, doc_id bigint) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts' into='hits';
----
ok, 0 rows

INSERT INTO alerts (id, query, tags) VALUES (1, 'red', 'x'), (2, 'blue', 'y');
----
ok, 2 rows

INSERT INTO posts (id, body, score) VALUES (1, 'red shoes', 1), (2, 'blue shoes', 2), (3, 'red and blue', 3);
----
ok, 3 rows

DELETE FROM posts WHERE id = 2;
----
ok, 1 rows

REPLACE INTO posts (id, body, score) VALUES (1, 'green shoes', 9);
----
ok, 1 rows

[server] kill
----
ok

SELECT id, body, score FROM posts ORDER BY id ASC;
----
id | body | score
1 | green shoes | 9
3 | red and blue | 3

SELECT id FROM posts WHERE MATCH('shoes') ORDER BY id ASC;
----
id
1

SELECT query_id, doc_id FROM hits;
----
query_id | doc_id
1 | 1
2 | 2
1 | 3
2 | 3

SELECT id, query, tags FROM alerts ORDER BY id ASC;
----
id | query | tags
1 | red | x
2 | blue | y

INSERT INTO posts (id, body) VALUES (4, 'blue again');
----
ok, 1 rows

[server] restart
----
ok

SELECT query_id, doc_id FROM hits;
----
query_id | doc_id
1 | 1
2 | 2
1 | 3
2 | 3
2 | 4

SELECT COUNT(*) FROM posts;
----
COUNT(*)
3

SHOW TABLES;
----
Table | Type
alerts | percolate
hits | queue
posts | rt

