# Statements as Manticore's users write them, and what is "not yet" beside what is a mistake.

CREATE TABLE posts (body text, price float) rt_mem_limit='128M' dict='keywords'
----
ok, 0 rows

CREATE TABLE t (body text) dict='crc'
----
error 1235 (42000): not yet: table option dict

CREATE TABLE t (body text) dict='kyewords'
----
error 1210 (HY000): no dict 'kyewords': there is dict='keywords'

CREATE TABLE t (body text) rt_mem_limit='much'
----
error 1210 (HY000): rt_mem_limit="much" is not a size, such as 512MiB or 2GiB

CREATE TABLE rules (title text, price float) type='pq'
----
ok, 0 rows

DESC rules
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
query | string | YES |  | NULL | 
tags | string | YES |  | NULL | 
filters | string | YES |  | NULL | 
hits | bigint | YES |  | NULL | read only
last_hit | timestamp | YES |  | NULL | read only
title | text | YES |  | NULL | document
price | float | YES |  | NULL | document

DESC rules TABLE
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
title | text | YES |  | NULL | indexed stored
price | float | YES |  | NULL | 

DESC posts TABLE LIKE 'b%'
----
Field | Type | Null | Key | Default | Extra
body | text | YES |  | NULL | indexed stored

INSERT INTO posts (id, body) VALUES (1, 'red'), (2, 'blue')
----
ok, 2 rows

SHOW INDEX posts STATUS LIKE 'tail_r%'
----
Variable_name | Value
tail_rows | 2

SHOW TABLE posts STATUS LIKE 'segment_'
----
Variable_name | Value
segments | 0

SHOW INDEX FROM posts
----
Table | Non_unique | Key_name | Seq_in_index | Column_name
posts | 0 | PRIMARY | 1 | id

OPTIMIZE TABLE posts OPTION cutoff=1
----
ok, 0 rows

OPTIMIZE TABLE posts OPTION sync=1, cutoff=1
----
ok, 0 rows

OPTIMIZE TABLE posts OPTION cutoff=4
----
error 1235 (42000): not yet: OPTIMIZE TABLE that leaves several segments a shard

OPTIMIZE TABLE posts OPTION sync=0
----
error 1235 (42000): not yet: OPTIMIZE TABLE that does not wait

OPTIMIZE TABLE posts OPTION speed=1
----
error 1064 (42000): syntax error: expected sync or cutoff near 'speed=1' at line 1, position 28

TRUNCATE RTINDEX posts
----
ok, 0 rows

SELECT COUNT(*) FROM posts
----
COUNT(*)
0

# CALL PQ shows filters in one way of writing; a tag may be asked for in Manticore's words.
INSERT INTO rules (id, query, tags, filters) VALUES (1, 'red', 'web,shop', 'price  >  5 and `price` <= 10'), (2, 'red', 'shop', 'price = 1 OR price = 2 OR NOT (price BETWEEN 3 AND 1e1)'), (3, 'blue', '', '')
----
ok, 3 rows

CALL PQ('rules', '{"title": "red", "price": 7}', 1 AS query)
----
id | query | tags | filters
1 | red | web,shop | price>5 AND price<=10

SELECT id, filters FROM rules ORDER BY id ASC
----
id | filters
1 | price  >  5 and `price` <= 10
2 | price = 1 OR price = 2 OR NOT (price BETWEEN 3 AND 1e1)
3 | 

SELECT id FROM rules WHERE tags ANY ('web', 'film') ORDER BY id ASC
----
id
1

SELECT id FROM rules WHERE tags NOT ANY ('web') ORDER BY id ASC
----
id
2
3

SELECT id FROM rules WHERE tags ALL ('web', 'shop')
----
error 1235 (42000): not yet: any(tags) of standing queries beside anything but = and IN, or in a condition on several tables

SELECT id FROM rules WHERE price ANY (1)
----
error 1054 (42S22): no column 'price' in table 'rules'

DELETE FROM rules WHERE tags ANY ('web')
----
ok, 1 rows

