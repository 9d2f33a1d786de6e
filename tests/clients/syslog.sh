#!/usr/bin/env bash
# Sends lines with logger, and through rsyslogd with a configuration of its own, and finds them in the files of their programs.
# Without rsyslogd the script leaves it out and says so.
# usage: syslog.sh TCP UDP FOLDER    TCP, UDP: HOST:PORT of the door; FOLDER: where a server without a configuration has its files
set -euo pipefail
tcp=$1 udp=$2 folder=$3
made=$(mktemp -d)
rsyslog=

finish() {
    status=$?
    if [ -n "$rsyslog" ] && kill -0 "$rsyslog" 2>/dev/null; then
        kill -TERM "$rsyslog"
        wait "$rsyslog" || true
    fi
    if [ "$status" != 0 ] && [ -s "$made/rsyslog.log" ]; then
        echo '-- the end of what rsyslogd said:' >&2
        tail -n 20 "$made/rsyslog.log" >&2
    fi
    rm -rf "$made"
    exit "$status"
}
trap finish EXIT

lines=200
seq --format 'line %g' "$lines" >"$made/lines"

# found CATEGORY: the last two words of each line of a category
found() {
    cat "$folder/$1/$1"-* 2>/dev/null | sed -n 's/.* \(line [0-9]*\)$/\1/p'
}

# holds CATEGORY: waits until each line is there, once and in order
holds() {
    for _ in $(seq 100); do
        found "$1" >"$made/found" || true # no file yet
        cmp -s "$made/found" "$made/lines" && return
        sleep 0.1
    done
    echo "$1: $(wc -l <"$made/found") of $lines lines, or not in order" >&2
    exit 1
}

# send CATEGORY ARGUMENT...: one logger, a message for each line
send() {
    local category=$1
    shift
    logger --server "${tcp%:*}" --port "${tcp##*:}" --tag "$category" --id=7 --file "$made/lines" "$@"
    holds "$category"
}

send logger_5424_line --tcp --rfc5424
send logger_5424_octets --tcp --rfc5424 --octet-count
send logger_3164_line --tcp --rfc3164
send logger_3164_octets --tcp --rfc3164 --octet-count
tcp=$udp send logger_5424_udp --udp --rfc5424
tcp=$udp send logger_3164_udp --udp --rfc3164
# The process id is no part of the category, and `<PRI>` no part of the line.
grep -q '^[A-Z][a-z][a-z] .* logger_3164_line\[7\]: line 1$' "$folder"/logger_3164_line/logger_3164_line-*
grep -q '^20.* logger_5424_line 7 - .*line 1$' "$folder"/logger_5424_line/logger_5424_line-*

if ! rsyslogd=$(PATH=$PATH:/usr/sbin:/sbin command -v rsyslogd); then
    echo 'left out: no rsyslogd here'
    exit 0
fi
forward() {
    printf "if \$programname == '%s' then action(type=\"omfwd\" target=\"%s\" port=\"%s\" %s)\n" "$1" "${2%:*}" "${2##*:}" "$3"
}
octets='protocol="tcp" TCP_Framing="octet-counted"'
{
    printf 'global(workDirectory="%s")\n' "$made"
    printf 'module(load="imuxsock" SysSock.Use="off")\ninput(type="imuxsock" Socket="%s/log" CreatePath="off")\n' "$made"
    forward rsyslog_line "$tcp" 'protocol="tcp"'
    forward rsyslog_octets "$tcp" "$octets"
    forward rsyslog_rfc5424 "$tcp" "$octets template=\"RSYSLOG_SyslogProtocol23Format\""
    forward rsyslog_iso "$tcp" "$octets template=\"RSYSLOG_ForwardFormat\""
    forward rsyslog_udp "$udp" 'protocol="udp"'
} >"$made/rsyslog.conf"
(
    # rsyslogd repeats some errors without end.
    ulimit -f 2048
    exec "$rsyslogd" -n -f "$made/rsyslog.conf" -i "$made/rsyslog.pid"
) >"$made/rsyslog.log" 2>&1 &
rsyslog=$!
for _ in $(seq 100); do
    [ -S "$made/log" ] && break
    sleep 0.1
done
for category in rsyslog_line rsyslog_octets rsyslog_rfc5424 rsyslog_iso rsyslog_udp; do
    logger --socket "$made/log" --tag "$category" --id=7 --file "$made/lines"
    holds "$category"
done
