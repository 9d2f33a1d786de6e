# CALL PQ: documents, options, columns, messages.

CREATE TABLE pq (title text, body text, price int) type='pq';
----
ok, 0 rows

INSERT INTO pq (id, query, tags) VALUES (1, 'red shoes', 'web,shop'), (2, '@title blue', 'shop'), (5, 'red | blue', 'press'), (9, '"red shoes"', '');
----
ok, 4 rows

INSERT INTO pq VALUES ('lone text'), ('another');
----
ok, 2 rows

INSERT INTO pq VALUES (20, 'four values', 'a', '');
----
ok, 1 rows

SELECT id, query, tags FROM pq WHERE id > 9 ORDER BY id ASC;
----
id | query | tags
10 | lone text | 
11 | another | 
20 | four values | a

DELETE FROM pq WHERE id > 9;
----
ok, 3 rows

# A document as JSON, as an array of objects, as several in one string, in a list of strings, as plain text.
CALL PQ('pq', '{"title":"blue","body":"red shoes"}', 1 AS docs);
----
id | documents
1 | 1
2 | 1
5 | 1
9 | 1

CALL PQ('pq', '[{"title":"blue"},{"body":"red shoes"}]', 1 AS docs);
----
id | documents
1 | 2
2 | 1
5 | 1,2
9 | 2

CALL PQ('pq', '{"title":"blue"} {"body":"red shoes"}', 1 AS docs, 1 AS query);
----
id | documents | query | tags | filters
1 | 2 | red shoes | web,shop | 
2 | 1 | @title blue | shop | 
5 | 1,2 | red | blue | press | 
9 | 2 | "red shoes" |  | 

CALL PQ('pq', ('{"title":"blue"}', '[{"body":"red"},{"body":"red shoes"}]'), 1 AS docs, 100 AS shift);
----
id | documents
1 | 103
2 | 101
5 | 101,102,103
9 | 103

CALL PQ('pq', ('a blue one', 'red shoes'), 0 AS docs_json, 1 AS docs);
----
id | documents
1 | 2
2 | 1
5 | 1,2
9 | 2

# The public stress-tester's spelling adds the column it reads.
call pq('pq', ('a blue one', 'red shoes'), 0 as docs_json, 1 as docs);
----
id | documents | Documents
1 | 2 | 2
2 | 1 | 1
5 | 1,2 | 1,2
9 | 2 | 2

CALL PQ('pq', ('{"key":"k1","title":"blue"}', '{"title":"blue"}'), 1 AS docs, 'key' AS docs_id, 5 AS shift);
----
id | documents, 2 warnings
2 | k1
5 | k1

SHOW WARNINGS;
----
Level | Code | Message, 2 warnings
Warning | 1000 | shift makes no sense with docs_id
Warning | 1000 | skipped 1 document(s) without id field 'key'

SHOW META;
----
Variable name | Value, 2 warnings
total | … sec
queries_matched | 2
queries_failed | 0
document_matched | 1
total_queries_stored | 4
term_only_queries | 4
fast_rejected_queries | 2
warning | shift makes no sense with docs_id; skipped 1 document(s) without id field 'key'

CALL PQ('pq', ('{"title":"blue"}', 'bad', '{"title":"blue"}', '', '[1]'), 1 AS docs);
----
error 1064 (42000): Bad JSON objects in strings: 2,4,5

CALL PQ('pq', ('{"title":"blue"}', 'bad', '{"title":"blue"}', '', '[1]'), 1 AS docs, 1 AS skip_bad_json);
----
id | documents, 1 warnings
2 | 1,2
5 | 1,2

SHOW META LIKE 'warning';
----
Variable name | Value, 1 warnings
warning | Bad JSON objects in strings: 2,4,5

CALL PQ('pq', ('{"title":"blue"}', '', '{}'), 1 AS docs, 1 AS skip_empty);
----
id | documents
2 | 1
5 | 1

SHOW WARNINGS;
----
Level | Code | Message

CALL PQ('pq', 'blue', 0 AS docs_json, 1 AS skip_bad_json);
----
id, 1 warnings
2
5

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | skip_bad_json makes no sense with docs_json=0

CALL PQ('pq', 'nothing here', 0 AS docs_json, 1 AS verbose);
----
id

SHOW META LIKE 'queries%';
----
Variable name | Value
queries_matched | 0
queries_failed | 0

SHOW META LIKE 'time%';
----
Variable name | Value
time_per_query | 
time_of_matched_queries | 0

CALL PQ('pq', 'x', 'split' AS mode);
----
error 1064 (42000): unknown mode split. (Expected 'sparsed' or 'sharded')

CALL PQ('pq', 'x', 1 AS nonsense);
----
error 1064 (42000): unknown option nonsense

