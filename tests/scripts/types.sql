# MySQL's column types in search tables.
CREATE TABLE items (body text, a tinyint, b smallint unsigned, c mediumint, d mediumint unsigned, e bigint unsigned, f double, g decimal(10,2), h char(3), i varchar(10) DEFAULT 'x', j blob, k date, l datetime(3), m time, n year, o tinytext NOT NULL, p bool);
----
ok, 0 rows

DESCRIBE items;
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
body | text | YES |  | NULL | indexed stored
a | tinyint | YES |  | NULL | 
b | smallint unsigned | YES |  | NULL | 
c | mediumint | YES |  | NULL | 
d | mediumint unsigned | YES |  | NULL | 
e | bigint unsigned | YES |  | NULL | 
f | double | YES |  | NULL | 
g | decimal(10,2) | YES |  | NULL | 
h | char(3) | YES |  | NULL | 
i | varchar(10) | YES |  | x | 
j | blob | YES |  | NULL | 
k | date | YES |  | NULL | 
l | datetime(3) | YES |  | NULL | 
m | time | YES |  | NULL | 
n | year | YES |  | NULL | 
o | tinytext | NO |  | NULL | 
p | bool | YES |  | NULL | 

SHOW CREATE TABLE items;
----
Table | Create Table
items | CREATE TABLE `items` (\n  `id` bigint,\n  `body` text,\n  `a` tinyint,\n  `b` smallint unsigned,\n  `c` mediumint,\n  `d` mediumint unsigned,\n  `e` bigint unsigned,\n  `f` double,\n  `g` decimal(10,2),\n  `h` char(3),\n  `i` varchar(10) DEFAULT 'x',\n  `j` blob,\n  `k` date,\n  `l` datetime(3),\n  `m` time,\n  `n` year,\n  `o` tinytext NOT NULL,\n  `p` bool\n) type='rt'

INSERT INTO items (id, body, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p) VALUES (1, 'a cat', -128, 65535, 8388607, 5, 18446744073709551615, 1.5, '12.345', 'abc', 'y', 'raw', '2024-2-29', '2024-01-02 03:04:05.6789', '12:00', 24, 'tiny', true);
----
ok, 1 rows

INSERT INTO items (id, body, o) VALUES (2, 'a dog', ''), (3, 'a cow', 'z');
----
ok, 2 rows

SELECT * FROM items;
----
id | body | a | b | c | d | e | f | g | h | i | j | k | l | m | n | o | p
1 | a cat | -128 | 65535 | 8388607 | 5 | 18446744073709551615 | 1.5 | 12.35 | abc | y | raw | 2024-02-29 | 2024-01-02 03:04:05.679 | 12:00:00 | 2024 | tiny | 1
2 | a dog | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | x | NULL | NULL | NULL | NULL | NULL |  | 0
3 | a cow | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | x | NULL | NULL | NULL | NULL | NULL | z | 0

SELECT id FROM items WHERE k = '2024-2-29';
----
id
1

SELECT id FROM items WHERE g > 9 AND l < '2025-01-01';
----
id
1

SELECT id FROM items WHERE k IS NULL ORDER BY id DESC;
----
id
3
2

SELECT id, g FROM items ORDER BY g ASC, id DESC;
----
id | g
3 | NULL
2 | NULL
1 | 12.35

UPDATE items SET g = 100, k = '1999-12-31', l = NULL WHERE id >= 2;
----
ok, 2 rows

FLUSH TABLE items;
----
ok, 0 rows

SELECT id, g, k, l, i FROM items ORDER BY g DESC, id ASC;
----
id | g | k | l | i
2 | 100.00 | 1999-12-31 | NULL | x
3 | 100.00 | 1999-12-31 | NULL | x
1 | 12.35 | 2024-02-29 | 2024-01-02 03:04:05.679 | y

[server] restart
----
ok

SELECT id FROM items WHERE MATCH('cat | dog') AND k < '2000-01-01';
----
id
2

# Values that a column cannot hold.
INSERT INTO items (id, o, a) VALUES (9, 'x', 128);
----
error 1264 (22003): out of range value '128' for column 'a' at row 1

INSERT INTO items (id, o, k) VALUES (9, 'x', '2023-02-29');
----
error 1366 (HY000): incorrect date value '2023-02-29' for column 'k' at row 1

INSERT INTO items (id, o, g) VALUES (9, 'x', 123456789);
----
error 1264 (22003): out of range value '123456789' for column 'g' at row 1

INSERT INTO items (id, o, h) VALUES (9, 'x', 'abcd');
----
error 1406 (22001): value too long for column 'h' at row 1

INSERT INTO items (id, o) VALUES (9, NULL);
----
error 1048 (23000): NULL given for column 'o' at row 1

INSERT INTO items (id, body) VALUES (9, 'no o');
----
error 1364 (HY000): no value and no default for column 'o' at row 1

UPDATE items SET o = NULL WHERE id = 1;
----
error 1048 (23000): NULL given for column 'o' at row 1

CREATE TABLE hits (doc_id bigint unsigned, k date NOT NULL, g decimal(10,2)) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='items' into='hits';
----
ok, 0 rows

INSERT INTO alerts (id, query, filters) VALUES (1, 'cat', 'k > ''2024-01-01'' AND g <= 12.35');
----
ok, 1 rows

INSERT INTO alerts (id, query, filters) VALUES (2, 'cat', 'k > ''yesterday''');
----
error 1292 (22007): filters of row 1: 'yesterday' is no value of column 'k', which is date

INSERT INTO items (id, body, o, k, g) VALUES (10, 'cat', '', '2024-01-02', 12.35), (11, 'cat', '', '2023-12-31', 1);
----
ok, 2 rows

SELECT * FROM hits;
----
doc_id | k | g
10 | 2024-01-02 | 12.35

SELECT COUNT(*) FROM items;
----
COUNT(*)
5


# The words of MySQL and Manticore that change nothing.
CREATE TABLE words (id bigint unsigned NOT NULL AUTO_INCREMENT PRIMARY KEY, title text indexed stored, s string attribute engine='columnar', n int engine='rowwise') engine='columnar';
----
ok, 0 rows

INSERT INTO words (title, s, n) VALUES ('a', 'b', 1);
----
ok, 1 rows

SHOW CREATE TABLE words;
----
Table | Create Table
words | CREATE TABLE `words` (\n  `id` bigint,\n  `title` text,\n  `s` string,\n  `n` int\n) type='rt'

CREATE TABLE more (title text, n int AUTO_INCREMENT);
----
error 1235 (42000): not yet: AUTO_INCREMENT (search and pq tables have an implied unique `id`, queues have no key; leave it out)

CREATE TABLE more (title text, n int engine='other');
----
error 1064 (42000): syntax error: no engine 'other' of a column near ')' at line 1, position 51

# A whole number that is no moment of a timestamp up to the year 9999 is refused with its document, as by INSERT.
CREATE TABLE late_items (body text, seen bigint);
----
ok, 0 rows

CREATE TABLE late_hits (doc_id bigint unsigned, seen timestamp) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE late_alerts type='pq' on='late_items' into='late_hits';
----
ok, 0 rows

INSERT INTO late_alerts (id, query) VALUES (1, 'cat');
----
ok, 1 rows

INSERT INTO late_items (id, body, seen) VALUES (1, 'cat', 1704164645000);
----
error 1264 (22003): out of range value '1704164645000' for column 'seen' at row 1

INSERT INTO late_items (id, body, seen) VALUES (2, 'cat', 1704164645);
----
ok, 1 rows

SELECT doc_id, seen FROM late_hits;
----
doc_id | seen
2 | 1704164645

