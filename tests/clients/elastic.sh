#!/usr/bin/env bash
# Elasticsearch's percolator API with curl against a running server; see run.sh.
set -euo pipefail

# es WANTED_STATUS METHOD PATH [BODY]: prints the body of the reply
es() {
    local wanted=$1 method=$2 path=$3 status
    shift 3
    status=$(curl --silent --show-error --output "$SEINE_SCRATCH/es" --dump-header "$SEINE_SCRATCH/es_head" \
        --write-out '%{http_code}' --header 'Content-Type: application/json' --request "$method" \
        ${1+--data-binary "$1"} "$SEINE_HTTP$path")
    if [ "$status" != "$wanted" ]; then
        printf '%s %s: want status %s, got %s: %s\n' "$method" "$path" "$wanted" "$status" "$(cat "$SEINE_SCRATCH/es")" >&2
        exit 1
    fi
    grep --quiet --ignore-case '^x-elastic-product: Elasticsearch' "$SEINE_SCRATCH/es_head" || {
        echo "$method $path: no product header" >&2
        exit 1
    }
    cat "$SEINE_SCRATCH/es"
}

# same WHAT GOT WANTED
same() {
    [ "$2" = "$3" ] || {
        printf '%s: want %s, got %s\n' "$1" "$3" "$2" >&2
        exit 1
    }
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

holds info "$(es 200 GET /)" '"tagline":"You Know, for Search"'
same head "$(curl --silent --head --output /dev/null --write-out '%{http_code}' "$SEINE_HTTP/")" 200
holds pretty "$(es 200 GET '/?pretty')" '  "name": "seine"'
same filter_path "$(es 200 GET '/?filter_path=version.build_flavor')" '{"version":{"build_flavor":"default"}}'

# The second index has the name with which Manticore's own paths begin.
for index in e-alerts pq; do
    es 200 PUT "/$index" '{"settings":{"number_of_shards":1},"mappings":{"properties":{"query":{"type":"percolator"},
        "message":{"type":"text"},"status":{"type":"keyword"},"price":{"type":"integer"}}}}' >/dev/null
    holds exists "$(es 400 PUT "/$index" '{"mappings":{"properties":{"query":{"type":"percolator"}}}}')" resource_already_exists_exception
    same head "$(curl --silent --head --output /dev/null --write-out '%{http_code}' "$SEINE_HTTP/$index")" 200
    holds mapping "$(es 200 GET "/$index/_mapping")" '"type":"percolator"'
    holds created "$(es 201 PUT "/$index/_doc/1?refresh" '{"query":{"match":{"message":"bonsai tree"}},"owner":"ann"}')" '"result":"created"'
    holds updated "$(es 200 PUT "/$index/_doc/1?refresh=wait_for" '{"query":{"match":{"message":"bonsai tree"}},"owner":"ann"}')" '"result":"updated"'
    es 201 PUT "/$index/queries/named" '{"query":{"match_phrase":{"message":"quick fox"}},"owner":"bob"}' >/dev/null
    es 201 POST "/$index/_doc" '{"query":{"query_string":{"query":"message:wolf OR message:bear"}}}' >/dev/null
    holds conflict "$(es 409 PUT "/$index/_create/1" '{"query":{"match_all":{}}}')" version_conflict_engine_exception
    holds percolate "$(es 200 POST "/$index/_search?filter_path=hits.total.value,hits.hits._id,hits.hits.fields" \
        '{"query":{"percolate":{"field":"query","documents":[{"message":"A new bonsai tree in the office"},{"message":"the quick fox"},{"message":"a bear"}]}}}')" \
        '"total":{"value":3}'
    same slots "$(es 200 POST "/$index/_search?filter_path=hits.hits.fields" '{"query":{"bool":{"must":{"percolate":{"field":"query",
        "documents":[{"message":"x"},{"message":"bonsai"}]}},"filter":{"term":{"owner":"ann"}}}}}')" \
        '{"hits":{"hits":[{"fields":{"_percolator_document_slot":[1]}}]}}'
    same get "$(es 200 GET "/$index/_source/named")" '{"query":{"match_phrase":{"message":"quick fox"}},"owner":"bob"}'
    holds count "$(es 200 GET "/$index/_count")" '"count":3'
    holds deleted "$(es 200 DELETE "/$index/_doc/named")" '"result":"deleted"'
    holds gone "$(es 404 DELETE "/$index/_doc/named")" '"result":"not_found"'
    es 404 GET "/$index/_doc/named" >/dev/null
    es 200 POST "/$index/_refresh" >/dev/null
done

# A bad item of a bulk does not affect the other items.
bulk='{"index":{"_id":"10"}}
{"query":{"match":{"message":"ten"}}}
{"index":{"_id":"11"}}
{"query":{"nonsense":{}}}
{"index":{"_id":"12"}}
{"query":{"bool":{"must":{"match":{"message":"twelve"}},"filter":{"range":{"price":{"gte":5}}}}}}
{"delete":{"_id":"1"}}
{"create":{"_id":"10"}}
{"query":{"match_all":{}}}
'
reply=$(es 200 POST '/e-alerts/_bulk?refresh' "$bulk")
holds bulk "$reply" '"errors":true'
holds bulk "$reply" 'unknown query [nonsense]'
holds bulk "$reply" '"result":"deleted"'
holds bulk "$reply" '"status":409'
holds after-bulk "$(es 200 POST '/e-alerts/_search?filter_path=hits.hits._id' '{"query":{"constant_score":{"filter":{"percolate":{"field":"query",
    "document":{"message":"ten twelve","price":7}}}}}}')" '[{"_id":"10"},{"_id":"12"}]'
same filter "$(es 200 POST '/e-alerts/_search?filter_path=hits.hits._id' '{"query":{"percolate":{"field":"query",
    "document":{"message":"ten twelve","price":4}}}}')" '{"hits":{"hits":[{"_id":"10"}]}}'

# Request and answer are compressed.
printf '{"query":{"match_all":{}},"size":1000}' | gzip >"$SEINE_SCRATCH/packed"
curl --silent --show-error --fail --compressed --header 'Content-Encoding: gzip' --header 'Content-Type: application/json' \
    --data-binary "@$SEINE_SCRATCH/packed" "$SEINE_HTTP/e-alerts/_search" >"$SEINE_SCRATCH/es"
holds gzip "$(cat "$SEINE_SCRATCH/es")" '"hits":['

# Errors.
holds no-index "$(es 404 POST /e-nothing/_search '{}')" '"type":"index_not_found_exception"'
holds no-query "$(es 400 POST /e-alerts/_search '{"query":{"foo":{}}}')" '"type":"parsing_exception"'
holds no-json "$(es 400 POST /e-alerts/_search '{')" '"root_cause":['
holds window "$(es 400 POST /e-alerts/_search '{"size":100001}')" 'window is too large'

# The API finds queries that were stored by SQL.
curl --silent --fail --data "INSERT INTO \`e-alerts\` (id, query, tags) VALUES (77, 'seventy seven', 'sql')" "$SEINE_HTTP/sql?mode=raw" >/dev/null
holds by-sql "$(es 200 POST /e-alerts/_search '{"query":{"percolate":{"field":"query","document":{"message":"seventy seven"}}}}')" '"_id":"77"'

for index in e-alerts pq; do
    holds dropped "$(es 200 DELETE "/$index")" '"acknowledged":true'
    es 404 DELETE "/$index" >/dev/null
done
