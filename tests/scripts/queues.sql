# Queues, with Q4M's functions and owner mode.

CREATE TABLE q (v int not null, s varchar(10)) ENGINE=queue;
----

INSERT INTO q VALUES (1, 'one'), (2, 'two'), (3, 'three');
----

SELECT * FROM q;
----

SELECT queue_wait('q');
----

# Owner mode: this connection sees its row only, the others do not see it.
SELECT * FROM q;
----

[b]
SELECT * FROM q;
----

[b]
SELECT queue_wait('q', 1);
----

[b]
SELECT v FROM q;
----

SELECT queue_abort();
----

# The row is back at its place.
SELECT v FROM q;
----

SELECT queue_wait('q', 1);
----

# The next wait ends the row owned.
SELECT queue_wait('q', 1);
----

SELECT v FROM q;
----

SELECT queue_end();
----

# A connection that goes away gives its row back.
[b] close
----

SELECT queue_wait('q', 10);
----

SELECT v FROM q;
----

SELECT queue_end();
----

SELECT COUNT(*) FROM q;
----

# An empty queue: 0 after the timeout, and owner mode all the same.
SELECT queue_wait('q', 0);
----

INSERT INTO q (v) VALUES (4);
----

SELECT * FROM q;
----

SELECT queue_end();
----

SELECT * FROM q;
----

SELECT queue_end();
----

SELECT queue_abort();
----

SELECT queue_wait('nothing', 0);
----

INSERT INTO q (v) VALUES (NULL);
----

INSERT INTO q (v) VALUES (2147483648);
----

INSERT INTO q (v, s) VALUES (1, 'longer than ten');
----

REPLACE INTO q (v) VALUES (1);
----

DELETE FROM q WHERE v = 4;
----

SELECT COUNT(*) FROM q;
----

# What is in a queue outlives the server; who owned what does not.
INSERT INTO q (v) VALUES (5), (6);
----

SELECT queue_wait('q', 1);
----

[server] kill
----

SELECT v FROM q;
----

[server] restart
----

SELECT v FROM q;
----

