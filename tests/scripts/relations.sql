# System relations: SELECT over what SHOW prints, and MySQL's catalogs.

CREATE TABLE posts (body text, n int, d decimal(6,2), KEY (n))
----
ok, 0 rows

CREATE TABLE jobs (payload varchar(20), due datetime(3)) ENGINE=queue groups='a,b'
----
ok, 0 rows

CREATE TABLE alerts (body text) type='pq'
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (1, 'x', 3), (2, 'y', 4)
----
ok, 2 rows

SELECT * FROM system.tables
----
table | type | table_type
alerts | percolate | BASE TABLE
jobs | queue | BASE TABLE
posts | rt | BASE TABLE

SELECT `table`, type FROM system.tables WHERE type <> 'queue' ORDER BY `table` DESC
----
table | type
posts | rt
alerts | percolate

SELECT `table`, COUNT(*) AS n FROM system.columns GROUP BY `table` ORDER BY `table` ASC
----
table | n
alerts | 7
jobs | 2
posts | 4

SELECT t.type, c.field, c.`key` FROM system.tables AS t JOIN system.columns AS c ON c.`table` = t.`table` WHERE t.`table` = 'posts'
----
type | field | key
rt | id | PRI
rt | body | 
rt | n | MUL
rt | d | 

SELECT variable_name, value FROM system.table_status WHERE `table` = 'posts' AND variable_name LIKE '%documents'
----
variable_name | value
indexed_documents | 2

SELECT queue, `group`, `rows`, waiting FROM system.queues
----
queue | group | rows | waiting
jobs |  | 0 | 0
jobs | a | 0 | NULL
jobs | b | 0 | NULL

SELECT variable_name FROM system.variables WHERE value = 'utf8mb4' AND variable_name LIKE 'character%' ORDER BY variable_name ASC LIMIT 2
----
variable_name
character_set_client
character_set_connection

SELECT table_name, engine, table_rows FROM information_schema.tables WHERE table_schema = 'seine'
----
table_name | engine | table_rows
alerts | seine | 0
jobs | queue | 0
posts | seine | 2

SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, NUMERIC_PRECISION, NUMERIC_SCALE, DATETIME_PRECISION, CHARACTER_MAXIMUM_LENGTH FROM information_schema.columns WHERE table_name IN ('posts', 'jobs') ORDER BY table_name ASC, ordinal_position ASC
----
TABLE_NAME | COLUMN_NAME | DATA_TYPE | COLUMN_TYPE | IS_NULLABLE | COLUMN_KEY | NUMERIC_PRECISION | NUMERIC_SCALE | DATETIME_PRECISION | CHARACTER_MAXIMUM_LENGTH
jobs | payload | varchar | varchar(20) | YES |  | NULL | NULL | NULL | 20
jobs | due | datetime | datetime(3) | YES |  | NULL | NULL | 3 | NULL
posts | id | bigint | bigint unsigned | NO | PRI | 20 | 0 | NULL | NULL
posts | body | text | text | YES |  | NULL | NULL | NULL | 4294967295
posts | n | int | int | YES | MUL | 10 | 0 | NULL | NULL
posts | d | decimal | decimal(6,2) | YES |  | 6 | 2 | NULL | NULL

SELECT index_name, column_name, non_unique FROM information_schema.statistics WHERE table_name = 'posts'
----
index_name | column_name | non_unique
PRIMARY | id | 0
n | n | 1

SELECT constraint_name, column_name FROM information_schema.key_column_usage WHERE table_name = 'posts'
----
constraint_name | column_name
PRIMARY | id

SELECT schema_name FROM information_schema.schemata
----
schema_name
information_schema
seine

SELECT engine, support, transactions FROM information_schema.engines
----
engine | support | transactions
seine | DEFAULT | YES
queue | YES | YES

SELECT tables.engine FROM information_schema.tables WHERE tables.table_name = 'jobs'
----
engine
queue

SELECT COUNT(*) AS n FROM information_schema.views
----
n
0

SELECT p.id, t.`table` FROM posts AS p JOIN system.tables AS t ON t.`table` = 'posts' ORDER BY p.id ASC
----
id | table
1 | posts
2 | posts

