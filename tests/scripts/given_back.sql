# What gives a column's value back is of the column's type: COALESCE, IF, CASE, NULLIF, GREATEST, moved dates, SET, sub-selects.
CREATE TABLE c (x text, i int, ts timestamp, da date, dt datetime, tm time, de decimal(10,2), j json)
----
ok, 0 rows

INSERT INTO c (id,x,i,ts,da,dt,tm,de,j) VALUES (1,'',5,'2024-06-01','2024-01-02','2024-01-02','10:11:12','9.00','{"a":5}'),(2,'',7,'2024-06-02','2024-01-03','2024-01-03','100:11:12','100.00','{"a":"5"}')
----
ok, 2 rows

# Constants beside them are read as beside the column.
SELECT id FROM c WHERE COALESCE(i,0) = 'abc'
----
error 1292 (22007): 'abc' is no value of column 'i', which is int

SELECT id FROM c WHERE IF(1,i,0) > 'abc'
----
error 1292 (22007): 'abc' is no value of column 'i', which is int

SELECT id FROM c WHERE GREATEST(i,0) <> 'abc'
----
error 1292 (22007): 'abc' is no value of column 'i', which is int

SELECT MAX(i+0) AS z FROM c HAVING z > 'abc'
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT id FROM c WHERE EXP(i) > 'abc'
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT id FROM c WHERE (i = 5) = 'abc'
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT id FROM c WHERE COALESCE(ts,0) > '2024-01-01'
----
id
1
2

SELECT id FROM c WHERE COALESCE(dt,da) > NOW() - INTERVAL 100 YEAR
----
id
1
2

SELECT id FROM c WHERE COALESCE(da,dt) = '2024-1-2'
----
id
1

SELECT id FROM c WHERE CASE WHEN i = 5 THEN da ELSE dt END = 20240102
----
id
1

SELECT DATE_HISTOGRAM(ts,{calendar_interval='month'}) AS h, COUNT(*) FROM c GROUP BY h HAVING h = '2024-06-01'
----
h | COUNT(*)
1717200000 | 2

SELECT id FROM c WHERE COALESCE(j.a,0) = 5
----
id
1

SELECT id FROM c WHERE COALESCE(de,0) > 20
----
id
2

SELECT id FROM c ORDER BY COALESCE(de,0) DESC LIMIT 1
----
id
2

# They are shown as the column is.
SELECT id, COALESCE(tm,'none'), IF(1,tm,0), NULLIF(tm,'10:11:12'), NULLIF(da,'2024-1-2'), GREATEST(da,'2024-1-3'), IF(1,de,0) FROM c
----
id | COALESCE(tm,'none') | IF(1,tm,0) | NULLIF(tm,'10:11:12') | NULLIF(da,'2024-1-2') | GREATEST(da,'2024-1-3') | IF(1,de,0)
1 | 10:11:12 | 10:11:12 | NULL | NULL | 2024-01-03 | 9.00
2 | 100:11:12 | 100:11:12 | 100:11:12 | 2024-01-03 | 2024-01-03 | 100.00

SELECT id, CONCAT('at ', COALESCE(tm,'0:0:0')), NULLIF(j.a,5), INTERVAL(ts,'2024-01-01','2030-01-01') FROM c
----
id | CONCAT('at ', COALESCE(tm,'0:0:0')) | NULLIF(j.a,5) | INTERVAL(ts,'2024-01-01','2030-01-01')
1 | at 10:11:12 | NULL | 1
2 | at 100:11:12 | 5 | 1

SELECT MIN(dt), MAX(dt) FROM c
----
MIN(dt) | MAX(dt)
2024-01-02 00:00:00 | 2024-01-03 00:00:00

# A sub-select and a UNION sort by value.
SELECT * FROM (SELECT id, de FROM c) ORDER BY de DESC LIMIT 1
----
id | de
2 | 100.00

SELECT * FROM (SELECT id, tm FROM c) ORDER BY tm DESC LIMIT 1
----
id | tm
2 | 100:11:12

SELECT id, de FROM c UNION SELECT id, de FROM c ORDER BY de DESC LIMIT 1
----
id | de
2 | 100.00

# SET takes what the column holds.
CREATE TABLE b (x text, de decimal(30,10), e decimal(30,10), s string, tm time, da date, dt datetime)
----
ok, 0 rows

INSERT INTO b (id,x,de,tm,da,dt) VALUES (1,'','9007199254740992.5','10:11:12','2024-01-02','2024-01-02')
----
ok, 1 rows

UPDATE b SET de = de
----
ok, 0 rows

UPDATE b SET e = de
----
ok, 1 rows

UPDATE b SET s = tm
----
ok, 1 rows

SELECT de, e, s FROM b
----
de | e | s
9007199254740992.5000000000 | 9007199254740992.5000000000 | 10:11:12

UPDATE b SET s = dt
----
ok, 1 rows

SELECT s FROM b
----
s
2024-01-02 00:00:00

UPDATE b SET da = tm
----
error 1366 (HY000): incorrect date value '10:11:12' for column 'da' at row 1

UPDATE b SET tm = '100:00:00'
----
ok, 1 rows

UPDATE b SET tm = tm
----
ok, 0 rows

INSERT INTO b (id,x,tm) VALUES (9,'',1000000)
----
ok, 1 rows

INSERT INTO b (id,x,tm,e) VALUES (1,'','1:00:00','0') AS new ON DUPLICATE KEY UPDATE e = de
----
ok, 0 rows

SELECT id, tm, e FROM b
----
id | tm | e
1 | 100:00:00 | 9007199254740992.5000000000
9 | 100:00:00 | NULL

# A moved date keeps its fraction.
CREATE TABLE b6 (x text, dt6 datetime(6))
----
ok, 0 rows

INSERT INTO b6 (id,x,dt6) VALUES (1,'','2024-01-02 03:04:05.123456')
----
ok, 1 rows

SELECT dt6 + INTERVAL 1 DAY, dt6 + INTERVAL 0 DAY = dt6 FROM b6
----
dt6 + INTERVAL 1 DAY | dt6 + INTERVAL 0 DAY = dt6
2024-01-03 03:04:05.123456 | 1

UPDATE b6 SET dt6 = dt6 + INTERVAL 1 DAY
----
ok, 1 rows

