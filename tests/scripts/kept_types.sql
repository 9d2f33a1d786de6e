# What a temporary table and a sub-select keep of a SELECT: the type by which the expression itself compares.
CREATE TABLE k (x text, i int, ts timestamp, da date, dt datetime, tm time, de decimal(10,2), s string, d2 datetime(3))
----
ok, 0 rows

INSERT INTO k (id,x,i,ts,da,dt,tm,de,s,d2) VALUES (1,'',2024,'2024-06-01 12:00:00','2024-06-01','2024-06-01 12:00:00','10:11:12','9.00','9.00','2024-06-01 12:00:00.5'),(2,'',7,'2024-06-09 12:00:00','2024-06-09','2024-06-09 12:00:00','100:11:12','100.00','b','2024-06-09 12:00:00')
----
ok, 2 rows

# Moved dates are dates, with a time where the interval has one; the same of a constant.
CREATE TEMPORARY TABLE mv AS SELECT id, da + INTERVAL 1 DAY AS a, dt + INTERVAL 1 DAY AS b, da + INTERVAL 1 HOUR AS c, DATE_SUB(d2, INTERVAL 1 MONTH) AS d, da - INTERVAL i YEAR AS e FROM k
----
ok, 2 rows

DESCRIBE mv
----
Field | Type | Null | Key | Default | Extra
id | bigint | YES |  | NULL | 
a | date | YES |  | NULL | 
b | datetime | YES |  | NULL | 
c | datetime | YES |  | NULL | 
d | datetime(3) | YES |  | NULL | 
e | date | YES |  | NULL | 

SELECT * FROM mv
----
id | a | b | c | d | e
1 | 2024-06-02 | 2024-06-02 12:00:00 | 2024-06-01 01:00:00 | 2024-05-01 12:00:00.500 | 0000-06-01
2 | 2024-06-10 | 2024-06-10 12:00:00 | 2024-06-09 01:00:00 | 2024-05-09 12:00:00.000 | 2017-06-09

SELECT id FROM mv WHERE a > '2024-6-1' AND b > '2024-6-1' AND c > '2024-6-1' AND d > '2024-5-1'
----
id
1
2

SELECT id FROM mv WHERE a = '2024-6-2' AND b = '2024-6-2 12:00:00' AND c = '2024-6-1 1:00:00' AND d = '2024-5-1 12:00:00.50'
----
id
1

SELECT MAX(a), MIN(b), MAX(c) FROM mv WHERE a > '2024-6-1'
----
MAX(a) | MIN(b) | MAX(c)
2024-06-10 | 2024-06-02 12:00:00 | 2024-06-09 01:00:00

CREATE TEMPORARY TABLE mg AS SELECT MAX(da + INTERVAL 1 DAY) AS l, MIN(dt + INTERVAL 1 HOUR) AS m, MAX(IFNULL(da, dt)) AS n, SUM(i) AS o, AVG(de) AS p, MAX(de) AS q, COUNT(*) AS r, GROUP_CONCAT(da) AS t FROM k
----
ok, 1 rows

DESCRIBE mg
----
Field | Type | Null | Key | Default | Extra
l | date | YES |  | NULL | 
m | datetime | YES |  | NULL | 
n | datetime | YES |  | NULL | 
o | bigint | YES |  | NULL | 
p | double | YES |  | NULL | 
q | decimal(10,2) | YES |  | NULL | 
r | bigint | YES |  | NULL | 
t | string | YES |  | NULL | 

SELECT * FROM mg WHERE l = '2024-6-10' AND m = '2024-6-1 13:00:00'
----
l | m | n | o | p | q | r | t
2024-06-10 | 2024-06-01 13:00:00 | 2024-06-09 00:00:00 | 2031 | 54.5 | 100.00 | 2 | 2024-06-01,2024-06-09

