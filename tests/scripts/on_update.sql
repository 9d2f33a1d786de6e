# Standing queries that hear UPDATE: on_update='1'.
CREATE TABLE goods (name text, price int, tag string, j json);
----
ok, 0 rows

CREATE TABLE jobs (query_id bigint unsigned, doc_id bigint unsigned, price int, name text) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE news (query_id bigint, doc_id bigint, price int);
----
ok, 0 rows

CREATE TABLE cheap type='pq' on='goods' on_update='1' into='jobs';
----
ok, 0 rows

CREATE TABLE log type='pq' on='goods' on_update='1' into='news';
----
ok, 0 rows

CREATE TABLE deaf type='pq' on='goods' into='jobs';
----
ok, 0 rows

CREATE TABLE counted type='pq' on='goods' on_update='1';
----
ok, 0 rows

SHOW CREATE TABLE cheap;
----
Table | Create Table
cheap | CREATE TABLE `cheap` type='pq' on='goods' into='jobs' on_update='1'

SHOW CREATE TABLE deaf;
----
Table | Create Table
deaf | CREATE TABLE `deaf` type='pq' on='goods' into='jobs'

INSERT INTO cheap (id, query, filters) VALUES (1, 'cup', 'price < 5'), (2, 'pot', '');
----
ok, 2 rows

INSERT INTO log (id, query, filters) VALUES (7, 'blue', 'j.sale = 1');
----
ok, 1 rows

INSERT INTO deaf (id, query) VALUES (3, 'cup');
----
ok, 1 rows

INSERT INTO counted (id, query) VALUES (4, 'cup');
----
ok, 1 rows

INSERT INTO goods VALUES (1, 'red cup', 10, 'a', '{}'), (2, 'blue cup', 20, 'b', '{}'), (3, 'blue pot', 30, 'c', '{}');
----
ok, 3 rows

# What the INSERT hit.
SELECT * FROM jobs;
----
query_id | doc_id | price | name
2 | 3 | 30 | blue pot
3 | 1 | 10 | red cup
3 | 2 | 20 | blue cup

DELETE FROM jobs;
----
ok, 3 rows

# The row is matched with its new values and its stored text.
UPDATE goods SET price = 4 WHERE id = 1;
----
ok, 1 rows

SELECT * FROM jobs;
----
query_id | doc_id | price | name
1 | 1 | 4 | red cup

# A row that has the values already is not changed, and not heard.
UPDATE goods SET price = 4 WHERE id = 1;
----
ok, 0 rows

SELECT COUNT(*) FROM jobs;
----
COUNT(*)
1

# By a condition, and from rows of a file; the hits of a search table are rows.
FLUSH TABLE goods;
----
ok, 0 rows

UPDATE goods SET j.sale = 1, price = price - 1 WHERE MATCH('blue');
----
ok, 2 rows

SELECT * FROM jobs;
----
query_id | doc_id | price | name
1 | 1 | 4 | red cup
2 | 3 | 29 | blue pot

SELECT query_id, doc_id, price FROM news;
----
query_id | doc_id | price
7 | 2 | 19
7 | 3 | 29

SELECT id, hits FROM counted;
----
id | hits
4 | 4

SELECT id, hits FROM deaf;
----
id | hits
3 | 2

# A crash leaves the values and their hits.
[server] kill
----
ok

SELECT * FROM jobs;
----
query_id | doc_id | price | name
1 | 1 | 4 | red cup
2 | 3 | 29 | blue pot

SELECT query_id, doc_id, price FROM news;
----
query_id | doc_id | price
7 | 2 | 19
7 | 3 | 29

SELECT id, price, j FROM goods;
----
id | price | j
1 | 4 | {}
2 | 19 | {"sale":1}
3 | 29 | {"sale":1}

# In a transaction the hits come with COMMIT.
BEGIN;
----
ok, 0 rows

UPDATE goods SET price = 3 WHERE id = 1;
----
ok, 1 rows

SELECT COUNT(*) FROM jobs;
----
COUNT(*)
3

ROLLBACK;
----
ok, 0 rows

SELECT COUNT(*) FROM jobs;
----
COUNT(*)
2

BEGIN;
----
ok, 0 rows

UPDATE goods SET price = 2 WHERE id = 1;
----
ok, 1 rows

COMMIT;
----
ok, 0 rows

SELECT * FROM jobs;
----
query_id | doc_id | price | name
1 | 1 | 4 | red cup
2 | 3 | 29 | blue pot
1 | 1 | 2 | red cup

# Hits that the queue cannot hold refuse the UPDATE.
CREATE TABLE narrow (doc_id bigint unsigned, price tinyint) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE small type='pq' on='goods' on_update='1' into='narrow';
----
ok, 0 rows

INSERT INTO small (id, query) VALUES (1, 'red');
----
ok, 1 rows

UPDATE goods SET price = 1000 WHERE id = 1;
----
error 1264 (22003): out of range value '1000' for column 'price' at row 1

SELECT id, price FROM goods WHERE id = 1;
----
id | price
1 | 2

DROP TABLE small;
----
ok, 0 rows

# Refused.
CREATE TABLE bad (body text) type='pq' on_update='1';
----
error 1210 (HY000): on_update= needs on=: it names the tables whose UPDATEs are heard

CREATE TABLE bad type='pq' on='goods' on_update='yes';
----
error 1210 (HY000): on_update='yes' is neither 0 nor 1

CREATE TABLE bad (body text) on_update='1';
----
error 1210 (HY000): on=, on_update=, into= and syntax= belong to tables of type='pq'

DROP TABLE cheap, log, deaf, counted, jobs, news, narrow, goods;
----
ok, 0 rows

