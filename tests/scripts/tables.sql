# Creating, showing, describing and dropping the three kinds of table.

CREATE TABLE posts (body text, sub string, ts timestamp, score int, big bigint, ratio float, seen bool);
----

CREATE TABLE hits (query_id bigint, query text, tags text, doc_table text, doc_id bigint, hit_at timestamp, body text) ENGINE=queue;
----

CREATE TABLE alerts type='pq' on='posts' into='hits';
----

CREATE TABLE loose (body text, sub string) type='pq';
----

CREATE TABLE jobs (v int not null, s varchar(20) default 'none', b blob) type='queue';
----

SHOW TABLES;
----

SHOW TABLES LIKE 'a%';
----

DESCRIBE posts;
----

DESC alerts;
----

DESCRIBE jobs;
----

SHOW CREATE TABLE posts;
----

SHOW CREATE TABLE alerts;
----

SHOW CREATE TABLE hits;
----

CREATE TABLE IF NOT EXISTS posts (body text);
----

CREATE TABLE posts (body text);
----

CREATE TABLE t (body nonsense);
----

CREATE TABLE t (body text, body string);
----

CREATE TABLE t (body text) type='nonsense';
----

CREATE TABLE t (body text) nonsense='1';
----

CREATE TABLE t type='pq' on='nothing' into='hits';
----

CREATE TABLE t type='pq' on='posts' into='nothing';
----

# The columns of a fed pq table are those of the table it listens to.
CREATE TABLE t (other text) type='pq' on='posts' into='hits';
----

# A queue column that neither the hit nor the document supplies.
CREATE TABLE bad_hits (query_id bigint, colour text) ENGINE=queue;
----

CREATE TABLE t type='pq' on='posts' into='bad_hits';
----

DROP TABLE posts;
----

DROP TABLE hits;
----

DROP TABLE nothing;
----

DROP TABLE IF EXISTS nothing;
----

DROP TABLE alerts;
----

DROP TABLE hits;
----

DROP TABLE posts;
----

SHOW TABLES;
----

