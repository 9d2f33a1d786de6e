# GROUP BY, aggregates and HAVING, of every kind of table and over joins.
CREATE TABLE sales (title text, city string, price float, n int, tags multi, j json, day timestamp)
----
ok, 0 rows

CREATE TABLE cities (name string, land string)
----
ok, 0 rows

CREATE TABLE jobs (city varchar(20), n int) ENGINE=queue
----
ok, 0 rows

INSERT INTO sales (id, title, city, price, n, tags, j, day) VALUES (1, 'red fox', 'Bonn', 0.5, 1, (1, 2), '{"k": 1, "l": ["a", "b"]}', 1704067200), (2, 'red hen', 'Rome', 1.25, 2, (2), '{"k": 2}', 1704153600), (3, 'blue fox', 'BONN', 2.5, 3, (), '{"k": 1, "l": ["b", "b"]}', 1706745600), (4, 'red red owl', 'Oslo', 4, 2, (1, 3), '{}', 1706832000)
----
ok, 4 rows

INSERT INTO cities (id, name, land) VALUES (1, 'Bonn', 'de'), (2, 'Rome', 'it'), (3, 'Kiel', 'de')
----
ok, 3 rows

INSERT INTO jobs VALUES ('a', 1), ('b', 2), ('A', 5)
----
ok, 3 rows

# A group shows the columns of its first row; letters have no case in a key.
SELECT id, city, COUNT(*), SUM(n), AVG(price) FROM sales GROUP BY city
----
id | city | COUNT(*) | SUM(n) | AVG(price)
1 | Bonn | 2 | 4 | 1.500000
2 | Rome | 1 | 2 | 1.250000
4 | Oslo | 1 | 2 | 4.000000

SELECT city, COUNT(*) AS c FROM sales GROUP BY city HAVING c > 1 ORDER BY c DESC
----
city | c
Bonn | 2

SELECT city FROM sales GROUP BY city ORDER BY COUNT(*) DESC, city ASC LIMIT 2
----
city
Bonn
Oslo

SELECT n, city, COUNT(*) FROM sales GROUP BY n, city ORDER BY n DESC, city ASC
----
n | city | COUNT(*)
3 | BONN | 1
2 | Oslo | 1
2 | Rome | 1
1 | Bonn | 1

SELECT MIN(price), MAX(price), MIN(city), VARIANCE(n), STDDEV(n), COUNT(n) FROM sales
----
MIN(price) | MAX(price) | MIN(city) | VARIANCE(n) | STDDEV(n) | COUNT(n)
0.500000 | 4.000000 | BONN | 0.500000 | 0.7071067811865476 | 4

SELECT COUNT(DISTINCT city), COUNT(DISTINCT city, n), COUNT(DISTINCT tags), GROUP_CONCAT(id), GROUP_CONCAT(city SEPARATOR '; ') FROM sales
----
COUNT(DISTINCT city) | COUNT(DISTINCT city, n) | COUNT(DISTINCT tags) | GROUP_CONCAT(id) | GROUP_CONCAT(city SEPARATOR '; ')
3 | 4 | 3 | 1,2,3,4 | Bonn; Rome; BONN; Oslo

# Aggregates stand in expressions; MIN and MAX of two values are functions.
SELECT SUM(n) * 2 + COUNT(*), MAX(n, 2), ROUND(AVG(price), 1) FROM sales GROUP BY n ORDER BY SUM(n) DESC
----
SUM(n) * 2 + COUNT(*) | MAX(n, 2) | ROUND(AVG(price), 1)
10 | 2 | 2.600000
7 | 3 | 2.500000
3 | 2 | 0.500000

# Sets and JSON: a row belongs to the group of each item, and to no group by an empty set.
SELECT GROUPBY(), COUNT(*), GROUP_CONCAT(id) FROM sales GROUP BY tags ORDER BY GROUPBY() ASC
----
GROUPBY() | COUNT(*) | GROUP_CONCAT(id)
1 | 2 | 1,4
2 | 2 | 1,2
3 | 1 | 4

SELECT GROUPBY(), COUNT(*) FROM sales GROUP BY j.k ORDER BY GROUPBY() ASC
----
GROUPBY() | COUNT(*)
NULL | 1
1 | 2
2 | 1

SELECT GROUPBY() AS item, COUNT(*) FROM sales GROUP BY j.l ORDER BY item ASC
----
item | COUNT(*)
NULL | 2
a | 1
b | 2

# Keys by alias, by number and by expression.
SELECT n % 2 AS odd, COUNT(*) FROM sales GROUP BY odd ORDER BY odd ASC
----
odd | COUNT(*)
0 | 2
1 | 2

