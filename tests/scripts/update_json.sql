# UPDATE of one value inside a JSON document.
CREATE TABLE goods (body text, j json, n int, m multi);
----
ok, 0 rows

INSERT INTO goods VALUES (1, 'a cup', '{"price": 5, "name": "cup", "tags": ["x", "y"], "size": {"w": 10, "h": 2.5}}', 1, (1)), (2, 'a pot', '{"price": 7, "size": {}}', 2, (2)), (3, 'a pan', NULL, 3, (3));
----
ok, 3 rows

# What stands there is replaced, by a value of any type.
UPDATE goods SET j.price = 6, j['tags'][0] = 'z', j.size.w = 10.5, j.name = NULL WHERE id = 1;
----
ok, 1 rows

SELECT j FROM goods WHERE id = 1;
----
j
{"name":null,"price":6,"size":{"h":2.5,"w":10.5},"tags":["z","y"]}

# A missing last member is added; so is the item behind the last one.
UPDATE goods SET j.size.d = 4, goods.j['tags'][2] = 'last', j.sold = (3, 1, 2) WHERE id = 1;
----
ok, 1 rows

SELECT j, j.tags[2], j.sold[0] FROM goods WHERE id = 1;
----
j | j.tags[2] | j.sold[0]
{"name":null,"price":6,"size":{"d":4,"h":2.5,"w":10.5},"sold":[3,1,2],"tags":["z","y","last"]} | last | 3

# Expressions read values of the document; a later assignment sees what an earlier one has set.
UPDATE goods SET j.price = j.price + 1, n = j.price * 10, j.twice = j.price * 2 WHERE j.price > 0;
----
ok, 2 rows

SELECT id, j.price, n, j.twice FROM goods;
----
id | j.price | n | j.twice
1 | 7 | 70 | 14
2 | 8 | 80 | 16
3 | NULL | 3 | NULL

# The whole document and a value in it, in this order.
UPDATE goods SET j = '{"a": {"b": [1]}}', j.a.b[1] = 2, j.a.c = 'c' WHERE id = 2;
----
ok, 1 rows

SELECT j FROM goods WHERE id = 2;
----
j
{"a":{"b":[1,2],"c":"c"}}

# NULL counts as an empty object.
UPDATE goods SET j.price = 1 WHERE id = 3;
----
ok, 1 rows

SELECT j FROM goods WHERE id = 3;
----
j
{"price":1}

# A value of one document can be a part of another place.
UPDATE goods SET j.copy = j.a WHERE MATCH('pot');
----
ok, 1 rows

SELECT j FROM goods WHERE id = 2;
----
j
{"a":{"b":[1,2],"c":"c"},"copy":{"b":[1,2],"c":"c"}}

# The same value again changes nothing.
UPDATE goods SET j.price = 1 WHERE id = 3;
----
ok, 0 rows

# Conditions see the new values, in rows of a file too, and after a crash.
FLUSH TABLE goods;
----
ok, 0 rows

UPDATE goods SET j.price = j.price + 100 WHERE j.price < 5;
----
ok, 1 rows

SELECT id, j.price FROM goods WHERE j.price > 100;
----
id | j.price
3 | 101

[server] kill
----
ok

SELECT id, j.price FROM goods WHERE j.price > 100;
----
id | j.price
3 | 101

OPTIMIZE TABLE goods;
----
ok, 0 rows

SELECT id, j FROM goods ORDER BY id ASC;
----
id | j
1 | {"name":null,"price":7,"size":{"d":4,"h":2.5,"w":10.5},"sold":[3,1,2],"tags":["z","y","last"],"twice":14}
2 | {"a":{"b":[1,2],"c":"c"},"copy":{"b":[1,2],"c":"c"}}
3 | {"price":101}

# Refused, and nothing is changed.
UPDATE goods SET j.price.unit = 'EUR' WHERE id = 1;
----
error 1210 (HY000): cannot set j['price']['unit'] at row 1: j['price'] is no object

UPDATE goods SET j.a.b = 1 WHERE id = 1;
----
error 1210 (HY000): cannot set j['a']['b'] at row 1: there is no j['a']

UPDATE goods SET j.tags[9] = 1 WHERE id = 1;
----
error 1210 (HY000): cannot set j['tags'][9] at row 1: j['tags'] has fewer items

