# KEY: look-up indexes of search tables.

CREATE TABLE users (body text, email string, age int, seen bool, KEY by_mail (email(191)) USING BTREE, INDEX (age), PRIMARY KEY (id));
----
ok, 0 rows

SHOW CREATE TABLE users;
----
Table | Create Table
users | CREATE TABLE `users` (\n  `id` bigint,\n  `body` text,\n  `email` string,\n  `age` int,\n  `seen` bool,\n  KEY `email` (`email`),\n  KEY `age` (`age`)\n) type='rt'

DESCRIBE users;
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
body | text | YES |  | NULL | indexed stored
email | string | YES | MUL | NULL | 
age | int | YES | MUL | NULL | 
seen | bool | YES |  | NULL | 

SHOW INDEX FROM users;
----
Table | Non_unique | Key_name | Seq_in_index | Column_name
users | 0 | PRIMARY | 1 | id
users | 1 | email | 1 | email
users | 1 | age | 1 | age

SHOW KEYS IN users FROM seine;
----
Table | Non_unique | Key_name | Seq_in_index | Column_name
users | 0 | PRIMARY | 1 | id
users | 1 | email | 1 | email
users | 1 | age | 1 | age

SHOW INDEX FROM nothing;
----
error 1146 (42S02): no table 'nothing'

# Look-ups: answers are those of the scan.

INSERT INTO users (id, body, email, age, seen) VALUES (1, 'a cat', 'Ann@x', 31, 1), (2, 'a dog', 'bob@x', -4, 0),
    (3, 'a cat', '', 31, 1), (4, 'two cats', 'bob@X', 7, 1);
----
ok, 4 rows

SELECT id, email FROM users WHERE email = 'BOB@x' ORDER BY id ASC;
----
id | email
2 | bob@x
4 | bob@X

SELECT id FROM users WHERE age IN (31, -4, 99) AND MATCH('cat') ORDER BY id ASC;
----
id
1
3

SELECT id FROM users WHERE email = '' OR email = 'ann@x' ORDER BY id DESC;
----
id
3
1

SELECT id FROM users WHERE email = 0 AND age = '31' ORDER BY id ASC;
----
id

SELECT COUNT(*) FROM users WHERE age = 31 AND seen = 1;
----
COUNT(*)
2

FLUSH TABLE users;
----
ok, 0 rows

SELECT id FROM users WHERE age = 31 ORDER BY id ASC;
----
id
1
3

REPLACE INTO users (id, body, email, age) VALUES (1, 'a cat', 'ann@y', 32);
----
ok, 1 rows

SELECT id, age FROM users WHERE email IN ('ann@x', 'ann@y', 'bob@x') ORDER BY id ASC;
----
id | age
1 | 32
2 | -4
4 | 7

DELETE FROM users WHERE email = 'Bob@x' AND age > 0;
----
ok, 1 rows

DELETE FROM users WHERE age = 1000;
----
ok, 0 rows

[server] kill
----
ok

SELECT id, email, age FROM users WHERE age IN (31, 32, -4, 7) ORDER BY id ASC;
----
id | email | age
1 | ann@y | 32
2 | bob@x | -4
3 |  | 31

OPTIMIZE TABLE users;
----
ok, 0 rows

SELECT id, email, age FROM users WHERE email IN ('ann@y', 'BOB@X', '') ORDER BY id ASC;
----
id | email | age
1 | ann@y | 32
2 | bob@x | -4
3 |  | 31

# A value set by UPDATE is found by key, and the old one is not.

UPDATE users SET email = 'Carl@x', seen = 0 WHERE age = 32;
----
ok, 1 rows

SELECT id, email FROM users WHERE email IN ('carl@X', 'ann@y');
----
id | email
1 | Carl@x

UPDATE users SET age = age + 1 WHERE email = 'bob@x' OR email = '';
----
ok, 2 rows

SELECT id, age FROM users WHERE age IN (-4, -3, 31, 32) ORDER BY id ASC;
----
id | age
1 | 32
2 | -3
3 | 32