SELECT dt6 FROM b6
----
dt6
2024-01-03 03:04:05.123456

# A year is not rounded; a whole number beyond 2^53 is exact with a point, too.
CREATE TABLE ry (x text, y year, b bigint)
----
ok, 0 rows

INSERT INTO ry (id,x,y,b) VALUES (1,'',2024,9007199254740992),(2,'',2005,9007199254740993),(3,'',0,'9007199254740993.0')
----
ok, 3 rows

SELECT id FROM ry WHERE y = '2023.6'
----
id

SELECT id FROM ry WHERE y > '2004.5' AND y < 2005.2
----
id
2

SELECT id FROM ry WHERE b = '9007199254740993.0'
----
id
2
3

SELECT id FROM ry WHERE b = 9007199254740993.0
----
id
2
3

# UNIX_TIMESTAMP() of no statement is refused.
CREATE TABLE u (x text, n bigint) type='pq'
----
ok, 0 rows

INSERT INTO u (id,query,filters) VALUES (1,'','n < unix_timestamp()')
----
error 1210 (HY000): filters of row 1: no column 'unix_timestamp()' in the documents

INSERT INTO u (id,query,filters) VALUES (1,'','coalesce(n,0) > ''abc''')
----
error 1292 (22007): filters of row 1: 'abc' is no value of column 'n', which is bigint

# Dates are local beside timestamps, where they are set as where they are compared.
SET time_zone = 'Europe/Berlin'
----
ok, 0 rows

CREATE TABLE z (x text, dt datetime, ts timestamp)
----
ok, 0 rows

INSERT INTO z (id,x,dt,ts) VALUES (1,'','2024-06-01 12:00:00','2024-06-01 12:00:00')
----
ok, 1 rows

UPDATE z SET ts = dt
----
ok, 0 rows

SELECT ts, ts = dt FROM z
----
ts | ts = dt
1717236000 | 1

UPDATE z SET ts = dt + INTERVAL 1 HOUR
----
ok, 1 rows

SELECT ts = dt + INTERVAL 1 HOUR FROM z
----
ts = dt + INTERVAL 1 HOUR
1

INSERT INTO z (id,x,dt,ts) SELECT id + 1, x, dt, dt FROM z
----
ok, 1 rows

SELECT id, ts = dt FROM z
----
id | ts = dt
1 | 0
2 | 1

# A constant text in arithmetic is a number from end to end.
SELECT id FROM c WHERE i + 'abc' = 5
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT id FROM c WHERE i + '2' = 7
----
id
1

SELECT id FROM c WHERE -'5abc' < i
----
error 1292 (22007): '5abc' is no number, and stands beside one

SELECT id FROM c WHERE dt > '2024-02-30' + INTERVAL 1 DAY
----
error 1292 (22007): '2024-02-30' is no value of type datetime(6)

SELECT id FROM c WHERE dt > '2024-01-01' + INTERVAL 'abc' DAY
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT id FROM c WHERE dt > '2024-01-01' + INTERVAL '1' DAY
----
id
2


SELECT id FROM c WHERE COALESCE(tm,0) > '100:00:00'
----
id
2

SELECT id FROM c WHERE IF(1,tm,0) = '10:11:12'
----
id
1

SELECT id FROM c WHERE LEAST(tm,'11:00:00') = '11:00:00'
----
id
2

SELECT id, LEAST(de, 50), GREATEST(dt, da) FROM c
----
id | LEAST(de, 50) | GREATEST(dt, da)
1 | 9.00 | 2024-01-02 00:00:00
2 | 50.00 | 2024-01-03 00:00:00


# A time of day has hours, a year is no moment, and a join reads no text as a year.
SELECT HOUR(tm), MINUTE(tm), TIME(tm), TIMEDIFF(tm,'09:00:00') FROM c
----
HOUR(tm) | MINUTE(tm) | TIME(tm) | TIMEDIFF(tm,'09:00:00')
10 | 11 | 10:11:12 | 01:11:12
100 | 11 | 100:11:12 | 91:11:12

SELECT tm + INTERVAL 1 HOUR FROM c
----
error 1210 (HY000): date_add() reads dates and timestamps: 'tm' is time

SELECT YEAR(y) FROM ry
----
error 1210 (HY000): year() reads dates and timestamps: 'y' is year

SELECT id FROM c WHERE HOUR(tm) = 100
----
id
2

CREATE TABLE y3 (x text, s string, y year, j json)
----
ok, 0 rows

INSERT INTO y3 (id,x,s,y,j) VALUES (1,'','0',0,'{"a":5}'),(2,'','x',2000,'{"a":"5"}')
----
ok, 2 rows

SELECT id FROM y3 WHERE s = y
----
id
1

SELECT a.id FROM y3 a JOIN y3 b ON a.s = b.y
----
id
1

SELECT id FROM y3 WHERE j.a = x'35'
----
id
2


# Values of several kinds keep theirs: what they are compared with is as before.
CREATE TABLE t (x text, i int, de decimal(12,2), dx decimal(30,10), da date, dt datetime, tm time, ts timestamp, y year, bo bool, j json)
----
ok, 0 rows

INSERT INTO t (id,x,i,de,dx,da,dt,tm,ts,y,bo,j) VALUES (1,'',5,'9.00','9007199254740992.5','2024-01-02','2024-01-02 00:00:00','10:11:12','2024-01-02',2024,1,'{"a":5}'),(2,'',7,'100.00','0.0000000001','2023-12-31','2024-01-02 10:11:12','-01:00:00','2024-01-02 10:11:12',2000,0,'{"a":"5"}')
----
ok, 2 rows

SELECT id FROM t WHERE IFNULL(dt,NOW()) = dt
----
id
1
2

SELECT id FROM t WHERE COALESCE(dt,0) = '2024-01-02'
----
id
1

SELECT id FROM t WHERE IFNULL(tm,'') = tm
----
id
1
2

SELECT id FROM t WHERE COALESCE(de,y) > '50'
----
id
2

SELECT id FROM t WHERE IFNULL(de,'') = '9'
----
id
1

SELECT id, COALESCE(de,y) AS e, IFNULL(tm,''), IFNULL(dt,'') FROM t ORDER BY e
----
id | e | IFNULL(tm,'') | IFNULL(dt,'')
1 | 9.00 | 10:11:12 | 2024-01-02 00:00:00
2 | 100.00 | -01:00:00 | 2024-01-02 10:11:12