UPDATE goods SET j.size[0] = 1 WHERE id = 1;
----
error 1210 (HY000): cannot set j['size'][0] at row 1: j['size'] is no array

UPDATE goods SET j[0] = 1 WHERE id = 3;
----
error 1210 (HY000): cannot set j[0] at row 3: j is no array

UPDATE goods SET n = 0, j.a.c = 'd';
----
error 1210 (HY000): cannot set j['a']['c'] at row 1: there is no j['a']

UPDATE goods SET n.a = 1;
----
error 1210 (HY000): UPDATE cannot set n['a']: 'n' is no JSON column

UPDATE goods SET body.a = 1;
----
error 1210 (HY000): UPDATE cannot set the text column 'body', which is searched: REPLACE the row

UPDATE goods SET other.a = 1;
----
error 1054 (42S22): no column 'other' in table 'goods'

UPDATE goods SET j = '{}', j = '[]';
----
error 1210 (HY000): column 'j' twice

UPDATE goods SET j.'a' = 1;
----
error 1064 (42000): syntax error: expected a column name near ''a' = 1' at line 1, position 19

UPDATE goods SET j[a] = 1;
----
error 1064 (42000): syntax error: expected a key in quotes or the number of an item near 'a] = 1' at line 1, position 19

# What is left out instead, if it is asked for: paths in the rows where they lead nowhere, and columns that do not exist.
UPDATE goods SET j.a.c = 'd', other = 1 OPTION strict=0, ignore_nonexistent_columns=1;
----
ok, 1 rows

UPDATE goods SET other = 1, another.a = 2 WHERE id = 1 OPTION ignore_nonexistent_columns=1;
----
ok, 0 rows

UPDATE goods SET j.a.c = 'd' OPTION strict=1;
----
error 1210 (HY000): cannot set j['a']['c'] at row 1: there is no j['a']

UPDATE goods SET n = 5000000000 OPTION strict=0;
----
error 1264 (22003): out of range value '5000000000' for column 'n' at row 1

UPDATE goods SET n = 1 OPTION strict=2;
----
error 1064 (42000): syntax error: option strict takes 0 or 1 at the end of the statement

UPDATE goods SET n = 1 OPTION cutoff=1;
----
error 1064 (42000): syntax error: UPDATE has no option 'cutoff': there are ignore_nonexistent_columns and strict at the end of the statement

UPDATE IGNORE goods SET n = 1;
----
error 1235 (42000): not yet: UPDATE IGNORE

SELECT id, n, j FROM goods ORDER BY id ASC;
----
id | n | j
1 | 70 | {"name":null,"price":7,"size":{"d":4,"h":2.5,"w":10.5},"sold":[3,1,2],"tags":["z","y","last"],"twice":14}
2 | 80 | {"a":{"b":[1,2],"c":"d"},"copy":{"b":[1,2],"c":"c"}}
3 | 3 | {"price":101}

# In a transaction.
BEGIN;
----
ok, 0 rows

UPDATE goods SET j.price = j.price + 1 WHERE id = 3;
----
ok, 1 rows

UPDATE goods SET j.price = j.price + 1 WHERE id = 3;
----
ok, 1 rows

COMMIT;
----
ok, 0 rows

SELECT j.price FROM goods WHERE id = 3;
----
j.price
103

DROP TABLE goods;
----
ok, 0 rows

# What is read inside a document keeps its kind in a json column.
CREATE TABLE kinds (x text, j json, k json, n int);
----
ok, 0 rows

INSERT INTO kinds (id, x, j) VALUES (1, '', '{"a":true,"b":"5","c":5,"d":null,"e":[1]}');
----
ok, 1 rows

UPDATE kinds SET j.a2 = j.a, j.b2 = j.b, j.c2 = j.c, j.e2 = j.e, k = j.b, n = j.a WHERE id = 1;
----
ok, 1 rows

SELECT j, k, n FROM kinds WHERE j.a2 = TRUE AND j.b2 = '5' AND j.c2 = 5;
----
j | k | n
{"a":true,"a2":true,"b":"5","b2":"5","c":5,"c2":5,"d":null,"e":[1],"e2":[1]} | "5" | 1

