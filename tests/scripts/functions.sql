# Functions in items, WHERE, ORDER BY, UPDATE, DELETE, and the filters of standing queries.

CREATE TABLE shops (name text, city string, price float, stars int, ts timestamp, tags multi, j json, lat float, lon float);
----
ok, 0 rows

INSERT INTO shops (id, name, city, price, stars, ts, tags, j, lat, lon) VALUES (1, 'red door', 'Berlin', 10.5, 4, 1704164645, (1, 5), '{"a": [1, 2, 3], "k": {"x": 7}, "o": [{"n": 1}, {"n": 9}]}', 52.52, 13.4), (2, 'blue door', 'Hamburg', 7, 2, 1735686000, (9), '{"a": []}', 53.55, 9.99), (3, 'red gate', 'berlin', 99.5, 5, 1719784800, (), '{}', 48.1, 11.6);
----
ok, 3 rows

SELECT id, UPPER(city), CONCAT(city, '/', stars) AS c, LENGTH(tags), LENGTH(j.a) FROM shops;
----
id | UPPER(city) | c | LENGTH(tags) | LENGTH(j.a)
1 | BERLIN | Berlin/4 | 2 | 3
2 | HAMBURG | Hamburg/2 | 1 | 0
3 | BERLIN | berlin/5 | 0 | NULL

SELECT id FROM shops WHERE city LIKE 'ber%' AND price / 2 < 40;
----
id
1

SELECT id FROM shops WHERE city REGEXP '^h.*g$' OR REGEX(city, '^b');
----
id
2
3

SELECT id, YEAR(ts), MONTHNAME(ts), YEAR(ts, 'Europe/Berlin') FROM shops;
----
id | YEAR(ts) | MONTHNAME(ts) | YEAR(ts, 'Europe/Berlin')
1 | 2024 | January | 2024
2 | 2024 | December | 2025
3 | 2024 | June | 2024

SET time_zone = 'Europe/Berlin';
----
ok, 0 rows

SELECT id, YEAR(ts), DATE_FORMAT(ts, '%Y-%m-%d %H:%M') FROM shops ORDER BY id ASC;
----
id | YEAR(ts) | DATE_FORMAT(ts, '%Y-%m-%d %H:%M')
1 | 2024 | 2024-01-02 04:04
2 | 2025 | 2025-01-01 00:00
3 | 2024 | 2024-07-01 00:00

SET time_zone = 'Nowhere/City';
----
error 1210 (HY000): no time zone 'Nowhere/City'

SET time_zone = 'SYSTEM';
----
ok, 0 rows

SELECT id, IF(stars > 3, 'good', 'bad') q, CASE city WHEN 'berlin' THEN 1 ELSE 2 END AS w FROM shops ORDER BY w DESC, q ASC, id ASC;
----
id | q | w
2 | bad | 2
1 | good | 1
3 | good | 1

SELECT id, price * stars AS p FROM shops WHERE p > 20 ORDER BY p DESC;
----
id | p
3 | 497.500000
1 | 42.000000

SELECT id, price * 2 AS a, a + 1 AS b FROM shops WHERE b < 30 ORDER BY -b ASC;
----
id | a | b
1 | 21.000000 | 22.000000
2 | 14.000000 | 15.000000

SELECT id FROM shops WHERE ANY(tags) > 4;
----
id
1
2

SELECT id FROM shops WHERE ALL(tags) > 4;
----
id
2

SELECT id FROM shops WHERE ANY(x > 2 FOR x IN j.a) OR ANY(o.n = 9 FOR o IN j.o);
----
id
1

SELECT id, INDEXOF(x = 3 FOR x IN j.a) AS i, GREATEST(j.a) AS g, LEAST(tags) AS l FROM shops;
----
id | i | g | l
1 | 2 | 3 | 1
2 | -1 | NULL | 9
3 | -1 | NULL | NULL

