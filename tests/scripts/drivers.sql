# What drivers and their reflection send: names in backticks, names of tables before columns, transactions, ids.

CREATE TABLE `Posts` (`body` text, `order` int, price float)
----
ok, 0 rows

INSERT INTO `posts` (`id`, `body`, `order`, `price`) VALUES (1, 'red shoes', 5, 0.5), (2, 'blue shoes', 7, 1.5)
----
ok, 2 rows

# Of a column the header is its name alone, in the letters written.
SELECT `id`, `Body`, `order` FROM `posts` ORDER BY `id` ASC
----
id | Body | order
1 | red shoes | 5
2 | blue shoes | 7

SELECT p.id, p.`order`, posts.body, any_database.posts.price FROM posts AS p WHERE p.`order` > 5 ORDER BY p.id DESC
----
id | order | body | price
2 | 7 | blue shoes | 1.500000

SELECT `posts`.`id` AS `posts_id`, `posts`.`price` + 1 FROM `any`.`posts` WHERE MATCH('shoes') AND `posts`.`id` IN (1)
----
posts_id | `posts`.`price` + 1
1 | 1.500000

SELECT p.* FROM posts `p` LIMIT 1
----
id | body | order | price
1 | red shoes | 5 | 0.500000

SELECT q.* FROM posts p
----
error 1064 (42000): syntax error: expected a column name near '* FROM posts p' at line 1, position 9

SELECT q.id FROM posts p
----
error 1054 (42S22): no column 'q' in table 'posts'

SELECT id FROM posts WHERE posts.nothing = 1
----
error 1054 (42S22): no column 'nothing' in table 'posts'

SELECT p.id FROM posts p, other o
----
error 1064 (42000): syntax error: 'p.' before a column: FROM a, b searches its tables as one, JOIN joins them near 'p.id FROM posts p, other o' at line 1, position 7

DELETE FROM posts WHERE posts.id = 2
----
ok, 1 rows

DELETE FROM posts AS p WHERE p.id = 2 AND p.`order` IN (7)
----
ok, 0 rows

DELETE FROM posts p WHERE q.id = 2
----
error 1054 (42S22): no column 'q' in table 'posts'

SHOW CREATE TABLE posts
----
Table | Create Table
posts | CREATE TABLE `posts` (\n  `id` bigint,\n  `body` text,\n  `order` int,\n  `price` float\n) type='rt'

DESCRIBE posts
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
body | text | YES |  | NULL | indexed stored
order | int | YES |  | NULL | 
price | float | YES |  | NULL | 

SHOW COLUMNS FROM `posts` LIKE 'p%'
----
Field | Type | Null | Key | Default | Extra
price | float | YES |  | NULL | 

SHOW FULL COLUMNS FROM `posts` FROM `any`
----
Field | Type | Collation | Null | Key | Default | Extra | Privileges | Comment
id | bigint unsigned | NULL | NO | PRI | NULL |  | select,insert | 
body | text | utf8mb4_general_ci | YES |  | NULL | indexed stored | select,insert | 
order | int | NULL | YES |  | NULL |  | select,insert | 
price | float | NULL | YES |  | NULL |  | select,insert | 

CREATE TABLE jobs (v int unsigned not null default 7, s varchar(20)) ENGINE=queue
----
ok, 0 rows

DESC jobs
----
Field | Type | Null | Key | Default | Extra
v | int unsigned | NO |  | 7 | 
s | varchar(20) | YES |  | NULL | 

SELECT @@socket, @@autocommit
----
@@socket | @@autocommit
 | 1

# Several ids are a list, as Manticore has it.
INSERT INTO posts (body) VALUES ('one')
----
ok, 1 rows

SELECT LAST_INSERT_ID()
----
LAST_INSERT_ID()
3

INSERT INTO posts (body) VALUES ('two'), ('three')
----
ok, 2 rows

SELECT LAST_INSERT_ID(), @@session.last_insert_id, @@identity
----
LAST_INSERT_ID() | @@session.last_insert_id | @@identity
4,5 | 4,5 | 4,5

REPLACE INTO posts (id, body) VALUES (9, 'nine'), (8, 'eight')
----
ok, 2 rows

SELECT LAST_INSERT_ID()
----
LAST_INSERT_ID()
9,8

DELETE FROM posts WHERE id = 9
----
ok, 1 rows

SELECT LAST_INSERT_ID()
----
LAST_INSERT_ID()
9,8

# A refused statement of several rows names the row.
INSERT INTO posts (id, body) VALUES (20, 'new'), (8, 'taken')
----
error 1062 (23000): duplicate id '8' at row 2

