# FACET: groups of the rows that a SELECT finds, as result sets behind its own.
CREATE TABLE goods (title text, brand string, brand_id int, price int, sizes multi, j json, at timestamp)
----
ok, 0 rows

CREATE TABLE all_goods type='distributed' local='goods'
----
ok, 0 rows

CREATE TABLE work (n int) ENGINE=queue
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='goods'
----
ok, 0 rows

INSERT INTO goods (id, title, brand, brand_id, price, sizes, j, at) VALUES (1, 'red shoe', 'Ant', 1, 10, (36, 38), '{"k": 1, "l": ["a", "b"]}', 1704067200), (2, 'red red hat', 'Bee', 2, 30, (), '{"k": "x"}', 1704153600), (3, 'blue shoe', 'ANT', 1, 55, (38), '{"k": 1}', 1706745600), (4, 'red coat', 'Cow', 3, 70, (40, 38), '{}', 1709251200), (5, 'blue hat', 'Bee', 2, 30, (36), '{"l": ["b"]}', 1709337600)
----
ok, 5 rows

# The groups are those of all rows found, not of the page. Without ORDER BY they come in the order of their first rows.
SELECT id, title FROM goods WHERE MATCH('red') ORDER BY id ASC LIMIT 2 FACET brand FACET price
----
id | title
1 | red shoe
2 | red red hat
--
brand | count(*)
Ant | 1
Bee | 1
Cow | 1
--
price | count(*)
10 | 1
30 | 1
70 | 1

# The first rows by weight.
SELECT id, weight() FROM goods WHERE MATCH('red | hat') OPTION ranker=bm25 FACET brand
----
id | weight()
2 | 1543
5 | 1543
1 | 1500
4 | 1500
--
brand | count(*)
Bee | 2
Ant | 1
Cow | 1

SELECT id FROM goods LIMIT 1 FACET brand AS maker, brand_id FACET title BY brand_id ORDER BY title DESC
----
id
1
--
maker | brand_id | count(*)
Ant | 1 | 2
Bee | 2 | 2
Cow | 3 | 1
--
title | count(*)
red shoe | 2
red red hat | 2
red coat | 1

SELECT COUNT(*) FROM goods FACET brand DISTINCT price ORDER BY count(distinct price) DESC, brand DESC FACET brand ORDER BY COUNT(*) DESC, FACET() ASC LIMIT 1, 1
----
COUNT(*)
5
--
brand | count(distinct price) | count(*)
Ant | 2 | 2
Cow | 1 | 1
Bee | 1 | 2
--
brand | count(*)
Bee | 2

# Aliases of the SELECT list, also in WHERE.
SELECT id, INTERVAL(price, 20, 50) AS size_of FROM goods WHERE size_of > 0 LIMIT 1 FACET size_of ORDER BY size_of DESC FACET size_of AS r, brand ORDER BY r ASC, brand ASC
----
id | size_of
2 | 1
--
size_of | count(*)
2 | 2
1 | 2
--
r | brand | count(*)
1 | Bee | 2
2 | ANT | 1
2 | Cow | 1

# Ranges and histograms.
SELECT id FROM goods LIMIT 1 FACET INTERVAL(price, 20, 50) AS steps FACET RANGE(price, {range_to=30}, {range_from=30, range_to=60}, {range_from=60}) AS ranges ORDER BY ranges ASC FACET HISTOGRAM(price, {hist_interval=20}) AS h ORDER BY h ASC FACET DATE_HISTOGRAM(at, {calendar_interval='month'}) AS months ORDER BY months DESC
----
id
1
--
steps | count(*)
0 | 1
1 | 2
2 | 2
--
ranges | count(*)
0 | 1
1 | 3
2 | 1
--
h | count(*)
0 | 1
20 | 2
40 | 1
60 | 1
--
months | count(*)
1709251200 | 2
1706745600 | 1
1704067200 | 2

# A set or a JSON array: a row is in the group of each item, and the item is shown.
SELECT id FROM goods LIMIT 1 FACET sizes FACET sizes ORDER BY sizes DESC FACET j.k FACET j.l ORDER BY FACET() ASC FACET sizes, brand ORDER BY COUNT(*) DESC, FACET() ASC LIMIT 2
----
id
1
--
sizes | count(*)
36 | 2
38 | 3
40 | 1
--
sizes | count(*)
40 | 1
38 | 3
36 | 2
--
j.k | count(*)
1 | 2
x | 1
NULL | 2
--
j.l | count(*)
NULL | 3
a | 1
b | 2
--
sizes | brand | count(*)
38 | Ant | 2
36 | Ant | 1

# A SELECT of groups.
SELECT brand, SUM(price) AS s FROM goods GROUP BY brand ORDER BY s DESC FACET brand_id
----
brand | s
Cow | 70
Ant | 65
Bee | 60
--
brand_id | count(*)
1 | 2
2 | 2
3 | 1

SELECT id FROM goods WHERE id IN (1, 2) FACET brand FACET price
----
id
1
2
--
brand | count(*)
Ant | 1
Bee | 1
--
price | count(*)
10 | 1
30 | 1