SELECT id, ROUND(GEODIST(lat, lon, 52.5, 13.4, {in=deg, out=km})) AS km FROM shops ORDER BY km ASC;
----
id | km
1 | 2
2 | 257
3 | 506

SELECT id FROM shops WHERE CONTAINS(POLY2D(52, 13, 52, 14, 53, 14, 53, 13), lat, lon);
----
id
1

SELECT id, WEIGHT() + stars * 1000 AS w FROM shops WHERE MATCH('red') ORDER BY w DESC;
----
id | w
3 | 6500
1 | 5500

SELECT id FROM shops WHERE MATCH('red') ORDER BY WEIGHT() * -1 + stars ASC;
----
id
1
3

SELECT id, HISTOGRAM(price, {hist_interval=50}) h, RANGE(stars, {range_to=3}, {range_from=3}) r FROM shops;
----
id | h | r
1 | 0.000000 | 1
2 | 0.000000 | 0
3 | 50.000000 | 1

SELECT id FROM shops ORDER BY RAND(7) ASC;
----
id
1
2
3

SELECT id, NOW() > 1700000000 AS later FROM shops WHERE ts < NOW() LIMIT 1;
----
id | later
1 | 1

SELECT id FROM shops WHERE stars <=> NULL;
----
id

SELECT id FROM shops WHERE WEIGHT() > 3;
----
error 1235 (42000): not yet: weight() in WHERE

SELECT id FROM shops WHERE MATCH('red') AND WEIGHT() > 3;
----
error 1235 (42000): not yet: weight() in WHERE

SELECT LENGHT(city) FROM shops;
----
error 1064 (42000): syntax error: no function 'lenght', did you mean length()? near 'LENGHT(city) FROM shops' at line 1, position 7

SELECT SHA1(city) FROM shops;
----
error 1235 (42000): not yet: the function sha1()

SELECT LEFT(city) FROM shops;
----
error 1064 (42000): syntax error: left() takes 2 arguments, there are 1 near 'LEFT(city) FROM shops' at line 1, position 7

SELECT REGEX(city, name) FROM shops;
----
error 1064 (42000): syntax error: the expression of regex() is a constant text near 'REGEX(city, name) FROM shops' at line 1, position 7

SELECT YEAR(ts, 'Mars/Utopia') FROM shops;
----
error 1064 (42000): syntax error: no time zone 'Mars/Utopia' near 'YEAR(ts, 'Mars/Utopia') FROM shops' at line 1, position 7

SELECT CONCAT('a', 1 + 1), SUBSTRING_INDEX('www.mysql.com', '.', 2);
----
CONCAT('a', 1 + 1) | SUBSTRING_INDEX('www.mysql.com', '.', 2)
a2 | www.mysql

UPDATE shops SET stars = LEAST(stars + 1, 5) WHERE LENGTH(city) > 6;
----
ok, 1 rows

SELECT id, stars FROM shops;
----
id | stars
1 | 4
2 | 3
3 | 5

DELETE FROM shops WHERE YEAR(ts) = 2024 AND ts < NOW() - 86400 AND MONTH(ts) = 7;
----
ok, 0 rows

SELECT COUNT(*) FROM shops;
----
COUNT(*)
3

CREATE TABLE alerts type='pq' on='shops';
----
ok, 0 rows

INSERT INTO alerts (query, filters) VALUES ('door', 'LENGTH(city)>6 AND price BETWEEN 5 AND 10'), ('door', 'ANY(tags) IN (5)'), ('gate', 'CASE WHEN stars>3 THEN 1 ELSE 0 END');
----
ok, 3 rows

CALL PQ('alerts', ('{"name":"a door","city":"Hamburg","price":7,"tags":[9]}','{"name":"a door","city":"Bonn","tags":[1,5]}','{"name":"gate","stars":5}'), 1 AS docs);
----
id | documents
1 | 1
2 | 2
3 | 3