INSERT INTO posts (id, body) VALUES (20, 'new'), (20, 'twice')
----
error 1062 (23000): duplicate id '20' at row 2

INSERT INTO posts (id, body) VALUES (8, 'taken')
----
error 1062 (23000): duplicate id '8'

INSERT INTO posts (id, body, `order`) VALUES (20, 'new', 1), (21, 'wide', 4294967296)
----
error 1264 (22003): out of range value '4294967296' for column 'order' at row 2

INSERT INTO posts (id, body, `order`) VALUES (20, 'new', 1), (21, 'narrow')
----
error 1136 (21S01): column count does not match value count at row 2

INSERT INTO posts (id, body) VALUES (20, 'new'), (21, new)
----
error 1064 (42000): syntax error: expected a constant (a text stands in quotes) in row 2 near 'new)' at line 1, position 54

INSERT INTO posts (id, body) VALUES (20, 'new'), (21, 'new', )
----
error 1064 (42000): syntax error: expected a constant in row 2 near ')' at line 1, position 61

INSERT INTO posts (id, body) VALUES (20, 'new'), (21, DEFAULT)
----
error 1235 (42000): not yet: DEFAULT as a value in row 2

INSERT INTO posts (id, body) VALUES (20, NOW())
----
ok, 1 rows

INSERT INTO posts (id, body) VALUES (20, NWO())
----
error 1064 (42000): syntax error: no function 'nwo', did you mean now()? near 'NWO())' at line 1, position 41

CREATE TABLE pq (body text, price float) type='pq'
----
ok, 0 rows

INSERT INTO pq (id, query) VALUES (1, 'red'), (2, '"open')
----
error 1064 (42000): query text at byte 0: unclosed quote at row 2

INSERT INTO pq (id, query, filters) VALUES (1, 'red', ''), (2, 'blue', 'prize > 5')
----
error 1210 (HY000): filters of row 2: no column 'prize' in the documents

INSERT INTO pq (id, query) VALUES (1, 'red'), (1, 'blue')
----
error 1062 (23000): duplicate id '1' at row 2

# Transactions, as drivers open and end them. transactions.sql has the rest.
BEGIN
----
ok, 0 rows

DELETE FROM posts WHERE id = 8
----
ok, 1 rows

ROLLBACK
----
ok, 0 rows

START TRANSACTION
----
ok, 0 rows

COMMIT
----
ok, 0 rows

SET autocommit = 0
----
ok, 0 rows

ROLLBACK
----
ok, 0 rows

INSERT INTO posts (id, body) VALUES (18, 'eighteen')
----
ok, 1 rows

ROLLBACK
----
ok, 0 rows

INSERT INTO posts (id, body) VALUES (10, 'ten')
----
ok, 1 rows

SET autocommit = 1
----
ok, 0 rows

ROLLBACK
----
ok, 0 rows

BEGIN
----
ok, 0 rows

DROP TABLE jobs, pq
----
ok, 0 rows

ROLLBACK
----
ok, 0 rows

# A switch of transactions takes a switch's values only.
SET autocommit = 2
----
error 1210 (HY000): autocommit is 0 or 1, not '2'

SET autocommit = 'of'
----
error 1210 (HY000): autocommit is 0 or 1, not 'of'

SET autocommit = ON
----
ok, 0 rows

ROLLBACK AND NO CHAIN
----
ok, 0 rows

COMMIT AND CHAIN
----
error 1235 (42000): not yet: AND CHAIN

# What SHOW CREATE TABLE says makes the same table, to the last digit of a default.
CREATE TABLE defaults (d double DEFAULT 1e-9, f float DEFAULT 0.1, s varchar(9) DEFAULT 'a\'\\', b varbinary(2) DEFAULT x'00ff', n decimal(5,2) DEFAULT -1.5, z double DEFAULT 1234567.1234567) ENGINE=queue
----
ok, 0 rows

SHOW CREATE TABLE defaults
----
Table | Create Table
defaults | CREATE TABLE `defaults` (\n  `d` double DEFAULT 1e-9,\n  `f` float DEFAULT 0.1,\n  `s` varchar(9) DEFAULT 'a\'\\',\n  `b` varbinary(2) DEFAULT x'00ff',\n  `n` decimal(5,2) DEFAULT '-1.50',\n  `z` double DEFAULT 1234567.1234567\n) ENGINE=queue

DESCRIBE defaults
----
Field | Type | Null | Key | Default | Extra
d | double | YES |  | 1e-9 | 
f | float | YES |  | 0.1 | 
s | varchar(9) | YES |  | a'\ | 
b | varbinary(2) | YES |  | x'00ff' | 
n | decimal(5,2) | YES |  | -1.50 | 
z | double | YES |  | 1234567.1234567 | 

