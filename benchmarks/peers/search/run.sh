#!/usr/bin/env bash
# Measures tantivy, SeekStorm, Lucene, bleve and Sphinx beside Seine, in turns, over equal words.
#
#     benchmarks/peers/search/run.sh [TEST…] [-- MORE OPTIONS of `seine bench search`]
#     INDEX=1 benchmarks/peers/search/run.sh [-- MORE OPTIONS of `seine bench index`]
#
# PEERS    some of: tantivy seekstorm lucene bleve sphinx; README.md says what each needs
# NGRAMS   SeekStorm's sets of n-grams, an index for each: none, default, all
# ADDR     MySQL address of a running Seine. Sphinx needs it, so that both are servers; without it Seine runs in process.
# CORPUS   file of `id<TAB>text` (.zst is unpacked); without it, the bundled posts
# COPIES, EVERY, RUNS, CLIENTS   the options of `seine bench` of the same names; SECONDS_EACH is `--seconds`
# DATA     folder for indexes, which stay for the next run
# SEINE    the binary, a release build
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CLIENTS:=1,2}" "${INDEX:=}"
: "${PEERS:=tantivy lucene}" "${DATA:=$root/target/bench-search}" "${CACHE:=$root/target/peers}" "${ADDR:=}"
: "${NGRAMS:=none default all}" "${CORPUS:=}" "${COPIES:=1}" "${EVERY:=1}"
: "${JAVA_HOME:=$(ls -d /usr/lib/jvm/*2[1-9]* 2>/dev/null | tail -1)}"
export JAVA_HOME
mkdir -p "$DATA" "$CACHE"

tests=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do tests+=("$1"); shift; done
[ $# -gt 0 ] && shift
records=(--copies "$COPIES" --every "$EVERY")
[ -n "$CORPUS" ] && records+=(--corpus "$CORPUS")
beside=()

for peer in $PEERS; do
    case $peer in
    tantivy)
        cargo build --quiet --release --manifest-path "$here/tantivy/Cargo.toml" --target-dir "$CACHE/tantivy"
        beside+=(--peer "tantivy=$CACHE/tantivy/release/peer-tantivy")
        ;;
    seekstorm)
        RUSTFLAGS='-C target-cpu=native' cargo build --quiet --release --manifest-path "$here/seekstorm/Cargo.toml" \
            --target-dir "$CACHE/seekstorm"
        for ngrams in $NGRAMS; do
            beside+=(--peer "seekstorm-$ngrams=$CACHE/seekstorm/release/peer-seekstorm $ngrams")
        done
        ;;
    lucene)
        [ -d "$here/lucene/target/jars" ] || mvn --quiet --batch-mode --file "$here/lucene/pom.xml" package
        java="$JAVA_HOME/bin/java -Xmx6g --add-modules jdk.incubator.vector --enable-native-access=ALL-UNNAMED"
        beside+=(--peer "lucene=$java -cp '$here/lucene/target/classes:$here/lucene/target/jars/*' peer.Peer 2>/dev/null")
        ;;
    bleve)
        (cd "$here/bleve" && go build -o "$CACHE/peer-bleve" .)
        beside+=(--peer "bleve=$CACHE/peer-bleve")
        ;;
    sphinx)
        [ -n "$ADDR" ] || { echo "sphinx is a server, and stands beside one: ADDR names it" >&2; exit 1; }
        words=$("$SEINE" bench search "${records[@]}" --export "$DATA")
        # It prints its address and its version, and ends when this script ends.
        coproc searchd { CACHE="$CACHE" "$here/sphinx/serve.sh" "$words/documents.tsv" "$words/sphinx"; }
        read -r -u "${searchd[0]}" listens about
        beside+=(--sphinx "sphinx=$listens/records,$about")
        ;;
    *)
        echo "no peer is called $peer" >&2
        exit 1
        ;;
    esac
done

if [ -n "$INDEX" ]; then
    exec "$SEINE" bench index "${records[@]}" "${beside[@]}" --data "$DATA" --runs "$RUNS" ${ADDR:+--addr "$ADDR"} "$@"
fi
"$SEINE" bench search "${tests[@]}" "${records[@]}" "${beside[@]}" --data "$DATA" --clients "$CLIENTS" \
    --runs "$RUNS" --seconds "$SECONDS_EACH" ${ADDR:+--addr "$ADDR" --keep} "$@"
