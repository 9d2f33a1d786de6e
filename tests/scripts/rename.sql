# RENAME TABLE, and distributed tables whose parts change: what follows, what is refused, what a restart keeps.

CREATE TABLE posts (body text, n int)
----
ok, 0 rows

CREATE TABLE hits (query_id bigint, doc_id bigint, doc_table text) ENGINE=queue max_deliveries='3' dead='lost'
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts' into='hits'
----
ok, 0 rows

CREATE TABLE every type='distributed' local='posts'
----
ok, 0 rows

INSERT INTO alerts (id, query) VALUES (1, 'cat')
----
ok, 1 rows

INSERT INTO posts (id, body, n) VALUES (1, 'a cat', 1)
----
ok, 1 rows

# What names a table follows it.
RENAME TABLE posts TO articles, hits TO found, lost TO gone
----
ok, 0 rows

SHOW TABLES
----
Table | Type
alerts | percolate
articles | rt
every | distributed
found | queue
gone | queue

SHOW CREATE TABLE alerts
----
Table | Create Table
alerts | CREATE TABLE `alerts` type='pq' on='articles' into='found'

SHOW CREATE TABLE found
----
Table | Create Table
found | CREATE TABLE `found` (\n  `query_id` bigint,\n  `doc_id` bigint,\n  `doc_table` text\n) ENGINE=queue max_deliveries='3' dead='gone'

SHOW CREATE TABLE every
----
Table | Create Table
every | CREATE TABLE `every` type='distributed' local='articles'

SELECT id FROM posts
----
error 1146 (42S02): no table 'posts'

SELECT id, body FROM articles WHERE MATCH('cat')
----
id | body
1 | a cat

SELECT id FROM every
----
id
1

INSERT INTO articles (id, body, n) VALUES (2, 'two cats and a cat', 2)
----
ok, 1 rows

SELECT * FROM found
----
query_id | doc_id | doc_table
1 | 1 | posts
1 | 2 | articles

DESC articles
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
body | text | YES |  | NULL | indexed stored
n | int | YES |  | NULL | 

# ALTER TABLE … RENAME, in all its forms.
ALTER TABLE articles RENAME TO posts
----
ok, 0 rows

ALTER TABLE posts RENAME AS articles
----
ok, 0 rows

ALTER TABLE `articles` RENAME `Posts`
----
ok, 0 rows

RENAME TABLES alerts TO watch
----
ok, 0 rows

SHOW CREATE TABLE watch
----
Table | Create Table
watch | CREATE TABLE `watch` type='pq' on='posts' into='found'

# The swap: rows change their name in one step, and a connection stays with its rows.
CREATE TABLE rebuilt LIKE posts
----
ok, 0 rows

INSERT INTO rebuilt (id, body, n) VALUES (7, 'rebuilt cat', 7)
----
ok, 1 rows

RENAME TABLE posts TO old, rebuilt TO posts
----
ok, 0 rows

SELECT id, body FROM posts
----
id | body
7 | rebuilt cat

SELECT id, body FROM old
----
id | body
1 | a cat
2 | two cats and a cat

SHOW CREATE TABLE watch
----
Table | Create Table
watch | CREATE TABLE `watch` type='pq' on='old' into='found'

SELECT id FROM every
----
id
1
2

RENAME TABLE posts TO swap, old TO posts, swap TO old
----
ok, 0 rows

SELECT id, body FROM posts
----
id | body
1 | a cat
2 | two cats and a cat

# Back where it began: nothing changes.
RENAME TABLE posts TO other, other TO posts
----
ok, 0 rows

SELECT id FROM posts
----
id
1
2

# Refused as a whole.
RENAME TABLE posts TO fine, nowhere TO somewhere
----
error 1146 (42S02): no table 'nowhere'

RENAME TABLE posts TO old
----
error 1050 (42S01): table 'old' exists already

RENAME TABLE posts TO a, posts TO b
----
error 1146 (42S02): no table 'posts'

RENAME TABLE posts TO a, old TO a
----
error 1050 (42S01): table 'a' exists already

RENAME TABLE posts TO posts
----
error 1050 (42S01): table 'posts' exists already

RENAME TABLE posts TO a23456789012345678901234567890123456789012345678901234567890123456
----
error 1105 (HY000): bytes of a name exceed the limit of 64

RENAME TABLE posts
----
error 1064 (42000): syntax error: expected TO at the end of the statement

RENAME USER a TO b
----
error 1235 (42000): not yet: RENAME USER

