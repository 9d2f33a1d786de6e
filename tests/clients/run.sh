#!/usr/bin/env bash
# Starts servers in directories of their own and drives them with the mysql client, PyMySQL, SQLAlchemy, MariaDB's and MySQL's
# drivers for Java, PHP's PDO, sqlx, Perl DBI, DBIx::Class, libmysqlclient, elasticsearch-py, curl, logger and rsyslogd; then loads
# that are killed, costly statements beside short ones, pages of reports in Chromium, and touches of Chromium through nginx and Caddy.
# .ci/run installs the clients and names their places in SEINE_TEST_PYTHON (PyMySQL, SQLAlchemy), SEINE_TEST_JARS, SEINE_TEST_SQLX
# and SEINE_TEST_ELASTIC. Without DBD::mysql or DBIx::Class, without a C compiler or libmysqlclient, and without SEINE_TEST_ELASTIC
# the script leaves out the clients concerned and says so. Any other missing client fails it.
# usage: tests/clients/run.sh [BINARY]    (default: the release build)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-${CARGO_TARGET_DIR:-$here/../../target}/release/seine}
# An absolute path, since the server starts in another directory.
binary=$(realpath -- "$binary")
[ -x "$binary" ] || { echo "no binary at $binary: build it with cargo build --release" >&2; exit 1; }
scratch=$(mktemp -d)
server=

finish() {
    status=$?
    if [ -n "$server" ] && kill -0 "$server" 2>/dev/null; then
        kill -KILL "$server"
    fi
    if [ "$status" != 0 ] && [ -s "$scratch/log" ]; then
        echo '-- the end of the server log:' >&2
        tail -n 20 "$scratch/log" >&2
    fi
    rm -rf "$scratch"
    exit "$status"
}
trap finish EXIT

# start NAME MYSQL: starts a server with a new directory. $ready gets its ready line, $server its process id.
start() {
    mkfifo "$scratch/ready.$1"
    (
        cd "$scratch"
        exec "$binary" serve --data "$scratch/data.$1" --mysql "$2" --http 127.0.0.1:0 --scribe 127.0.0.1:0 \
            --syslog 127.0.0.1:0 --syslog-udp 127.0.0.1:0
    ) >"$scratch/ready.$1" 2>"$scratch/log" &
    server=$!
    exec 3<"$scratch/ready.$1"
    read -r -t 30 ready <&3 || { echo 'the server did not say that it is ready' >&2; exit 1; }
}

# stop: sends SIGTERM; the server must end with status 0.
stop() {
    kill -TERM "$server"
    wait "$server" || { echo "the server ended with status $? after SIGTERM" >&2; exit 1; }
    server=
}

# queues TEXT: runs Q4M's clients by TCP, or at the unix socket SEINE_SOCKET. TEXT goes behind their names.
queues() {
    echo "-- queue_pymysql.py$1"
    "${SEINE_TEST_PYTHON:-python3}" "$here/queue_pymysql.py"
    if perl -MDBD::mysql -e 1 2>/dev/null; then
        echo "-- queue_dbi.pl$1"
        perl "$here/queue_dbi.pl"
    else
        echo '-- queue_dbi.pl: left out, no DBD::mysql here'
    fi
    if command -v cc >/dev/null && command -v mysql_config mariadb_config >/dev/null; then
        echo "-- queue_c.sh$1"
        bash "$here/queue_c.sh"
    else
        echo '-- queue_c.sh: left out, no C compiler or no libmysqlclient here'
    fi
}

start tcp 127.0.0.1:0
mysql=$(sed -n 's/.*mysql=\([^ ]*\).*/\1/p' <<<"$ready")
http=$(sed -n 's/.*http=\([^ ]*\).*/\1/p' <<<"$ready")

export SEINE_HOST=${mysql%:*} SEINE_PORT=${mysql##*:} SEINE_HTTP=http://$http
export SEINE_SCRATCH=$scratch
scribe=$(sed -n 's/.*scribe=\([^ ]*\).*/\1/p' <<<"$ready")
echo '-- scribe/run.sh'
SEINE_BINARY=$binary bash "$here/scribe/run.sh" "$scribe" "$scratch/data.tcp/collected"
SEINE_BINARY=$binary bash "$here/scribe_packages.sh"
echo '-- syslog.sh'
syslog=$(sed -n 's/.*syslog=\([^ ]*\).*/\1/p' <<<"$ready")
syslog_udp=$(sed -n 's/.*syslog_udp=\([^ ]*\).*/\1/p' <<<"$ready")
bash "$here/syslog.sh" "$syslog" "$syslog_udp" "$scratch/data.tcp/collected"
for client in "$here"/mysql.sh "$here"/http.sh "$here"/elastic.sh; do
    echo "-- $(basename "$client")"
    bash "$client"
done
echo '-- pymysql_client.py'
"${SEINE_TEST_PYTHON:-python3}" "$here/pymysql_client.py"
echo '-- sqlalchemy_client.py'
"${SEINE_TEST_PYTHON:-python3}" "$here/sqlalchemy_client.py"
echo '-- many_rows_sqlalchemy.py'
"${SEINE_TEST_PYTHON:-python3}" "$here/many_rows_sqlalchemy.py"
echo '-- joins_sqlite.py'
"${SEINE_TEST_PYTHON:-python3}" "$here/joins_sqlite.py"
echo '-- groups_sqlite.py'
"${SEINE_TEST_PYTHON:-python3}" "$here/groups_sqlite.py"
echo '-- pdo_client.php'
php "$here/pdo_client.php"
echo '-- jdbc.sh'
bash "$here/jdbc.sh"
echo '-- sqlx'
"${SEINE_TEST_SQLX:?names the program that tests/clients/sqlx makes}"
# SEINE_TEST_ELASTIC: one interpreter for each major version of elasticsearch-py, with blanks between.
echo '-- elastic_client.py'
for python in ${SEINE_TEST_ELASTIC:-}; do
    "$python" "$here/elastic_client.py"
done
[ -n "${SEINE_TEST_ELASTIC:-}" ] || echo 'left out: SEINE_TEST_ELASTIC names no Python with elasticsearch-py'
if perl -MDBD::mysql -e 1 2>/dev/null; then
    echo '-- dbi_client.pl'
    perl "$here/dbi_client.pl"
else
    echo '-- dbi_client.pl: left out, no DBD::mysql here'
fi
if perl -MDBD::mysql -MDBIx::Class -e 1 2>/dev/null; then
    echo '-- many_rows_dbic.pl'
    perl "$here/many_rows_dbic.pl"
else
    echo '-- many_rows_dbic.pl: left out, no DBD::mysql or no DBIx::Class here'
fi

queues ''
stop

start socket "unix:$scratch/mysql.sock"
export SEINE_SOCKET=$scratch/mysql.sock
queues ' by a unix socket'
stop
echo '-- load.sh'
bash "$here/load.sh" "$binary"
echo '-- attacks.sh'
bash "$here/attacks.sh" "$binary"
echo '-- report.sh'
SEINE="$binary" bash "$here/report.sh"
echo '-- touches.py'
python3 "$here/touches.py" "$binary"
echo 'clients: all passed'
