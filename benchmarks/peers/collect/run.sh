#!/usr/bin/env bash
# Measures collectors in turns: Seine over Thrift and rsyslog over lines (imptcp to a file), each without syncs and each with a sync
# a batch. `in files x first` is the median of the ratios, turn by turn, of the rates at which the files have all messages.
#
#     benchmarks/peers/collect/run.sh
#
# Needs rsyslogd, Python 3, and a release build (SEINE names the binary). RUNS and SECONDS_EACH are `--runs` and `--seconds` of
# `seine bench`. DATA is a directory on the disk to measure, with room for 20 GB. PER_CALL, CONNECTIONS and LENGTHS are lists with
# commas. SYNCS are some of: always never. CSV=--csv prints CSV. PEERS are rsyslogs; PEERS= measures Seine alone. The number in a name
# is that of lines that the queue gives the file at a time, and so of lines a sync: 200 is the batch of a call to Seine, 1024 rsyslog's
# default. rsyslog-disk, measured at `always`, has a queue on disk that it syncs with each line: as with Seine, a line that it has taken
# outlasts the process.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CSV:=}"
: "${PEERS=rsyslog-200 rsyslog-1024 rsyslog-4096 rsyslog-disk}"
: "${DATA:=$root/target}" "${SYNCS:=never always}" "${PER_CALL:=200}" "${CONNECTIONS:=8}" "${LENGTHS:=100}"

# start_rsyslog NAME PORT: lines over TCP into a file; at `always` synced after each batch that it took from its queue. One worker,
# because two change the order of lines.
start_rsyslog() {
    local syncs='' queue="queue.size=\"500000\" queue.dequeueBatchSize=\"${1#rsyslog-}\""
    [ "$sync" = always ] && syncs='sync="on" flushOnTXEnd="on"'
    [ "$1" = rsyslog-disk ] &&
        queue='queue.type="disk" queue.filename="queue" queue.syncQueueFiles="on" queue.checkpointInterval="1"'
    cat >"$data/$1.conf" <<CONF
global(workDirectory="$data")
main_queue(queue.workerThreads="1" $queue)
module(load="imptcp" threads="2")
template(name="raw" type="string" string="%rawmsg%\n")
ruleset(name="bench") { action(type="omfile" file="$data/$1-files/bench" template="raw" ioBufferSize="256k" $syncs) }
input(type="imptcp" address="127.0.0.1" port="$2" ruleset="bench" supportOctetCountedFraming="off")
CONF
    start "$1" rsyslogd -n -f "$data/$1.conf" -i "$data/$1.pid"
    listening "$2" "$1"
}

for sync in $SYNCS; do
    data=$(mktemp -d "$DATA/bench-collect-XXXXXX")
    . "$root/benchmarks/servers.sh"
    scribe=$(free_port)
    file_store bench "$data/seine-files" >"$data/scribe.conf"
    start seine env SEINE_SYNC="$sync" "$SEINE" serve --data "$data/seine/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0 \
        --scribe "127.0.0.1:$scribe" --scribe-config "$data/scribe.conf"
    listening "$scribe" seine
    collectors=()
    for peer in $PEERS; do
        [ "$peer $sync" = 'rsyslog-disk never' ] && continue
        port=$(free_port)
        mkdir "$data/$peer-files"
        start_rsyslog "$peer" "$port"
        collectors+=(--collector "$peer=lines@127.0.0.1:$port@$data/$peer-files")
    done
    for length in ${LENGTHS//,/ }; do
        echo "sync: $sync, messages of $length bytes"
        "$SEINE" bench collect --runs "$RUNS" --seconds "$SECONDS_EACH" --data "$DATA" --per-call "$PER_CALL" \
            --connections "$CONNECTIONS" --length "$length" --tag "$sync" $CSV "${collectors[@]}" \
            --collector "seine=scribe@127.0.0.1:$scribe@$data/seine-files"
    done
    stop
done
