# What a written constant means beside a column: docs/types.md.

CREATE TABLE visits (t text, ts timestamp)
----
ok, 0 rows

INSERT INTO visits (id, t, ts) VALUES (1,'x','2023-06-01'),(2,'x','2024-01-02'),(3,'x','2025-01-01')
----
ok, 3 rows

SELECT id FROM visits WHERE ts > '2024-01-01'
----
id
2
3

SELECT id FROM visits WHERE ts BETWEEN '2024-01-02' AND '2024-01-02 00:00:00.5'
----
id
2

SELECT id FROM visits WHERE ts IN ('2025-01-01T00:00:00Z', 1685577600)
----
id
1
3

SELECT id FROM visits WHERE ts > 'garbage'
----
error 1292 (22007): 'garbage' is no value of column 'ts', which is timestamp

SELECT id FROM visits WHERE ts IN (1, 'garbage')
----
error 1292 (22007): 'garbage' is no value of column 'ts', which is timestamp

DELETE FROM visits WHERE ts > '2024-12-31'
----
ok, 1 rows

CREATE TABLE goods (j json)
----
ok, 0 rows

INSERT INTO goods (id, j) VALUES (1,'{"c":"red"}'),(2,'{"c":0}'),(3,'{"c":false}'),(4,'{"c":"0"}'),(5,'{"c":["blue",7]}'),(6,'{}'),(7,'{"c":true}'),(8,'{"c":1.0}')
----
ok, 8 rows

SELECT id FROM goods WHERE j.c = 'red'
----
id
1

SELECT id FROM goods WHERE j.c = '0'
----
id
4

SELECT id FROM goods WHERE j.c = 0
----
id
2

SELECT id FROM goods WHERE j.c = 1
----
id
8

SELECT id FROM goods WHERE j.c = true
----
id
7

SELECT id FROM goods WHERE j.c = false
----
id
3

SELECT id FROM goods WHERE j.c IN ('red', 0, true)
----
id
1
2
7

SELECT id FROM goods WHERE j.c IN ('blue')
----
id
5

SELECT id FROM goods WHERE j.c <> 'red'
----
id
2
3
4
5
7
8

SELECT id FROM goods WHERE j.c > 0
----
id
8

SELECT id FROM goods WHERE j.c BETWEEN 0 AND 1
----
id
2
8

CREATE TABLE due (dt datetime, d date, n int, y year, b bool, s string, m decimal(6,2), f double, x time)
----
ok, 0 rows

INSERT INTO due (id, dt, d, n, y, b, s, m, f, x) VALUES (1,'2020-01-01','2020-01-01',12,2020,1,'12','12.50',0.1,'10:11:12'),(2,'2090-01-01','2090-01-01',13,2090,0,'abc','0.10',1e-7,'-01:00:00')
----
ok, 2 rows

SELECT id FROM due WHERE dt > NOW()
----
id
2

SELECT id FROM due WHERE d > CURDATE() AND dt > NOW() - INTERVAL 1 DAY AND d > DATE_SUB(NOW(), INTERVAL 1 YEAR)
----
id
2

SELECT id FROM due WHERE dt < CURRENT_TIMESTAMP
----
id
1

SELECT id FROM due WHERE dt > 20210101
----
id
2

SELECT id FROM due WHERE d > 'abc'
----
error 1292 (22007): 'abc' is no value of column 'd', which is date

SELECT id FROM due WHERE n = '12.7'
----
id

SELECT id FROM due WHERE n > '12.7'
----
id
2

SELECT id FROM due WHERE n = '12abc'
----
error 1292 (22007): '12abc' is no value of column 'n', which is int

SELECT id FROM due WHERE n = ''
----
error 1292 (22007): '' is no value of column 'n', which is int

SELECT id FROM due WHERE n IN (12, 'x')
----
error 1292 (22007): 'x' is no value of column 'n', which is int

SELECT id FROM due WHERE b = 'true'
----
id
1

SELECT id FROM due WHERE b = 'yes'
----
error 1292 (22007): 'yes' is no value of column 'b', which is bool

