# Sets, JSON documents and bits in search tables, queues and standing queries.
CREATE TABLE docs (body text, j json, m multi, w multi64, b bit(4));
----
ok, 0 rows

INSERT INTO docs (id, body, j, m, w, b) VALUES (1, 'a cat', '{"color": "red", "size": {"w": 10, "h": 2.5}, "tags": ["x", "y"], "ok": true}', (3,1,3), (-5, 9000000000), 15), (2, 'a dog', '{"color": "blue", "size": {"w": 7}, "n": null}', (), '1,2', 0), (3, 'a cow', NULL, '[7]', 4, NULL);
----
ok, 3 rows

SELECT * FROM docs;
----
id | body | j | m | w | b
1 | a cat | {"color":"red","ok":true,"size":{"h":2.5,"w":10},"tags":["x","y"]} | 1,3 | -5,9000000000 | 15
2 | a dog | {"color":"blue","n":null,"size":{"w":7}} |  | 1,2 | 0
3 | a cow | NULL | 7 | 4 | NULL

SHOW CREATE TABLE docs;
----
Table | Create Table
docs | CREATE TABLE `docs` (\n  `id` bigint,\n  `body` text,\n  `j` json,\n  `m` multi,\n  `w` multi64,\n  `b` bit(4)\n) type='rt'

SELECT id, j.color, j.size.w AS width, j['size']['h'] FROM docs ORDER BY j.size.w ASC;
----
id | j.color | width | j['size']['h']
3 | NULL | NULL | NULL
2 | blue | 7 | NULL
1 | red | 10 | 2.500000

SELECT id FROM docs WHERE j.color = 'red' AND j.size.w BETWEEN 5 AND 20;
----
id
1

SELECT id FROM docs WHERE j.tags[1] = 'y' OR j.n IS NULL ORDER BY id ASC;
----
id
1
2
3

SELECT id FROM docs WHERE MATCH('a') AND docs.j.ok = TRUE;
----
id
1

# A set beside a value: one of its numbers. `<>` and NOT IN are the opposite of `=` and IN.
SELECT id FROM docs WHERE m = 3;
----
id
1

SELECT id FROM docs WHERE m <> 3 ORDER BY id ASC;
----
id
2
3

SELECT id FROM docs WHERE m IN (1, 7) ORDER BY id ASC;
----
id
1
3

SELECT id FROM docs WHERE m NOT IN (1, 2) ORDER BY id ASC;
----
id
2
3

SELECT id FROM docs WHERE w < 0 OR m BETWEEN 6 AND 8 ORDER BY id ASC;
----
id
1
3

UPDATE docs SET m = (9, 8), j = '{"color": "green"}' WHERE id = 2;
----
ok, 1 rows

UPDATE docs SET b = b - 1, m = () WHERE m = 1;
----
ok, 1 rows

[server] restart
----
ok

SELECT id, j, m, b FROM docs ORDER BY id ASC;
----
id | j | m | b
1 | {"color":"red","ok":true,"size":{"h":2.5,"w":10},"tags":["x","y"]} |  | 14
2 | {"color":"green"} | 8,9 | 0
3 | NULL | 7 | NULL

OPTIMIZE TABLE docs;
----
ok, 0 rows

SELECT id FROM docs WHERE j.color = 'green' AND m = 8;
----
id
2

# Refused, with nothing stored.
INSERT INTO docs (id, j) VALUES (9, '{"a": }');
----
error 1366 (HY000): '{"a": }' is not JSON at byte 6, for column 'j' at row 1

INSERT INTO docs (id, m) VALUES (9, (1, -1));
----
error 1264 (22003): out of range value '(…)' for column 'm' at row 1

INSERT INTO docs (id, m) VALUES (9, '1,x');
----
error 1366 (HY000): incorrect multi value '1,x' for column 'm' at row 1

INSERT INTO docs (id, b) VALUES (9, 16);
----
error 1264 (22003): out of range value '16' for column 'b' at row 1

SELECT id FROM docs WHERE body.x = 1;
----
error 1054 (42S22): no column 'body['x']' in table 'docs'

SELECT id FROM docs WHERE nothing.x = 1;
----
error 1054 (42S22): no column 'nothing' in table 'docs'

SELECT id FROM docs WHERE j[x] = 1;
----
error 1064 (42000): syntax error: expected a key in quotes or the number of an item near 'x] = 1' at line 1, position 28

