#!/bin/sh
# Measures Lucene Monitor and Seine in turns, over equal words, with equal answers. Prints the ratio of each pair of runs.
#
#     benchmarks/peers/lucene-monitor/run.sh [DEFINITION] [DOCUMENTS]
#
# Needs a JDK of 21 or newer (JAVA_HOME), Maven, Python 3, and a release build (SEINE names the binary). RUNS and SECONDS_EACH
# are `--runs` and `--seconds` of `seine bench`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
definition=${1:-common-100k}
documents=${2:-20000}
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}"
: "${JAVA_HOME:=$(ls -d /usr/lib/jvm/*2[1-9]* 2>/dev/null | tail -1)}"
export JAVA_HOME

if [ ! -d "$here/target/jars" ]; then
    mvn --quiet --batch-mode --file "$here/pom.xml" package
fi
words=$(mktemp -d)
trap 'rm -rf "$words"' EXIT
"$SEINE" bench percolate "$definition" --limit "$documents" --export "$words" > "$words/pairs"

set --
for presearcher in multipass term-filtered; do
    for batch in 1 10 200; do
        for threads in 1 2; do set -- "$@" --setting "$threads:$presearcher $batch $threads"; done
    done
done
exec python3 "$here/../alternate.py" --name "Lucene Monitor" "$@" \
    --seine "$SEINE" --definition "$definition" --documents "$documents" --pairs "$(cat "$words/pairs")" \
    --runs "$RUNS" --seconds "$SECONDS_EACH" -- \
    "$JAVA_HOME/bin/java" -Xmx6g --add-modules jdk.incubator.vector -cp "$here/target/classes:$here/target/jars/*" \
    peer.Peer "$words"
