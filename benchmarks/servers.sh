# Functions for scripts that start servers on this machine: source this file after `data` is set to a new folder.
# `stop` ends all servers that `start` began and removes the folder; it runs when the script ends.

pids=()
stop() {
    for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    pids=()
    rm -rf "$data"
}
trap stop EXIT
trap 'exit 1' INT TERM

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# file_store CATEGORY FOLDER: a configuration of Scribe whose one store writes the category to files in the folder.
file_store() {
    mkdir -p "$2"
    printf '%s\n' '<store>' "category=$1" type=file "file_path=$2" base_filename=bench max_size=100000000000 '</store>'
}

# listening PORT NAME: waits until a server listens; if none does, prints the log of NAME and ends the script.
listening() {
    for _ in $(seq 300); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.1
    done
    echo "$2 does not listen; its log:" >&2
    cat "$data/$2.log" >&2
    exit 1
}

# start NAME COMMAND…: starts a server with a log and a folder of that name.
start() {
    local name=$1
    shift
    mkdir -p "$data/$name"
    "$@" >>"$data/$name.log" 2>&1 &
    pids+=($!)
}

# unpack PACKAGE…: downloads and unpacks each Debian package once, below CACHE. Its programs need LD_LIBRARY_PATH=$libraries.
unpack() {
    mkdir -p "$CACHE/debs" "$CACHE/root"
    for package in "$@"; do
        [ -e "$CACHE/debs/.$package" ] && continue
        (cd "$CACHE/debs" && apt-get download -qq "$package" && dpkg-deb -x "$package"_*.deb "$CACHE/root")
        touch "$CACHE/debs/.$package"
    done
}
libraries="${CACHE:-}/root/usr/lib/x86_64-linux-gnu:${CACHE:-}/root/lib/x86_64-linux-gnu"
