#!/usr/bin/env bash
# Fail-over: a server sends what it collects to a second one, which is stopped for a minute of each run and started again. Messages go
# on coming all the time. `drained/s` beside `arrived/s` tells how fast the files of the second server catch up.
#
#     benchmarks/collect/away.sh
#
# SEINE names the binary, DATA a directory on the disk to measure. AWAY is the time without the second server in seconds, SECONDS_EACH
# the length of a run, RUNS their number, RATE the messages a second.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${AWAY:=60}" "${CSV:=}" "${DATA:=$root/target}" "${RATE:=100000}"
: "${SECONDS_EACH:=$((AWAY + 50))}"
data=$(mktemp -d "$DATA/bench-away-XXXXXX")
. "$root/benchmarks/servers.sh"
first=$(free_port) second=$(free_port)
file_store bench "$data/files" >"$data/second.conf"
cat >"$data/first.conf" <<CONF
<store>
category=bench
type=buffer
retry_interval=2
retry_interval_range=1
<primary>
type=network
remote_host=127.0.0.1
remote_port=$second
</primary>
<secondary>
type=file
file_path=$data/backlog
max_size=50000000
</secondary>
</store>
CONF
serve() { # name, port
    start "$1" "$SEINE" serve --data "$data/$1/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0 \
        --scribe "127.0.0.1:$2" --scribe-config "$data/$1.conf"
    listening "$2" "$1"
}
serve first "$first"
serve second "$second"
for _ in $(seq "$RUNS"); do
    "$SEINE" bench collect --per-call 200 --connections 8 --rate "$RATE" --away "$((AWAY - 2))" --data "$DATA" \
        --runs 1 --seconds "$SECONDS_EACH" $CSV --collector "seine=scribe@127.0.0.1:$first@$data/files" &
    bench=$!
    sleep 8
    kill -TERM "${pids[-1]}"
    wait "${pids[-1]}" || true
    unset 'pids[-1]'
    sleep "$AWAY"
    serve second "$second"
    wait "$bench"
done
