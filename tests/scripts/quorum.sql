# Repeated words of a quorum: each asks for a further occurrence, and a higher number finds no more.

CREATE TABLE t (body text);
----
ok, 0 rows

INSERT INTO t (id, body) VALUES (1, 'a'), (2, 'a a'), (3, 'a b'), (4, 'a a b'), (5, 'b'), (6, 'a a a');
----
ok, 6 rows

SELECT id FROM t WHERE MATCH('"a a a"/1') ORDER BY id ASC;
----
id
1
2
3
4
6

SELECT id FROM t WHERE MATCH('"a a a"/2') ORDER BY id ASC;
----
id
2
4
6

SELECT id FROM t WHERE MATCH('"a a a"/3') ORDER BY id ASC;
----
id
6

SELECT id FROM t WHERE MATCH('"a a a"/4') ORDER BY id ASC;
----
id, 1 warnings
6

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | a quorum asks for more words than it has: all of them are wanted

SELECT id FROM t WHERE MATCH('"a b a"/1') ORDER BY id ASC;
----
id
1
2
3
4
5
6

SELECT id FROM t WHERE MATCH('"a b a"/2') ORDER BY id ASC;
----
id
2
3
4
6

SELECT id FROM t WHERE MATCH('"a b a"/3') ORDER BY id ASC;
----
id
4

SELECT id FROM t WHERE MATCH('"a b a"/1.0') ORDER BY id ASC;
----
id
4

SELECT id FROM t WHERE MATCH('"a ( a | b )"/2') ORDER BY id ASC;
----
id
1
2
3
4
6

CREATE TABLE pq (body text) type='pq';
----
ok, 0 rows

INSERT INTO pq (id, query) VALUES (1, '"a a a"/1'), (2, '"a a a"/2'), (3, '"a a a"/3'), (4, '"a b a"/3'), (5, '"a b a"/2');
----
ok, 5 rows

CALL PQ('pq', ('a', 'a a', 'a b', 'a a b', 'b', 'a a a'), 0 AS docs_json, 1 AS docs);
----
id | documents
1 | 1,2,3,4,6
2 | 2,4,6
3 | 6
4 | 4
5 | 2,3,4,6

# What stands for other words is not read as words.

SELECT id FROM t WHERE MATCH('"it REGEX(/te.*/)"');
----
error 1235 (42000): query text at byte 4: not yet: REGEX(…) in quotes: write wildcards, or the expression beside them

SELECT id FROM t WHERE MATCH('"REGEX(/te.*|a/) it"~3');
----
error 1235 (42000): query text at byte 1: not yet: REGEX(…) in quotes: write wildcards, or the expression beside them

SELECT id FROM t WHERE MATCH('google~1');
----
error 1235 (42000): query text at byte 6: not yet: fuzzy words, word~: write \~ for the sign

SELECT id FROM t WHERE MATCH('google~ | a');
----
error 1235 (42000): query text at byte 6: not yet: fuzzy words, word~: write \~ for the sign

SELECT id FROM t WHERE MATCH('google\\~1 | b') ORDER BY id ASC;
----
id
3
4
5

INSERT INTO pq (id, query) VALUES (9, 'google~1');
----
error 1235 (42000): query text at byte 6: not yet: fuzzy words, word~: write \~ for the sign

INSERT INTO pq (id, query) VALUES (9, '"it REGEX(/te.*/)"');
----
error 1235 (42000): query text at byte 4: not yet: REGEX(…) in quotes: write wildcards, or the expression beside them

# Documents with ids of their own are listed in rising order: numbers by their size, then texts.

CREATE TABLE named (title text) type='pq';
----
ok, 0 rows

INSERT INTO named (id, query) VALUES (1, 'blue'), (2, 'red');
----
ok, 2 rows

CALL PQ('named', ('{"k":10,"title":"blue"}', '{"k":"b","title":"blue red"}', '{"k":9,"title":"blue red"}', '{"k":"a","title":"blue"}'), 1 AS docs_json, 1 AS docs, 'k' AS docs_id);
----
id | documents
1 | 9,10,a,b
2 | 9,b

CALL PQ('named', ('{"k":10,"title":"a blue one"}', '{"k":9,"title":"blue"}'), 1 AS docs_json, 1 AS docs, 'k' AS docs_id, 1 AS highlight);
----
id | documents | highlights
1 | 9,10 | [{"title":"<b>blue</b>"},{"title":"a <b>blue</b> one"}]

# SHOW META names a wildcard and an expression as they are written, also in a table that stems.

CREATE TABLE stems (body text) morphology='stem_en';
----
ok, 0 rows

INSERT INTO stems (id, body) VALUES (1, 'hoping for hopes'), (2, 'hold');
----
ok, 2 rows

SELECT id FROM stems WHERE MATCH('ho* hop* | =hold | REGEX(/h.ld/) | holding');
----
id
1
2

SHOW META;
----
Variable_name | Value
total | 2
total_found | 2
total_relation | eq
time | …
keyword[0] | ho*
docs[0] | 3
hits[0] | 3
keyword[1] | hop*
docs[1] | 2
hits[1] | 2
keyword[2] | =hold
docs[2] | 1
hits[2] | 1
keyword[3] | h.ld
docs[3] | 1
hits[3] | 1
keyword[4] | hold
docs[4] | 1
hits[4] | 1

# Tags end at commas alone.

INSERT INTO named (id, query, tags) VALUES (3, 'green', 'user:42, a b');
----
ok, 1 rows

SELECT id FROM named WHERE tags ANY ('user:42');
----
id
3

SELECT id FROM named WHERE tags ANY ('a b');
----
id
3

SELECT id FROM named WHERE tags ANY ('user', 'a');
----
id

