# EXPLAIN, SHOW PLAN and SHOW PROFILE: what a SELECT costs.

CREATE TABLE posts (title text, body text, author int, score int, KEY (author))
----
ok, 0 rows

INSERT INTO posts (id, title, body, author, score) VALUES (1, 'red fox', 'a fox in a box', 7, 3), (2, 'blue', 'no fox', 8, 1), (3, 'red hat', 'on a box', 7, 5)
----
ok, 3 rows

EXPLAIN QUERY posts '@title "red fox" (hat | bo*) -blue'
----
Variable | Value
transformed_tree | AND(\n  PHRASE(fields=(title), KEYWORD(red, querypos=1), KEYWORD(fox, querypos=2)),\n  OR(\n    AND(fields=(title), KEYWORD(hat, querypos=3)),\n    AND(fields=(title), KEYWORD(bo*, querypos=4, pattern))),\n  NOT(\n    AND(fields=(title), KEYWORD(blue, querypos=5))))

EXPLAIN QUERY posts '^red << hat$ "a b"~3 "a b c"/2'
----
Variable | Value
transformed_tree | BEFORE(\n  AND(KEYWORD(red, querypos=1, field_start)),\n  AND(\n    AND(KEYWORD(hat, querypos=2, field_end)),\n    PROXIMITY(distance=3, KEYWORD(a, querypos=3), KEYWORD(b, querypos=4)),\n    QUORUM(count=2,\n      AND(KEYWORD(a, querypos=6)),\n      AND(KEYWORD(b, querypos=7)),\n      AND(KEYWORD(c, querypos=8)))))

EXPLAIN QUERY posts '"open'
----
error 1064 (42000): query text at byte 0: unclosed quote

EXPLAIN QUERY nothing 'a'
----
error 1146 (42S02): no table 'nothing'

# Nothing was profiled yet.

SHOW PLAN
----
Variable | Value

SHOW PROFILE
----
Status | Duration | Switches | Percent

SET profiling=1
----
ok, 0 rows

SELECT id FROM posts WHERE MATCH('@title red fo*') AND author = 7
----
id
1

SHOW PLAN
----
Variable | Value
transformed_tree | AND(\n  AND(fields=(title), KEYWORD(red, querypos=1)),\n  AND(fields=(title), KEYWORD(fo*, querypos=2, pattern)))

SHOW PLAN LIKE 'x%'
----
Variable | Value

# Without profiling the last profile stays.

SET profiling=0
----
ok, 0 rows

SELECT id FROM posts WHERE MATCH('blue')
----
id
2

SHOW PLAN
----
Variable | Value
transformed_tree | AND(\n  AND(fields=(title), KEYWORD(red, querypos=1)),\n  AND(fields=(title), KEYWORD(fo*, querypos=2, pattern)))

# A table is still described.

EXPLAIN posts
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
title | text | YES |  | NULL | indexed stored
body | text | YES |  | NULL | indexed stored
author | int | YES | MUL | NULL | 
score | int | YES |  | NULL | 

EXPLAIN INSERT INTO posts (id) VALUES (9)
----
error 1235 (42000): not yet: EXPLAIN of anything but a SELECT on tables, an UPDATE or a DELETE

# An UPDATE or a DELETE is checked first.

EXPLAIN UPDATE posts SET title = 'x' WHERE id = 1
----
error 1210 (HY000): UPDATE cannot set the text column 'title', which is searched: REPLACE the row

EXPLAIN UPDATE posts SET nothing = 1
----
error 1054 (42S22): no column 'nothing' in table 'posts'

EXPLAIN DELETE FROM nothing
----
error 1146 (42S02): no table 'nothing'

EXPLAIN UPDATE posts SET author = 'abc' WHERE id > 1
----
error 1366 (HY000): incorrect int value 'abc' for column 'author' at row 2

UPDATE posts SET author = 'abc' WHERE id > 1
----
error 1366 (HY000): incorrect int value 'abc' for column 'author' at row 2

EXPLAIN UPDATE posts SET author = 99999999999
----
error 1264 (22003): out of range value '99999999999' for column 'author' at row 1

UPDATE posts SET author = 99999999999
----
error 1264 (22003): out of range value '99999999999' for column 'author' at row 1

EXPLAIN UPDATE posts SET author = 'abc' ORDER BY score DESC LIMIT 1
----
error 1366 (HY000): incorrect int value 'abc' for column 'author' at row 3

UPDATE posts SET author = 'abc' ORDER BY score DESC LIMIT 1
----
error 1366 (HY000): incorrect int value 'abc' for column 'author' at row 3

EXPLAIN DELETE FROM posts ORDER BY author LIMIT 1
----
error 1235 (42000): not yet: DELETE … ORDER BY of a table that is no queue

DELETE FROM posts ORDER BY author LIMIT 1
----
error 1235 (42000): not yet: DELETE … ORDER BY of a table that is no queue

EXPLAIN DELETE FROM posts WHERE MATCH('fox') ORDER BY author LIMIT 1
----
error 1235 (42000): not yet: DELETE … ORDER BY with MATCH

DELETE FROM posts WHERE MATCH('fox') ORDER BY author LIMIT 1
----
error 1235 (42000): not yet: DELETE … ORDER BY with MATCH

CREATE TABLE pp (title text, n int) type='pq'
----
ok, 0 rows

EXPLAIN UPDATE pp SET query = 'x'
----
error 1210 (HY000): 'pp' holds standing queries: REPLACE stores one again

UPDATE pp SET query = 'x'
----
error 1210 (HY000): 'pp' holds standing queries: REPLACE stores one again

EXPLAIN DELETE FROM pp WHERE MATCH('x')
----
error 1210 (HY000): MATCH needs a search table

DELETE FROM pp WHERE MATCH('x')
----
error 1210 (HY000): MATCH needs a search table

CREATE TABLE jobs (n int) ENGINE=queue
----
ok, 0 rows

EXPLAIN UPDATE jobs SET n = 1
----
error 1031 (HY000): 'jobs' is a queue: its rows are inserted, taken and deleted, not updated

CREATE TEMPORARY TABLE mine (k int)
----
ok, 0 rows

EXPLAIN UPDATE mine SET k = 1
----
error 1235 (42000): not yet: UPDATE of a temporary table

EXPLAIN DELETE FROM mine ORDER BY k LIMIT 1
----
error 1235 (42000): not yet: DELETE … ORDER BY of a temporary table

DELETE FROM mine ORDER BY k LIMIT 1
----
error 1235 (42000): not yet: DELETE … ORDER BY of a temporary table

SELECT COUNT(*) FROM posts WHERE author IN (7, 8)
----
COUNT(*)
3

EXPLAIN FORMAT=JSON SELECT * FROM posts
----
error 1235 (42000): not yet: FORMAT and PARTITIONS of EXPLAIN

EXPLAIN SELECT 1
----
error 1235 (42000): not yet: EXPLAIN of anything but a SELECT on tables, an UPDATE or a DELETE

EXPLAIN SELECT nothing FROM posts
----
error 1054 (42S22): no column 'nothing' in table 'posts'

SHOW TABLE posts SETTINGS
----
Variable_name | Value
settings | type = rt

SHOW TABLE posts INDEXES
----
Name | Type | Enabled | Percent
author | key | 1 | 100

SHOW VERSION
----
Component | Version
seine | 0.1.0

