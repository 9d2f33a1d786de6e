# Shards: rows are spread over tails and segments of their own; nobody who searches can tell.

CREATE TABLE whole (title text, n int);
----
ok, 0 rows

CREATE TABLE parted (title text, n int) shards='3';
----
ok, 0 rows

SHOW CREATE TABLE parted;
----
Table | Create Table
parted | CREATE TABLE `parted` (\n  `id` bigint,\n  `title` text,\n  `n` int\n) type='rt' shards='3'

INSERT INTO parted (id, title, n) VALUES (1, 'red apple', 1), (2, 'green apple', 2), (3, 'red pear', 3), (4, 'red red plum', 4), (5, 'apple pie', 5);
----
ok, 5 rows

INSERT INTO whole (id, title, n) VALUES (1, 'red apple', 1), (2, 'green apple', 2), (3, 'red pear', 3), (4, 'red red plum', 4), (5, 'apple pie', 5);
----
ok, 5 rows

SELECT id, weight() FROM whole WHERE MATCH('plum | pie | green');
----
id | weight()
2 | 1568
4 | 1568
5 | 1568

SELECT id, weight() FROM parted WHERE MATCH('plum | pie | green');
----
id | weight()
2 | 1568
4 | 1568
5 | 1568

CREATE TABLE many (title text) shards='65';
----
error 1105 (HY000): shards of a table exceed the limit of 64

CREATE TABLE none (title text) shards='0';
----
error 1210 (HY000): shards= is at least 1

CREATE TABLE odd (title text) shards='some';
----
error 1210 (HY000): shards=some is neither a number of shards nor 'auto'

CREATE TABLE usual (title text) shards='auto';
----
ok, 0 rows

SHOW CREATE TABLE usual;
----
Table | Create Table
usual | CREATE TABLE `usual` (\n  `id` bigint,\n  `title` text\n) type='rt'

CREATE TABLE queue (n int) ENGINE=queue shards='2';
----
error 1210 (HY000): shards= belongs to search tables: type='rt'

# A distributed table ranks the rows of several tables as one.

CREATE TABLE north (title text, n int);
----
ok, 0 rows

CREATE TABLE south (title text, n int) shards='2';
----
ok, 0 rows

INSERT INTO north (id, title, n) VALUES (1, 'red apple', 1), (3, 'red pear', 3), (5, 'apple pie', 5);
----
ok, 3 rows

INSERT INTO south (id, title, n) VALUES (2, 'green apple', 2), (4, 'red red plum', 4);
----
ok, 2 rows

CREATE TABLE everywhere type='distributed' local='north' local='south';
----
ok, 0 rows

SHOW CREATE TABLE everywhere;
----
Table | Create Table
everywhere | CREATE TABLE `everywhere` type='distributed' local='north' local='south'

DESCRIBE everywhere;
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
title | text | YES |  | NULL | indexed stored
n | int | YES |  | NULL | 

SHOW TABLES LIKE 'every%';
----
Table | Type
everywhere | distributed

SELECT id, weight() FROM everywhere WHERE MATCH('plum | pie | green');
----
id | weight()
2 | 1568
4 | 1568
5 | 1568

SHOW META LIKE 'docs%';
----
Variable_name | Value
docs[0] | 1
docs[1] | 1
docs[2] | 1

SELECT id FROM everywhere WHERE n > 1 ORDER BY n DESC LIMIT 2;
----
id
5
4

SELECT COUNT(*) FROM everywhere;
----
COUNT(*)
5

SELECT * FROM everywhere WHERE id IN (4, 5);
----
id | title | n
4 | red red plum | 4
5 | apple pie | 5

# The rows of both tables are there where both have one of that id.

INSERT INTO south (id, title, n) VALUES (1, 'red apple', 7);
----
ok, 1 rows

SELECT id, n, weight() FROM everywhere WHERE MATCH('red apple');
----
id | n | weight()
1 | 1 | 2466
1 | 7 | 2466

# It takes no rows, its tables stay, and it is made of search tables that are alike.

INSERT INTO everywhere (title) VALUES ('x');
----
error 1210 (HY000): 'everywhere' is a distributed table, which is only searched: write to 'north', 'south'

DELETE FROM everywhere WHERE id = 1;
----
error 1210 (HY000): 'everywhere' is a distributed table, which is only searched: write to 'north', 'south'

TRUNCATE TABLE everywhere;
----
error 1210 (HY000): 'everywhere' is a distributed table, which is only searched: write to 'north', 'south'

DROP TABLE north;
----
error 1451 (23000): table 'north' is named by table 'everywhere'

CREATE TABLE other (title text, n bigint);
----
ok, 0 rows

CREATE TABLE uneven type='distributed' local='north,other';
----
error 1210 (HY000): local='other' differs from local='north': its column 'n' bigint stands where 'n' int does

CREATE TABLE stemmed (title text, n int) morphology='stem_en';
----
ok, 0 rows

CREATE TABLE uneven type='distributed' local='north' local='stemmed';
----
error 1210 (HY000): local='stemmed' differs from local='north': its settings of analysis

CREATE TABLE longer (title text, n int, m int);
----
ok, 0 rows

CREATE TABLE uneven type='distributed' local='north' local='longer';
----
error 1210 (HY000): local='longer' differs from local='north': it has 3 columns and not 2

CREATE TABLE uneven type='distributed' local='north' local='north';
----
error 1210 (HY000): local='north' is there twice

CREATE TABLE uneven type='distributed' local='everywhere';
----
error 1210 (HY000): local='everywhere' is not a search table

CREATE TABLE uneven type='distributed' local='nowhere';
----
error 1146 (42S02): no table 'nowhere'

CREATE TABLE uneven type='distributed';
----
error 1210 (HY000): a distributed table needs local='table'

CREATE TABLE uneven (title text) type='distributed' local='north';
----
error 1210 (HY000): a distributed table has the columns of its local tables: leave them out

CREATE TABLE uneven type='distributed' local='north' agent='10.0.0.2:9312:north';
----
error 1235 (42000): not yet: agent=: tables on other servers

CREATE TABLE uneven (title text) local='north';
----
error 1210 (HY000): local= belongs to tables of type='distributed'

CREATE TABLE listener type='pq' on='everywhere';
----
error 1210 (HY000): on='everywhere' is not a search table

[server] restart
----
ok

SELECT id, weight() FROM everywhere WHERE MATCH('plum | pie | green');
----
id | weight()
2 | 1569
4 | 1569
5 | 1569

SHOW CREATE TABLE parted;
----
Table | Create Table
parted | CREATE TABLE `parted` (\n  `id` bigint,\n  `title` text,\n  `n` int\n) type='rt' shards='3'

[server] kill
----
ok

SELECT id, weight() FROM everywhere WHERE MATCH('plum | pie | green');
----
id | weight()
2 | 1569
4 | 1569
5 | 1569

DROP TABLE everywhere;
----
ok, 0 rows

DROP TABLE north;
----
ok, 0 rows

