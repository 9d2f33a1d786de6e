# What weighs how much: rankers, weights of fields, idf. The formulas are those of docs/language.md, "Weights".
CREATE TABLE posts (title text, body text);
----
ok, 0 rows

INSERT INTO posts (id, title, body) VALUES
 (1, 'star wars', 'the wars of the stars'),
 (2, 'wars', 'a star and more wars, and the star of wars'),
 (3, 'star trek', 'boldly go'),
 (4, 'gardening', 'star anise star anise star anise star anise star'),
 (5, 'nothing', 'of the kind');
----
ok, 5 rows

# The default: runs of the query's words, then how rare they are.
SELECT id, weight() FROM posts WHERE MATCH('star | wars');
----
id | weight()
1 | 3516
2 | 2508
3 | 1456
4 | 1422

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=proximity_bm25;
----
id | weight()
1 | 3516
2 | 2508
3 | 1456
4 | 1422

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=bm25;
----
id | weight()
1 | 2516
2 | 2508
3 | 1456
4 | 1422

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=none;
----
id | weight()
1 | 1
2 | 1
3 | 1
4 | 1

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=wordcount;
----
id | weight()
2 | 5
4 | 5
1 | 3
3 | 1

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=proximity;
----
id | weight()
1 | 3
2 | 2
3 | 1
4 | 1

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=matchany;
----
id | weight()
1 | 7
2 | 3
3 | 1
4 | 1

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=fieldmask;
----
id | weight()
1 | 3
2 | 3
4 | 2
3 | 1

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=sph04;
----
id | weight()
1 | 15516
2 | 10508
3 | 6456
4 | 6422

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=bm25a;
----
id | weight()
2 | 739
1 | 683
4 | 219
3 | 159

# Fields have weights: 1 unless said otherwise.
SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION ranker=proximity, field_weights=(title=10, body=3);
----
id | weight()
1 | 23
2 | 13
3 | 10
4 | 3

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION field_weights=(title=0);
----
id | weight()
1 | 1516
2 | 1508
4 | 1422
3 | 456

SELECT id FROM posts WHERE MATCH('star') OPTION field_weights=(titel=2);
----
error 1054 (42S22): no column 'titel' in table 'posts', did you mean title?

# A common word takes something away, unless idf is plain.
SELECT id, weight() FROM posts WHERE MATCH('of | star') OPTION ranker=bm25;
----
id | weight()
1 | 2456
5 | 1500
3 | 1456
2 | 1439
4 | 1422

SELECT id, weight() FROM posts WHERE MATCH('of | star') OPTION ranker=bm25, idf='plain,tfidf_unnormalized';
----
id | weight()
1 | 2593
2 | 1603
5 | 1564
4 | 1550
3 | 1528

# What counts: alternatives that match, phrases where they stand, MAYBE; nothing that is excluded.
SELECT id, weight() FROM posts WHERE MATCH('"star wars" | trek') OPTION ranker=wordcount;
----
id | weight()
1 | 1
3 | 1

SELECT id, weight() FROM posts WHERE MATCH('star MAYBE trek -gardening') OPTION ranker=wordcount;
----
id | weight()
2 | 2
3 | 2
1 | 1

SELECT id, weight() FROM posts WHERE MATCH('"star wars trek"/2') OPTION ranker=wordcount;
----
id | weight()
2 | 5
1 | 3
3 | 2

SELECT id, weight() FROM posts WHERE MATCH('@title star*') OPTION ranker=sph04;
----
id | weight()
1 | 6412
3 | 6412

# The old match modes: no operators, and a ranker of their own.
SELECT id, weight() FROM posts WHERE MATCH('star -wars') OPTION match_mode=any;
----
id | weight()
1 | 7
2 | 3
3 | 1
4 | 1

SELECT id, weight() FROM posts WHERE MATCH('star -wars') OPTION match_mode=all;
----
id | weight()
1 | 3
2 | 2

SELECT id, weight() FROM posts WHERE MATCH('star | wars') OPTION match_mode=phrase;
----
id | weight()
1 | 2

SELECT id, weight() FROM posts WHERE MATCH('star -wars') OPTION match_mode=boolean;
----
id | weight()
3 | 1
4 | 1

SELECT id, weight() FROM posts WHERE MATCH('star') OPTION match_mode=fullscan;
----
id | weight()
1 | 1
2 | 1
3 | 1
4 | 1
5 | 1

SELECT id FROM posts WHERE MATCH('trek kind') OPTION boolean_mode='or';
----
id
3
5

SELECT id FROM posts WHERE MATCH('-star');
----
error 1064 (42000): query text at byte 0: query is non-computable (single NOT operator)

SELECT id FROM posts WHERE MATCH('-star') OPTION not_terms_only_allowed=1;
----
id
5

# Pages end at max_matches.
SELECT id FROM posts WHERE MATCH('star') LIMIT 1001;
----
id
1
3
2
4

SELECT id FROM posts WHERE MATCH('star') LIMIT 2, 20 OPTION max_matches=3;
----
id
2