SELECT id FROM due WHERE s = 12
----
id
1

SELECT id FROM due WHERE s = 0
----
id

SELECT id FROM due WHERE m = '12.5' AND f = '0.1' AND y = '2020' AND x = '10:11:12'
----
id
1

SELECT id FROM due WHERE m > 'ten'
----
error 1292 (22007): 'ten' is no value of column 'm', which is decimal(6,2)

SELECT id FROM due WHERE y > 'MMXX'
----
error 1292 (22007): 'MMXX' is no value of column 'y', which is year

SELECT id FROM due WHERE x > 'noon'
----
error 1292 (22007): 'noon' is no value of column 'x', which is time

DELETE FROM due WHERE dt < NOW()
----
ok, 1 rows

CREATE TABLE k (j json)
----
ok, 0 rows

INSERT INTO k (id,j) VALUES (1,'{"n":12345678901234567890}'),(2,'{"n":12345678901234567891}')
----
ok, 2 rows

SELECT id FROM k WHERE j.n = 12345678901234567890
----
id
1

SELECT j.n FROM k ORDER BY j.n DESC
----
j.n
12345678901234567891
12345678901234567890


# A timestamp beside dates.

CREATE TABLE moments (ts timestamp, dt datetime, d date)
----
ok, 0 rows

INSERT INTO moments (id, ts, dt, d) VALUES (1, '2024-01-02 03:04:05', '2024-01-02 03:04:05', '2024-01-02'), (2, '2024-01-02', '2024-01-01 23:59:59', '2024-01-02'), (3, 0, '2024-01-01', '1970-01-01')
----
ok, 3 rows

SELECT id FROM moments WHERE ts = dt
----
id
1

SELECT id FROM moments WHERE ts = d
----
id
2
3

SELECT id FROM moments WHERE dt < ts
----
id
2

SELECT a.id, b.id FROM moments a JOIN moments b ON a.ts = b.d
----
id | id
2 | 1
2 | 2
3 | 3

# The moment of a statement in VALUES and SET, and in a time zone.

INSERT INTO due (id, dt, d, s, x) VALUES (10, NOW(), CURDATE(), NOW(), CURTIME()), (11, NOW() - INTERVAL 1 DAY, '2020-01-01', 'a', '1:00')
----
ok, 2 rows

SELECT id FROM due WHERE dt > NOW() - INTERVAL 1 MINUTE AND dt <= NOW() AND id IN (10, 11)
----
id
10

UPDATE due SET dt = NOW(), d = NOW() WHERE id = 11
----
ok, 1 rows

SELECT id FROM due WHERE dt > NOW() - INTERVAL 1 MINUTE AND d = CURDATE() AND id IN (10, 11)
----
id
10
11

SELECT FROM_UNIXTIME(0), UNIX_TIMESTAMP() > 1700000000, NOW() > '2024-01-01', LENGTH(CURRENT_TIMESTAMP)
----
FROM_UNIXTIME(0) | UNIX_TIMESTAMP() > 1700000000 | NOW() > '2024-01-01' | LENGTH(CURRENT_TIMESTAMP)
1970-01-01 00:00:00 | 1 | 1 | 19

UPDATE goods SET j.c = TRUE WHERE id = 2
----
ok, 1 rows

SELECT j FROM goods WHERE id = 2
----
j
{"c":true}

SET time_zone = '+05:00'
----
ok, 0 rows

CREATE TABLE z (ts timestamp, n int)
----
ok, 0 rows

INSERT INTO z (id, ts) VALUES (1,'2024-01-02 00:00:00'), (2, '2024-01-02T00:00:00Z'), (3, NOW()), (4, 7)
----
ok, 4 rows

SELECT id, FROM_UNIXTIME(ts) FROM z WHERE id IN (1, 2, 4)
----
id | FROM_UNIXTIME(ts)
1 | 2024-01-02 00:00:00
2 | 2024-01-02 05:00:00
4 | 1970-01-01 05:00:07

SELECT id FROM z WHERE ts = '2024-01-02'
----
id
1

