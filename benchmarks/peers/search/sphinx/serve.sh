#!/usr/bin/env bash
# Serves a file of `id<TAB>words` with Sphinx 2.2.11. Makes the index, starts searchd, prints its address and its version, and
# runs until standard input ends.
#
#     benchmarks/peers/search/sphinx/serve.sh DOCUMENTS DIR
#
# Debian's package `sphinxsearch` and its libraries are unpacked below CACHE, not installed.
set -euo pipefail
documents=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
: "${CACHE:?a folder for the package}"

mkdir -p "$CACHE/debs" "$CACHE/root"
for package in sphinxsearch libmariadb3 libodbc2 libpq5 libre2-9 libstemmer0d libltdl7; do
    [ -e "$CACHE/debs/.$package" ] && continue
    (cd "$CACHE/debs" && apt-get download -qq "$package" 2>/dev/null && dpkg-deb -x "$package"_*.deb "$CACHE/root") >&2
    touch "$CACHE/debs/.$package"
done
export LD_LIBRARY_PATH="$CACHE/root/usr/lib/x86_64-linux-gnu:$CACHE/root/lib/x86_64-linux-gnu"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

# The words are folded already, so every letter stands for itself. Words of one letter count. No stemming, no stop words.
cat >"$dir/sphinx.conf" <<CONF
source records
{
    type = tsvpipe
    tsvpipe_command = cat '$documents'
    tsvpipe_field = body
}
index records
{
    source = records
    path = $dir/records
    docinfo = none
    dict = keywords
    min_word_len = 1
    mlock = 0
    charset_table = 0..9, a..z, _, U+80..U+2FFFF
}
indexer
{
    mem_limit = 1024M
}
searchd
{
    listen = 127.0.0.1:$port
    workers = threads
    dist_threads = 0
    max_children = 0
    pid_file = $dir/searchd.pid
    binlog_path =
    log = $dir/searchd.log
    query_log = /dev/null
    persistent_connections_limit = 64
}
CONF
if [ ! -e "$dir/made" ] || [ "$documents" -nt "$dir/made" ]; then
    "$CACHE/root/usr/bin/indexer" --quiet --config "$dir/sphinx.conf" records >&2
    touch "$dir/made"
fi
"$CACHE/root/usr/bin/searchd" --nodetach --config "$dir/sphinx.conf" >&2 &
searchd=$!
trap 'kill "$searchd" 2>/dev/null; wait "$searchd" 2>/dev/null || true' EXIT
for _ in $(seq 600); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
    kill -0 "$searchd" || exit 1
    sleep 0.1
done
about=$("$CACHE/root/usr/bin/searchd" --help | sed -n 1p)
echo "127.0.0.1:$port ${about%-id64*} (2016)"
cat >/dev/null
