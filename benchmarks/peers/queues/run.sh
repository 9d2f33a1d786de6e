#!/usr/bin/env bash
# Measures queues in turns: Seine at each of its sync modes, and beside it Redis streams, NATS JetStream and beanstalkd, each at its
# durable and at its default setting, and tables with SKIP LOCKED in MariaDB and PostgreSQL, durable. `x first` is the median of the
# ratios, turn by turn, to Seine's door `call` at sync=always.
#
#     benchmarks/peers/queues/run.sh [TEST…]          # tests of `seine bench queue`; without a name, the usual tests
#
# Needs Debian's apt-get (packages are unpacked beside the build, not installed), Go for NATS, Python 3, and a release build
# (SEINE names the binary). RUNS and SECONDS_EACH are `--runs` and `--seconds` of `seine bench`. DATA is a directory on the disk to
# measure. PEERS are some of: redis nats beanstalkd mariadb postgres. SYNCS are some of: always 100ms never. CSV=--csv prints CSV.
set -euo pipefail
ulimit -n "$(ulimit -Hn)"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
: "${SEINE:=$root/target/release/seine}" "${RUNS:=5}" "${SECONDS_EACH:=5}" "${CSV:=}"
: "${DATA:=$root/target}" "${CACHE:=$root/target/peers}" "${SYNCS:=always 100ms never}"
: "${PEERS=redis nats beanstalkd mariadb postgres}" "${NATS_VERSION:=v2.15.0}" "${DOORS:=call,statements}"

data=$(mktemp -d "$DATA/bench-queues-XXXXXX")
. "$root/benchmarks/servers.sh"

wanted() { case " $PEERS " in *" $1 "*) true ;; *) false ;; esac; }
peer() { start "$1" env LD_LIBRARY_PATH="$libraries" "${@:2}"; } # name, command…
beside=()

for sync in $SYNCS; do
    start "seine-$sync" env SEINE_SYNC="$sync" SEINE_CONNECTIONS_MAX=12000 "$SEINE" serve \
        --data "$data/seine-$sync/data" --mysql 127.0.0.1:0 --http 127.0.0.1:0
done

if wanted redis; then
    unpack redis-tools redis-server libjemalloc2 liblzf1 liblua5.1-0
    for setting in always everysec; do
        port=$(free_port)
        peer "redis-$setting" "$CACHE/root/usr/bin/redis-server" --port "$port" --bind 127.0.0.1 --save '' \
            --maxclients 20000 --appendonly yes --appendfsync "$setting" --dir "$data/redis-$setting"
        listening "$port" "redis-$setting"
        beside+=(--beside "redis-$setting=redis@127.0.0.1:$port")
    done
fi

if wanted nats; then
    [ -x "$CACHE/nats-server" ] || GOBIN="$CACHE" GOFLAGS=-modcacherw go install \
        "github.com/nats-io/nats-server/v2@$NATS_VERSION"
    for setting in always default; do
        port=$(free_port)
        mkdir -p "$data/nats-$setting"
        {
            echo "listen: 127.0.0.1:$port"
            echo "jetstream { store_dir: \"$data/nats-$setting\""
            if [ "$setting" = always ]; then echo 'sync_interval: always'; fi
            echo '}'
        } >"$data/nats-$setting.conf"
        peer "nats-$setting" "$CACHE/nats-server" -c "$data/nats-$setting.conf"
        listening "$port" "nats-$setting"
        beside+=(--beside "nats-$setting=nats@127.0.0.1:$port")
    done
fi

if wanted beanstalkd; then
    unpack beanstalkd
    for setting in f0 default; do
        port=$(free_port)
        flags=()
        if [ "$setting" = f0 ]; then flags=(-f0); fi
        mkdir -p "$data/beanstalkd-$setting"
        peer "beanstalkd-$setting" "$CACHE/root/usr/bin/beanstalkd" -l 127.0.0.1 -p "$port" \
            -b "$data/beanstalkd-$setting" "${flags[@]}"
        listening "$port" "beanstalkd-$setting"
        beside+=(--beside "beanstalkd-$setting=beanstalkd@127.0.0.1:$port")
    done
fi

if wanted mariadb; then
    unpack mariadb-server-core libaio1 liburing2
    port=$(free_port)
    mkdir -p "$data/mariadb/mysql"
    peer mariadb "$CACHE/root/usr/sbin/mariadbd" --no-defaults --user="$(id -un)" --datadir="$data/mariadb" \
        --lc-messages-dir="$CACHE/root/usr/share/mysql" --character-sets-dir="$CACHE/root/usr/share/mysql/charsets" \
        --bind-address=127.0.0.1 --port="$port" --socket="$data/mariadb.sock" --pid-file="$data/mariadb.pid" \
        --skip-grant-tables --innodb-flush-log-at-trx-commit=1
    listening "$port" mariadb
    beside+=(--beside "mariadb=skip-locked@127.0.0.1:$port")
fi

if wanted postgres; then
    unpack postgresql-15 libpq5 libldap-2.5-0 libicu72 libxml2
    programs="$CACHE/root/usr/lib/postgresql/15/bin"
    as=()
    if [ "$(id -u)" = 0 ]; then # PostgreSQL refuses to run as root
        as=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
        chmod 711 "$data"
    fi
    port=$(free_port)
    mkdir -p "$data/postgres"
    if [ "$(id -u)" = 0 ]; then chown nobody:nogroup "$data/postgres"; fi
    LD_LIBRARY_PATH="$libraries" "${as[@]}" "$programs/initdb" --pgdata="$data/postgres/data" --username=seine \
        --auth=trust --no-locale --encoding=UTF8 >"$data/initdb.log" 2>&1 || { cat "$data/initdb.log" >&2; exit 1; }
    # The first three are the defaults of PostgreSQL, written out: a commit waits for fdatasync of the log.
    peer postgres "${as[@]}" "$programs/postgres" -D "$data/postgres/data" -h 127.0.0.1 -p "$port" -k '' \
        -c fsync=on -c synchronous_commit=on -c wal_sync_method=fdatasync -c max_connections=200 -c jit=off
    listening "$port" postgres
    beside+=(--beside "postgres=postgres@127.0.0.1:$port")
fi

first=
for sync in $SYNCS; do
    for _ in $(seq 300); do
        addr=$(sed -n 's/^ready mysql=\([^ ]*\).*/\1/p' "$data/seine-$sync.log")
        [ -n "$addr" ] && break
        sleep 0.1
    done
    [ -n "$addr" ] || { cat "$data/seine-$sync.log" >&2; exit 1; }
    if [ -z "$first" ]; then
        first=$addr
    else
        beside=(--beside "seine-$sync-call=call@$addr" --beside "seine-$sync-statements=statements@$addr" "${beside[@]}")
    fi
done

"$SEINE" bench queue "$@" --addr "$first" --door "$DOORS" "${beside[@]}" --data "$data" \
    --runs "$RUNS" --seconds "$SECONDS_EACH" $CSV