SELECT id FROM goods WHERE MATCH('red') LIMIT 1 OPTION ranker=wordcount FACET weight() ORDER BY weight() DESC
----
id
2
--
weight() | count(*)
2 | 1
1 | 2

# No rows.
SELECT id FROM goods WHERE id > 100 FACET brand
----
id
--
brand | count(*)

SELECT g.id FROM all_goods g LIMIT 1 FACET g.brand
----
id
1
--
brand | count(*)
Ant | 2
Bee | 2
Cow | 1

# SHOW META and FOUND_ROWS() tell of the SELECT.
SHOW META LIKE 'total%'
----
Variable_name | Value
total | 5
total_found | 5
total_relation | eq

SELECT FOUND_ROWS()
----
FOUND_ROWS()
5

# A transaction sees its own rows.
BEGIN
----
ok, 0 rows

INSERT INTO goods (id, title, brand, price) VALUES (6, 'red sock', 'Dog', 10)
----
ok, 1 rows

SELECT id FROM goods WHERE MATCH('red') ORDER BY id DESC LIMIT 1 FACET brand FACET price ORDER BY price ASC
----
id
6
--
brand | count(*)
Ant | 1
Cow | 1
Dog | 1
Bee | 1
--
price | count(*)
10 | 2
30 | 1
70 | 1

ROLLBACK
----
ok, 0 rows

SELECT id FROM goods WHERE MATCH('red') ORDER BY id DESC LIMIT 1 FACET brand
----
id
4
--
brand | count(*)
Ant | 1
Bee | 1
Cow | 1

# Several statements in one text.
SELECT id FROM goods LIMIT 1 FACET brand LIMIT 1; SELECT id FROM goods LIMIT 2
----
id
1
--
brand | count(*)
Ant | 2
--
id
1
2

UPDATE goods SET brand = 'Emu' WHERE id = 4
----
ok, 1 rows

SELECT COUNT(*) FROM goods FACET brand
----
COUNT(*)
5
--
brand | count(*)
Ant | 2
Bee | 2
Emu | 1

# Refused.
SELECT id FROM goods FACET nix
----
error 1054 (42S22): no column 'nix' in table 'goods'

SELECT id FROM goods FACET brand ORDER BY nix ASC
----
error 1054 (42S22): no column 'nix' in table 'goods'

SELECT id FROM goods FACET brand DISTINCT nix
----
error 1054 (42S22): no column 'nix' in table 'goods'

SELECT id FROM goods FACET COUNT(*)
----
error 1064 (42000): syntax error: an aggregate cannot stand in FACET: it shows COUNT(*) by itself near 'COUNT(*)' at line 1, position 27

SELECT id FROM goods FACET SUM(price) + 1
----
error 1064 (42000): syntax error: an aggregate cannot stand in FACET: it shows COUNT(*) by itself near 'SUM(price) + 1' at line 1, position 27

SELECT SUM(price) AS s FROM goods FACET s
----
error 1210 (HY000): GROUP BY cannot have an aggregate: it is made of groups

SELECT id FROM goods FACET *
----
error 1064 (42000): syntax error: expected a value near '*' at line 1, position 27

SELECT id FROM goods FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand FACET brand
----
error 1105 (HY000): more than 31 FACETs in a statement

SELECT id FROM goods FACET brand FILTERS price
----
error 1235 (42000): not yet: FILTERS, ZEROES and MODE of a FACET

SELECT id FROM goods FACET brand MODE max
----
error 1235 (42000): not yet: FILTERS, ZEROES and MODE of a FACET

SELECT id FROM goods FACET brand UNION SELECT id FROM goods
----
error 1235 (42000): not yet: FACET in a UNION

SELECT id FROM goods UNION SELECT id FROM goods FACET brand
----
error 1235 (42000): not yet: FACET behind brackets, UNION, INSERT and CREATE

INSERT INTO goods (id) SELECT id + 100 FROM goods FACET brand
----
error 1235 (42000): not yet: FACET behind brackets, UNION, INSERT and CREATE

SELECT a.id FROM goods a JOIN goods b USING (id) FACET a.brand
----
error 1235 (42000): not yet: FACET of a join

SELECT n FROM work FACET n
----
error 1210 (HY000): FACET needs a search table, 'work' is none

SELECT id FROM alerts FACET tags
----
error 1210 (HY000): FACET needs a search table, 'alerts' is none

CREATE TEMPORARY TABLE picked (id bigint)
----
ok, 0 rows

SELECT id FROM picked FACET id
----
error 1210 (HY000): FACET needs a search table, 'picked' is none

SELECT id FROM nowhere FACET id
----
error 1146 (42S02): no table 'nowhere'

SELECT id FROM goods WHERE MATCH('red') OPTION ranker=nix FACET brand
----
error 1210 (HY000): ranker='nix' is not one of: proximity_bm25, bm25, none, wordcount, proximity, matchany, fieldmask, sph04, bm25a