SELECT `table` FROM system.tables WHERE `table` = 'posts' UNION ALL SELECT engine FROM system.engines
----
table
posts
seine
queue

CREATE TEMPORARY TABLE kept SELECT `table`, type FROM system.tables
----
ok, 3 rows

SELECT COUNT(*) AS n FROM kept
----
n
3

SHOW TABLES WHERE Type = 'queue'
----
Table | Type
jobs | queue

SHOW FULL TABLES LIKE 'p%'
----
Tables_in_seine | Table_type
posts | BASE TABLE

SHOW COLUMNS FROM posts WHERE `Key` <> ''
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
n | int | YES | MUL | NULL | 

SHOW COLUMNS FROM kept
----
Field | Type | Null | Key | Default | Extra
table | string | YES |  | NULL | 
type | string | YES |  | NULL | 

SHOW ENGINES
----
Engine | Support | Comment | Transactions | XA | Savepoints
seine | DEFAULT | search tables and standing queries | YES | NO | NO
queue | YES | rows for workers: queue_wait, queue_end, queue_abort | YES | NO | NO

SHOW QUEUES WHERE `Group` = 'a'
----
Queue | Group | Rows | Owned | Waiting | Delayed | Redelivered | Restored | Oldest_s | Paused
jobs | a | 0 | 0 |  |  | 0 |  |  | NO

SHOW STATUS WHERE Counter = 'version'
----
Counter | Value
version | 0.1.0

SHOW TRANSACTIONS
----
Id | Seconds | Statements | Ends | Bytes | Refused

BEGIN
----
ok, 0 rows

UPDATE posts SET n = 9 WHERE id = 1
----
ok, 1 rows

SELECT statements, ends, refused FROM system.transactions
----
statements | ends | refused
1 | 0 | NULL

ROLLBACK
----
ok, 0 rows

SHOW TRANSACTIONS
----
Id | Seconds | Statements | Ends | Bytes | Refused

SHOW TABLES WHERE nothing = 1
----
error 1054 (42S22): unknown column 'nothing' in SHOW: it has Table, Type

SHOW TABLES WHERE MATCH('x')
----
error 1235 (42000): not yet: MATCH in SHOW

SELECT * FROM system.nothing
----
error 1146 (42S02): no table 'system.nothing'

SELECT nothing FROM system.tables
----
error 1054 (42S22): no column 'nothing' in table 'system.tables'

SELECT * FROM mysql.user
----
error 1235 (42000): not yet: tables of mysql

SELECT * FROM system.tables, posts
----
error 1210 (HY000): 'system.tables' is no search table: only these are searched as one, use JOIN or UNION ALL

INSERT INTO system.tables (`table`) VALUES ('x')
----
error 1064 (42000): syntax error: system.tables is only read: SELECT … FROM system.tables near 'system.tables (`table`) VALUES ('x')' at line 1, position 12

DELETE FROM information_schema.tables WHERE table_name = 'posts'
----
error 1064 (42000): syntax error: information_schema.tables is only read: SELECT … FROM information_schema.tables near 'information_schema.tables WHERE table_name = 'posts'' at line 1, position 12

UPDATE information_schema.tables SET engine = 'x'
----
error 1064 (42000): syntax error: information_schema.tables is only read: SELECT … FROM information_schema.tables near 'information_schema.tables SET engine = 'x'' at line 1, position 7

TRUNCATE TABLE system.tables
----
error 1064 (42000): syntax error: system.tables is only read: SELECT … FROM system.tables near 'system.tables' at line 1, position 15

DROP TABLE system.tables
----
error 1064 (42000): syntax error: system.tables is only read: SELECT … FROM system.tables near 'system.tables' at line 1, position 11

CREATE TABLE system.own (n int)
----
error 1064 (42000): syntax error: system.own is only read: SELECT … FROM system.own near 'system.own (n int)' at line 1, position 13

CREATE TEMPORARY TABLE system.own (n int)
----
error 1064 (42000): syntax error: system.own is only read: SELECT … FROM system.own near 'system.own (n int)' at line 1, position 23

ALTER TABLE system.tables ADD COLUMN n int
----
error 1064 (42000): syntax error: system.tables is only read: SELECT … FROM system.tables near 'system.tables ADD COLUMN n int' at line 1, position 12