# What is refused, by name.

CREATE TABLE t (a int, UNIQUE (a));
----
error 1235 (42000): not yet: UNIQUE (ids are unique in search and pq tables, and a queue has the option unique_by; leave it out)

CREATE TABLE t (a int, PRIMARY KEY (a));
----
error 1235 (42000): not yet: PRIMARY KEY (search and pq tables have an implied unique `id`, queues have no key; leave it out)

CREATE TABLE t (id bigint PRIMARY KEY, a int PRIMARY KEY);
----
error 1235 (42000): not yet: PRIMARY KEY (search and pq tables have an implied unique `id`, queues have no key; leave it out)

CREATE TABLE t (a int, b int, KEY ab (a, b));
----
error 1235 (42000): not yet: KEY of several columns

CREATE TABLE t (a int, KEY (b));
----
error 1064 (42000): syntax error: KEY (b): no such column near 'KEY (b))' at line 1, position 23

CREATE TABLE t (a int, FULLTEXT KEY (a));
----
error 1235 (42000): not yet: FULLTEXT (every column can be searched or filtered without one; leave it out)

CREATE TABLE t (body text, KEY (body));
----
error 1210 (HY000): KEY (body): text has no key, only integers and strings have

CREATE TABLE t (f float, INDEX (f));
----
error 1210 (HY000): KEY (f): float has no key, only integers and strings have

CREATE TABLE t (a int, KEY (a)) ENGINE=queue;
----
error 1235 (42000): not yet: KEY (a queue has no keys, and a search table takes KEY (column) behind its columns; leave it out)

CREATE TABLE t (a int, INDEX (a)) type='pq';
----
error 1235 (42000): not yet: KEY in a table that is no search table (leave it out)

CREATE TABLE t (a int, KEY a (a) USING RTREE);
----
error 1064 (42000): syntax error: expected BTREE or HASH near 'RTREE)' at line 1, position 39

ALTER TABLE users ADD KEY (seen);
----
ok, 0 rows

# A pq table and a distributed table take the columns, not the keys.

CREATE TABLE alerts type='pq' on='users';
----
ok, 0 rows

CREATE TABLE all_users type='distributed' local='users';
----
ok, 0 rows

SHOW INDEX FROM all_users;
----
Table | Non_unique | Key_name | Seq_in_index | Column_name
all_users | 0 | PRIMARY | 1 | id

DROP TABLE alerts, all_users;
----
ok, 0 rows

CREATE TABLE plain (id bigint PRIMARY KEY, a int);
----
ok, 0 rows

SHOW CREATE TABLE plain;
----
Table | Create Table
plain | CREATE TABLE `plain` (\n  `id` bigint,\n  `a` int\n) type='rt'


CREATE TABLE typed (small tinyint unsigned, big bigint unsigned, code char(4), name varchar(20), y year, KEY (small), KEY (big), KEY (code), KEY (name), KEY (y));
----
ok, 0 rows

INSERT INTO typed VALUES (1, 200, 18446744073709551615, 'ab', 'Ann', 1999), (2, 7, 5, 'AB', '', 2024), (3, NULL, NULL, NULL, NULL, NULL);
----
ok, 3 rows

SELECT id FROM typed WHERE big = 18446744073709551615 AND code = 'ab';
----
id
1

SELECT id FROM typed WHERE code = 'Ab' ORDER BY id ASC;
----
id
1
2

SELECT id FROM typed WHERE small IN (200, 7) AND y = '2024';
----
id
2

SELECT id FROM typed WHERE small IS NULL;
----
id
3

SELECT id FROM typed WHERE name IN ('', 'ANN') ORDER BY id ASC;
----
id
1
2

CREATE TABLE t (d date, KEY (d));
----
error 1210 (HY000): KEY (d): date has no key, only integers and strings have

CREATE TABLE t (m decimal(5,2), KEY (m));
----
error 1210 (HY000): KEY (m): decimal(5,2) has no key, only integers and strings have

