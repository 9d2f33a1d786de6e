# Standing queries: filters, hit counts, backfill, weights, the best of each document, stems, Lucene's syntax.

CREATE TABLE posts (title text, body text, price int, ts timestamp);
----
ok, 0 rows

CREATE TABLE hits (query_id bigint, doc_id bigint) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts' into='hits';
----
ok, 0 rows

INSERT INTO posts (id, title, body, price, ts) VALUES (1, 'red shoes', 'nice red shoes', 5, 1), (2, 'blue', 'red', 9, 2);
----
ok, 2 rows

INSERT INTO alerts (id, query, tags, filters) VALUES (1, 'red shoes', 'web', ''), (2, 'red', 'web,shop', 'price > 6'), (3, 'blue | red', '', '');
----
ok, 3 rows

CALL PQ_BACKFILL('alerts', 2);
----
ok, 1 rows

SELECT * FROM hits;
----
query_id | doc_id
2 | 2

CALL PQ_BACKFILL('alerts', 1, 30);
----
ok, 0 rows

CALL PQ_BACKFILL('alerts', 99);
----
error 1210 (HY000): no query 99 in table 'alerts'

CALL PQ('alerts', ('{"title":"red shoes","price":7}', '{"body":"blue red red","price":1}'), 1 AS docs, 1 AS weights, 1 AS query);
----
id | documents | query | tags | filters | weights
1 | 1 | red shoes | web |  | 2002
2 | 1 | red | web,shop | price>6 | 1001
3 | 1,2 | blue | red |  |  | 1001,2003

CALL PQ('alerts', ('{"title":"red shoes","price":7}', '{"body":"blue red red","price":1}'), 1 AS docs, 1 AS weights, 1 AS top);
----
id | documents | weights
1 | 1 | 2002
3 | 2 | 2003

CALL PQ('alerts', ('{"title":"red shoes","price":7}', '{"body":"blue red red","price":1}'), 1 AS top, 1 AS docs, 1 AS highlight, 'hits = 0' AS only);
----
id | documents | highlights
1 | 1 | [{"title":"<b>red</b> <b>shoes</b>"}]
3 | 2 | [{"body":"<b>blue</b> <b>red</b> <b>red</b>"}]

CREATE TABLE st (body text) type='pq' morphology='stem_en' index_exact_words='1' syntax='lucene';
----
ok, 0 rows

SHOW CREATE TABLE st;
----
Table | Create Table
st | CREATE TABLE `st` (\n  `id` bigint,\n  `body` text\n) type='pq' syntax='lucene' morphology='stem_en' index_exact_words='1'

INSERT INTO st VALUES ('running AND dogs');
----
ok, 1 rows

CALL PQ('st', 'a dog runs', 0 AS docs_json, 1 AS highlight);
----
id | highlights
1 | [{"body":"a <b>dog</b> <b>runs</b>"}]

SELECT id, query, hits FROM alerts WHERE last_hit > 0;
----
id | query | hits
2 | red | 1

INSERT INTO posts (id, title, body, price, ts) VALUES (3, 'red shoes', 'nice', 5, 1);
----
ok, 1 rows

SELECT id, query, hits FROM alerts;
----
id | query | hits
1 | red shoes | 1
2 | red | 1
3 | blue | red | 1

SELECT id FROM alerts WHERE any(tags)='web';
----
id
1
2

DELETE FROM alerts WHERE any(tags) IN ('shop');
----
ok, 1 rows

CREATE TABLE w (body text) type='pq' morphology='nonsense';
----
error 1210 (HY000): unknown morphology 'nonsense': none, stem_en, stem_ru, stem_enru, stem_cz, stem_ar, or libstemmer_ and a language of Snowball, such as libstemmer_german