CREATE TEMPORARY TABLE tv AS SELECT id, COALESCE(de,0) AS c, COALESCE(tm,'00:00:00') AS a, COALESCE(dt,da) AS b FROM t
----
ok, 2 rows

SELECT c, a, b FROM tv WHERE c > '50'
----
c | a | b
100.00 | -01:00:00 | 2024-01-02 10:11:12

SELECT MAX(c) FROM tv
----
MAX(c)
100.00

SELECT INTERVAL(i,1,NULL,5), INTERVAL(7,NULL) FROM t WHERE id = 1
----
INTERVAL(i,1,NULL,5) | INTERVAL(7,NULL)
3 | 1

SELECT COALESCE(da + INTERVAL 1 DAY,'2000-01-01'), COALESCE(dt + INTERVAL 1 DAY) = dt + INTERVAL 1 DAY FROM t
----
COALESCE(da + INTERVAL 1 DAY,'2000-01-01') | COALESCE(dt + INTERVAL 1 DAY) = dt + INTERVAL 1 DAY
2024-01-03 | 1
2024-01-01 | 1

SELECT HOUR(COALESCE(tm,'01:00:00')), MINUTE(IF(1,tm,NULL)), TIMEDIFF(COALESCE(tm,'01:00:00'),'09:00:00') FROM t
----
HOUR(COALESCE(tm,'01:00:00')) | MINUTE(IF(1,tm,NULL)) | TIMEDIFF(COALESCE(tm,'01:00:00'),'09:00:00')
10 | 11 | 01:11:12
1 | 0 | -10:00:00

SELECT YEAR(IFNULL(y,2000)) FROM t
----
error 1210 (HY000): year() reads dates and timestamps: 'y' is year

SELECT de FROM t UNION SELECT dx FROM t ORDER BY de DESC LIMIT 2
----
de
9007199254740992.5000000000
100.00

SELECT de FROM t UNION SELECT i FROM t ORDER BY de DESC LIMIT 1
----
de
100.00

SELECT MAX(COALESCE(tm,'00:00:00')), MIN(COALESCE(de,0)), MAX(COALESCE(dt,da)) FROM t
----
MAX(COALESCE(tm,'00:00:00')) | MIN(COALESCE(de,0)) | MAX(COALESCE(dt,da))
10:11:12 | 9.00 | 2024-01-02 10:11:12

SELECT COALESCE(tm,'00:00:00') AS g, COUNT(*) FROM t GROUP BY g
----
g | COUNT(*)
10:11:12 | 1
-01:00:00 | 1

UPDATE t SET dx = COALESCE(dx,0) WHERE id = 1
----
ok, 0 rows

SELECT COALESCE(dx,0), IF(1,dx,0) FROM t WHERE id = 1
----
COALESCE(dx,0) | IF(1,dx,0)
9007199254740992.5000000000 | 9007199254740992.5000000000

SELECT REMAP(bo,0,(TRUE),(2)), REMAP(i,0,(5),(6)) FROM t
----
REMAP(bo,0,(TRUE),(2)) | REMAP(i,0,(5),(6))
2 | 6
0 | 0

SELECT id FROM t WHERE da = 1.5
----
error 1292 (22007): '1.5' is no value of column 'da', which is date

SELECT COUNT(*) FROM z WHERE COALESCE(ts,0) < '2024-06-01 12:00:00'
----
COUNT(*)
0

SELECT COUNT(*) FROM z WHERE COALESCE(ts,0) = '2024-06-01 12:00:00'
----
COUNT(*)
1

UPDATE z SET ts = COALESCE(dt,NOW())
----
ok, 1 rows

SELECT COUNT(*) FROM z WHERE ts = dt AND ts = COALESCE(dt,NOW())
----
COUNT(*)
2

SELECT GREATEST(ts,'2024-06-01 11:30:00') = ts, NULLIF(ts,'2024-06-01 12:00:00'), INTERVAL(ts,'2024-06-01 11:00:00') FROM z WHERE id = 1
----
GREATEST(ts,'2024-06-01 11:30:00') = ts | NULLIF(ts,'2024-06-01 12:00:00') | INTERVAL(ts,'2024-06-01 11:00:00')
1 | NULL | 1


INSERT INTO z (id,x,ts) SELECT a.id + 50, a.x, b.dt FROM z a JOIN z b ON a.id = b.id WHERE a.id = 1
----
ok, 1 rows

SELECT COUNT(*) FROM z a JOIN z b ON a.ts = b.dt WHERE a.id = 51 AND b.id = 1
----
COUNT(*)
1

SELECT tm FROM t UNION SELECT de FROM t UNION SELECT dx FROM t ORDER BY tm LIMIT 1
----
tm
-01:00:00


# What gives back values of several kinds is compared by the kind of each value. NOW() beside a column is a value of its type.
SELECT id FROM c WHERE IFNULL(tm,'') = '10:11:12'
----
id
1

SELECT id FROM c WHERE IF(i > 5, dt, 'none') IN ('2024-1-3', 'x')
----
id
2

SELECT id FROM c WHERE IFNULL(dt,0) BETWEEN 20240103 AND '2024-1-3'
----
id
2

SELECT id FROM c WHERE (id, COALESCE(tm,'none')) IN ((1,'10:11:12'), (2,'10:11:12'))
----
id
1

SELECT id FROM c WHERE IFNULL(i,'none') <> 'none'
----
id
1
2

SELECT id FROM c WHERE IFNULL(da,0) = 'none'
----
error 1292 (22007): 'none' is no value of type date

SELECT id FROM c WHERE COALESCE(dt,NOW()) < NOW()
----
id
1
2

SELECT id FROM c WHERE IF(i > 0,da,NOW()) < NOW()
----
id
1
2

SELECT id FROM c WHERE GREATEST(dt,NOW()) = NOW()
----
id
1
2

SELECT id FROM c WHERE COALESCE(tm,NOW()) = '10:11:12'
----
id
1