SELECT id FROM z WHERE ts IN ('2024-01-02', '2024-01-02 05:00:00')
----
id
1
2

SELECT a.id FROM z a JOIN z b ON a.id = b.id WHERE a.ts BETWEEN '2024-01-02' AND '2024-01-03'
----
id
1
2

SELECT id FROM z WHERE ts > NOW() - INTERVAL 1 MINUTE AND ts <= NOW()
----
id
3

UPDATE z SET ts = '2024-01-03' WHERE id = 4
----
ok, 1 rows

SELECT ts FROM z WHERE id = 4
----
ts
1704222000

INSERT INTO z (id, ts) VALUES (5, 2534023008000)
----
error 1264 (22003): out of range value '2534023008000' for column 'ts' at row 1

SET @low = 5
----
ok, 0 rows

INSERT INTO z (id, n) VALUES (6, @low + 1)
----
ok, 1 rows

SELECT n FROM z WHERE id = 6
----
n
6

# Queues and standing queries.

CREATE TABLE q (n int, ts timestamp, s varchar(20)) ENGINE=QUEUE
----
ok, 0 rows

INSERT INTO q (n, ts, s) VALUES (1, '2023-01-01', 'a'), (2, '2025-01-01', '5')
----
ok, 2 rows

SELECT queue_wait('q:ts > "2024-01-01"')
----
queue_wait('q:ts > "2024-01-01"')
1

SELECT n FROM q
----
n
2

SELECT queue_end()
----
queue_end()
1

SELECT queue_wait('q:ts > "soon"', 1)
----
queue_wait('q:ts > "soon"', 1), 1 warnings
NULL

CREATE TABLE standing (body text, ts timestamp, j json) type='pq'
----
ok, 0 rows

INSERT INTO standing (id, query, filters) VALUES (1, 'cat', 'ts > ''2024-01-01'' AND j.c = ''red''')
----
ok, 1 rows

CALL PQ ('standing', ('{"body":"cat","ts":1735689600,"j":{"c":"red"}}', '{"body":"cat","ts":1685577600,"j":{"c":"red"}}', '{"body":"cat","ts":1735689600,"j":{"c":0}}'), 1 AS docs)
----
id | documents
1 | 1

INSERT INTO standing (id, query, filters) VALUES (2, 'cat', 'ts > ''garbage''')
----
error 1292 (22007): filters of row 1: 'garbage' is no value of column 'ts', which is timestamp


# Keys of joins compare as WHERE does.

CREATE TABLE texts (s string, j json)
----
ok, 0 rows

INSERT INTO texts (id, s, j) VALUES (10, '12', '{"k":"12"}'), (11, 'abc', '{"k":12}'), (12, '012', '{"k":true}'), (13, '', '{}')
----
ok, 4 rows

CREATE TABLE numbers (n int, b bool)
----
ok, 0 rows

INSERT INTO numbers (id, n, b) VALUES (1, 12, 1), (2, 0, 0)
----
ok, 2 rows

SELECT a.id, b.id FROM numbers a JOIN texts b ON a.n = b.s
----
id | id
1 | 10
1 | 12

SELECT a.id, b.id FROM texts b JOIN numbers a ON a.n = b.s
----
id | id
1 | 10
1 | 12

SELECT a.id, b.id FROM numbers a JOIN texts b ON a.n = b.j.k
----
id | id
1 | 11

SELECT a.id, b.id FROM texts a JOIN texts b ON a.s = b.j.k
----
id | id
10 | 10
10 | 11
12 | 11

SELECT a.id FROM numbers a JOIN texts b ON a.id + 9 = b.id WHERE b.s > 'abb' OR a.n IN ('12', '13')
----
id
1
2

SELECT a.id FROM numbers a JOIN texts b ON a.id + 9 = b.id WHERE a.n = 'abc'
----
error 1292 (22007): 'abc' is no value of column 'a.n', which is int


# Beside what is worked out, and beside groups.

SELECT id FROM numbers WHERE n + 1 = '13x'
----
error 1292 (22007): '13x' is no number, and stands beside one