SELECT city, COUNT(*) FROM sales GROUP BY 1 ORDER BY 2 DESC LIMIT 1
----
city | COUNT(*)
Bonn | 2

# Aliases in WHERE, in other items and in aggregates.
SELECT n * 2 AS d, d + 1 AS e, SUM(d) FROM sales WHERE e > 4 GROUP BY e ORDER BY e ASC
----
d | e | SUM(d)
4 | 5 | 8
6 | 7 | 6

SELECT COUNT(*) AS c FROM sales WHERE c > 1
----
error 1210 (HY000): an aggregate cannot stand in WHERE: write it in HAVING

SELECT city AS n, COUNT(*) FROM sales WHERE n > 2 GROUP BY city ORDER BY city ASC
----
n | COUNT(*)
BONN | 1

SELECT a.n + b.n AS both, COUNT(*) FROM sales a JOIN sales b USING (id) WHERE both > 4 GROUP BY both ORDER BY both ASC
----
both | COUNT(*)
6 | 1

SELECT GROUPBY(), COUNT(*) FROM sales GROUP BY YEARMONTH(day) ORDER BY GROUPBY() ASC
----
GROUPBY() | COUNT(*)
202401 | 2
202402 | 2

SELECT GROUPBY(), COUNT(*) FROM sales GROUP BY city, n ORDER BY GROUPBY() ASC
----
GROUPBY() | COUNT(*)
Bonn,1 | 1
BONN,3 | 1
Oslo,2 | 1
Rome,2 | 1

# The rows inside a group.
SELECT id, city FROM sales GROUP BY city WITHIN GROUP ORDER BY price DESC ORDER BY id ASC
----
id | city
2 | Rome
3 | Bonn
4 | Oslo

SELECT id, city FROM sales GROUP 2 BY city WITHIN GROUP ORDER BY price DESC
----
id | city
3 | Bonn
1 | Bonn
2 | Rome
4 | Oslo

# MATCH: the best row of a group is its first, and the group of the best row comes first.
SELECT id, city, COUNT(*), MAX(WEIGHT()) > 0 FROM sales WHERE MATCH('red') AND n < 3 GROUP BY n
----
id | city | COUNT(*) | MAX(WEIGHT()) > 0
1 | Bonn | 1 | 1
2 | Rome | 2 | 1

SELECT COUNT(*), SUM(n) FROM sales WHERE MATCH('nothing')
----
COUNT(*) | SUM(n)
0 | NULL

SELECT n, COUNT(*) FROM sales WHERE MATCH('nothing') GROUP BY n
----
n | COUNT(*)

SELECT COUNT(*), COUNT(*) FROM sales HAVING COUNT(*) > 4
----
COUNT(*) | COUNT(*)

# Queues, temporary tables, joins and UNION.
SELECT city, SUM(n) FROM jobs GROUP BY city
----
city | SUM(n)
a | 6
b | 2

CREATE TEMPORARY TABLE mine (id bigint, k int, d decimal(5,2))
----
ok, 0 rows

INSERT INTO mine VALUES (1, 1, 1.10), (2, NULL, 2.20), (3, NULL, 3.30)
----
ok, 3 rows

SELECT k, COUNT(*), COUNT(k), SUM(d), SUM(k) FROM mine GROUP BY k
----
k | COUNT(*) | COUNT(k) | SUM(d) | SUM(k)
1 | 1 | 1 | 1.100000 | 1
NULL | 2 | 0 | 5.500000 | NULL

SELECT c.land, COUNT(*) AS sold, SUM(s.n) FROM cities c LEFT JOIN sales s ON s.city = c.name GROUP BY c.land ORDER BY sold DESC
----
land | sold | SUM(s.n)
de | 3 | 4
it | 1 | 2

SELECT city FROM sales GROUP BY city UNION ALL SELECT land FROM cities GROUP BY land
----
city
Bonn
Rome
Oslo
de
it

# Refused.
SELECT id FROM sales WHERE COUNT(*) > 1
----
error 1064 (42000): syntax error: an aggregate cannot stand in WHERE: write it in HAVING near 'COUNT(*) > 1' at line 1, position 27

SELECT SUM(COUNT(*)) FROM sales
----
error 1064 (42000): syntax error: sum() of an aggregate near ') FROM sales' at line 1, position 19

SELECT city, COUNT(*) AS c FROM sales WHERE c > 1 GROUP BY city
----
error 1210 (HY000): an aggregate cannot stand in WHERE: write it in HAVING