# Groups forget the kinds: a constant that is one value beside one kind and another beside the next is refused.
SELECT i, MAX(IFNULL(tm,'')) AS m FROM c GROUP BY i HAVING m = '10:11:12'
----
error 1210 (HY000): groups have values of several kinds, and '10:11:12' is another value beside time(6): compare before they are grouped, or give values of one kind

SELECT i, MAX(IFNULL(tm,'')) AS m FROM c GROUP BY i HAVING m = ''
----
i | m

# A constant beside a decimal or a date is not rounded to it.
SELECT COALESCE(NULLIF(de,de), 99999999999), COALESCE(NULLIF(de,9), 0.125), COALESCE(NULLIF(da,da), '2024-01-02 10:00:00') FROM c
----
COALESCE(NULLIF(de,de), 99999999999) | COALESCE(NULLIF(de,9), 0.125) | COALESCE(NULLIF(da,da), '2024-01-02 10:00:00')
99999999999 | 0.125000 | 2024-01-02 10:00:00
99999999999 | 100.00 | 2024-01-02 10:00:00

SELECT id FROM c WHERE COALESCE(NULLIF(da,da), '2024-01-02 10:00:00') = '2024-1-2 10:00:00'
----
id
1
2

# NOW() may stand in lists.
SELECT id FROM c WHERE dt IN (NOW())
----
id

SELECT id FROM c WHERE dt NOT IN ('2024-1-2', NOW() - INTERVAL 1 DAY, NOW())
----
id
2

SELECT id FROM c WHERE dt IN (da)
----
error 1235 (42000): not yet: columns in the list of IN: write a = b OR a = c

SELECT id FROM c WHERE dt + INTERVAL 1 DAY IN (NOW())
----
error 1235 (42000): not yet: NOW() in the list of IN beside what is no column: write a = b OR a = c

# UNION takes a decimal for its number, and a datetime at midnight for its date.
SELECT de FROM c WHERE id = 1 UNION SELECT 9 UNION SELECT '9'
----
de
9.00
9

SELECT da FROM c UNION SELECT dt FROM c
----
da
2024-01-02
2024-01-03

# The SELECT of a temporary table has its moment, variables and time zone.
SET @least = 6
----
ok, 0 rows

CREATE TEMPORARY TABLE moved AS SELECT id, NOW() > 0 AS n FROM c WHERE dt < NOW() AND i > @least
----
ok, 1 rows

SELECT id, n FROM moved
----
id | n
2 | 1

CREATE TEMPORARY TABLE localised AS SELECT id FROM z WHERE ts = '2024-06-01 12:00:00'
----
ok, 3 rows

SELECT id FROM localised
----
id
1
2
51

# Texts that are set into a timestamp are local, too.
CREATE TABLE zs (x text, s string, dt datetime, ts timestamp)
----
ok, 0 rows

INSERT INTO zs (id,x,s,dt) VALUES (1,'','2024-06-01 12:00:00','2024-06-01 12:00:00'),(2,'','2024-06-01T12:00:00Z',NULL),(3,'','1717236000',NULL)
----
ok, 3 rows

UPDATE zs SET ts = s
----
ok, 3 rows

SELECT id, ts FROM zs
----
id | ts
1 | 1717236000
2 | 1717243200
3 | 1717236000

UPDATE zs SET ts = CONCAT(s,'')
----
ok, 0 rows

UPDATE zs SET ts = CASE WHEN 1 THEN '2024-06-01 12:00:00' END
----
ok, 1 rows

SELECT id, ts FROM zs
----
id | ts
1 | 1717236000
2 | 1717236000
3 | 1717236000

UPDATE zs SET ts = COALESCE(dt,NOW()) WHERE id = 1
----
ok, 0 rows

INSERT INTO zs (id,x,ts) SELECT id + 10,'',s FROM zs
----
ok, 3 rows

INSERT INTO zs (id,x,ts) SELECT 20,'',MAX(dt) FROM zs
----
ok, 1 rows

INSERT INTO zs (id,x,dt) VALUES (2,'','2024-06-01 12:00:00') ON DUPLICATE KEY UPDATE ts = VALUES(dt)
----
ok, 0 rows

SELECT id, ts FROM zs ORDER BY id ASC
----
id | ts
1 | 1717236000
2 | 1717236000
3 | 1717236000
11 | 1717236000
12 | 1717243200
13 | 1717236000
20 | 1717236000

UPDATE zs SET s = 'soon' WHERE id = 1
----
ok, 1 rows

UPDATE zs SET ts = s WHERE id = 1
----
error 1366 (HY000): incorrect timestamp value 'soon' for column 'ts' at row 1


# A column of dates, or of times, beside one of numbers or texts.
CREATE TABLE beside (x text, n bigint, s string, da date, dt datetime, tm time, y year, ts timestamp)
----
ok, 0 rows

INSERT INTO beside (id,x,n,s,da,dt,tm,y,ts) VALUES (1,'',20240102,'2024-1-2','2024-01-02','2024-01-02','10:11:12',2024,'2024-01-02T00:00:00Z'),(2,'',101112,'10:11:12','2024-01-02','2024-01-02 03:04:05','10:11:12',2024,'2024-01-02T00:00:00Z'),(3,'',7,'true','2024-01-02','2024-01-02 03:04:05','10:11:12',2024,'2024-01-02T00:00:00Z')
----
ok, 3 rows

SELECT id FROM beside WHERE da = n
----
id
1

SELECT id FROM beside WHERE dt > n OR n + 1 > dt
----
id
1
2

SELECT id FROM beside WHERE da = s
----
id
1

SELECT id FROM beside WHERE da <> s
----
id
2
3

SELECT id FROM beside WHERE da < s OR da >= s
----
id
1

SELECT id FROM beside WHERE tm = s
----
id
2

SELECT id FROM beside WHERE da BETWEEN s AND n
----
id
1

SELECT id FROM beside WHERE da NOT BETWEEN s AND '2024-1-1'
----
id
1
2
3

SELECT a.id, b.id FROM beside a JOIN beside b ON a.dt = b.n
----
id | id
1 | 1

SELECT a.id, b.id FROM beside a JOIN beside b ON b.s = a.dt
----
id | id
1 | 1

SELECT a.id, b.id FROM beside a JOIN beside b ON b.s = a.tm
----
id | id
1 | 2
2 | 2
3 | 2