SELECT id FROM numbers WHERE n + 1 = '13' AND LENGTH(n) = '2'
----
id
1

SELECT id FROM moments WHERE YEAR(d) = 'abc'
----
error 1292 (22007): 'abc' is no number, and stands beside one

SELECT COUNT(*) AS c FROM numbers GROUP BY n HAVING c = '1x'
----
error 1292 (22007): '1x' is no value of type bigint

SELECT n FROM numbers GROUP BY n HAVING n = '5x'
----
error 1292 (22007): '5x' is no value of type int

SELECT MAX(ts) AS x FROM moments HAVING x > '2024-01-01'
----
x
1704164645

SELECT MAX(dt) AS x FROM moments HAVING x > 'garbage'
----
error 1292 (22007): 'garbage' is no value of type datetime

SELECT id FROM moments WHERE dt - INTERVAL 1 DAY < '2024-01-01'
----
id
2
3


# What is for later says so, and what is bad is named.

SELECT id FROM numbers WHERE n IN (SELECT n FROM numbers)
----
error 1235 (42000): not yet: SELECT in the list of IN: join the tables

SELECT id FROM numbers WHERE n IN (id, 5)
----
error 1235 (42000): not yet: columns in the list of IN: write a = b OR a = c

SELECT HIGHLIGHT() FROM visits WHERE MATCH('x')
----
error 1235 (42000): not yet: the function highlight()

SELECT id FROM numbers WHERE KNN(v, 5, (1, 2))
----
error 1235 (42000): not yet: the function knn()

CREATE TABLE later (t text attribute)
----
error 1235 (42000): not yet: a text that is an attribute, too: add a column of type string

INSERT INTO goods (id, j) VALUES (20, '{x:1}')
----
error 1366 (HY000): '{x:1}' is not JSON at byte 1, for column 'j' at row 1


# Moments and dates that are moved by a column.

CREATE TABLE jobs (made datetime, day date, ts timestamp, days int, name string)
----
ok, 0 rows

INSERT INTO jobs (id, made, day, ts, days, name) VALUES (1, '2020-01-01 23:00:00', '2020-01-01', '2020-01-01', 5, 'a'), (2, NOW(), CURDATE(), NOW(), 5, NOW()), (3, '2020-01-01', '2090-01-01', '2090-01-01', 99999, '')
----
ok, 3 rows

SELECT id FROM jobs WHERE made + INTERVAL 1 DAY > NOW()
----
id
2

SELECT id FROM jobs WHERE NOW() < made + INTERVAL days DAY
----
id
2
3

SELECT id FROM jobs WHERE made > NOW() - INTERVAL days DAY
----
id
2
3

SELECT id FROM jobs WHERE day < NOW() + INTERVAL days DAY AND day > NOW() - INTERVAL days DAY
----
id
2
3

SELECT id FROM jobs WHERE ts > NOW() - INTERVAL days DAY
----
id
2
3

SELECT id FROM jobs WHERE made + INTERVAL 1 HOUR = '2020-01-02'
----
id
1

SELECT id FROM jobs WHERE made + INTERVAL 1 HOUR IN ('2020-01-02', '2020-01-01 01:00:00')
----
id
1
3

SELECT id FROM jobs WHERE made + INTERVAL 1 HOUR > 'soon'
----
error 1292 (22007): 'soon' is no value of column 'made', which is datetime(6)

SELECT id FROM jobs WHERE ts + INTERVAL 23 HOUR = made
----
id
1

SELECT id FROM jobs WHERE ts - INTERVAL 1 DAY = '2019-12-31'
----
id
1

SELECT id FROM jobs WHERE NOW() BETWEEN made AND made + INTERVAL days DAY
----
id
2
3

SELECT id FROM jobs WHERE FROM_UNIXTIME(ts) > NOW() - INTERVAL 1 DAY AND DATE(made) < NOW()
----
id
2
3

SELECT id FROM jobs WHERE name > NOW() - INTERVAL days DAY AND name <= NOW()
----
id
2

