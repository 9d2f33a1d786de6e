# The last hit of a standing query, compared in a session with a time zone: docs/types.md. That of a query without hits is 1970.

CREATE TABLE alerts (t text) type='pq'
----
ok, 0 rows

INSERT INTO alerts (id, query) VALUES (1, 'cup'), (2, 'mug')
----
ok, 2 rows

SET time_zone = '+05:00'
----
ok, 0 rows

SELECT id FROM alerts WHERE last_hit = '1970-01-01 05:00:00'
----
id
1
2

CALL PQ('alerts', 'cup and mug', 0 AS docs_json, 'last_hit = ''1970-01-01 05:00:00''' AS only)
----
id
1
2

DELETE FROM alerts WHERE id = 1 AND last_hit > '1970-01-01 04:59:59'
----
ok, 1 rows