CREATE TEMPORARY TABLE mk AS SELECT da + INTERVAL 1 DAY AS g, COUNT(*) AS n FROM k GROUP BY da + INTERVAL 1 DAY
----
ok, 2 rows

SELECT * FROM mk WHERE g = '2024-6-2'
----
g | n
2024-06-02 | 1

CREATE TEMPORARY TABLE mj AS SELECT a.id, a.da + INTERVAL 1 DAY AS g, COALESCE(b.tm, a.tm) AS t, a.de + 0 AS n FROM k a JOIN k b ON a.id = b.id
----
ok, 2 rows

DESCRIBE mj
----
Field | Type | Null | Key | Default | Extra
id | bigint | YES |  | NULL | 
g | date | YES |  | NULL | 
t | time | YES |  | NULL | 
n | bigint | YES |  | NULL | 

SELECT * FROM mj WHERE g > '2024-6-1' AND t > '9:00:00' ORDER BY t
----
id | g | t | n
1 | 2024-06-02 | 10:11:12 | 9
2 | 2024-06-10 | 100:11:12 | 100

# CURDATE() is a date, NOW() the seconds of a moment.
CREATE TEMPORARY TABLE mn AS SELECT id, CURDATE() AS g, CURDATE() + INTERVAL 1 DAY AS h, NOW() AS i, NOW() + INTERVAL 1 DAY AS j, ts + INTERVAL 1 DAY AS k, COALESCE(ts, dt) AS l, COALESCE(NULL, dt) AS m FROM k
----
ok, 2 rows

DESCRIBE mn
----
Field | Type | Null | Key | Default | Extra
id | bigint | YES |  | NULL | 
g | date | YES |  | NULL | 
h | date | YES |  | NULL | 
i | timestamp | YES |  | NULL | 
j | timestamp | YES |  | NULL | 
k | timestamp | YES |  | NULL | 
l | timestamp | YES |  | NULL | 
m | datetime | YES |  | NULL | 

SELECT id FROM mn WHERE g > '2024-6-1' AND h > g AND i > '2024-06-01' AND j > '2024-06-02 12:00:00' AND k = '2024-06-02 12:00:00' AND l = '2024-06-01 12:00:00'
----
id
1

CREATE TEMPORARY TABLE mc AS SELECT CURDATE() AS g, NOW() AS i, 0.5 AS v, 7 AS w, 'x' AS t, NULL AS n
----
ok, 1 rows

DESCRIBE mc
----
Field | Type | Null | Key | Default | Extra
g | date | YES |  | NULL | 
i | datetime | YES |  | NULL | 
v | decimal(2,1) | YES |  | NULL | 
w | bigint | YES |  | NULL | 
t | string | YES |  | NULL | 
n | bigint | YES |  | NULL | 

SELECT v, w, t, n FROM mc WHERE g > '2024-6-1' AND i > '2024-6-1'
----
v | w | t | n
0.5 | 7 | x | NULL

# Numbers of a UNION are numbers.
CREATE TEMPORARY TABLE mu AS SELECT de AS v FROM k UNION SELECT i FROM k UNION SELECT 0.5
----
ok, 5 rows

DESCRIBE mu
----
Field | Type | Null | Key | Default | Extra
v | decimal(22,2) | YES |  | NULL | 

SELECT v FROM mu ORDER BY v
----
v
0.50
7.00
9.00
100.00
2024.00

SELECT MAX(v), MIN(v), SUM(v) FROM mu
----
MAX(v) | MIN(v) | SUM(v)
2024.00 | 0.50 | 2140.500000

SELECT * FROM (SELECT de AS v FROM k UNION SELECT i FROM k UNION SELECT 0.5) q ORDER BY v
----
v
0.500000
7
9.00
100.00
2024

SELECT * FROM (SELECT de AS v FROM k UNION SELECT i + 1 FROM k) q ORDER BY v DESC
----
v
2025
100.00
9.00
8

