#!/usr/bin/env bash
# Syslog over TCP, octet counting, one connection: 100-byte lines of RFC 5424 into a file category.
#
#     benchmarks/collect/syslog.sh
#
# SEINE names the binary, DATA a directory on the disk to measure. RUNS and SECONDS_EACH are options of `seine bench`.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CSV:=}" "${DATA:=$root/target}"
data=$(mktemp -d "$DATA/bench-syslog-XXXXXX")
. "$root/benchmarks/servers.sh"
port=$(free_port)
file_store bench "$data/files" >"$data/scribe.conf"
start seine "$SEINE" serve --data "$data/seine/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0 --scribe 127.0.0.1:0 \
    --scribe-config "$data/scribe.conf" --syslog "127.0.0.1:$port"
listening "$port" seine
"$SEINE" bench collect --per-call 200 --connections 1 --data "$DATA" --runs "$RUNS" --seconds "$SECONDS_EACH" $CSV \
    --collector "seine=octets@127.0.0.1:$port@$data/files"
