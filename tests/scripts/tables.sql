# Creating, showing, describing and dropping the three kinds of table.

CREATE TABLE posts (body text, sub string, ts timestamp, score int, big bigint, ratio float, seen bool);
----
ok, 0 rows

CREATE TABLE hits (query_id bigint, query text, tags text, doc_table text, doc_id bigint, hit_at timestamp, body text) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE alerts type='pq' on='posts' into='hits';
----
ok, 0 rows

CREATE TABLE loose (body text, sub string) type='pq';
----
ok, 0 rows

CREATE TABLE jobs (v int not null, s varchar(20) default 'none', b blob) type='queue';
----
ok, 0 rows

SHOW TABLES;
----
Table | Type
alerts | percolate
hits | queue
jobs | queue
loose | percolate
posts | rt

SHOW TABLES LIKE 'a%';
----
Table | Type
alerts | percolate

DESCRIBE posts;
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
body | text | YES |  | NULL | indexed stored
sub | string | YES |  | NULL | 
ts | timestamp | YES |  | NULL | 
score | int | YES |  | NULL | 
big | bigint | YES |  | NULL | 
ratio | float | YES |  | NULL | 
seen | bool | YES |  | NULL | 

DESC alerts;
----
Field | Type | Null | Key | Default | Extra
id | bigint unsigned | NO | PRI | NULL | 
query | string | YES |  | NULL | 
tags | string | YES |  | NULL | 
filters | string | YES |  | NULL | 
hits | bigint | YES |  | NULL | read only
last_hit | timestamp | YES |  | NULL | read only
body | text | YES |  | NULL | document
sub | string | YES |  | NULL | document
ts | timestamp | YES |  | NULL | document
score | int | YES |  | NULL | document
big | bigint | YES |  | NULL | document
ratio | float | YES |  | NULL | document
seen | bool | YES |  | NULL | document

DESCRIBE jobs;
----
Field | Type | Null | Key | Default | Extra
v | int | NO |  | NULL | 
s | varchar(20) | YES |  | none | 
b | blob | YES |  | NULL | 

SHOW CREATE TABLE posts;
----
Table | Create Table
posts | CREATE TABLE `posts` (\n  `id` bigint,\n  `body` text,\n  `sub` string,\n  `ts` timestamp,\n  `score` int,\n  `big` bigint,\n  `ratio` float,\n  `seen` bool\n) type='rt'

SHOW CREATE TABLE alerts;
----
Table | Create Table
alerts | CREATE TABLE `alerts` type='pq' on='posts' into='hits'

SHOW CREATE TABLE hits;
----
Table | Create Table
hits | CREATE TABLE `hits` (\n  `query_id` bigint,\n  `query` text,\n  `tags` text,\n  `doc_table` text,\n  `doc_id` bigint,\n  `hit_at` timestamp,\n  `body` text\n) ENGINE=queue

CREATE TABLE IF NOT EXISTS posts (body text);
----
ok, 0 rows

CREATE TABLE posts (body text);
----
error 1050 (42S01): table 'posts' exists already

CREATE TABLE t (body nonsense);
----
error 1064 (42000): syntax error: a search or pq table has no column type 'nonsense' near 'nonsense)' at line 1, position 21

CREATE TABLE t (body text, more float_vector);
----
error 1235 (42000): not yet: the column type float_vector

CREATE TABLE t (body text, at geometry);
----
error 1064 (42000): syntax error: a search or pq table has no column type 'geometry' near 'geometry)' at line 1, position 30

CREATE TABLE t (body text, body string);
----
error 1064 (42000): syntax error: column 'body' is there twice near 'body string)' at line 1, position 27

CREATE TABLE t (body text) type='nonsense';
----
error 1210 (HY000): no table type 'nonsense': there are rt, pq, queue and distributed

CREATE TABLE t (body text) nonsense='1';
----
error 1210 (HY000): no table option 'nonsense'

CREATE TABLE t (body text) morphlogy='stem_en';
----
error 1210 (HY000): no table option 'morphlogy', did you mean morphology?

CREATE TABLE t (body text) syntax='lucene';
----
error 1210 (HY000): on=, on_update=, into= and syntax= belong to tables of type='pq'

CREATE TABLE t (body text) type='queue' morphology='stem_en';
----
error 1210 (HY000): morphology= belongs to tables that search: a queue makes no words

CREATE TABLE t type='pq' on='nothing' into='hits';
----
error 1146 (42S02): no table 'nothing'

CREATE TABLE t type='pq' on='posts' into='nothing';
----
error 1146 (42S02): no table 'nothing'

# The columns of a fed pq table are those of the table it listens to.
CREATE TABLE t (other text) type='pq' on='posts' into='hits';
----
error 1210 (HY000): the columns differ from those of on='posts': leave them out

# A queue column that neither the hit nor the document supplies.
CREATE TABLE bad_hits (query_id bigint, colour text) ENGINE=queue;
----
ok, 0 rows

CREATE TABLE t type='pq' on='posts' into='bad_hits';
----
error 1210 (HY000): column 'colour' of 'bad_hits': neither a hit nor 'posts' supplies it

DROP TABLE posts;
----
error 1451 (23000): table 'posts' is named by table 'alerts'

DROP TABLE hits;
----
error 1451 (23000): table 'hits' is named by table 'alerts'

DROP TABLE nothing;
----
error 1146 (42S02): no table 'nothing'

DROP TABLE IF EXISTS nothing;
----
ok, 0 rows

DROP TABLE alerts;
----
ok, 0 rows

DROP TABLE hits;
----
ok, 0 rows

DROP TABLE posts;
----
ok, 0 rows

SHOW TABLES;
----
Table | Type
bad_hits | queue
jobs | queue
loose | percolate

