#!/usr/bin/env bash
# The buffered clients of clients/ against the bare Thrift-made client of their language: one process, 200 messages of 100 bytes a
# call, in turns. The server's files are checked after each run.
#
#     benchmarks/collect/clients.sh
#
# Needs the Thrift compiler, Thrift for Perl and the Python package thrift. SEINE names the binary, DATA a directory on the disk to
# measure, SYNC the server's sync. RUNS and SECONDS_EACH: count and length of runs.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${DATA:=$root/target}" "${SYNC:=always}"
data=$(mktemp -d "$DATA/bench-clients-XXXXXX")
. "$root/benchmarks/servers.sh"
port=$(free_port)
start seine env SEINE_SYNC="$SYNC" "$SEINE" serve --data "$data/seine/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0 --scribe "127.0.0.1:$port"
listening "$port" seine
mkdir "$data/perl" "$data/python"
thrift -r --gen perl -out "$data/perl" "$root/clients/idl/scribe.thrift"
thrift -r --gen py -out "$data/python" "$root/clients/idl/scribe.thrift"
python=python3
"$python" -c 'import thrift' 2>/dev/null || python=/usr/bin/python3
here=$root/benchmarks/collect/clients
export PERL5LIB="$data/perl:$root/clients/perl/lib" PYTHONPATH="$data/python:$root/clients/python/src"
"$python" "$here/turns.py" 127.0.0.1 "$port" "$data/seine/data/collected" "$RUNS" "$SECONDS_EACH" \
    "perl:perl $here/{client}.pl" "python:$python $here/{client}.py"