SHOW CREATE TABLE system.tables
----
error 1146 (42S02): no table 'system.tables'

DESCRIBE information_schema.tables
----
Field | Type | Null | Key | Default | Extra
table_catalog | string | YES |  | NULL | 
table_schema | string | YES |  | NULL | 
table_name | string | YES |  | NULL | 
table_type | string | YES |  | NULL | 
engine | string | YES |  | NULL | 
version | bigint | YES |  | NULL | 
row_format | string | YES |  | NULL | 
table_rows | bigint | YES |  | NULL | 
avg_row_length | bigint | YES |  | NULL | 
data_length | bigint | YES |  | NULL | 
max_data_length | bigint | YES |  | NULL | 
index_length | bigint | YES |  | NULL | 
data_free | bigint | YES |  | NULL | 
auto_increment | bigint | YES |  | NULL | 
create_time | string | YES |  | NULL | 
update_time | string | YES |  | NULL | 
check_time | string | YES |  | NULL | 
table_collation | string | YES |  | NULL | 
checksum | bigint | YES |  | NULL | 
create_options | string | YES |  | NULL | 
table_comment | string | YES |  | NULL | 

SELECT * FROM system.tables FACET type
----
error 1210 (HY000): FACET needs a search table, 'system.tables' is none

SELECT id FROM posts WHERE MATCH('x') AND id IN (SELECT 1)
----
error 1235 (42000): not yet: SELECT in the list of IN: join the tables

SHOW TABLE
----
error 1064 (42000): syntax error: expected what to show, e.g. TABLES, STATUS or META near 'TABLE' at line 1, position 5

SHOW TABLE posts
----
error 1064 (42000): syntax error: expected STATUS at the end of the statement

SHOW COLUMNS posts
----
error 1064 (42000): syntax error: expected FROM near 'posts' at line 1, position 13

SHOW ENGINE innodb STATUS
----
error 1235 (42000): not yet: SHOW ENGINE of anything but QUEUE STATUS

SHOW CREATE VIEW v
----
error 1235 (42000): not yet: SHOW CREATE VIEW

SHOW FULL PROCESSLIST WHERE `Command` = 'nothing'
----
Id | User | Host | db | Command | Time | State | Info

SHOW COUNT(*) WARNINGS
----
@@session.warning_count
0

SHOW WARNINGS LIMIT 2
----
Level | Code | Message

SHOW BINARY LOGS
----
error 1235 (42000): not yet: SHOW BINARY

SHOW INDEX FROM status
----
error 1146 (42S02): no table 'status'

SHOW GRANTS FOR CURRENT_USER()
----
Grants


SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name LIKE 'p%'
----
table_name

SELECT DATABASE(), UPPER(SCHEMA())
----
DATABASE() | UPPER(SCHEMA())
NULL | NULL

USE mine
----
ok, 0 rows

SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema = SCHEMA() AND table_name LIKE 'p%'
----
table_schema | table_name
mine | posts


SELECT DATABASE(), UPPER(SCHEMA()), COUNT(*) FROM posts WHERE DATABASE() = 'mine'
----
DATABASE() | UPPER(SCHEMA()) | COUNT(*)
mine | MINE | 2


SHOW TABLES FROM performance_schema
----
Table | Type
global_status | relation
global_variables | relation
session_status | relation
session_variables | relation

SHOW FULL TABLES IN information_schema LIKE 'col%'
----
Tables_in_seine | Table_type
collation_character_set_applicability | SYSTEM VIEW
collations | SYSTEM VIEW
columns | SYSTEM VIEW

SHOW COLUMNS FROM schemata FROM information_schema LIKE 's%'
----
Field | Type | Null | Key | Default | Extra
schema_name | string | YES |  | NULL | 
sql_path | string | YES |  | NULL | 

SHOW TABLES FROM mysql
----
error 1235 (42000): not yet: tables of mysql

SHOW TABLES FROM another LIKE 'p%'
----
Table | Type
posts | rt

SHOW TABLES LIKE 'P_STS'
----
Table | Type
posts | rt

SHOW TABLES LIKE 'p%' WHERE Type = 'queue'
----
Table | Type

