# ALTER TABLE of the columns of search and pq tables. The rows keep their values, and get the default of a new column.
CREATE TABLE news (title text, body text, n int, s string, KEY (s));
----
ok, 0 rows

INSERT INTO news (id, title, body, n, s) VALUES (1, 'cat one', 'dog', 1, 'a'), (2, 'cat two', 'bird cat', 2, 'b'), (3, 'fish', 'dog', 3, 'c');
----
ok, 3 rows

ALTER TABLE news ADD COLUMN stars int DEFAULT 7;
----
ok, 0 rows

SELECT * FROM news;
----
id | title | body | n | s | stars
1 | cat one | dog | 1 | a | 7
2 | cat two | bird cat | 2 | b | 7
3 | fish | dog | 3 | c | 7

ALTER TABLE news ADD price decimal(6,2) NULL, ADD tags multi, ADD COLUMN (j json, seen datetime);
----
ok, 0 rows

ALTER TABLE news ADD day date NOT NULL;
----
error 1364 (HY000): no value and no default for column 'day' at row 1

SELECT id, stars, price, tags, j, seen FROM news;
----
id | stars | price | tags | j | seen
1 | 7 | NULL |  | NULL | NULL
2 | 7 | NULL |  | NULL | NULL
3 | 7 | NULL |  | NULL | NULL

UPDATE news SET price = 1.5, tags = (3, 1), j = '{"a": 5}', stars = 9 WHERE id = 2;
----
ok, 1 rows

INSERT INTO news (id, title, price, seen) VALUES (4, 'cat four', '2.25', '2026-01-02 03:04:05');
----
ok, 1 rows

SELECT id, stars, price, tags, j, seen FROM news ORDER BY id ASC;
----
id | stars | price | tags | j | seen
1 | 7 | NULL |  | NULL | NULL
2 | 9 | 1.50 | 1,3 | {"a":5} | NULL
3 | 7 | NULL |  | NULL | NULL
4 | 7 | 2.25 |  | NULL | 2026-01-02 03:04:05

# A text column goes, and its words with it.
SELECT id FROM news WHERE MATCH('bird');
----
id
2

ALTER TABLE news DROP COLUMN body;
----
ok, 0 rows

SELECT id FROM news WHERE MATCH('bird');
----
id

SELECT id, weight() FROM news WHERE MATCH('cat') ORDER BY id ASC;
----
id | weight()
1 | 1442
2 | 1442
4 | 1442

SELECT id FROM news WHERE MATCH('@body dog');
----
error 1064 (42000): query text at byte 1: no field 'body' found in schema: write \@body for the handle

ALTER TABLE news ADD COLUMN note text;
----
ok, 0 rows

UPDATE news SET note = 'x';
----
error 1210 (HY000): UPDATE cannot set the text column 'note', which is searched: REPLACE the row

REPLACE INTO news (id, title, note, seen) VALUES (3, 'fish', 'heron', '2026-01-01');
----
ok, 1 rows

SELECT id, note FROM news WHERE MATCH('@note heron');
----
id | note
3 | heron

SHOW CREATE TABLE news;
----
Table | Create Table
news | CREATE TABLE `news` (\n  `id` bigint,\n  `title` text,\n  `n` int,\n  `s` string,\n  `stars` int DEFAULT 7,\n  `price` decimal(6,2),\n  `tags` multi,\n  `j` json,\n  `seen` datetime,\n  `note` text,\n  KEY `s` (`s`)\n) type='rt'

# Names, types and keys.
ALTER TABLE news RENAME COLUMN note TO remark, CHANGE n number bigint, MODIFY stars float;
----
ok, 0 rows

SELECT id, remark, number, stars FROM news ORDER BY id ASC;
----
id | remark | number | stars
1 |  | 1 | 7.000000
2 |  | 2 | 9.000000
3 | heron | 0 | 7.000000
4 |  | 0 | 7.000000

ALTER TABLE news ADD KEY (number), DROP KEY s;
----
ok, 0 rows

SHOW INDEX FROM news;
----
Table | Non_unique | Key_name | Seq_in_index | Column_name
news | 0 | PRIMARY | 1 | id
news | 1 | number | 1 | number

SELECT id FROM news WHERE number = 2;
----
id
2

SELECT id FROM news WHERE s = 'a';
----
id
1

ALTER TABLE news MODIFY s int;
----
error 1210 (HY000): the row with id 1 has a value in the column 's' that is no int

SELECT id, s FROM news ORDER BY id ASC;
----
id | s
1 | a
2 | b
3 | 
4 | 

ALTER TABLE news MODIFY number string;
----
ok, 0 rows

SELECT id FROM news WHERE number = '2';
----
id
2

SELECT COUNT(*) FROM news;
----
COUNT(*)
4

# What is refused changes nothing.
ALTER TABLE news MODIFY price int NOT NULL;
----
ok, 0 rows

ALTER TABLE news MODIFY remark date;
----
error 1210 (HY000): the row with id 1 has a value in the column 'remark' that is no date

ALTER TABLE news ADD COLUMN title int;
----
error 1210 (HY000): column 'title' twice

ALTER TABLE news ADD COLUMN id int;
----
error 1210 (HY000): the column 'id' cannot be altered: every table has it