SELECT n, MAX(da) AS m, MAX(n) AS k FROM beside GROUP BY n HAVING m = k
----
n | m | k
20240102 | 2024-01-02 | 20240102

SELECT id FROM beside WHERE da = tm
----
error 1210 (HY000): a condition compares values of one kind: 'da' is date, 'tm' is time

SELECT id FROM beside WHERE y < da
----
error 1210 (HY000): a condition compares values of one kind: 'y' is year, 'da' is date

SELECT da + 0, da - 1, -da, dt + 0, ABS(da), ROUND(dt), da + 0 = 20240102 FROM beside
----
da + 0 | da - 1 | -da | dt + 0 | ABS(da) | ROUND(dt) | da + 0 = 20240102
20240102 | 20240101 | -20240102 | 20240102000000 | 20240102 | 20240102000000 | 1
20240102 | 20240101 | -20240102 | 20240102030405 | 20240102 | 20240102030405 | 1
20240102 | 20240101 | -20240102 | 20240102030405 | 20240102 | 20240102030405 | 1

SELECT SUM(da), AVG(da), MAX(da), SUM(dt) FROM beside
----
SUM(da) | AVG(da) | MAX(da) | SUM(dt)
60720306 | 20240102.000000 | 2024-01-02 | 60720306060810

UPDATE beside SET s = '2024-01-02', ts = '2024-01-02' WHERE id = 3
----
ok, 1 rows

SELECT id FROM beside WHERE ts = s
----
id
3

# A constant that stands for NULL is compared as what it is, and what gives NULL alone is NULL.

CREATE TABLE stands (x text, tm time, de decimal(8,2), dt datetime, i int)
----
ok, 0 rows

INSERT INTO stands (id, x, tm, de, dt, i) VALUES (1, '', '10:11:12', 9, '2024-01-02', 5), (2, '', NULL, NULL, NULL, 0)
----
ok, 2 rows

SELECT id FROM stands WHERE COALESCE(tm, '') <> '10:11:12'
----
id
2

SELECT id FROM stands WHERE IFNULL(tm, 'none') NOT IN ('10:11:12')
----
id
2

SELECT id FROM stands WHERE IFNULL(tm, 'none') IN ('10:11:12', 'none') ORDER BY id
----
id
1
2

SELECT id, COALESCE(de, 'none') > '9' AS a, COALESCE(de, '') <= '9' AS b FROM stands ORDER BY id
----
id | a | b
1 | 0 | 1
2 | 1 | 1

SELECT id FROM stands WHERE NULLIF(NULL, x) = 1
----
id

SELECT id FROM stands WHERE CASE WHEN i THEN NULL END IN ('a', 5)
----
id

SELECT COUNT(*) FROM stands HAVING IF(COUNT(*) > 1, NULL, NULL) = 5
----
COUNT(*)

INSERT INTO stands (id, x) VALUES (1, '') ON DUPLICATE KEY UPDATE i = IF(IF(i, NULL, NULL) = 5, 1, 2)
----
ok, 2 rows

SELECT i FROM stands WHERE id = 1
----
i
2

SELECT de FROM stands WHERE id = 1 UNION SELECT COALESCE(de, '') FROM stands WHERE id = 1
----
de
9.00

SELECT COALESCE(de, i) FROM stands WHERE id = 1 UNION SELECT de FROM stands WHERE id = 1 UNION SELECT 9
----
COALESCE(de, i)
9.00

SELECT dt FROM stands WHERE id = 1 UNION SELECT COALESCE(dt, '') FROM stands WHERE id = 1
----
dt
2024-01-02 00:00:00

# Each value is read by its kind: NULLIF, REMAP, INTERVAL, and parts of dates.
SELECT id, NULLIF(COALESCE(tm, ''), '10:11:12') AS a, NULLIF(COALESCE(tm, ''), 'x') AS b FROM stands ORDER BY id
----
id | a | b
1 | NULL | 10:11:12
2 |  | 

SELECT id, REMAP(COALESCE(tm, ''), 0, ('10:11:12', ''), (1, 2)) AS a, REMAP(COALESCE(tm, ''), tm, ('none'), ('11:00:00')) AS b FROM stands ORDER BY id
----
id | a | b
1 | 1 | 10:11:12
2 | 2 | NULL

SELECT id, INTERVAL(IFNULL(tm, 90000), '09:30:00', '20:24:00.1') AS a FROM stands ORDER BY id
----
id | a
1 | 1
2 | 0

SELECT id, HOUR(IFNULL(tm, '12:00:00')) AS a, HOUR(COALESCE(tm, dt)) AS b, MINUTE(IF(id = 1, tm, dt)) AS c FROM stands ORDER BY id
----
id | a | b | c
1 | 10 | 10 | 11
2 | 12 | NULL | NULL

SELECT id FROM stands WHERE NULLIF(COALESCE(tm, ''), '10:11:12') IS NULL
----
id
1

SELECT id FROM stands WHERE HOUR(IFNULL(tm, '')) = 10
----
id
1

# Of a group as of a row.
SELECT HOUR(MAX(tm)) AS a, CONCAT(MAX(tm), '!') AS b, CONCAT(MAX(de), '!') AS c, CONCAT(MIN(dt), '!') AS d FROM stands
----
a | b | c | d
10 | 10:11:12! | 9.00! | 2024-01-02 00:00:00!

SELECT HOUR(MAX(COALESCE(tm, ''))) FROM stands
----
error 1210 (HY000): groups have values of several kinds: work out parts of dates before they are grouped, or give values of one kind

SELECT HOUR(MAX(COALESCE(dt, ''))) AS a FROM stands
----
a
0

# What is compared is worked out once, so calls may lie in each other.
SELECT NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(de, 1), 2), 3), 4), 5), 6), 7), 8), 10), 11), 12), 13) AS a FROM stands WHERE id = 1
----
a
9.00

SELECT NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(NULLIF(COALESCE(tm, ''), 1), 2), 3), 4), 5), 6), 7), 8), 10), 11) AS a FROM stands WHERE id = 1
----
error 1210 (HY000): NULLIF() is nested more than 3 times

# Numbers of several types are numbers in a sub-select, a UNION and a temporary table; so are dates and times.
SELECT * FROM (SELECT IF(id = 1, de, i) AS v FROM stands) AS a ORDER BY v DESC
----
v
9.00
0