# Of an array only the element that is no object is passed over.
CALL PQ('rules', ('[{"title": "blue"}, 5, {"title": "red", "price": 1}]', '{"title": "blue"} {"ti', '{"title": "blue"}'), 1 AS docs, 1 AS skip_bad_json)
----
id | documents, 1 warnings
2 | 2
3 | 1,3,4

SHOW WARNINGS
----
Level | Code | Message, 1 warnings
Warning | 1000 | Bad JSON objects in strings: 1,2

CALL PQ('rules', '[{"title": "blue"}, 5]', 1 AS docs)
----
error 1064 (42000): Bad JSON objects in strings: 1

# What is not yet has one code wherever it is asked for.
SELECT id FROM posts WHERE MATCH('ZONE:h1 red')
----
error 1235 (42000): query text at byte 0: not yet: zones

INSERT INTO rules (query) VALUES ('ZONE:h1 red')
----
error 1235 (42000): query text at byte 0: not yet: zones

INSERT INTO rules (query, filters) VALUES ('red', 'LENGTH(title) > 5')
----
ok, 1 rows

CALL PQ('rules', 'red', 'SOUNDEX(query) = 1' AS only, 0 AS docs_json)
----
error 1064 (42000): only: syntax error: no function 'soundex', did you mean round()? near 'SOUNDEX(query) = 1' at line 1, position 0

CALL PQ('rules', 'red', 'LENGTH(query) = 1' AS only, 0 AS docs_json)
----
id

SELECT id FROM posts WHERE MATCH('red') OPTION ranker=expr('1')
----
error 1235 (42000): not yet: ranker=expr('1')

SELECT id FROM posts WHERE MATCH('red') OPTION morphology='none'
----
error 1235 (42000): not yet: option morphology

SELECT MAX(price) FROM posts
----
MAX(price)
NULL

CREATE VIEW v AS SELECT 1
----
error 1235 (42000): not yet: CREATE VIEW

ALTER TABLE posts RENAME INDEX a TO b
----
error 1235 (42000): not yet: ALTER TABLE … RENAME INDEX

FLUSH LOGS
----
error 1235 (42000): not yet: FLUSH LOGS

CREATE TABLE t (body text) ENGINE=InnoDB
----
error 1235 (42000): not yet: ENGINE=InnoDB; there is ENGINE=queue

# A typo is a mistake.
CREATE TABEL t (body text)
----
error 1064 (42000): syntax error: expected TABLE near 'TABEL t (body text)' at line 1, position 7

DROP TABEL posts
----
error 1064 (42000): syntax error: expected TABLE near 'TABEL posts' at line 1, position 5

ALTER TABEL posts ADD COLUMN a int
----
error 1064 (42000): syntax error: expected TABLE near 'TABEL posts ADD COLUMN a int' at line 1, position 6

ALTER TABLE posts AD COLUMN a int
----
error 1064 (42000): syntax error: expected ADD, DROP, MODIFY or RENAME near 'AD COLUMN a int' at line 1, position 18

SHOW CREATE TABEL posts
----
error 1064 (42000): syntax error: expected TABLE near 'TABEL posts' at line 1, position 12

FLUSH TABEL posts
----
error 1064 (42000): syntax error: expected TABLE near 'TABEL posts' at line 1, position 6

SELECT MAXX(price) FROM posts
----
error 1064 (42000): syntax error: no function 'maxx', did you mean max()? near 'MAXX(price) FROM posts' at line 1, position 7

SELECT wieght() FROM posts
----
error 1064 (42000): syntax error: no function 'wieght', did you mean weight()? near 'wieght() FROM posts' at line 1, position 7

CREATE TABLE t (body text) ENGINE=qeue
----
error 1210 (HY000): no engine 'qeue': there is ENGINE=queue

# Several tables go in one statement, those that name others with those that are named, or none goes.
CREATE TABLE hits (query_id bigint) ENGINE=queue
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts' into='hits'
----
ok, 0 rows

DROP TABLE hits, posts
----
error 1451 (23000): table 'hits' is named by table 'alerts'

DROP TABLE posts, nothing
----
error 1146 (42S02): no table 'nothing'

DROP TABLE IF EXISTS posts, nothing, hits, alerts, posts
----
ok, 0 rows

SHOW TABLES
----
Table | Type
rules | percolate

