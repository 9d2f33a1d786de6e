#!/usr/bin/env bash
# Generates clients of Scribe in Python and Perl by the Thrift compiler, and drives the door with them and with seine cat and ctl.
# PHP's bindings are made and parsed.
# Without the compiler the script leaves the generated clients out and says so.
# usage: SEINE_BINARY=… run.sh HOST:PORT FOLDER    FOLDER: where a server without a configuration of Scribe has its files
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
idl=$here/../../../clients/idl
address=$1 folder=$2
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

printf 'one\ntwo\n' | "$SEINE_BINARY" cat -h "$address" words
printf 'all\nof it' | "$SEINE_BINARY" cat -h "$address" --whole words
for _ in $(seq 100); do
    [ "$(cat "$folder"/words/words-* 2>/dev/null)" = $'one\ntwo\nall\nof it' ] && break
    sleep 0.1
done
[ "$(cat "$folder"/words/words-*)" = $'one\ntwo\nall\nof it' ]
[ "$("$SEINE_BINARY" ctl -h "$address" status)" = ALIVE ]
"$SEINE_BINARY" ctl -h "$address" counters | grep -qx 'words:received good: 3'
if "$SEINE_BINARY" cat -h 127.0.0.1:1 words </dev/null 2>/dev/null; then
    echo 'seine cat found a server where none is' >&2
    exit 1
fi

if ! command -v thrift >/dev/null; then
    echo 'left out: no Thrift compiler here'
    exit 0
fi
thrift -r --gen py -o "$made" "$idl/scribe.thrift"
python=
for candidate in "${SEINE_TEST_PYTHON:-python3}" python3 /usr/bin/python3; do
    "$candidate" -c 'import thrift' 2>/dev/null && python=$candidate && break
done
[ -n "$python" ] || { echo 'no Python has the package thrift' >&2; exit 1; }
PYTHONPATH="$made/gen-py" "$python" "$here/client.py" "${address%:*}" "${address##*:}" "$folder"
if ! perl -MThrift::BinaryProtocol -MClass::Accessor -e 1 2>/dev/null; then
    echo 'left out: no Thrift for Perl here'
    exit 0
fi
thrift -r --gen perl -o "$made" "$idl/scribe.thrift"
perl -I"$made/gen-perl" "$here/client.pl" "${address%:*}" "${address##*:}"
if ! command -v php >/dev/null; then
    echo 'left out: no PHP here'
    exit 0
fi
mkdir "$made/php"
thrift -r --gen php -out "$made/php" "$idl/scribe.thrift"
find "$made/php" -name '*.php' -print0 | xargs -0 -n 1 php -l >/dev/null
[ -f "$made/php/Scribe/Thrift/scribeClient.php" ]