SELECT * FROM (SELECT de FROM stands UNION ALL SELECT i FROM stands) AS a ORDER BY de DESC
----
de
9.00
2
0
NULL

CREATE TEMPORARY TABLE typed AS SELECT COALESCE(de, i) AS a, IF(id = 1, de, i) AS b, GREATEST(de, 0) AS c, LEAST(de, i) AS d FROM stands
----
ok, 2 rows

DESCRIBE typed
----
Field | Type | Null | Key | Default | Extra
a | decimal(22,2) | YES |  | NULL | 
b | decimal(22,2) | YES |  | NULL | 
c | decimal(8,2) | YES |  | NULL | 
d | decimal(22,2) | YES |  | NULL | 

SELECT MAX(a), COUNT(*) FROM typed WHERE a < '10'
----
MAX(a) | COUNT(*)
9.00 | 2

# A text beside a date that is moved is shown as it is.
SELECT id, COALESCE(dt + INTERVAL 1 HOUR, '2024-01-02 00:00:00') AS a FROM stands ORDER BY id
----
id | a
1 | 2024-01-02 01:00:00
2 | 2024-01-02 00:00:00

SELECT id FROM stands WHERE COALESCE(dt + INTERVAL 1 HOUR, '2024-01-02 00:00:00') = '2024-01-02'
----
id
2

# A number beside dates and timestamps is the digits of the dates, and the seconds of the timestamps.
CREATE TABLE moments (x text, da date, ts timestamp, i int)
----
ok, 0 rows

INSERT INTO moments (id, x, da, ts, i) VALUES (1, '', '2024-01-02', '2024-01-02', 5), (2, '', NULL, '2024-01-02', 7)
----
ok, 2 rows

SELECT id FROM moments WHERE COALESCE(da, ts) = 20240102
----
id
1

SELECT id FROM moments WHERE COALESCE(da, ts) BETWEEN 20240101 AND 20240105
----
id
1

SELECT id FROM moments WHERE NULLIF(COALESCE(da, ts), 20240102) IS NULL
----
id
1

SELECT id FROM moments WHERE COALESCE(da, ts) = '2024-01-02' ORDER BY id
----
id
1
2

# Each constant of a list is read by a kind that reads it.
SELECT id, REMAP(IF(id = 1, da, i), 0, ('7', '2024-01-02'), (1, 2)) AS a FROM moments ORDER BY id
----
id | a
1 | 2
2 | 1

SELECT id FROM moments WHERE IF(id = 1, da, i) IN (7, '2024-01-02') ORDER BY id
----
id
1
2

SELECT id FROM moments WHERE IF(id = 1, da, i) IN ('soon')
----
error 1292 (22007): 'soon' is no value of type date

# An alias is compared as its expression is, also in a session with a zone.
SET time_zone = 'Europe/Berlin'
----
ok, 0 rows

CREATE TABLE clocks (x text, ts timestamp, tm time)
----
ok, 0 rows

INSERT INTO clocks (id, x, ts, tm) VALUES (1, '', '2024-06-01 12:00:00', '10:11:12'), (2, '', '2024-06-01', '100:00:00')
----
ok, 2 rows

SELECT id, IF(id = 1, LEAST(ts, '2024-01-02'), tm) AS e FROM clocks WHERE e = '100:00:00'
----
id | e
2 | 100:00:00

SELECT id FROM clocks WHERE IF(id = 1, LEAST(ts, '2024-01-02'), tm) = '100:00:00'
----
id
2

SELECT id, IF(id = 1, ts, tm) AS e FROM clocks WHERE e IN ('2024-06-01 12:00:00', '100:00:00') ORDER BY id
----
id | e
1 | 1717236000
2 | 100:00:00

# Each value of a row is compared by its kind.
SELECT id FROM clocks WHERE (1, IFNULL(tm, 'none')) NOT IN ((1, '10:11:12'), (7, '100:00:00'))
----
id
2

SELECT id FROM clocks WHERE (id, IFNULL(tm, 'none')) IN ((1, '10:11:12'), (2, '10:11:12'))
----
id
1

SELECT id FROM clocks WHERE (id + 1, IFNULL(tm, 'none')) IN ((2, '10:11:12'))
----
error 1210 (HY000): IN over rows compares a value of several kinds beside columns and constants alone

# GREATEST and the like compare a timestamp with dates as conditions do, and give timestamps.
CREATE TABLE many (x text, s string, i int, y year, tm time, da date, dt datetime, ts timestamp)
----
ok, 0 rows

INSERT INTO many (id, x, s, i, y, tm, da, dt, ts) VALUES (1, '', 'abc', 5, 2024, '10:11:12', '2024-01-02', '2024-01-02', '2024-01-02 00:00:00'), (2, '', '2024-01-02', 7, 2025, '08:00:00', '2024-06-01', '2024-06-01 12:00:00', '2024-06-01 11:59:59')
----
ok, 2 rows

SELECT id, GREATEST(dt, ts) AS g, LEAST(ts, da) AS l, MAX(dt, ts) AS m, NULLIF(dt, ts) AS n, NULLIF(ts, dt) AS o, INTERVAL(ts, dt) AS i FROM many ORDER BY id
----
id | g | l | m | n | o | i
1 | 1704150000 | 1704150000 | 1704150000 | NULL | NULL | 1
2 | 1717236000 | 1717192800 | 1717236000 | 2024-06-01 12:00:00 | 1717235999 | 0

SELECT id, GREATEST(dt, IF(id = 1, ts, dt)) AS g, LEAST(IF(id = 1, dt, ts), da) AS l, NULLIF(IF(id = 1, dt, ts), dt) AS n FROM many ORDER BY id
----
id | g | l | n
1 | 1704150000 | 1704150000 | NULL
2 | 1717236000 | 1717192800 | 1717235999

SELECT id FROM many WHERE GREATEST(dt, ts) = '2024-06-01 12:00:00'
----
id
2

SELECT GREATEST(dt, CASE WHEN id = 1 THEN ts ELSE y END) AS g FROM many
----
error 1210 (HY000): greatest() compares values of one kind: 'dt' is datetime, 'y' is year

SELECT GREATEST(da, IF(id = 1, tm, '')) AS g FROM many
----
error 1210 (HY000): greatest() compares values of one kind: 'da' is date, 'tm' is time