INSERT INTO alerts (query, filters) VALUES ('door', 'ts > NOW()');
----
error 1210 (HY000): filters of row 1: now() cannot stand here at byte 5

CREATE TABLE jobs (id bigint, n int, s string) ENGINE=queue;
----
ok, 0 rows

INSERT INTO jobs (id, n, s) VALUES (1, 5, 'a.b'), (2, 6, 'c.d');
----
ok, 2 rows

SELECT id, SUBSTRING_INDEX(s, '.', -1) AS e FROM jobs WHERE MOD(n, 2) = 0;
----
id | e
2 | d

SELECT queue_wait('jobs:SUBSTRING_INDEX(s, ".", 1) = "c"', 1);
----
queue_wait('jobs:SUBSTRING_INDEX(s, ".", 1) = "c"', 1)
1

SELECT id FROM jobs;
----
id
2


# joins and tables of a connection

CREATE TABLE lands (code string, name string, since timestamp);
----
ok, 0 rows

INSERT INTO lands (id, code, name, since) VALUES (1, 'de', 'Germany', 0), (2, 'at', 'Austria', 100000000);
----
ok, 2 rows

CREATE TEMPORARY TABLE towns (id int, land varchar(10), name varchar(20), at datetime);
----
ok, 0 rows

INSERT INTO towns VALUES (1, 'DE', 'Bonn', '2024-03-05 10:00:00'), (2, 'AT', 'Wien', '1999-12-31 23:59:59'), (3, NULL, NULL, NULL);
----
ok, 3 rows

SELECT id, YEAR(at) AS y, CONCAT(UPPER(name), '!') AS n FROM towns WHERE LENGTH(name) = 4 AND YEAR(at) > 1990 ORDER BY REVERSE(name);
----
id | y | n
2 | 1999 | WIEN!
1 | 2024 | BONN!

SELECT id, COALESCE(name, '-') AS n FROM towns WHERE name LIKE 'b%' OR name REGEXP '^w' OR name IS NULL;
----
id | n
1 | Bonn
2 | Wien
3 | -

SELECT t.id, YEAR(l.since) AS y, MONTH(t.at) AS m, CONCAT(t.name, ', ', l.name) AS n FROM lands l JOIN towns t ON LOWER(t.land) = l.code WHERE LENGTH(l.name) > LENGTH(t.name) ORDER BY LEFT(t.name, 1) DESC;
----
id | y | m | n
2 | 1973 | 12 | Wien, Austria
1 | 1970 | 3 | Bonn, Germany

SELECT t.id, IF(l.id IS NULL, 'none', l.name) AS n FROM towns t LEFT JOIN lands l ON l.code = LOWER(t.land) AND YEAR(l.since) < 1972 ORDER BY t.id;
----
id | n
1 | Germany
2 | none
3 | none

SELECT t.id, NOW() > 1600000000 AS n FROM lands l JOIN towns t ON l.code = t.land;
----
id | n
1 | 1
2 | 1

SELECT t.id, RAND(5) FROM lands l JOIN towns t ON l.code = t.land;
----
error 1054 (42S22): no column 'rand()' in table 'lands, towns'

# ESCAPE: another character than `\` makes the next one plain.
SELECT '50%' LIKE '50|%' ESCAPE '|' AS a, '500' LIKE '50|%' ESCAPE '|' AS b, 'a_b' LIKE '%|_%' ESCAPE '|' AS c, 'axb' NOT LIKE '%|_%' ESCAPE '|' AS d, 'a\\b' LIKE 'a\\b' ESCAPE '|' AS e, 'a\\b' LIKE 'a\\b' AS f, 'a\\%' LIKE 'a\\%' ESCAPE '' AS g, 'a%b' LIKE 'a%%_' ESCAPE '%' AS h, NULL LIKE '|%' ESCAPE '|' AS i, 'é' LIKE 'éé' ESCAPE 'é' AS j
----
a | b | c | d | e | f | g | h | i | j
1 | 0 | 1 | 1 | 1 | 0 | 1 | 1 | NULL | 1

