#!/usr/bin/env bash
# Measures collectors in turns: Seine over Thrift and rsyslog over lines (imptcp to a file), each without syncs and each with a sync
# a batch. `in files x first` is the median of the ratios, turn by turn, of the rates at which the files have all messages.
#
#     benchmarks/peers/collect/run.sh
#
# Needs rsyslogd, Python 3, and a release build (SEINE names the binary). RUNS and SECONDS_EACH are `--runs` and `--seconds` of
# `seine bench`. DATA is a directory on the disk to measure, with room for 20 GB. PER_CALL and CONNECTIONS are lists with commas. SYNCS
# are some of: always never. CSV=--csv prints CSV.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CSV:=}"
: "${DATA:=$root/target}" "${SYNCS:=never always}" "${PER_CALL:=200}" "${CONNECTIONS:=8}"

for sync in $SYNCS; do
    data=$(mktemp -d "$DATA/bench-collect-XXXXXX")
    pids=()
    stop() {
        for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
        for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
        rm -rf "$data"
    }
    trap stop EXIT
    trap 'exit 1' INT TERM
    free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
    listening() { # port, name
        for _ in $(seq 300); do
            if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
            sleep 0.1
        done
        echo "$2 does not listen; its log:" >&2
        cat "$data/$2.log" >&2
        exit 1
    }
    mkdir -p "$data/seine-files" "$data/rsyslog-files"

    scribe=$(free_port)
    cat >"$data/scribe.conf" <<CONF
<store>
category=bench
type=file
file_path=$data/seine-files
base_filename=bench
max_size=100000000000
</store>
CONF
    SEINE_SYNC=$sync "$SEINE" serve --data "$data/seine" --mysql 127.0.0.1:0 --http 127.0.0.1:0 \
        --scribe "127.0.0.1:$scribe" --scribe-config "$data/scribe.conf" >"$data/seine.log" 2>&1 &
    pids+=($!)
    listening "$scribe" seine

    lines=$(free_port)
    syncs=
    [ "$sync" = always ] && syncs='sync="on" flushOnTXEnd="on"'
    cat >"$data/rsyslog.conf" <<CONF
global(workDirectory="$data")
module(load="imptcp" threads="2")
template(name="raw" type="string" string="%rawmsg%\n")
ruleset(name="bench" queue.type="fixedArray" queue.size="500000" queue.dequeueBatchSize="4096") {
    action(type="omfile" file="$data/rsyslog-files/bench" template="raw" ioBufferSize="256k" $syncs)
}
input(type="imptcp" address="127.0.0.1" port="$lines" ruleset="bench")
CONF
    rsyslogd -n -f "$data/rsyslog.conf" -i "$data/rsyslog.pid" >"$data/rsyslog.log" 2>&1 &
    pids+=($!)
    listening "$lines" rsyslog

    echo "sync: $sync"
    "$SEINE" bench collect --runs "$RUNS" --seconds "$SECONDS_EACH" --data "$DATA" --per-call "$PER_CALL" \
        --connections "$CONNECTIONS" --tag "$sync" $CSV \
        --collector "rsyslog=lines@127.0.0.1:$lines@$data/rsyslog-files" \
        --collector "seine=scribe@127.0.0.1:$scribe@$data/seine-files"
    stop
    trap - EXIT
done
