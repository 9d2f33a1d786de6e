#!/usr/bin/env bash
# Costly statements of every class of benchmarks/attacks.py over small data. Beside them, look-ups, logins, /livez, KILL, INSERT and
# Scribe must be answered, and SIGTERM obeyed. --slack 10: bounds ten times the documented ones, or ten times what the same call
# takes on the idle server, and a second measurement before a class counts as failed; so a busy machine passes, a held thread not.
# It takes a minute and a half. benchmarks/README.md says what is measured.
# usage: tests/clients/attacks.sh [BINARY]    (default: the release build)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
binary=${1:-${CARGO_TARGET_DIR:-$here/../../target}/release/seine}
binary=$(realpath -- "$binary")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"${SEINE_TEST_PYTHON:-python3}" -B "$here/../../benchmarks/stall.py" "$binary" "$scratch" --small --slack 10
