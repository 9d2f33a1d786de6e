# Standing queries: asked by CALL PQ, and fed by INSERT and REPLACE. The documents are those of search.sql.

CREATE TABLE posts (title text, body text, score int);
----
ok, 0 rows

CREATE TABLE hits (query_id bigint, tags text, doc_id bigint, title text, score int) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts' into='hits';
----
ok, 0 rows

INSERT INTO alerts (id, query, tags) VALUES (1, 'google', 'a'), (2, 'google -maps', 'a,b'), (3, '"star wars"', ''), (4, 'museum | style', ''), (5, 'google museum | style', ''), (6, '(google museum) | style', ''), (7, '@title wars', ''), (8, 'google @title star', ''), (9, '@(title,body) wars -@title star', ''), (10, 'cafe creme', ''), (11, 'dessert', ''), (12, '#dessert', ''), (13, '"@chef"', ''), (14, '東京', '');
----
ok, 14 rows

INSERT INTO alerts (id, query, filters) VALUES (15, 'google', 'score > 2');
----
ok, 1 rows

SELECT id, query, tags, filters FROM alerts WHERE id < 4 ORDER BY id ASC;
----
id | query | tags | filters
1 | google | a | 
2 | google -maps | a,b | 
3 | "star wars" |  | 

SELECT COUNT(*) FROM alerts;
----
COUNT(*)
15

INSERT INTO posts (id, title, body, score) VALUES (1, 'Star Wars', 'google opens a museum of film', 3), (2, 'Maps', 'google maps in star wars style', 1), (3, 'Wars', 'the star of all wars', 2), (4, 'Café', 'naïve crème brûlée #dessert by @chef', 5), (5, '東京', '東京タワー and more', 4), (6, 'Long', 'google google google', 6);
----
ok, 6 rows

SELECT query_id, doc_id FROM hits ORDER BY query_id ASC, doc_id ASC;
----
query_id | doc_id
1 | 1
1 | 2
1 | 6
2 | 1
2 | 6
3 | 1
3 | 2
4 | 1
4 | 2
5 | 1
5 | 2
6 | 1
6 | 2
7 | 1
7 | 3
8 | 1
9 | 2
9 | 3
10 | 4
11 | 4
12 | 4
13 | 4
14 | 5
15 | 1
15 | 6

SELECT * FROM hits WHERE query_id = 2 ORDER BY doc_id ASC;
----
query_id | tags | doc_id | title | score
2 | a,b | 1 | Star Wars | 3
2 | a,b | 6 | Long | 6

# A query stored later hits later documents only; a REPLACE is a new document.
INSERT INTO alerts (id, query) VALUES (16, 'film');
----
ok, 1 rows

REPLACE INTO posts (id, title, body, score) VALUES (1, 'New', 'a film', 0);
----
ok, 1 rows

SELECT query_id, doc_id FROM hits WHERE query_id = 16;
----
query_id | doc_id
16 | 1

# A replaced query is the new one only; a deleted one is gone.
REPLACE INTO alerts (id, query) VALUES (16, 'theatre');
----
ok, 1 rows

DELETE FROM alerts WHERE id = 1;
----
ok, 1 rows

INSERT INTO posts (id, title, body) VALUES (7, 'Theatre', 'google film');
----
ok, 1 rows

SELECT query_id FROM hits WHERE doc_id = 7 ORDER BY query_id ASC;
----
query_id
2
16

CALL PQ('alerts', '{"title":"Wars","body":"google"}', 1 AS query);
----
id | query | tags | filters
2 | google -maps | a,b | 
7 | @title wars |  | 
9 | @(title,body) wars -@title star |  | 

CALL PQ('alerts', ('{"title":"Wars"}', '{"body":"theatre wars"}'), 1 AS docs);
----
id | documents
7 | 1
9 | 1,2
16 | 2

CALL PQ('alerts', 'star wars', 0 AS docs_json);
----
id
3
7

SHOW META;
----
Variable name | Value
total | … sec
queries_matched | 2
queries_failed | 0
document_matched | 1
total_queries_stored | 15
term_only_queries | 15
fast_rejected_queries | 11

CALL PQ('alerts', 'nothing of the kind', 0 AS docs_json);
----
id

# Bad input.
CALL PQ('nothing', 'star', 0 AS docs_json);
----
error 1146 (42S02): no table 'nothing'

CALL PQ('nothing', 'star');
----
error 1146 (42S02): no table 'nothing'

CALL PQ('posts', 'star');
----
error 1210 (HY000): 'posts' is not a pq table

CALL PQ('posts', 'star', 0 AS docs_json);
----
error 1210 (HY000): 'posts' is not a pq table

CALL PQ('alerts', '{"title":');
----
error 1064 (42000): Bad JSON objects in strings: 1

CALL PQ('alerts', 'star', 1 AS nonsense);
----
error 1064 (42000): unknown option nonsense

CALL PQ('alerts');
----
error 1064 (42000): PQ() expects exactly 2 arguments (table, document(s))

INSERT INTO alerts (id, query) VALUES (20, '"open');
----
error 1064 (42000): query text at byte 0: unclosed quote

INSERT INTO alerts (id, query) VALUES (20, 'fine'), (21, '@nothing x');
----
error 1064 (42000): query text at byte 1: no field 'nothing' found in schema: write \@nothing for the handle at row 2

INSERT INTO alerts (id, query) VALUES (2, 'again');
----
error 1062 (23000): duplicate id '2'

INSERT INTO alerts (id, query, nothing) VALUES (20, 'x', 1);
----
error 1054 (42S22): no column 'nothing' in table 'alerts'

INSERT INTO alerts (id, query, filters) VALUES (20, 'x', 'score >');
----
error 1210 (HY000): filters of row 1: expected a value, found the end at byte 7

SELECT COUNT(*) FROM alerts WHERE id >= 20;
----
COUNT(*)
0

# A warning, not an error: stored as words.
INSERT INTO alerts (id, query) VALUES (22, 'star OR wars');
----
ok, 1 rows, 1 warnings

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | OR is searched as a word: write | between alternatives