SHOW META LIKE 'total%';
----
Variable_name | Value
total | 3
total_found | 4
total_relation | eq

SELECT id FROM posts WHERE MATCH('star') LIMIT 1000, 20;
----
error 1210 (HY000): offset out of bounds (offset=1000, max_matches=1000)

SELECT id FROM posts WHERE MATCH('star') LIMIT 1001 OPTION max_matches=2000;
----
id
1
3
2
4

SELECT id FROM posts LIMIT 11 OPTION max_matches=2;
----
id
1
2

# Of more rows those of the lowest ids count.
SELECT id FROM posts WHERE MATCH('star') OPTION cutoff=2;
----
id
1
2

SHOW META LIKE 'total%';
----
Variable_name | Value
total | 2
total_found | 2
total_relation | gte

SELECT id FROM posts WHERE MATCH('star') OPTION cutoff=4;
----
id
1
3
2
4

SHOW META LIKE 'total%';
----
Variable_name | Value
total | 4
total_found | 4
total_relation | eq

# Words, the rows that hold them, and how often they stand there.
SELECT id FROM posts WHERE MATCH('star -gardening') LIMIT 1;
----
id
1

SHOW META LIKE '%[%';
----
Variable_name | Value
keyword[0] | star
docs[0] | 4
hits[0] | 9
keyword[1] | gardening
docs[1] | 1
hits[1] | 1

# A pattern is one of them, and its words are added up.
SELECT id FROM posts WHERE MATCH('sta* | gardening') ORDER BY id ASC LIMIT 1;
----
id
1

SHOW META LIKE '%[0]';
----
Variable_name | Value
keyword[0] | sta*
docs[0] | 5
hits[0] | 10

# Words count where the operator matches: a phrase with a wildcard, a gap beside ^, a place in a field.
SELECT id, weight() FROM posts WHERE MATCH('"sta* wars"') OPTION ranker=wordcount;
----
id | weight()
1 | 1

SELECT id, weight() FROM posts WHERE MATCH('"^a * and"') OPTION ranker=proximity;
----
id | weight()
2 | 2

SELECT id, weight() FROM posts WHERE MATCH('^wars') OPTION ranker=fieldmask;
----
id | weight()
2 | 1

# A text without a word finds nothing; no text at all finds everything.
SELECT COUNT(*) FROM posts WHERE MATCH(' ');
----
COUNT(*), 1 warnings
0

SELECT COUNT(*) FROM posts WHERE MATCH('') LIMIT 1;
----
COUNT(*)
5

SELECT id FROM posts WHERE MATCH('star AND trek');
----
id, 1 warnings

SHOW META LIKE 'warning';
----
Variable_name | Value, 1 warnings
warning | AND is searched as a word: words side by side must all be there

# Sphinx's options that mean nothing here pass; others do not.
SELECT id FROM posts WHERE MATCH('trek') OPTION sort_method=kbuffer, boolean_simplify=1, expand_keywords=0, comment='a, b';
----
id
3

SELECT id FROM posts WHERE MATCH('trek') OPTION rankr=bm25;
----
error 1210 (HY000): no option 'rankr', did you mean ranker?

SELECT id FROM posts WHERE MATCH('trek') OPTION ranker=bm26;
----
error 1210 (HY000): ranker='bm26' is not one of: proximity_bm25, bm25, none, wordcount, proximity, matchany, fieldmask, sph04, bm25a

SELECT id FROM posts WHERE MATCH('trek') OPTION ranker=expr('bm25');
----
error 1235 (42000): not yet: ranker=expr('bm25')

SELECT id FROM posts WHERE MATCH('trek') OPTION morphology=none;
----
error 1235 (42000): not yet: option morphology

# A table may have a ranker of its own, kept over a restart; tables searched as one have it if they all do.
CREATE TABLE long_posts (body text) ranker='bm25a';
----
ok, 0 rows

INSERT INTO long_posts (id, body) VALUES (1, 'cat'), (2, 'a cat among many other words, among them dog'), (3, 'dog');
----
ok, 3 rows

CREATE TABLE both_posts type='distributed' local='long_posts';
----
ok, 0 rows

[server] restart
----
ok

SHOW CREATE TABLE long_posts;
----
Table | Create Table
long_posts | CREATE TABLE `long_posts` (\n  `id` bigint,\n  `body` text\n) type='rt' ranker='bm25a'

SELECT id, weight() FROM long_posts WHERE MATCH('cat');
----
id | weight()
1 | 304
2 | 125

SELECT id, weight() FROM both_posts WHERE MATCH('cat');
----
id | weight()
1 | 304
2 | 125

SELECT id, weight() FROM long_posts WHERE MATCH('cat') OPTION ranker=bm25;
----
id | weight()
1 | 1500
2 | 1500

SELECT id, weight() FROM long_posts WHERE MATCH('cat') OPTION match_mode=any;
----
id | weight()
1 | 1
2 | 1

CREATE TABLE bad (body text) ranker='bm52';
----
error 1210 (HY000): ranker='bm52' is not one of: proximity_bm25, bm25, none, wordcount, proximity, matchany, fieldmask, sph04, bm25a

