#!/usr/bin/env bash
# Messages into a search table and past 10,000 standing queries: 200 a call over 8 connections, each searchable and its hits queued
# when OK is sent. Rows and hits are counted after each run.
#
#     benchmarks/collect/tables.sh
#
# SEINE names the binary, DATA a directory on the disk to measure. RUNS and SECONDS_EACH are options of `seine bench`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CSV:=}" "${DATA:=$root/target}"
data=$(mktemp -d "$DATA/bench-tables-XXXXXX")
. "$root/benchmarks/servers.sh"
scribe=$(free_port) mysql=$(free_port)
store() { printf '%s\n' '<store>' category=bench_posts "type=$1" "table=$2" "${@:3}" '</store>'; }
{
    store index bench_posts
    store percolate bench_alerts into=bench_hits
} >"$data/scribe.conf"
start seine "$SEINE" serve --data "$data/seine/data" --mysql "127.0.0.1:$mysql" --http 127.0.0.1:0 \
    --scribe "127.0.0.1:$scribe" --scribe-config "$data/scribe.conf"
listening "$scribe" seine
listening "$mysql" seine
"$SEINE" bench insert --scribe "127.0.0.1:$scribe" --addr "127.0.0.1:$mysql" --data "$data/seine/data" \
    --runs "$RUNS" --seconds "$SECONDS_EACH" $CSV
