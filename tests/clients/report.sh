#!/usr/bin/env bash
# Opens pages of reports in Chromium: nothing may stand in its console, no request may leave, and the page's script must have run.
# usage: tests/clients/report.sh [FILE...]
# Without a FILE: the pages that crates/report's tests compare; with SEINE, the binary, also that of seine log report --example.
# SEINE_TEST_CHROMIUM names the browser. Without one the script says so and ends.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v "${SEINE_TEST_CHROMIUM:-chromium}" || true)
[ -n "$browser" ] || { echo 'report.sh: left out, no chromium here'; exit 0; }
golden=$here/../../crates/report/src/golden
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ $# -eq 0 ]; then
    set -- "$golden/example.html" "$golden/hostile.html"
    if [ -n "${SEINE:-}" ]; then
        "$SEINE" log report --example --html "$scratch/log-example.html" >/dev/null
        set -- "$@" "$scratch/log-example.html"
    fi
fi

for page; do
    page=$(realpath -- "$page")
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update \
        --disable-sync --no-first-run --user-data-dir="$scratch/profile" --enable-logging=stderr \
        --log-net-log="$scratch/net.json" --virtual-time-budget=3000 --dump-dom "file://$page" \
        >"$scratch/dom" 2>"$scratch/log"
    if grep -a 'CONSOLE' "$scratch/log"; then
        echo "$page: the browser complains" >&2
        exit 1
    fi
    # What the browser asks its maker for has no origin; what a page asks for has that of the page, `null` for a file.
    if grep -ao '"initiator":"[^"]*"' "$scratch/net.json" | sort -u | grep -av 'not an origin'; then
        echo "$page: a request left" >&2
        exit 1
    fi
    grep -aq '<th[^>]*><button' "$scratch/dom" || { echo "$page: its script did not run" >&2; exit 1; }
    echo "$(basename "$page"): shown, silent, nothing asked for"
done
