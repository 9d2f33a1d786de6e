#!/usr/bin/env bash
# Builds the packages of clients/ in a folder of their own, and runs their tests against servers of this binary.
# usage: SEINE_BINARY=… scribe_packages.sh
set -euo pipefail
clients=$(cd "$(dirname "$0")/../../clients" && pwd)
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT

echo '-- clients/python'
cp -r "$clients/python" "$made"
(cd "$made/python" && SEINE=$SEINE_BINARY PYTHONPATH=src python3 -W error -m unittest discover -s tests)

echo '-- clients/perl'
cp -r "$clients/perl" "$clients/idl" "$made"
cd "$made/perl"
perl Makefile.PL >"$made/log" && make >>"$made/log" || { cat "$made/log" >&2; exit 1; }
SEINE=$SEINE_BINARY make test
if perl -MThrift -e 1 2>/dev/null; then
    perl -Mblib -MScribe::Thrift::scribe -e 'exit Scribe::Thrift::ResultCode::OK'
else
    echo 'left out: no Thrift for Perl here, so the bindings are not loaded'
fi
