#!/usr/bin/env bash
# curl against a running server; see run.sh.
set -euo pipefail

# http WANTED_STATUS METHOD PATH [BODY]: prints the body of the reply
http() {
    local wanted=$1 method=$2 path=$3 status
    shift 3
    status=$(curl --silent --show-error --output "$SEINE_SCRATCH/reply" --write-out '%{http_code}' \
        --request "$method" ${1+--data-binary "$1"} "$SEINE_HTTP$path")
    if [ "$status" != "$wanted" ]; then
        printf '%s %s: want status %s, got %s: %s\n' "$method" "$path" "$wanted" "$status" "$(cat "$SEINE_SCRATCH/reply")" >&2
        exit 1
    fi
    cat "$SEINE_SCRATCH/reply"
}

# holds WHAT TEXT PART
holds() {
    case $2 in
        *"$3"*) ;;
        *)
            printf '%s: no %s in %s\n' "$1" "$3" "$2" >&2
            exit 1
            ;;
    esac
}

http 200 GET /livez >/dev/null
http 200 GET /readyz >/dev/null
holds metrics "$(http 200 GET /metrics)" seine_

http 200 POST '/sql?mode=raw' 'CREATE TABLE h_posts (body text, score int)' >/dev/null
bulk='{"insert":{"table":"h_posts","id":1,"doc":{"body":"red shoes","score":5}}}
{"insert":{"table":"h_posts","id":2,"doc":{"body":"blue shoes","score":7}}}
'
holds bulk "$(http 200 POST /bulk "$bulk")" '"errors":false'
holds search "$(http 200 POST /search '{"table":"h_posts","query":{"query_string":"shoes -red"}}')" '"total":1'
holds sql "$(http 200 POST '/sql?mode=raw' "SELECT id, body FROM h_posts WHERE MATCH('blue')")" 'blue shoes'

# Standing queries.
http 200 POST '/sql?mode=raw' "CREATE TABLE h_alerts (body text) type='pq'" >/dev/null
holds stored "$(http 200 PUT '/pq/h_alerts/doc/7' '{"query":{"ql":"red shoes"},"tags":["web"]}')" '"result":"created"'
http 409 PUT '/pq/h_alerts/doc/7' '{"query":{"ql":"red"}}' >/dev/null
holds replaced "$(http 200 PUT '/pq/h_alerts/doc/7?refresh=1' '{"query":{"ql":"red"},"tags":"web"}')" '"result":"updated"'
batch='{"query":{"percolate":{"documents":[{"body":"blue"},{"body":"red"}]}}}'
holds percolated "$(http 200 POST /pq/h_alerts/search "$batch")" '"_percolator_document_slot":[2]'
holds only "$(http 200 POST '/pq/h_alerts/search' "${batch%\}},\"only\":\"any(tags)='shop'\"}")" '"total":0'
http 400 POST /pq/h_alerts/search '{"query":{"percolate":{"document":5}}}' >/dev/null
# Each line of text is a document. In the compact answer the second of two documents hits query 7.
printf 'blue\nred\n' | curl --silent --show-error --data-binary @- --header 'Content-Type: text/plain' \
    --header 'Accept: application/vnd.seine.hits' --output "$SEINE_SCRATCH/compact" "$SEINE_HTTP/pq/h_alerts/search"
compact=$(head -c -4 "$SEINE_SCRATCH/compact" | od -An -tx1 | tr -d ' \n')
[ "$compact" = 535051010002010101070201 ] || { echo "the compact answer is $compact" >&2; exit 1; }
http 404 DELETE /pq/h_alerts/doc/8 >/dev/null
holds deleted "$(http 200 DELETE /pq/h_alerts/doc/7)" '"result":"deleted"'
http 200 POST '/sql?mode=raw' 'DROP TABLE h_alerts' >/dev/null

http 400 POST '/sql?mode=raw' 'SELEKT 1' >/dev/null
http 404 GET /nothing-here >/dev/null
foreign=$(curl --silent --output /dev/null --write-out '%{http_code}' --header 'Origin: http://elsewhere.example' \
    --data 'SHOW TABLES' "$SEINE_HTTP/sql?mode=raw")
[ "$foreign" = 403 ] || { echo "a foreign Origin got $foreign, not 403" >&2; exit 1; }

http 200 POST '/sql?mode=raw' 'DROP TABLE h_posts' >/dev/null

holds collect "$(http 200 POST /collect/h_lines $'one\ntwo\n')" '"messages":2'
packed=$(printf 'three\nfour\n' | gzip | curl --silent --fail --header 'Content-Encoding: gzip' --data-binary @- "$SEINE_HTTP/collect/h_lines")
holds gzip "$packed" '"messages":2'
# A follower shows a message that is sent while it follows.
curl --silent --no-buffer --max-time 20 "$SEINE_HTTP/tail/h_*" >"$SEINE_SCRATCH/followed" &
follower=$!
for _ in $(seq 100); do
    http 200 POST /collect/h_lines 'followed' >/dev/null
    grep -q '"message":"followed"' "$SEINE_SCRATCH/followed" && break
    sleep 0.1
done
kill "$follower"
grep -q '{"category":"h_lines","message":"followed"}' "$SEINE_SCRATCH/followed"
