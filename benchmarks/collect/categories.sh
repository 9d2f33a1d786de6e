#!/usr/bin/env bash
# Many categories and connections: the server's anonymous memory and threads while each connection goes round all categories, each
# of which has a file of its own.
#
#     benchmarks/collect/categories.sh [CATEGORIES] [CONNECTIONS]
#
# SEINE names the binary, DATA a directory on the disk to measure. RUNS, SECONDS_EACH and RATE are options of `seine bench`.
set -euo pipefail
ulimit -n "$(ulimit -Hn)"
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=10}" "${CSV:=}" "${DATA:=$root/target}" "${RATE:=20000}"
data=$(mktemp -d "$DATA/bench-categories-XXXXXX")
. "$root/benchmarks/servers.sh"
port=$(free_port)
file_store default "$data/files" >"$data/scribe.conf"
start seine env SEINE_CONNECTIONS_MAX=4000 "$SEINE" serve --data "$data/seine/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0 \
    --scribe "127.0.0.1:$port" --scribe-config "$data/scribe.conf"
listening "$port" seine
"$SEINE" bench collect --categories "${1:-10000}" --connections "${2:-1000}" --per-call 1 --rate "$RATE" --data "$DATA" \
    --runs "$RUNS" --seconds "$SECONDS_EACH" $CSV \
    --collector "seine=scribe@127.0.0.1:$port@$data/files"