ALTER TABLE news DROP COLUMN id;
----
error 1210 (HY000): the column 'id' cannot be altered: every table has it

ALTER TABLE news DROP COLUMN nothing;
----
error 1054 (42S22): no column 'nothing' in table 'news'

ALTER TABLE news ADD COLUMN x nothing;
----
error 1064 (42000): syntax error: a queue has no column type 'nothing' near 'nothing' at line 1, position 30

ALTER TABLE news ADD COLUMN x int FIRST;
----
error 1235 (42000): not yet: FIRST and AFTER in a search or pq table: a new column stands last

ALTER TABLE news ADD COLUMN x int DEFAULT 'y';
----
error 1366 (HY000): incorrect int value 'y' for column 'x' at row 1

ALTER TABLE news RENAME COLUMN title TO price;
----
error 1210 (HY000): column 'price' twice

ALTER TABLE news ADD KEY (title);
----
error 1210 (HY000): KEY (title): text has no key, only integers and strings have

ALTER TABLE news ADD KEY (nothing);
----
error 1054 (42S22): no column 'nothing' in table 'news'

ALTER TABLE news ADD UNIQUE (price);
----
error 1235 (42000): not yet: UNIQUE (ids are unique in search and pq tables, and a queue has the option unique_by; leave it out)

ALTER TABLE news ADD COLUMN x int, DROP COLUMN nothing;
----
error 1054 (42S22): no column 'nothing' in table 'news'

ALTER TABLE nothing ADD COLUMN x int;
----
error 1146 (42S02): no table 'nothing'

DESCRIBE news;
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
title | text | YES |  | NULL | indexed stored
number | string | YES | MUL | NULL | 
s | string | YES |  | NULL | 
stars | float | YES |  | NULL | 
price | int | NO |  | NULL | 
tags | multi | YES |  | NULL | 
j | json | YES |  | NULL | 
seen | datetime | YES |  | NULL | 
remark | text | YES |  | NULL | indexed stored

CREATE TABLE one (n int);
----
ok, 0 rows

ALTER TABLE one DROP COLUMN n;
----
error 1210 (HY000): a table needs at least one column

# Tables that name it.
CREATE TABLE posts (title text, n int, m int);
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts';
----
ok, 0 rows

INSERT INTO alerts (id, query, filters) VALUES (1, 'cat', 'n > 1');
----
ok, 1 rows

ALTER TABLE posts DROP COLUMN n;
----
error 1210 (HY000): the pq table 'alerts' hears 'posts' and its column 'n': drop it first

ALTER TABLE posts RENAME COLUMN m TO k;
----
error 1210 (HY000): the pq table 'alerts' hears 'posts' and its column 'm': drop it first

ALTER TABLE posts ADD COLUMN body text;
----
error 1210 (HY000): the pq table 'alerts' hears 'posts', so its text columns must stay: drop it first

ALTER TABLE posts ADD COLUMN k int;
----
ok, 0 rows

INSERT INTO posts (id, title, n, k) VALUES (1, 'a cat', 2, 3);
----
ok, 1 rows

CALL PQ('alerts', '{"title": "a cat", "n": 2}');
----
id
1

CREATE TABLE all_posts type='distributed' local='posts';
----
ok, 0 rows

ALTER TABLE posts ADD COLUMN l int;
----
error 1451 (23000): table 'posts' is named by table 'all_posts'

ALTER TABLE all_posts ADD COLUMN l int;
----
error 1210 (HY000): 'all_posts' is a distributed table, which is only searched: write to 'posts'

DROP TABLE all_posts;
----
ok, 0 rows

CREATE TABLE kept (title text, at timestamp) keep='10d' keep_by='at';
----
ok, 0 rows

ALTER TABLE kept DROP COLUMN at;
----
error 1210 (HY000): the column 'at' tells the age of rows (keep_by): it cannot be dropped, renamed or changed

# pq tables: every query must still be one.
CREATE TABLE rules (title text, body text, n int) type='pq';
----
ok, 0 rows

INSERT INTO rules (id, query, filters) VALUES (1, '@title cat', 'n > 1'), (2, 'dog', ''), (3, 'bird', 'n < 5');
----
ok, 3 rows

ALTER TABLE rules ADD COLUMN m int;
----
ok, 0 rows

INSERT INTO rules (id, query, filters) VALUES (4, 'cat', 'm = 3');
----
ok, 1 rows

CALL PQ('rules', '{"title": "cat bird", "n": 2, "m": 3}');
----
id
1
3
4

ALTER TABLE rules DROP COLUMN m;
----
error 1210 (HY000): filters of stored query 4: no column 'm' in the documents

ALTER TABLE rules DROP COLUMN title;
----
error 1210 (HY000): stored query 1: query text at byte 1: no field 'title' found in schema: write \@title for the handle

DELETE FROM rules WHERE id = 4;
----
ok, 1 rows

ALTER TABLE rules DROP COLUMN m, RENAME COLUMN body TO rest;
----
ok, 0 rows

CALL PQ('rules', '{"title": "cat bird", "n": 2, "rest": "dog"}');
----
id
1
2
3

ALTER TABLE rules ADD KEY (n);
----
error 1235 (42000): not yet: KEY in a table that is no search table (leave it out)

