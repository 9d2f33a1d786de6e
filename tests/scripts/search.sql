# The search language; each query also stands in percolate.sql, where it must hit the same posts.

CREATE TABLE posts (title text, body text, score int);
----

INSERT INTO posts (id, title, body, score) VALUES (1, 'Star Wars', 'google opens a museum of film', 3), (2, 'Maps', 'google maps in star wars style', 1), (3, 'Wars', 'the star of all wars', 2), (4, 'Café', 'naïve crème brûlée #dessert by @chef', 5), (5, '東京', '東京タワー and more', 4), (6, 'Long', 'google google google', 6);
----

SELECT id FROM posts WHERE MATCH('google') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('google -maps') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('google !maps') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('"star wars"') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('museum | style') ORDER BY id ASC;
----

# | binds tighter than the implicit AND.
SELECT id FROM posts WHERE MATCH('google museum | style') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('(google museum) | style') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('@title wars') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('google @title star') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('@(title,body) wars -@title star') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('cafe creme') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('dessert') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('#dessert') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('"@chef"') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('東京') ORDER BY id ASC;
----

SELECT id FROM posts WHERE MATCH('') ORDER BY id ASC;
----

# Ranked by weight, then by id.
SELECT id, weight() FROM posts WHERE MATCH('google');
----

SELECT id, weight() AS w FROM posts WHERE MATCH('google | star | wars') ORDER BY w DESC, id ASC LIMIT 3;
----

SHOW META;
----

SELECT COUNT(*) FROM posts WHERE MATCH('google') AND score > 1;
----

SELECT id FROM posts WHERE MATCH('google') AND id IN (1, 2) ORDER BY score DESC;
----

# Text that is no query: the position counts bytes.
SELECT id FROM posts WHERE MATCH('"star wars');
----

SELECT id FROM posts WHERE MATCH('(star');
----

SELECT id FROM posts WHERE MATCH('star)');
----

SELECT id FROM posts WHERE MATCH('-star');
----

SELECT id FROM posts WHERE MATCH('@nothing star');
----

SELECT id FROM posts WHERE MATCH('star |');
----

# Capital AND, OR, NOT are words, and a warning says what to write.
SELECT id FROM posts WHERE MATCH('star AND wars');
----

SHOW WARNINGS;
----

