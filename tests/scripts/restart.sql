# Everything acknowledged is there after kill -9 and after a stop.

CREATE TABLE posts (body text, score int);
----

CREATE TABLE hits (query_id bigint, doc_id bigint) ENGINE=queue;
----

CREATE TABLE alerts type='pq' on='posts' into='hits';
----

INSERT INTO alerts (id, query, tags) VALUES (1, 'red', 'x'), (2, 'blue', 'y');
----

INSERT INTO posts (id, body, score) VALUES (1, 'red shoes', 1), (2, 'blue shoes', 2), (3, 'red and blue', 3);
----

DELETE FROM posts WHERE id = 2;
----

REPLACE INTO posts (id, body, score) VALUES (1, 'green shoes', 9);
----

[server] kill
----

SELECT id, body, score FROM posts ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('shoes') ORDER BY id ASC;
----

SELECT query_id, doc_id FROM hits;
----

SELECT id, query, tags FROM alerts ORDER BY id ASC;
----

INSERT INTO posts (id, body) VALUES (4, 'blue again');
----

[server] restart
----

SELECT query_id, doc_id FROM hits;
----

SELECT COUNT(*) FROM posts;
----

SHOW TABLES;
----

