# FLUSH puts what is in memory into files and answers when they are durable; OPTIMIZE makes one segment of them.

CREATE TABLE posts (body text, n int);
----
ok, 0 rows

CREATE TABLE jobs (v int) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts (body text) type='pq';
----
ok, 0 rows

INSERT INTO posts (id, body, n) VALUES (1, 'a cat', 1), (2, 'a dog', 2);
----
ok, 2 rows

SHOW TABLE posts STATUS;
----
Variable_name | Value
table_type | rt
indexed_documents | 2
tail_rows | 2
tail_bytes | 746
segments | 0
segment_bytes | 0
tombstones | 0
shards | 1
checkpoint | 1

FLUSH TABLE posts;
----
ok, 0 rows

SHOW TABLE posts STATUS;
----
Variable_name | Value
table_type | rt
indexed_documents | 2
tail_rows | 0
tail_bytes | 0
segments | 1
segment_bytes | 208
tombstones | 0
shards | 1
checkpoint | 4

INSERT INTO posts (id, body, n) VALUES (3, 'a cow', 3);
----
ok, 1 rows

FLUSH RAMCHUNK posts;
----
ok, 0 rows

FLUSH TABLES posts, jobs;
----
ok, 0 rows

# With nothing to write it is done at once.
FLUSH TABLE posts;
----
ok, 0 rows

INSERT INTO jobs VALUES (1), (2);
----
ok, 2 rows

INSERT INTO alerts (query) VALUES ('cat');
----
ok, 1 rows

FLUSH TABLES;
----
ok, 0 rows

[server] kill
----
ok

SELECT id, body FROM posts ORDER BY id ASC;
----
id | body
1 | a cat
2 | a dog
3 | a cow

DELETE FROM posts WHERE id = 1;
----
ok, 1 rows

OPTIMIZE TABLE posts;
----
ok, 0 rows

# One segment, without the deleted row.
SHOW TABLE posts STATUS;
----
Variable_name | Value
table_type | rt
indexed_documents | 2
tail_rows | 0
tail_bytes | 0
segments | 1
segment_bytes | 186
tombstones | 0
shards | 1
checkpoint | 8

OPTIMIZE TABLE posts OPTION sync=1;
----
ok, 0 rows

OPTIMIZE TABLE jobs;
----
error 1210 (HY000): 'jobs' is no search table: only those have segments

OPTIMIZE TABLE nothing;
----
error 1146 (42S02): no table 'nothing'

FLUSH TABLE posts, nothing;
----
error 1146 (42S02): no table 'nothing'

FLUSH LOGS;
----
error 1235 (42000): not yet: FLUSH LOGS

OPTIMIZE posts;
----
error 1064 (42000): syntax error: expected TABLE near 'posts' at line 1, position 9


# What is kept: a column tells how old a row is.
CREATE TABLE news (body text, at timestamp) keep='30d' keep_bytes='10g';
----
ok, 0 rows

SHOW CREATE TABLE news;
----
Table | Create Table
news | CREATE TABLE `news` (\n  `id` bigint,\n  `body` text,\n  `at` timestamp\n) type='rt' keep='30d' keep_bytes='10737418240' keep_by='at'

CREATE TABLE two (body text, at timestamp, seen timestamp) keep='36h' keep_by='Seen';
----
ok, 0 rows

SHOW CREATE TABLE two;
----
Table | Create Table
two | CREATE TABLE `two` (\n  `id` bigint,\n  `body` text,\n  `at` timestamp,\n  `seen` timestamp\n) type='rt' keep='36h' keep_by='seen'

CREATE TABLE bad (body text) keep='30d';
----
error 1210 (HY000): keep= and keep_bytes= need a timestamp column that tells how old a row is

CREATE TABLE bad (body text, at timestamp, seen timestamp) keep='30d';
----
error 1210 (HY000): say keep_by='at' or keep_by='seen': which column tells how old a row is

CREATE TABLE bad (body text, at timestamp) keep='30d' keep_by='body';
----
error 1210 (HY000): keep_by='body' is no timestamp column of 'bad'

CREATE TABLE bad (body text, at timestamp) keep_by='at';
----
error 1210 (HY000): keep_by= needs keep= or keep_bytes=

CREATE TABLE bad (body text, at timestamp) keep='30';
----
error 1210 (HY000): keep="30" is not a time with its unit, such as 250ms, 30s or 8h; units are ms, s, m (minutes), h and d

CREATE TABLE bad (body text, at timestamp) keep_bytes='lots';
----
error 1210 (HY000): keep_bytes="lots" is not a size, such as 512MiB or 2GiB

CREATE TABLE bad (at timestamp) ENGINE=queue keep='30d';
----
error 1210 (HY000): keep=, keep_bytes= and keep_by= belong to search tables

[server] restart
----
ok

SHOW CREATE TABLE two;
----
Table | Create Table
two | CREATE TABLE `two` (\n  `id` bigint,\n  `body` text,\n  `at` timestamp,\n  `seen` timestamp\n) type='rt' keep='36h' keep_by='seen'