RENAME TABLE posts TO ``
----
error 1210 (HY000): '' cannot be the name of a table

SHOW TABLES
----
Table | Type
every | distributed
found | queue
gone | queue
old | rt
posts | rt
watch | percolate

# Queues whose names are made of a pq table's name keep it.
CREATE TABLE bells (body text) type='pq' into='http://127.0.0.1:9/'
----
ok, 0 rows

RENAME TABLE bells TO rings
----
error 1210 (HY000): 'bells' sends its hits to an address: its queues 'bells_webhook' and 'bells_dead' bear its name, so it keeps it

RENAME TABLE bells_webhook TO rings
----
error 1451 (23000): table 'bells_webhook' is named by table 'bells'

DROP TABLE bells
----
ok, 0 rows

# A worker keeps its row, and a waiting one its place, while the queue is renamed.
CREATE TABLE jobs (v int) ENGINE=queue
----
ok, 0 rows

INSERT INTO jobs VALUES (1), (2)
----
ok, 2 rows

[worker] SELECT queue_wait('jobs')
----
queue_wait('jobs')
1

RENAME TABLE jobs TO work
----
ok, 0 rows

[worker] SELECT v FROM work
----
v
1

[worker] SELECT queue_end()
----
queue_end()
1

SELECT v FROM work
----
v
2

# A distributed table is an alias whose parts change in one step.
CREATE TABLE january (body text, n int)
----
ok, 0 rows

CREATE TABLE february (body text, n int)
----
ok, 0 rows

CREATE TABLE narrow (body text)
----
ok, 0 rows

INSERT INTO january (id, body, n) VALUES (1, 'old snow', 1)
----
ok, 1 rows

INSERT INTO february (id, body, n) VALUES (1, 'new snow', 2)
----
ok, 1 rows

CREATE TABLE news type='distributed' local='january'
----
ok, 0 rows

SELECT body FROM news WHERE MATCH('snow')
----
body
old snow

ALTER TABLE news local='february'
----
ok, 0 rows

SELECT body FROM news WHERE MATCH('snow')
----
body
new snow

ALTER TABLE news local='january', local='february'
----
ok, 0 rows

SELECT n FROM news WHERE MATCH('snow') ORDER BY n ASC
----
n
1
2

ALTER TABLE news local='february' local='narrow'
----
error 1210 (HY000): local='narrow' differs from local='february': it has 1 columns and not 2

ALTER TABLE news local='absent'
----
error 1146 (42S02): no table 'absent'

ALTER TABLE news local='february' local='february'
----
error 1210 (HY000): local='february' is there twice

ALTER TABLE news local='news'
----
error 1210 (HY000): local='news' is not a search table

ALTER TABLE news agent='host:9312:t'
----
error 1235 (42000): not yet: agent=: tables on other servers

ALTER TABLE january local='february'
----
error 1210 (HY000): 'january' is no distributed table: it has no local= to change

DROP TABLE january
----
error 1451 (23000): table 'january' is named by table 'news'

ALTER TABLE news local='narrow'
----
ok, 0 rows

DESC news
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
body | text | YES |  | NULL | indexed stored

SHOW CREATE TABLE news
----
Table | Create Table
news | CREATE TABLE `news` type='distributed' local='narrow'

DROP TABLE january
----
ok, 0 rows

# Both survive a restart and a kill.
[server] restart
----
ok

SHOW TABLES
----
Table | Type
every | distributed
february | rt
found | queue
gone | queue
narrow | rt
news | distributed
old | rt
posts | rt
watch | percolate
work | queue

SHOW CREATE TABLE every
----
Table | Create Table
every | CREATE TABLE `every` type='distributed' local='posts'

SHOW CREATE TABLE news
----
Table | Create Table
news | CREATE TABLE `news` type='distributed' local='narrow'

SELECT v FROM work
----
v
2

RENAME TABLE news TO latest, narrow TO wide
----
ok, 0 rows

[server] kill
----
ok

SHOW CREATE TABLE latest
----
Table | Create Table
latest | CREATE TABLE `latest` type='distributed' local='wide'

SELECT id, body FROM posts
----
id | body
1 | a cat
2 | two cats and a cat

INSERT INTO posts (id, body, n) VALUES (3, 'third cat', 3)
----
ok, 1 rows

SELECT query_id, doc_id, doc_table FROM found
----
query_id | doc_id | doc_table
1 | 1 | posts
1 | 2 | articles
1 | 3 | posts

