# The search language; each query also stands in percolate.sql, where it must hit the same posts.

CREATE TABLE posts (title text, body text, score int);
----
ok, 0 rows

INSERT INTO posts (id, title, body, score) VALUES (1, 'Star Wars', 'google opens a museum of film', 3), (2, 'Maps', 'google maps in star wars style', 1), (3, 'Wars', 'the star of all wars', 2), (4, 'Café', 'naïve crème brûlée #dessert by @chef', 5), (5, '東京', '東京タワー and more', 4), (6, 'Long', 'google google google', 6);
----
ok, 6 rows

SELECT id FROM posts WHERE MATCH('google') ORDER BY id ASC;
----
id
1
2
6

SELECT id FROM posts WHERE MATCH('google -maps') ORDER BY id ASC;
----
id
1
6

SELECT id FROM posts WHERE MATCH('google !maps') ORDER BY id ASC;
----
id
1
6

SELECT id FROM posts WHERE MATCH('"star wars"') ORDER BY id ASC;
----
id
1
2

SELECT id FROM posts WHERE MATCH('museum | style') ORDER BY id ASC;
----
id
1
2

# | binds tighter than the implicit AND.
SELECT id FROM posts WHERE MATCH('google museum | style') ORDER BY id ASC;
----
id
1
2

SELECT id FROM posts WHERE MATCH('(google museum) | style') ORDER BY id ASC;
----
id
1
2

SELECT id FROM posts WHERE MATCH('@title wars') ORDER BY id ASC;
----
id
1
3

SELECT id FROM posts WHERE MATCH('google @title star') ORDER BY id ASC;
----
id
1

SELECT id FROM posts WHERE MATCH('@(title,body) wars -@title star') ORDER BY id ASC;
----
id
2
3

SELECT id FROM posts WHERE MATCH('cafe creme') ORDER BY id ASC;
----
id
4

SELECT id FROM posts WHERE MATCH('dessert') ORDER BY id ASC;
----
id
4

SELECT id FROM posts WHERE MATCH('#dessert') ORDER BY id ASC;
----
id
4

SELECT id FROM posts WHERE MATCH('"@chef"') ORDER BY id ASC;
----
id
4

SELECT id FROM posts WHERE MATCH('東京') ORDER BY id ASC;
----
id
5

SELECT id FROM posts WHERE MATCH('') ORDER BY id ASC;
----
id
1
2
3
4
5
6

# Ranked by weight, then by id.
SELECT id, weight() FROM posts WHERE MATCH('google');
----
id | weight()
6 | 1552
1 | 1533
2 | 1533

SELECT id, weight() AS w FROM posts WHERE MATCH('google | star | wars') ORDER BY w DESC, id ASC LIMIT 3;
----
id | w
1 | 3533
2 | 2533
3 | 2526

SHOW META;
----
Variable_name | Value
total | 4
total_found | 4
total_relation | eq
time | …
keyword[0] | google
docs[0] | 3
hits[0] | 5
keyword[1] | star
docs[1] | 3
hits[1] | 3
keyword[2] | wars
docs[2] | 3
hits[2] | 4

SELECT COUNT(*) FROM posts WHERE MATCH('google') AND score > 1;
----
COUNT(*)
2

SELECT id FROM posts WHERE MATCH('google') AND id IN (1, 2) ORDER BY score DESC;
----
id
1
2

# Text that is no query: the position counts bytes.
SELECT id FROM posts WHERE MATCH('"star wars');
----
error 1064 (42000): query text at byte 0: unclosed quote

SELECT id FROM posts WHERE MATCH('(star');
----
error 1064 (42000): query text at byte 0: unclosed bracket

SELECT id FROM posts WHERE MATCH('star)');
----
error 1064 (42000): query text at byte 4: closing bracket without an opening one

SELECT id FROM posts WHERE MATCH('-star');
----
error 1064 (42000): query text at byte 0: query is non-computable (single NOT operator)

SELECT id FROM posts WHERE MATCH('@nothing star');
----
error 1064 (42000): query text at byte 1: no field 'nothing' found in schema: write \@nothing for the handle

SELECT id FROM posts WHERE MATCH('star |');
----
error 1064 (42000): query text at byte 6: a word is missing beside |

# Capital AND, OR, NOT are words, and the warning says what to write.
SELECT id FROM posts WHERE MATCH('star AND wars');
----
id, 1 warnings

SHOW WARNINGS;
----
Level | Code | Message, 1 warnings
Warning | 1000 | AND is searched as a word: words side by side must all be there

