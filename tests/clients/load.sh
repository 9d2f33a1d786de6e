#!/usr/bin/env bash
# Kills the client or the server during `seine load`, and loads again: no row may be missing or there twice. The tables are a
# search table whose rows have no ids, and a queue. In neither does a row have a key by which the server could know it again.
# usage: tests/clients/load.sh [BINARY]    (default: the release build)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-${CARGO_TARGET_DIR:-$here/../../target}/release/seine}
binary=$(realpath -- "$binary")
rows=${SEINE_LOAD_ROWS:-300000}
scratch=$(mktemp -d)
server=
finish() {
    status=$?
    [ -z "$server" ] || kill -KILL "$server" 2>/dev/null || true
    rm -rf "$scratch"
    exit "$status"
}
trap finish EXIT

start() {
    rm -f "$scratch/ready"
    mkfifo "$scratch/ready"
    "$binary" serve --data "$scratch/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0 >"$scratch/ready" 2>>"$scratch/log" &
    server=$!
    exec 3<"$scratch/ready"
    read -r -t 60 ready <&3 || { echo 'the server did not say that it is ready' >&2; exit 1; }
    SEINE_ADDR=$(sed -n 's/.*mysql=\([^ ]*\).*/\1/p' <<<"$ready")
    export SEINE_ADDR
}

seq 1 "$rows" | awk '{ print "{\"body\":\"row " $1 " of many\",\"n\":" $1 "}" }' >"$scratch/rows.ndjson"
start
"$binary" sql 'CREATE TABLE posts (body text, n int)' >/dev/null
"$binary" sql 'CREATE TABLE jobs (body varchar(40), n int) ENGINE=queue' >/dev/null

for table in posts jobs; do
    kills=0
    while :; do
        "$binary" load "$table" "$scratch/rows.ndjson" >"$scratch/said" 2>&1 &
        load=$!
        sleep "0.$((RANDOM % 30 + 5))"
        if ! kill -0 "$load" 2>/dev/null; then
            wait "$load" && break
        elif ((kills % 2)); then
            kill -KILL "$load"
            wait "$load" || true
        else
            kill -KILL "$server"
            wait "$server" || true
            wait "$load" && { echo 'a load whose server died said that it was done' >&2; exit 1; }
            start
        fi
        kills=$((kills + 1))
        if ((kills >= 12)); then
            "$binary" load "$table" "$scratch/rows.ndjson" >"$scratch/said" 2>&1
            break
        fi
    done
    most=$((rows + 10000))
    option=
    [ "$table" = jobs ] || option="OPTION max_matches=$most"
    "$binary" sql --json "SELECT n FROM $table LIMIT $most $option" | sed 's/[^0-9]//g' | sort -n >"$scratch/found"
    if ! cmp -s <(seq 1 "$rows") "$scratch/found"; then
        echo "$table: rows doubled or missing after $kills kills: $(wc -l <"$scratch/found") of $rows" >&2
        exit 1
    fi
    echo "$table: $rows rows, each once, after $kills kills"
done
