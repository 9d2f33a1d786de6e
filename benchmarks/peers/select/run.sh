#!/usr/bin/env bash
# Measures rows by lists of ids, by every form, in turns: Seine, MariaDB, and SQLite in a process of its own. All answers are
# checked, and so are equal.
#
#     benchmarks/peers/select/run.sh [FORM…] [-- OPTION…]     # forms and more options of `seine bench select`
#
# Needs cargo, Debian's apt-get (packages are unpacked beside the build, not installed), Python 3, and a release build (SEINE names
# the binary). RUNS, SECONDS_EACH and IDS are `--runs`, `--seconds` and `--ids` of `seine bench`, ROWS is `--rows`. DATA is a
# directory on the disk to measure. PEERS are some of: mariadb sqlite. CSV=--csv prints CSV. SVG=FILE draws the curves.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=1}" "${CSV:=}" "${SVG:=}" "${ROWS:=1000000}"
: "${IDS:=1,10,100,1000,10000,100000,1000000}"
: "${DATA:=$root/target}" "${CACHE:=$root/target/peers}" "${PEERS=mariadb sqlite}"

forms=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do forms+=("$1"); shift; done
if [ $# -gt 0 ]; then shift; fi

mkdir -p "$DATA"
data=$(mktemp -d "$DATA/bench-select-XXXXXX")
. "$root/benchmarks/servers.sh"

wanted() { case " $PEERS " in *" $1 "*) true ;; *) false ;; esac; }
peers=()

# The table and a list of a million ids fit into MariaDB's memory and into a packet, as they do in Seine's.
if wanted mariadb; then
    unpack mariadb-server-core libaio1 liburing2
    port=$(free_port)
    mkdir -p "$data/mariadb/mysql" "$data/mariadb/bench"
    start mariadb env LD_LIBRARY_PATH="$libraries" "$CACHE/root/usr/sbin/mariadbd" --no-defaults --user="$(id -un)" \
        --datadir="$data/mariadb" --lc-messages-dir="$CACHE/root/usr/share/mysql" \
        --character-sets-dir="$CACHE/root/usr/share/mysql/charsets" --bind-address=127.0.0.1 --port="$port" \
        --socket="$data/mariadb.sock" --pid-file="$data/mariadb.pid" --skip-grant-tables --max-allowed-packet=128M \
        --innodb-buffer-pool-size=1G --innodb-log-file-size=256M --tmp-table-size=256M --max-heap-table-size=256M
    listening "$port" mariadb
    peers+=(--peer "mariadb=mysql://root@127.0.0.1:$port/bench")
fi

if wanted sqlite; then
    cargo build --quiet --release --locked --manifest-path "$here/Cargo.toml" --target-dir "$CACHE/select"
    peers+=(--peer "sqlite='$CACHE/select/release/peer-sqlite' '$data/sqlite.db'")
fi

start seine "$SEINE" serve --data "$data/seine/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0
for _ in $(seq 300); do
    addr=$(sed -n 's/^ready mysql=\([^ ]*\).*/\1/p' "$data/seine.log")
    [ -n "$addr" ] && break
    sleep 0.1
done
[ -n "$addr" ] || { cat "$data/seine.log" >&2; exit 1; }

"$SEINE" bench select "${forms[@]}" --addr "$addr" "${peers[@]}" --rows "$ROWS" --ids "$IDS" --runs "$RUNS" \
    --seconds "$SECONDS_EACH" $CSV ${SVG:+--svg "$SVG"} "$@"