SELECT name FROM towns WHERE name LIKE 'b!e%' ESCAPE '!' AND 1
----
name

SELECT name FROM towns WHERE name LIKE 'b%' ESCAPE '!!'
----
error 1064 (42000): syntax error: ESCAPE takes a constant of one character, or '' near 'LIKE 'b%' ESCAPE '!!'' at line 1, position 34

SELECT name FROM towns WHERE name LIKE 'b%' ESCAPE name
----
error 1064 (42000): syntax error: ESCAPE takes a constant of one character, or '' near 'LIKE 'b%' ESCAPE name' at line 1, position 34

SELECT name FROM towns WHERE name REGEXP 'b%' ESCAPE '!'
----
error 1064 (42000): syntax error: expected the end of the statement near 'ESCAPE '!'' at line 1, position 46

# Functions of texts read TIME and DECIMAL as they are shown. A TIME is no moment.
CREATE TABLE shifts (begins time, pay decimal(8,2), day datetime(3))
----
ok, 0 rows

INSERT INTO shifts (id, begins, pay, day) VALUES (1, '10:11:12', '12.50', '2024-01-02 03:04:05.120'), (2, '-01:00:00', '3', NULL)
----
ok, 2 rows

SELECT CONCAT(begins, ' ', pay), LENGTH(begins), UPPER(day), begins LIKE '10:%', pay REGEXP '^12.50$' FROM shifts ORDER BY id ASC
----
CONCAT(begins, ' ', pay) | LENGTH(begins) | UPPER(day) | begins LIKE '10:%' | pay REGEXP '^12.50$'
10:11:12 12.50 | 8 | 2024-01-02 03:04:05.120 | 1 | 1
-01:00:00 3.00 | 9 | NULL | 0 | 0

SELECT GROUP_CONCAT(begins), GROUP_CONCAT(pay SEPARATOR '; ') FROM shifts
----
GROUP_CONCAT(begins) | GROUP_CONCAT(pay SEPARATOR '; ')
10:11:12,-01:00:00 | 12.50; 3.00

SELECT HOUR(begins), HOUR(day), begins + 0, pay * 2, begins > '09:00:00' FROM shifts ORDER BY id ASC
----
HOUR(begins) | HOUR(day) | begins + 0 | pay * 2 | begins > '09:00:00'
10 | 3 | 101112 | 25.000000 | 1
1 | NULL | -10000 | 6 | 0

# MIN and MAX of such a column are shown as the column is; ORDER BY and HAVING compare numbers.
INSERT INTO shifts (id, begins, pay) VALUES (3, '100:00:00', '-1.5'), (4, NULL, NULL)
----
ok, 2 rows

SELECT MIN(begins), MAX(begins), MIN(pay), MAX(pay), MAX(begins) + 0 FROM shifts
----
MIN(begins) | MAX(begins) | MIN(pay) | MAX(pay) | MAX(begins) + 0
-01:00:00 | 100:00:00 | -1.50 | 12.50 | 1000000

SELECT id, MAX(begins) m, MIN(pay) FROM shifts GROUP BY id HAVING MAX(begins) > 0 ORDER BY m DESC
----
id | m | MIN(pay)
3 | 100:00:00 | -1.50
1 | 10:11:12 | 12.50

SELECT MAX(begins), MIN(pay) FROM shifts WHERE id = 4
----
MAX(begins) | MIN(pay)
NULL | NULL

SELECT MAX(a.begins), MIN(b.pay) FROM shifts AS a JOIN shifts AS b ON a.id = b.id WHERE a.id < 4
----
MAX(a.begins) | MIN(b.pay)
100:00:00 | -1.50

DROP TABLE shifts
----
ok, 0 rows

