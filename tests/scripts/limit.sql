# A SELECT without LIMIT gives every row. A MATCH gives the first 20, as in Sphinx, and a warning says so.
CREATE TABLE many (body text, n int, few int)
----
ok, 0 rows

INSERT INTO many (id, body, n, few) VALUES (1, 'red', 1, 1), (2, 'red', 2, 2), (3, 'red', 3, 3), (4, 'red', 4, 1), (5, 'red', 5, 2), (6, 'red', 6, 3), (7, 'red', 7, 1), (8, 'red', 8, 2), (9, 'red', 9, 3), (10, 'red', 10, 1), (11, 'red', 11, 2), (12, 'red', 12, 3), (13, 'red', 13, 1), (14, 'red', 14, 2), (15, 'red', 15, 3), (16, 'red', 16, 1), (17, 'red', 17, 2), (18, 'red', 18, 3), (19, 'red', 19, 1), (20, 'red', 20, 2), (21, 'red', 21, 3), (22, 'blue', 22, 1)
----
ok, 22 rows

SELECT id FROM many
----
id
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

SHOW WARNINGS
----
Level | Code | Message

SELECT id FROM many WHERE n > 1
----
id
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

SELECT id FROM many LIMIT 20, 100
----
id
21
22

SELECT id FROM many ORDER BY id DESC LIMIT 2
----
id
22
21

SELECT id FROM many WHERE MATCH('red')
----
id, 1 warnings
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

SHOW WARNINGS
----
Level | Code | Message, 1 warnings
Warning | 1000 | the first 20 of 21 rows: a MATCH without LIMIT gives no more; LIMIT 21 gives all

SHOW META LIKE 'total%'
----
Variable_name | Value, 1 warnings
total | 21
total_found | 21
total_relation | eq

SELECT id FROM many WHERE MATCH('red') LIMIT 19, 100
----
id
20
21

SHOW WARNINGS
----
Level | Code | Message

# Nothing is left out: no warning.
SELECT id FROM many WHERE MATCH('blue')
----
id
22

SHOW WARNINGS
----
Level | Code | Message

SELECT n FROM many WHERE MATCH('red') GROUP BY n ORDER BY n ASC
----
n, 1 warnings
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

SHOW WARNINGS
----
Level | Code | Message, 1 warnings
Warning | 1000 | the first 20 of 21 rows: a MATCH without LIMIT gives no more; LIMIT 21 gives all

SELECT n FROM many WHERE few = 1 GROUP BY n ORDER BY n ASC
----
n
1
4
7
10
13
16
19
22
