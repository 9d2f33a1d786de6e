# Queues, with Q4M's functions and owner mode.

CREATE TABLE q (v int not null, s varchar(10)) ENGINE=queue;
----
ok, 0 rows

INSERT INTO q VALUES (1, 'one'), (2, 'two'), (3, 'three');
----
ok, 3 rows

SELECT * FROM q;
----
v | s
1 | one
2 | two
3 | three

SELECT queue_wait('q');
----
queue_wait('q')
1

# Owner mode: this connection sees its row only, the others do not see it.
SELECT * FROM q;
----
v | s
1 | one

[b]
SELECT * FROM q;
----
v | s
2 | two
3 | three

[b]
SELECT queue_wait('q', 1);
----
queue_wait('q', 1)
1

[b]
SELECT v FROM q;
----
v
2

SELECT queue_abort();
----
queue_abort()
1

# The row is back at its place.
SELECT v FROM q;
----
v
1
3

SELECT queue_wait('q', 1);
----
queue_wait('q', 1)
1

# The next wait ends the row owned.
SELECT queue_wait('q', 1);
----
queue_wait('q', 1)
1

SELECT v FROM q;
----
v
3

SELECT queue_end();
----
queue_end()
1

# A connection that goes away gives its row back.
[b] close
----
ok

SELECT queue_wait('q', 10);
----
queue_wait('q', 10)
1

SELECT v FROM q;
----
v
2

SELECT queue_end();
----
queue_end()
1

SELECT COUNT(*) FROM q;
----
COUNT(*)
0

# An empty queue: 0 after the timeout, and owner mode all the same.
SELECT queue_wait('q', 0);
----
queue_wait('q', 0)
0

INSERT INTO q (v) VALUES (4);
----
ok, 1 rows

SELECT * FROM q;
----
v | s

SELECT queue_end();
----
queue_end()
1

SELECT * FROM q;
----
v | s
4 | NULL

SELECT queue_end();
----
queue_end()
1

SELECT queue_abort();
----
error 1210 (HY000): queue_abort(): not in owner mode

SELECT queue_wait('nothing', 0);
----
queue_wait('nothing', 0), 1 warnings
NULL

INSERT INTO q (v) VALUES (NULL);
----
error 1048 (23000): NULL given for column 'v' at row 1

INSERT INTO q (v) VALUES (2147483648);
----
error 1264 (22003): out of range value '2147483648' for column 'v' at row 1

INSERT INTO q (v, s) VALUES (1, 'longer than ten');
----
error 1406 (22001): value too long for column 's' at row 1

REPLACE INTO q (v) VALUES (1);
----
error 1210 (HY000): 'q' is a queue: it has no ids to replace

DELETE FROM q WHERE v = 4;
----
ok, 1 rows

SELECT COUNT(*) FROM q;
----
COUNT(*)
0

# What is in a queue outlives the server; who owned what does not.
INSERT INTO q (v) VALUES (5), (6);
----
ok, 2 rows

SELECT queue_wait('q', 1);
----
queue_wait('q', 1)
1

[server] kill
----
ok

SELECT v FROM q;
----
v
5
6

[server] restart
----
ok

SELECT v FROM q;
----
v
5
6

# MySQL's dates, times and decimals.
CREATE TABLE paid (d date, at datetime(3), t time, y year, price decimal(6,2)) ENGINE=queue;
----
ok, 0 rows

SHOW CREATE TABLE paid;
----
Table | Create Table
paid | CREATE TABLE `paid` (\n  `d` date,\n  `at` datetime(3),\n  `t` time,\n  `y` year,\n  `price` decimal(6,2)\n) ENGINE=queue

DESCRIBE paid;
----
Field | Type | Null | Key | Default | Extra
d | date | YES |  | NULL | 
at | datetime(3) | YES |  | NULL | 
t | time | YES |  | NULL | 
y | year | YES |  | NULL | 
price | decimal(6,2) | YES |  | NULL | 

INSERT INTO paid VALUES ('2024-1-2', '2024-01-02T03:04:05.6785', '99:0', 24, 9.5), (20240229, '2024-02-29', '-838:59:59', 0, '12.345'), (NULL, NULL, '100:00:00', NULL, -1);
----
ok, 3 rows

SELECT * FROM paid;
----
d | at | t | y | price
2024-01-02 | 2024-01-02 03:04:05.679 | 99:00:00 | 2024 | 9.50
2024-02-29 | 2024-02-29 00:00:00.000 | -838:59:59 | 0000 | 12.35
NULL | NULL | 100:00:00 | NULL | -1.00

SELECT price, t FROM paid WHERE price > '9.4' ORDER BY price DESC;
----
price | t
12.35 | -838:59:59
9.50 | 99:00:00

SELECT t FROM paid WHERE t < '100:00:00' ORDER BY t ASC;
----
t
-838:59:59
99:00:00

SELECT d, at FROM paid WHERE d = '2024-2-29' OR at < '2024-01-03';
----
d | at
2024-01-02 | 2024-01-02 03:04:05.679
2024-02-29 | 2024-02-29 00:00:00.000

INSERT INTO paid (d) VALUES ('2023-02-29');
----
error 1366 (HY000): incorrect date value '2023-02-29' for column 'd' at row 1

INSERT INTO paid (t) VALUES ('839:00:00');
----
error 1264 (22003): out of range value '839:00:00' for column 't' at row 1

INSERT INTO paid (price) VALUES (9999.995);
----
error 1264 (22003): out of range value '9999.995000' for column 'price' at row 1

CREATE TABLE listened (body text, price float);
----
ok, 0 rows

CREATE TABLE wrong (hit_at datetime) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE listener type='pq' on='listened' into='wrong';
----
error 1210 (HY000): column 'hit_at' of 'wrong': timestamp does not go into datetime

DELETE FROM paid WHERE price < 10;
----
ok, 2 rows

SELECT price FROM paid;
----
price
12.35

