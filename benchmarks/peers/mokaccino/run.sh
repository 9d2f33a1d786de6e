#!/bin/sh
# Measures mokaccino and Seine in turns, one thread each, over equal words, with equal answers. Prints the ratio of each pair of
# runs.
#
#     benchmarks/peers/mokaccino/run.sh [DEFINITION] [DOCUMENTS]
#
# The queries of DEFINITION must consist of words alone: common-100k, selective-100k, ors-100k, boolean-100k. mokaccino has no
# positions, and its only pattern is a prefix. So it gets the words and the ORs of mixed-100k, which are boolean-100k. `--export`
# refuses other definitions.
#
# Needs cargo, Python 3, and a release build (SEINE names the binary). RUNS and SECONDS_EACH are `--runs` and `--seconds` of
# `seine bench`. CACHE is the folder for mokaccino's build.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
definition=${1:-common-100k}
documents=${2:-20000}
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CACHE:=$root/target/peers}"

cargo build --quiet --release --manifest-path "$here/Cargo.toml" --target-dir "$CACHE/mokaccino"
words=$(mktemp -d)
trap 'rm -rf "$words"' EXIT
"$SEINE" bench percolate "$definition" --limit "$documents" --export "$words" >"$words/pairs"

set --
for layout in value field; do
    for matchers in 1 2 3 4; do set -- "$@" --setting "1:$layout $matchers"; done
done
python3 "$here/../alternate.py" --name mokaccino "$@" --batch 1,auto \
    --seine "$SEINE" --definition "$definition" --documents "$documents" --pairs "$(cat "$words/pairs")" \
    --runs "$RUNS" --seconds "$SECONDS_EACH" -- "$CACHE/mokaccino/release/peer-mokaccino" "$words"