SELECT COUNT(*) AS c FROM sales WHERE c + n > 1
----
error 1210 (HY000): an aggregate cannot stand in WHERE: write it in HAVING

SELECT city, SUM(n) AS s FROM sales WHERE s > 1 GROUP BY city
----
error 1210 (HY000): an aggregate cannot stand in WHERE: write it in HAVING

SELECT SUM(n, n) FROM sales
----
error 1064 (42000): syntax error: sum() takes one argument near ') FROM sales' at line 1, position 15

SELECT id FROM sales GROUP BY SUM(n)
----
error 1210 (HY000): GROUP BY cannot have an aggregate: it is made of groups

SELECT id FROM sales ORDER BY SUM(n)
----
error 1064 (42000): syntax error: an aggregate is no key to order rows by near 'SUM(n)' at line 1, position 30

SELECT id FROM sales GROUP 0 BY n
----
error 1064 (42000): syntax error: GROUP n BY shows at least 1 row near '0 BY n' at line 1, position 27

SELECT id, GROUPBY() FROM sales
----
error 1054 (42S22): no column 'groupby()' in table 'sales'

SELECT nix, COUNT(*) FROM sales GROUP BY n
----
error 1054 (42S22): no column 'nix' in table 'sales'

SELECT n FROM sales GROUP BY nix
----
error 1054 (42S22): no column 'nix' in table 'sales'

# Without LIMIT a SELECT gives all its groups, with MATCH the first 20, which a warning says.
CREATE TABLE many (n int)
----
ok, 0 rows

INSERT INTO many (id, n) VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8), (9, 9), (10, 10), (11, 11), (12, 12), (13, 13), (14, 14), (15, 15), (16, 16), (17, 17), (18, 18), (19, 19), (20, 20), (21, 21), (22, 22), (23, 23), (24, 24), (25, 25)
----
ok, 25 rows

SELECT COUNT(*) AS rows_of_a_group, n FROM many GROUP BY n HAVING n > 23 UNION ALL SELECT COUNT(*), n FROM many GROUP BY n LIMIT 20, 10
----
rows_of_a_group | n
1 | 19
1 | 20
1 | 21
1 | 22
1 | 23
1 | 24
1 | 25

SELECT n FROM (SELECT n FROM many GROUP BY n) ORDER BY n DESC LIMIT 2
----
n
25
24

SELECT n FROM many GROUP BY n
----
n
1
2
3
4
5
6
7
8
9
10
11
12
13
14
15
16
17
18
19
20
21
22
23
24
25

CREATE TEMPORARY TABLE groups_of_many AS SELECT n FROM many GROUP BY n
----
ok, 25 rows

SELECT COUNT(*) FROM groups_of_many
----
COUNT(*)
25

# An alias of COUNT(*) in a later item.
SELECT city, COUNT(*) AS c, c + 1 AS d FROM sales GROUP BY city HAVING d > 2 ORDER BY d DESC
----
city | c | d
Bonn | 2 | 3

# ALL behind SELECT is MySQL's word, but before a bracket the function.
SELECT ALL(tags) > 1 AS every, COUNT(*) FROM sales GROUP BY every ORDER BY every ASC
----
every | COUNT(*)
0 | 3
1 | 1

SELECT ALL(x > 1 FOR x IN tags), id FROM sales ORDER BY id ASC
----
ALL(x > 1 FOR x IN tags) | id
0 | 1
1 | 2
0 | 3
0 | 4

SELECT ALL id FROM sales ORDER BY id ASC LIMIT 1
----
id
1

# RAND(seed) is that of the row: in aggregates, in keys, and inside groups.
SELECT id, RAND(7) FROM sales ORDER BY id ASC
----
id | RAND(7)
1 | 0.15589407130731636
2 | 0.8743632626454936
3 | 0.9579187413704255
4 | 0.1066302000275543

SELECT SUM(RAND(7)), COUNT(DISTINCT RAND(7)), COUNT(*) FROM sales
----
SUM(RAND(7)) | COUNT(DISTINCT RAND(7)) | COUNT(*)
2.09480627535079 | 4 | 4

SELECT RAND(7) > 0.5 AS half, GROUP_CONCAT(id) FROM sales GROUP BY half ORDER BY half ASC
----
half | GROUP_CONCAT(id)
0 | 1,4
1 | 2,3

SELECT n, id, RAND(7) FROM sales GROUP BY n WITHIN GROUP ORDER BY RAND(7) ASC ORDER BY n ASC
----
n | id | RAND(7)
1 | 1 | 0.15589407130731636
2 | 4 | 0.1066302000275543
3 | 3 | 0.9579187413704255

