# Standing queries: asked by CALL PQ, and fed by INSERT and REPLACE. The documents are those of search.sql.

CREATE TABLE posts (title text, body text, score int);
----

CREATE TABLE hits (query_id bigint, tags text, doc_id bigint, title text, score int) ENGINE=queue;
----

CREATE TABLE alerts type='pq' on='posts' into='hits';
----

INSERT INTO alerts (id, query, tags) VALUES (1, 'google', 'a'), (2, 'google -maps', 'a,b'), (3, '"star wars"', ''), (4, 'museum | style', ''), (5, 'google museum | style', ''), (6, '(google museum) | style', ''), (7, '@title wars', ''), (8, 'google @title star', ''), (9, '@(title,body) wars -@title star', ''), (10, 'cafe creme', ''), (11, 'dessert', ''), (12, '#dessert', ''), (13, '"@chef"', ''), (14, '東京', '');
----

INSERT INTO alerts (id, query, filters) VALUES (15, 'google', 'score > 2');
----

SELECT id, query, tags, filters FROM alerts WHERE id < 4 ORDER BY id ASC;
----

SELECT COUNT(*) FROM alerts;
----

INSERT INTO posts (id, title, body, score) VALUES (1, 'Star Wars', 'google opens a museum of film', 3), (2, 'Maps', 'google maps in star wars style', 1), (3, 'Wars', 'the star of all wars', 2), (4, 'Café', 'naïve crème brûlée #dessert by @chef', 5), (5, '東京', '東京タワー and more', 4), (6, 'Long', 'google google google', 6);
----

SELECT query_id, doc_id FROM hits ORDER BY query_id ASC, doc_id ASC;
----

SELECT * FROM hits WHERE query_id = 2 ORDER BY doc_id ASC;
----

# A query stored later hits later documents only; a REPLACE is a new document.
INSERT INTO alerts (id, query) VALUES (16, 'film');
----

REPLACE INTO posts (id, title, body, score) VALUES (1, 'New', 'a film', 0);
----

SELECT query_id, doc_id FROM hits WHERE query_id = 16;
----

# A replaced query is the new one only; a deleted one is gone.
REPLACE INTO alerts (id, query) VALUES (16, 'theatre');
----

DELETE FROM alerts WHERE id = 1;
----

INSERT INTO posts (id, title, body) VALUES (7, 'Theatre', 'google film');
----

SELECT query_id FROM hits WHERE doc_id = 7 ORDER BY query_id ASC;
----

CALL PQ('alerts', '{"title":"Wars","body":"google"}', 1 AS query);
----

CALL PQ('alerts', ('{"title":"Wars"}', '{"body":"theatre wars"}'), 1 AS docs);
----

CALL PQ('alerts', 'star wars', 0 AS docs_json);
----

SHOW META;
----

CALL PQ('alerts', 'nothing of the kind', 0 AS docs_json);
----

# Bad input.
CALL PQ('nothing', 'star', 0 AS docs_json);
----

CALL PQ('posts', 'star', 0 AS docs_json);
----

CALL PQ('alerts', '{"title":');
----

CALL PQ('alerts', 'star', 1 AS nonsense);
----

CALL PQ('alerts');
----

INSERT INTO alerts (id, query) VALUES (20, '"open');
----

INSERT INTO alerts (id, query) VALUES (20, 'fine'), (21, '@nothing x');
----

INSERT INTO alerts (id, query) VALUES (2, 'again');
----

INSERT INTO alerts (id, query, nothing) VALUES (20, 'x', 1);
----

INSERT INTO alerts (id, query, filters) VALUES (20, 'x', 'score >');
----

SELECT COUNT(*) FROM alerts WHERE id >= 20;
----

# A warning, not an error: stored as words.
INSERT INTO alerts (id, query) VALUES (22, 'star OR wars');
----

SHOW WARNINGS;
----

