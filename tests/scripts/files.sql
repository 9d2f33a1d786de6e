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
tail_bytes | 386
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
segment_bytes | 263
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

OPTIMIZE TABLE posts;
----
ok, 0 rows

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