SELECT LEAST(dt, i + 1) AS g FROM many
----
error 1210 (HY000): least() compares values of one kind: 'dt' is datetime, what is worked out is a number

SET time_zone = 'UTC'
----
ok, 0 rows

SELECT id, GREATEST(dt, ts) AS g, LEAST(ts, da) AS l, MAX(dt, ts) AS m, NULLIF(dt, ts) AS n, NULLIF(ts, dt) AS o, INTERVAL(ts, dt) AS i FROM many ORDER BY id
----
id | g | l | m | n | o | i
1 | 1704153600 | 1704150000 | 1704153600 | 2024-01-02 00:00:00 | 1704150000 | 0
2 | 1717243200 | 1717200000 | 1717243200 | 2024-06-01 12:00:00 | 1717235999 | 0

SELECT id, GREATEST(dt, IF(id = 1, ts, dt)) AS g, LEAST(IF(id = 1, dt, ts), da) AS l, NULLIF(IF(id = 1, dt, ts), dt) AS n FROM many ORDER BY id
----
id | g | l | n
1 | 1704153600 | 1704153600 | NULL
2 | 1717243200 | 1717200000 | 1717235999

SELECT id FROM many WHERE GREATEST(dt, ts) = '2024-06-01 12:00:00'
----
id
2

# Arithmetic and sums take the digits of each date, and the seconds of each timestamp.
SELECT id, IF(id = 1, da, ts) + 0 AS a, COALESCE(dt, ts) + 0 AS b, ABS(IF(id = 1, ts, da)) AS c, COALESCE(NULLIF(da, '2024-1-2'), ts) + 0 AS d FROM many ORDER BY id
----
id | a | b | c | d
1 | 20240102 | 20240102000000 | 1704150000 | 1704150000
2 | 1717235999 | 20240601120000 | 20240601 | 20240601

SELECT SUM(IF(id = 1, da, ts)) AS s, MAX(COALESCE(da, ts) + 0) AS m FROM many
----
s | m
1737476101 | 20240601

# What is given back of moved dates keeps its midnight, and of decimals all digits.
SELECT id, GREATEST(dt + INTERVAL 12 HOUR, '2024-01-02 00:00:00') AS g, LEAST(dt + INTERVAL 24 HOUR, '2030-1-1') AS l, LEAST('2024-01-02 00:00:00', dt + INTERVAL 1 HOUR) AS m, GREATEST(LEAST(da + INTERVAL 1 DAY, dt), da) AS n FROM many ORDER BY id
----
id | g | l | m | n
1 | 2024-01-02 12:00:00 | 2024-01-03 00:00:00 | 2024-01-02 00:00:00 | 2024-01-02 00:00:00
2 | 2024-06-02 00:00:00 | 2024-06-02 12:00:00 | 2024-01-02 00:00:00 | 2024-06-01 12:00:00

SELECT id FROM many WHERE GREATEST(dt + INTERVAL 12 HOUR, '2024-01-02 00:00:00') = '2024-01-02 12:00:00' OR LEAST(dt + INTERVAL 24 HOUR, '2030-1-1') = '2024-01-03'
----
id
1

CREATE TABLE exact (x text, dx decimal(30,10), dy decimal(20,2))
----
ok, 0 rows

INSERT INTO exact (id, x, dx, dy) VALUES (1, '', '9007199254740992.5', 1.25), (2, '', -1, 7.5)
----
ok, 2 rows

SELECT id, GREATEST(dx, 0) AS g, LEAST(dx, dy) AS l, GREATEST(LEAST(dx, 9007199254740999), dy) AS n, IF(id = 1, GREATEST(dx, 0), dy) AS i FROM exact ORDER BY id
----
id | g | l | n | i
1 | 9007199254740992.5000000000 | 1.2500000000 | 9007199254740992.5000000000 | 9007199254740992.5000000000
2 | 0.0000000000 | -1.0000000000 | 7.5000000000 | 7.50

UPDATE exact SET dx = GREATEST(dx, 0)
----
ok, 1 rows

SELECT id, dx FROM exact ORDER BY id
----
id | dx
1 | 9007199254740992.5000000000
2 | 0.0000000000

# GREATEST and the like over several kinds compare each value by its kind, with the constants beside it.
SELECT id, GREATEST(IF(id = 1, tm, ''), '09:00:00') AS g, LEAST(COALESCE(tm, ''), '9:0:0', '23:00:00') AS l, GREATEST('09:00:00', IF(id = 1, 'none', tm)) AS m, INTERVAL(IF(id = 1, tm, ''), '09:00:00') AS i FROM many ORDER BY id
----
id | g | l | m | i
1 | 10:11:12 | 09:00:00 | none | 1
2 | 09:00:00 | 08:00:00 | 09:00:00 | 0

SELECT id, GREATEST(IF(id = 1, tm, ''), '09:00:00') AS e FROM many WHERE e = '10:11:12'
----
id | e
1 | 10:11:12

SELECT id FROM many WHERE GREATEST(IF(id = 1, tm, ''), '09:00:00') = '10:11:12' OR IFNULL(LEAST(IF(id = 2, tm, 'x'), '09:00:00'), 5) = '08:00:00'
----
id
1
2

SELECT id, HOUR(GREATEST(IF(id = 1, tm, ''), '09:00:00')) AS h, CONCAT('at ', GREATEST(IF(id = 1, tm, dt), '09:00:00')) AS c FROM many ORDER BY id
----
id | h | c
1 | 10 | at 10:11:12
2 | 9 | NULL

SELECT id, GREATEST(0, IF(id < 3, s, ts)) AS a, GREATEST(0, IF(id = 1, s, ts)) AS b FROM many ORDER BY id
----
id | a | b
1 | NULL | NULL
2 | NULL | 1717235999

# What they give back beside a number or NOW() is a date or seconds, and nothing around it could tell which.
SELECT id FROM many WHERE LEAST(IF(id = 1, da, ts), 20240601) < '2024-01-03'
----
error 1210 (HY000): least() compares dates and timestamps together with columns and texts alone

SELECT id, GREATEST(NOW(), COALESCE(da, ts)) AS g FROM many GROUP BY g HAVING g > '2024-01-03'
----
error 1210 (HY000): greatest() compares dates and timestamps together with columns and texts alone