CREATE TEMPORARY TABLE mw AS SELECT de AS v FROM k UNION SELECT i + 1 FROM k
----
ok, 4 rows

SELECT MAX(v) FROM mw WHERE v > '9.5'
----
MAX(v)
2025.000000

CREATE TEMPORARY TABLE mx AS SELECT 0.5 AS v UNION ALL SELECT s FROM k
----
ok, 3 rows

DESCRIBE mx
----
Field | Type | Null | Key | Default | Extra
v | string | YES |  | NULL | 

# NULL is of each type: beside it a column of a UNION keeps its own.
SELECT * FROM (SELECT NULL AS v UNION SELECT de FROM k UNION SELECT NULL) q ORDER BY v DESC LIMIT 2
----
v
100.00
9.00

CREATE TEMPORARY TABLE my AS SELECT NULL AS v, da AS w FROM k UNION SELECT de, NULL FROM k UNION SELECT NULL, NULL
----
ok, 5 rows

DESCRIBE my
----
Field | Type | Null | Key | Default | Extra
v | decimal(10,2) | YES |  | NULL | 
w | date | YES |  | NULL | 

SELECT MAX(v), MAX(w) FROM my
----
MAX(v) | MAX(w)
100.00 | 2024-06-09

CREATE TEMPORARY TABLE mz AS SELECT da + INTERVAL 1 DAY AS v FROM k UNION SELECT dt FROM k UNION SELECT CURDATE() UNION SELECT d2 FROM k
----
ok, 6 rows

DESCRIBE mz
----
Field | Type | Null | Key | Default | Extra
v | datetime(3) | YES |  | NULL | 

SELECT v FROM mz WHERE v < '2024-6-10 1:00:00' ORDER BY v
----
v
2024-06-01 12:00:00.000
2024-06-01 12:00:00.500
2024-06-02 00:00:00.000
2024-06-09 12:00:00.000
2024-06-10 00:00:00.000

# Around a sub-select as well.
CREATE TEMPORARY TABLE ms AS SELECT v FROM (SELECT da + INTERVAL 1 DAY AS v FROM k ORDER BY id LIMIT 5) q
----
ok, 2 rows

DESCRIBE ms
----
Field | Type | Null | Key | Default | Extra
v | date | YES |  | NULL | 

# No row, and still a type.
CREATE TEMPORARY TABLE me AS SELECT da + INTERVAL 1 DAY AS a, de + 1 AS b, CONCAT(s, '') AS c, YEAR(da) AS d FROM k WHERE id > 9
----
ok, 0 rows

DESCRIBE me
----
Field | Type | Null | Key | Default | Extra
a | date | YES |  | NULL | 
b | double | YES |  | NULL | 
c | string | YES |  | NULL | 
d | double | YES |  | NULL | 


# A timestamp has no fraction of a second, so what may have one is kept by its values.
CREATE TABLE fractions (dt datetime(3), ts timestamp)
----
ok, 0 rows

INSERT INTO fractions (id, dt, ts) VALUES (1, '2024-01-02 00:00:00.680', '2024-01-01 00:00:00'), (2, NULL, '2024-01-03 00:00:00')
----
ok, 2 rows

CREATE TEMPORARY TABLE of_fractions AS SELECT id, COALESCE(dt, ts) AS e, GREATEST(dt, ts) AS v, LEAST(ts, 1.5) AS l FROM fractions
----
ok, 2 rows

DESCRIBE of_fractions
----
Field | Type | Null | Key | Default | Extra
id | bigint | YES |  | NULL | 
e | string | YES |  | NULL | 
v | double | YES |  | NULL | 
l | double | YES |  | NULL | 

SELECT * FROM of_fractions
----
id | e | v | l
1 | 2024-01-02 00:00:00.680 | 1704153600.68 | 1.5
2 | 1704240000 | NULL | 1.5

SELECT id FROM of_fractions WHERE e > '2024-01-02 00:00:00'
----
id
1