CALL PQ('pq', 'x', 'yes' AS docs);
----
error 1064 (42000): unexpected option docs type

CALL PQ('pq', 'x', 'y', 'z');
----
error 1064 (42000): PQ() expects exactly 2 arguments (table, document(s))

CALL PQ('pq', 5);
----
error 1064 (42000): PQ() argument 2 must be a string or a string list

# Which queries, how many, where from.
CALL PQ('pq', 'blue red shoes', 0 AS docs_json, 'any(tags)=''shop''' AS only, 1 AS query);
----
id | query | tags | filters
1 | red shoes | web,shop | 
2 | @title blue | shop | 

CALL PQ('pq', 'blue red shoes', 0 AS docs_json, 'id > 1 AND tags <> ''''' AS only);
----
id
2
5

CALL PQ('pq', 'blue red shoes', 0 AS docs_json, 2 AS limit);
----
id
1
2

CALL PQ('pq', 'blue red shoes', 0 AS docs_json, 2 AS limit, 2 AS after);
----
id
5
9

CALL PQ('pq', ('blue red shoes', 'none'), 0 AS docs_json, 1 AS count);
----
count | documents
4 | 1

SHOW META LIKE 'queries_matched';
----
Variable name | Value
queries_matched | 4

CALL PQ('pq', 'blue', 'nothing = 1' AS only, 0 AS docs_json);
----
error 1054 (42S22): no column 'nothing' in table 'pq'

CALL PQ('pq', 'blue', 'id >' AS only, 0 AS docs_json);
----
error 1064 (42000): only: syntax error: expected a value at the end of the statement

CALL PQ('pq', ('{"title":"Blue","body":"the red shoes, red"}', '{"title":"red"}'), 1 AS docs, 1 AS highlight);
----
id | documents | highlights
1 | 1 | [{"body":"the <b>red</b> <b>shoes</b>, <b>red</b>"}]
2 | 1 | [{"title":"<b>Blue</b>"}]
5 | 1,2 | [{"title":"<b>Blue</b>","body":"the <b>red</b> shoes, <b>red</b>"},{"title":"<b>red</b>"}]
9 | 1 | [{"body":"the <b>red</b> <b>shoes</b>, red"}]

# Documents of no words, of bytes that are no text, with NULs.
CALL PQ('pq', ('', ' ... ', _binary'\0red\0shoes\0', x'ff72656420ff'), 0 AS docs_json, 1 AS docs);
----
id | documents
1 | 3
5 | 3,4
9 | 3

CALL PQ('pq', '{"title":"red\u0000shoes"}', 1 AS docs);
----
id | documents

TRUNCATE TABLE pq;
----
ok, 0 rows

SELECT COUNT(*) FROM pq;
----
COUNT(*)
0

CALL PQ('pq', 'red shoes', 0 AS docs_json);
----
id

CALL PQ_BACKFILL('pq');
----
error 1064 (42000): PQ_BACKFILL() expects a table, a query's id and, if not all documents, days from 1

CREATE TABLE listener type='pq' on='a, b';
----
error 1146 (42S02): no table 'a'

# Ids, columns and tables that there are not.

INSERT INTO pq (id, query) VALUES (-1, 'x');
----
error 1264 (22003): out of range value '-1' for column 'id' at row 1

INSERT INTO pq (id, query, color) VALUES (99, 'x', 'red');
----
error 1054 (42S22): no column 'color' in table 'pq'

INSERT INTO pq (id, query, hits) VALUES (99, 'x', 5);
----
error 1054 (42S22): no column 'hits' in table 'pq'

CREATE TABLE all_of_them type='distributed' local='pq';
----
error 1210 (HY000): local='pq' is not a search table

CREATE TABLE all_of_them type='distributed';
----
error 1210 (HY000): a distributed table needs local='table'

INSERT INTO pq (query) VALUES ('ZONE:h1 word');
----
error 1235 (42000): query text at byte 0: not yet: zones

INSERT INTO pq (query) VALUES ('REGEX(/((a{100}){100}){100}/)');
----
error 1064 (42000): query text at byte 0: the regular expression compiles to more than 262144 bytes

CALL PQ(1, 'x');
----
error 1064 (42000): PQ() argument 1 must be a string

CREATE TABLE other (title text) type='pq' dict='keywords_32k';
----
error 1235 (42000): not yet: table option dict

# English stems, with and without accents.

CREATE TABLE english (title text) type='pq' morphology='stem_en';
----
ok, 0 rows

INSERT INTO english VALUES ('naive plans'), ('résumé');
----
ok, 2 rows

CALL PQ('english', ('a naïve plan', 'two resumes', 'naively résumés'), 0 AS docs_json, 1 AS docs);
----
id | documents
1 | 1
2 | 2,3

