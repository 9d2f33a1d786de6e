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

http 400 POST '/sql?mode=raw' 'SELEKT 1' >/dev/null
http 404 GET /nothing-here >/dev/null
foreign=$(curl --silent --output /dev/null --write-out '%{http_code}' --header 'Origin: http://elsewhere.example' \
    --data 'SHOW TABLES' "$SEINE_HTTP/sql?mode=raw")
[ "$foreign" = 403 ] || { echo "a foreign Origin got $foreign, not 403" >&2; exit 1; }

http 200 POST '/sql?mode=raw' 'DROP TABLE h_posts' >/dev/null
