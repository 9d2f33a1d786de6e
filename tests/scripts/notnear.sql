# NOTNEAR: MATCH finds the documents that the same standing query hits.

CREATE TABLE posts (title text, body text);
----
ok, 0 rows

CREATE TABLE pq (title text, body text) type='pq';
----
ok, 0 rows

INSERT INTO posts (id, title, body) VALUES (1, '', 'a'), (2, '', 'b'), (3, '', 'a x x b'), (4, '', 'a x x x b'), (5, '', 'b x x a'), (6, '', 'a b x x x a'), (7, 'b', 'a');
----
ok, 7 rows

INSERT INTO pq (id, query) VALUES (1, 'a NOTNEAR/3 b'), (2, 'a NOTNEAR/3 "b x"'), (3, 'a NOTNEAR/3 a');
----
ok, 3 rows

# In 3 and 5 the only `a` is 3 positions from a `b`, in 4 it is 4 away, and 6 has a second `a`. Fields are apart: 7.
SELECT id FROM posts WHERE MATCH('a NOTNEAR/3 b') ORDER BY id ASC;
----
id
1
4
6
7

SELECT id FROM posts WHERE MATCH('a NOTNEAR/3 "b x"') ORDER BY id ASC;
----
id
1
3
4
7

# Operands at one place are near: query 3 hits nothing.
CALL PQ('pq', ('{"body":"a"}', '{"body":"b"}', '{"body":"a x x b"}', '{"body":"a x x x b"}', '{"body":"b x x a"}', '{"body":"a b x x x a"}', '{"title":"b","body":"a"}'), 1 AS docs);
----
id | documents
1 | 1,4,6,7
2 | 1,3,4,7

