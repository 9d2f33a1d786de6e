#!/usr/bin/env bash
# Builds queue_client.c and runs the shapes of Q4M's three tests with eight processes of it; see run.sh.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
config=$(command -v mysql_config || command -v mariadb_config)
client=$SEINE_SCRATCH/queue_client
# mysql_config prints several flags, which must stay separate words.
# shellcheck disable=SC2046
cc -Wall -Werror -o "$client" "$here/queue_client.c" $("$config" --include) $("$config" --libs)

sql() {
    if [ -n "${SEINE_SOCKET:-}" ]; then
        mysql --no-defaults --socket="$SEINE_SOCKET" -u anyone --batch --skip-column-names -e "$1"
    else
        mysql --no-defaults --protocol=tcp -h "$SEINE_HOST" -P "$SEINE_PORT" -u anyone --batch --skip-column-names -e "$1"
    fi
}

# shape NAME VERB LEFT: eight clients receive 200 rows each, and LEFT rows stay. All values together are 1,600 distinct values.
shape() {
    local name=$1 verb=$2 left=$3 got
    for child in 0 1 2 3 4 5 6 7; do
        "$client" "$verb" 200 $((child * 200)) >"$SEINE_SCRATCH/received.$child" &
    done
    [ "$verb" = wait ] && "$client" write "$left" 0
    [ "$verb" = read ] && "$client" write 1600 0
    wait
    cat "$SEINE_SCRATCH"/received.? >"$SEINE_SCRATCH/received"
    rm "$SEINE_SCRATCH"/received.?
    got=$(wc -l <"$SEINE_SCRATCH/received")
    [ "$got" = 1600 ] || { echo "$name: received $got rows, not 1600" >&2; exit 1; }
    got=$(sql 'SELECT COUNT(*) FROM cq')
    [ "$got" = "$left" ] || { echo "$name: $got rows are left, not $left" >&2; exit 1; }
    got=$({ cat "$SEINE_SCRATCH/received"; sql 'SELECT v FROM cq'; } | sort -u | wc -l)
    [ "$got" = 1600 ] || { echo "$name: $got distinct values, not 1600" >&2; exit 1; }
    sql 'TRUNCATE cq'
}

sql 'CREATE TABLE cq (v int NOT NULL) ENGINE=queue'
shape multireader read 0
shape multirw rw 0
shape multiwait wait 2
sql 'DROP TABLE cq'