SELECT GREATEST(IF(id = 1, tm, i), 'noon') AS g FROM many
----
error 1292 (22007): 'noon' is no value of type time

SELECT id, REMAP(dt, dt, (NOW()), ('x')) AS r, REMAP(i, 'none', (5), ('five')) AS f FROM many ORDER BY id
----
id | r | f
1 | 2024-01-02 00:00:00 | five
2 | 2024-06-01 12:00:00 | none

# HAVING compares keys of several kinds as WHERE compares them around a sub-select.
SELECT IF(id = 1, tm, '') AS e, COUNT(*) AS n FROM many GROUP BY e HAVING e = '10:11:12'
----
e | n
10:11:12 | 1

SELECT id, IF(id = 1, tm, '') AS e FROM many WHERE e = '10:11:12'
----
id | e
1 | 10:11:12

SELECT IF(id = 1, tm, i) AS e FROM many GROUP BY e HAVING e IN ('10:11:12', 7) ORDER BY e DESC
----
e
10:11:12
7

SELECT NULLIF(INTERVAL(i, 3), dt) AS g FROM many
----
error 1210 (HY000): nullif() compares values of one kind: what is worked out is a number, 'dt' is datetime

SELECT GREATEST(IF(id = 1, i, 'x'), i + 1, tm) AS g FROM many
----
error 1210 (HY000): greatest() compares values of one kind: 'i' is int, 'tm' is time

SELECT id FROM many WHERE IF(id = 1, i, tm) = 'abc'
----
error 1292 (22007): 'abc' is no value of type int

SELECT id FROM many WHERE IF(id = 1, i, y) = 'abc'
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT IF(id = 1, da, ts) AS e, COUNT(*) AS n FROM many GROUP BY e HAVING e > 20240101 ORDER BY e ASC
----
e | n
1717235999 | 1
2024-01-02 | 1

SELECT IF(id = 1, da, ts) AS e FROM many WHERE IF(id = 1, da, ts) > 20240101
----
e
2024-01-02
1717235999

SELECT HOUR(IF(id = 1, tm, ts)) AS h, COUNT(*) AS n FROM many GROUP BY IF(id = 1, tm, ts) HAVING h < 11
----
h | n
10 | 1
9 | 1

SELECT COUNT(*) AS n FROM many GROUP BY IF(id = 1, tm, '') HAVING MAX(IF(id = 1, tm, '')) = '10:11:12'
----
error 1210 (HY000): groups have values of several kinds, and '10:11:12' is another value beside time(6): compare before they are grouped, or give values of one kind

SELECT id, GREATEST(dt, ts, 'noon') AS g FROM many
----
error 1292 (22007): 'noon' is no value of type timestamp

SELECT MAX(GREATEST(dt + INTERVAL 12 HOUR, da)) AS m, COUNT(*) AS n FROM many GROUP BY i HAVING m = '2024-06-02'
----
m | n
2024-06-02 00:00:00 | 1

SELECT id, GREATEST(dt + INTERVAL 12 HOUR, da) AS g FROM many ORDER BY g DESC
----
id | g
2 | 2024-06-02 00:00:00
1 | 2024-01-02 12:00:00

CREATE TEMPORARY TABLE picked AS SELECT GREATEST(dt, ts) AS a, GREATEST(dt + INTERVAL 12 HOUR, da) AS b, LEAST(IF(id = 1, tm, ''), '09:00:00') AS c, IF(id = 1, da, ts) + 0 AS d FROM many
----
ok, 2 rows

DESCRIBE picked
----
Field | Type | Null | Key | Default | Extra
a | timestamp | YES |  | NULL | 
b | datetime | YES |  | NULL | 
c | string | YES |  | NULL | 
d | bigint | YES |  | NULL | 

SELECT a, b, c, d FROM picked WHERE a = '2024-01-02'
----
a | b | c | d
1704153600 | 2024-01-02 12:00:00 | 09:00:00 | 20240102

SELECT IF(id = 1, tm, '') AS e, GREATEST(IF(id = 1, tm, ''), '09:00:00') AS g, GROUPBY() AS k, COUNT(*) AS n FROM many GROUP BY e ORDER BY n ASC, g ASC
----
e | g | k | n
10:11:12 | 10:11:12 | 10:11:12 | 1
 | 09:00:00 |  | 1

SELECT id FROM many LIMIT 1 FACET IF(id = 1, tm, '') AS f ORDER BY f ASC
----
id
1
--
f | count(*)
10:11:12 | 1
 | 1

SELECT IF(id = 1, tm, '') AS e, SUM(i) AS n FROM many GROUP BY e, y HAVING e < '11:00:00' ORDER BY e ASC
----
e | n
10:11:12 | 5
 | 7

SELECT NOW() >= '2024-01-02' AS late, COUNT(*) AS n FROM many WHERE NOW() >= '2024-01-02'
----
late | n
1 | 2

SELECT n FROM (SELECT NOW() AS v, COUNT(*) AS n FROM many GROUP BY v HAVING v >= '2024-01-02')
----
n
2

SELECT n FROM (SELECT NOW() - INTERVAL 1 DAY AS v, COUNT(*) AS n FROM many GROUP BY v HAVING v < '2024-01-02')
----
n

SELECT COUNT(*) AS n FROM many HAVING MAX(NOW()) >= '2024-01-02'
----
error 1210 (HY000): groups have values of several kinds, and '2024-01-02' is another value beside timestamp: compare before they are grouped, or give values of one kind

SELECT id, MAX(IF(i > 5, ts, dt) + INTERVAL 1 DAY) AS m FROM many GROUP BY id HAVING m > '2024-01-01'
----
error 1210 (HY000): groups have values of several kinds, and '2024-01-01' is another value beside timestamp: compare before they are grouped, or give values of one kind

SELECT id, REMAP(COALESCE(da, ts), 0, (20240601), (1)) AS m FROM many ORDER BY id ASC
----
id | m
1 | 0
2 | 1

SELECT id, REMAP(COALESCE(da, ts), 0, ('2024-06-01'), (1)) AS m, COALESCE(da, ts) = 20240601 AS e FROM many ORDER BY id ASC
----
id | m | e
1 | 0 | 0
2 | 1 | 1

