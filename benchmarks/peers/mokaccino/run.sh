#!/bin/sh
# mokaccino beside Seine in one run, one thread each: equal words, equal answers, alternated; prints the ratio pair by pair.
#
#     benchmarks/peers/mokaccino/run.sh [DEFINITION] [DOCUMENTS]
#
# DEFINITION is one of words alone: common-100k, selective-100k, ors-100k, boolean-100k. mokaccino has no positions and no
# pattern but a prefix, so of mixed-100k it is given the words and the ORs (boolean-100k); --export refuses the others.
#
# Needs cargo, Python 3, and a release build (SEINE names the binary). RUNS and SECONDS_EACH as `seine bench` has them, CACHE
# a folder for its build.
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
