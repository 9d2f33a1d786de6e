#!/usr/bin/env bash
# The mysql command-line client (MySQL's or MariaDB's) against a running server; see run.sh.
set -euo pipefail

sql() {
    mysql --no-defaults --protocol=tcp -h "$SEINE_HOST" -P "$SEINE_PORT" -u anyone --batch --skip-column-names "$@"
}

# check WHAT GOT WANT
check() {
    if [ "$2" != "$3" ]; then
        printf '%s\n  got:  %s\n  want: %s\n' "$1" "$2" "$3" >&2
        exit 1
    fi
}

# refused CODE STATEMENT: the statement fails with that error
refused() {
    if got=$(sql -e "$2" 2>&1); then
        echo "not refused: $2" >&2
        exit 1
    fi
    case $got in
        *"ERROR $1 "*) ;;
        *)
            echo "$2: want error $1, got: $got" >&2
            exit 1
            ;;
    esac
}

sql -e "CREATE TABLE c_posts (body text, sub string, ts timestamp, score int)"
sql -e "CREATE TABLE c_hits (query_id bigint, tags text, doc_id bigint, body text) ENGINE=queue"
sql -e "CREATE TABLE c_alerts type='pq' on='c_posts' into='c_hits'"
check 'tables' "$(sql -e 'SHOW TABLES' | cut -f1 | grep '^c_' | sort | tr '\n' ' ')" 'c_alerts c_hits c_posts '

sql -e "INSERT INTO c_alerts (id, query, tags) VALUES (1, 'google -maps', 'web'), (2, '\"star wars\"', 'film')"
sql -e "INSERT INTO c_posts (id, body, sub, ts, score) VALUES
    (1, 'Google opens a museum', 'news', '2013-07-08T05:28:54Z', 10),
    (2, 'Google Maps in Star Wars style', 'maps', '2013-07-09T05:28:54Z', 20),
    (3, 'wars of the star', 'space', 1373347734, 30)"

check 'search' "$(sql -e "SELECT id FROM c_posts WHERE MATCH('google') ORDER BY id ASC" | tr '\n' ' ')" '1 2 '
check 'filter' "$(sql -e "SELECT id FROM c_posts WHERE MATCH('google | star') AND score BETWEEN 15 AND 30 ORDER BY id DESC" | tr '\n' ' ')" '3 2 '
check 'count' "$(sql -e 'SELECT COUNT(*) FROM c_posts')" 3
check 'in' "$(sql -e 'SELECT id FROM c_posts WHERE id IN (3, 1) ORDER BY id ASC' | tr '\n' ' ')" '1 3 '
check 'hits' "$(sql -e 'SELECT query_id, doc_id FROM c_hits' | sort | tr '\t\n' ', ')" '1,1 2,2 '

# A worker takes a row and ends it, on one connection.
check 'worker' "$(printf "SELECT queue_wait('c_hits', 1);\nSELECT query_id FROM c_hits;\nSELECT queue_end();\n" | sql | tr '\n' ' ')" '1 1 1 '
# The row of a worker that disconnects becomes free again.
check 'taken' "$(printf "SELECT queue_wait('c_hits', 1);\nSELECT query_id FROM c_hits;\n" | sql | tr '\n' ' ')" '1 2 '
check 'given back' "$(printf "SELECT queue_wait('c_hits', 5);\nSELECT query_id FROM c_hits;\nSELECT queue_abort();\n" | sql | tr '\n' ' ')" '1 2 1 '

check 'call pq' "$(sql -e "CALL PQ('c_alerts', 'a museum by google', 0 AS docs_json)" | cut -f1)" 1
sql -e "REPLACE INTO c_posts (id, body, sub, ts, score) VALUES (1, 'nothing of the kind', 'news', 0, 1)"
check 'replaced' "$(sql -e "SELECT id FROM c_posts WHERE MATCH('museum')")" ''
sql -e 'DELETE FROM c_posts WHERE id = 2'
check 'deleted' "$(sql -e 'SELECT COUNT(*) FROM c_posts')" 2

refused 1146 'SELECT * FROM no_such_table'
refused 1050 'CREATE TABLE c_posts (body text)'
refused 1054 'SELECT nothing FROM c_posts'
refused 1064 'SELEKT 1'
refused 1064 "SELECT id FROM c_posts WHERE MATCH('\"open')"
refused 1264 "INSERT INTO c_posts (id, body, score) VALUES (9, 'x', 4294967296)"
refused 1062 "INSERT INTO c_posts (id, body) VALUES (1, 'again')"

sql -e 'DROP TABLE c_alerts; DROP TABLE c_hits; DROP TABLE c_posts'