CREATE TABLE hits (doc_id bigint unsigned, j json, m multi) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='docs' into='hits';
----
ok, 0 rows

INSERT INTO alerts (id, query, filters) VALUES (1, 'cat', 'j.size.w > 5 AND m = 3');
----
ok, 1 rows

INSERT INTO docs (id, body, j, m) VALUES (20, 'cat', '{"size": {"w": 6}}', (3)), (21, 'cat', '{"size": {"w": 5}}', (3)), (22, 'cat', '{"size": {"w": 9}}', (4));
----
ok, 3 rows

SELECT * FROM hits WHERE j.size.w = 6;
----
doc_id | j | m
20 | {"size":{"w":6}} | 3

SELECT COUNT(*) FROM docs;
----
COUNT(*)
6

# Filters of standing queries on sets and documents alone, each true and false of one of two rows.
CREATE TABLE heard (doc_id bigint unsigned, query_id bigint unsigned) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE watch type='pq' on='docs' into='heard';
----
ok, 0 rows

INSERT INTO watch (id, query, filters) VALUES (1, 'owl', 'm = 3'), (2, 'owl', 'm <> 3'), (3, 'owl', 'm IN (5, 6)'), (4, 'owl', 'm > 4'), (5, 'owl', 'm BETWEEN 4 AND 5'), (6, 'owl', 'j.n = 1'), (7, 'owl', 'j.n IS NULL'), (8, 'owl', 'b = 2'), (9, 'owl', 'm NOT IN (5, 6)');
----
ok, 9 rows

INSERT INTO docs (id, body, j, m, b) VALUES (30, 'owl', '{"n": 1}', (1, 3), 2), (31, 'owl', '{}', (5), 3);
----
ok, 2 rows

SELECT * FROM heard;
----
doc_id | query_id
30 | 1
30 | 6
30 | 8
30 | 9
31 | 2
31 | 3
31 | 4
31 | 5
31 | 7

SELECT id FROM docs WHERE MATCH('owl') AND m <> 3;
----
id
31

SELECT id FROM docs WHERE MATCH('owl') AND m > 4;
----
id
31

# Nested too deep.
INSERT INTO docs (id, j) VALUES (9, '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]');
----
error 1406 (22001): JSON nested deeper than 64 levels for column 'j' at row 1

# MIN and MAX of a path and ORDER BY have one order for values of all kinds: NULL, numbers with truths as 1 and 0, texts, documents.
CREATE TABLE kinds (body text, j json)
----
ok, 0 rows

INSERT INTO kinds (id, body, j) VALUES (1, '', '{"a":true}'), (2, '', '{"a":false}'), (3, '', '{"a":1}'), (4, '', '{"a":"1"}'), (5, '', '{"a":2.5}'), (6, '', '{"a":"B"}'), (7, '', '{"a":null}'), (8, '', '{"a":-1}'), (9, '', '{"a":[7]}'), (10, '', '{}')
----
ok, 10 rows

SELECT id, j.a FROM kinds ORDER BY j.a ASC, id ASC
----
id | j.a
7 | NULL
10 | NULL
8 | -1
2 | 0
1 | 1
3 | 1
5 | 2.500000
4 | 1
6 | B
9 | [7]

SELECT MIN(j.a), MAX(j.a) FROM kinds
----
MIN(j.a) | MAX(j.a)
-1 | [7]

SELECT MIN(j.a), MAX(j.a) FROM kinds WHERE id < 9
----
MIN(j.a) | MAX(j.a)
-1 | B

SELECT MIN(j.a), MAX(j.a) FROM kinds WHERE id < 6
----
MIN(j.a) | MAX(j.a)
0 | 1

SELECT MIN(j.a), MAX(j.a) FROM kinds WHERE id IN (1, 2)
----
MIN(j.a) | MAX(j.a)
0 | 1

SELECT MIN(j.a), MAX(j.a) FROM kinds WHERE id IN (4, 6)
----
MIN(j.a) | MAX(j.a)
1 | B

SELECT MIN(j.a), MAX(j.a) FROM kinds WHERE id IN (7, 10)
----
MIN(j.a) | MAX(j.a)
NULL | NULL

# Comparisons keep them apart: true is not 1, and '1' is not 1.
SELECT id FROM kinds WHERE j.a = 1
----
id
3

SELECT id FROM kinds WHERE j.a = TRUE
----
id
1

SELECT id FROM kinds WHERE j.a = '1'
----
id
4