UPDATE jobs SET made = NOW() + INTERVAL days DAY, day = made, days = 1 WHERE id = 1
----
ok, 1 rows

SELECT id FROM jobs WHERE made > NOW() + INTERVAL 4 DAY AND made < NOW() + INTERVAL 6 DAY AND day = DATE(made)
----
id
1

SELECT CONCAT(NOW() + INTERVAL LEVENSHTEIN(REPEAT('ab', 5000), REPEAT('ba', 5000)) DAY) > '2' AS e FROM jobs WHERE id = 1
----
e
NULL

SELECT ts, COUNT(*) AS c FROM jobs WHERE id < 0 GROUP BY ts HAVING MAX(ts) > '2024-01-01'
----
ts | c


# The zone of the session, +05:00, wherever a timestamp stands.

SELECT id FROM z WHERE (id, ts) IN ((1, '2024-01-02'), (2, '2024-01-02'))
----
id
1

SELECT id, ts AS x FROM z WHERE x = '2024-01-02'
----
id | x
1 | 1704135600

SELECT id FROM z WHERE ts + INTERVAL 1 DAY = '2024-01-03'
----
id
1

SELECT n, MIN(ts) AS least FROM z GROUP BY n HAVING least < '2024-01-02 01:00:00' AND MIN(ts) > '2020-01-01'
----
n | least
0 | 1704135600

INSERT INTO z (id, ts) VALUES (1, 0) ON DUPLICATE KEY UPDATE ts = '2024-01-05'
----
ok, 2 rows

SELECT FROM_UNIXTIME(ts) FROM z WHERE id = 1
----
FROM_UNIXTIME(ts)
2024-01-05 00:00:00

SELECT id FROM z WHERE ts = '2024-01-05' UNION SELECT id FROM z WHERE ts = '2024-01-05'
----
id
1


CREATE TABLE both (ts timestamp, d date, dt datetime)
----
ok, 0 rows

INSERT INTO both (id, ts, d, dt) VALUES (1,'2024-01-02','2024-01-02','2024-01-02'), (2,'2024-01-02T00:00:00Z','2024-01-02','2024-01-02 05:00:00')
----
ok, 2 rows

SELECT id FROM both WHERE ts = d
----
id
1

SELECT id FROM both WHERE dt = ts AND ts BETWEEN d AND dt
----
id
1
2

SELECT a.id, b.id FROM both a JOIN both b ON a.ts = b.dt
----
id | id
1 | 1
2 | 2

SET time_zone = 'UTC'
----
ok, 0 rows

SELECT id FROM both WHERE ts = d
----
id
2

CREATE TABLE lists (j json)
----
ok, 0 rows

INSERT INTO lists (id, j) VALUES (1,'{"l":[true]}'), (2,'{"l":[1,2]}'), (3,'{"l":["true"]}'), (4,'{"l":[false,0]}')
----
ok, 4 rows

SELECT id FROM lists WHERE ANY(x = TRUE FOR x IN j.l)
----
id
1

SELECT id FROM lists WHERE ANY(x = 1 FOR x IN j.l)
----
id
2

SELECT id FROM lists WHERE ANY(x = 'true' FOR x IN j.l)
----
id
3

SELECT id FROM lists WHERE ALL(x = FALSE FOR x IN j.l) OR INDEXOF(x = FALSE FOR x IN j.l) = 0
----
id
4

SELECT id FROM lists WHERE j.l IN (TRUE)
----
id
1

SELECT id FROM lists WHERE j.l IN (1)
----
id
2

INSERT INTO both (d, dt, ts) SELECT CURDATE(), NOW() - INTERVAL 1 DAY, NOW() FROM lists LIMIT 1
----
ok, 1 rows

INSERT INTO both SELECT 20, NOW(), NOW(), NOW() FROM lists LIMIT 1
----
ok, 1 rows

SELECT COUNT(*) FROM both WHERE d = CURDATE() AND dt > NOW() - INTERVAL 2 DAY AND ts > NOW() - INTERVAL 1 MINUTE
----
COUNT(*)
2

