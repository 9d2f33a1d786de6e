#!/usr/bin/env python3
"""Records touches by Chromium's own navigation, through nginx and Caddy with the recipes of docs/attribution.md.

usage: tests/clients/touches.py BINARY
SEINE_TEST_CHROMIUM, SEINE_TEST_NGINX and SEINE_TEST_CADDY name other programs. Without the browser, or without a proxy, the script says
what it leaves out. Each host name leads to the proxy on this machine, so that arrivals have the referrers of real ones.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHOP = "http://www.shop.example"
SCRIPT = "<script src='/seine/touch.js'></script>"
SHOWN = "<pre id=out></pre><script>document.getElementById('out').textContent = document.cookie</script>"
LOADS = 50
MEDIAN_MS = 1.0

PAGES = {
    "landing.html": SCRIPT + "<script>multitouch()</script>" + SHOWN,
    "go.html": "<script>location.href = location.hash.slice(1)</script>",
    "twice.html": (SCRIPT + "<script>multitouch('twice')</script>") * 2 + SHOWN,
    "order.html": SCRIPT
    + "<script>multitouch_event('1', '5.00', 'EUR'); multitouch_event('2', '600.5', 'EUR');"
    + " multitouch_event('2', '600.5', 'EUR')</script>"
    + SHOWN,
    "overflow.html": SCRIPT
    + "<script>for (let k = 0; k < 80; k++) multitouch_event('o' + k, '123456.78', 'EUR')</script>"
    + SHOWN,
    "domain.html": SCRIPT
    + "<script>_mtt = new MultiTouchTracker({cookie_domain: '.shop.example'});"
    + " document.title = multitouch()</script><script>document.write(document.title)</script>"
    + SHOWN,
    "repeat.html": "<script>let body = JSON.stringify({id: '00000000000000aa', time: Math.floor(Date.now() / 1000),"
    + " source: 'repeated'}); navigator.sendBeacon('/seine/touch', body); navigator.sendBeacon('/seine/touch', body)</script>"
    + SHOWN,
    # The time of the script itself, and of the call, most of which the browser takes to read the cookie.
    "speed.html": "<pre id=out></pre><script>let asked = new XMLHttpRequest(); asked.open('GET', '/seine/touch.js', false);"
    + " asked.send(); let loads = [], calls = []; for (let k = 0; k < %d; k++) {" % LOADS
    + " delete window.MultiTouchTracker; delete window._mtt; let begun = performance.now();"
    + " (0, eval)(asked.responseText); let loaded = performance.now(); multitouch('speed' + k);"
    + " loads.push(loaded - begun); calls.push(performance.now() - loaded); }"
    + " let median = all => all.sort((a, b) => a - b)[all.length >> 1];"
    + " document.getElementById('out').textContent = median(loads) + ' ' + median(calls)</script>",
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as held:
        return held.getsockname()[1]


def wait_for(about, ask):
    """What `ask` gives once it is true; a browser's beacon may arrive after its page."""
    until = time.monotonic() + 30
    while time.monotonic() < until:
        given = ask()
        if given:
            return given
        time.sleep(0.05)
    raise SystemExit(f"touches.py: {about}: not within 30 s")


def recipe(name):
    """The lines that the page gives for a proxy."""
    page = (ROOT / "docs/attribution.md").read_text(encoding="utf-8")
    found = re.search(rf"cat > {name} <<'END'\n(.*?)\nEND\n", page, re.S)
    assert found, name
    return found.group(1)


class Site:
    """A server, a proxy before it, and browsers."""

    def __init__(self, binary, browser, scratch):
        self.browser, self.scratch = browser, scratch
        self.processes = []
        self.http = free_port()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SEINE_")}
        environment["SEINE_TOUCH_ORIGINS"] = f"{SHOP}, http://*.shop.example"
        arguments = ["serve", "--data", scratch / "data", "--mysql", "127.0.0.1:0", "--http", f"127.0.0.1:{self.http}", "--scribe", "off"]
        silent = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        server = subprocess.Popen([binary, *arguments], env=environment, cwd=scratch, **silent)
        self.processes.append(server)
        assert server.stdout.readline().startswith("ready")
        self.pages = scratch / "pages"
        self.pages.mkdir()
        for name, text in PAGES.items():
            (self.pages / name).write_text("<!doctype html><meta charset=utf-8>" + text, encoding="utf-8")

    def proxy(self, command):
        self.processes.append(subprocess.Popen(command, cwd=self.scratch, stderr=subprocess.DEVNULL))
        wait_for("the proxy", self.is_open)

    def is_open(self):
        with socket.socket() as one:
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def nginx(self, program):
        self.port = free_port()
        lines = recipe("nginx.conf").replace("9308", str(self.http))
        temporary = "".join(
            f"{kind}_temp_path {self.scratch}/{kind}; " for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (self.scratch / "nginx.conf").write_text(
            f"daemon off; pid {self.scratch}/nginx.pid; error_log stderr; worker_processes 1; "
            + ("user root; " if os.getuid() == 0 else "")
            + f"events {{}} http {{ types {{ text/html html; }} access_log off; {temporary}"
            f"server {{ listen 127.0.0.1:{self.port}; root {self.pages};\n{lines}\n}} }}\n",
            encoding="utf-8",
        )
        self.proxy([program, "-p", str(self.scratch), "-c", str(self.scratch / "nginx.conf")])

    def caddy(self, program):
        self.port = free_port()
        lines = recipe("Caddyfile").replace("9308", str(self.http))
        (self.scratch / "Caddyfile").write_text(
            f"{{\nadmin off\nauto_https off\n}}\nhttp://:{self.port} {{\n{lines}\nroot * {self.pages}\nfile_server\n}}\n",
            encoding="utf-8",
        )
        self.proxy([program, "run", "--config", str(self.scratch / "Caddyfile"), "--adapter", "caddyfile"])

    def visit(self, url, profile="visitor", is_timed=False):
        """The page's DOM once it and what it led to is loaded."""
        command = [
            *[self.browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"],
            *["--disable-background-networking", "--disable-component-update", "--disable-features=HttpsUpgrades"],
            f"--user-data-dir={self.scratch / profile}",
            f"--host-resolver-rules=MAP *:80 127.0.0.1:{self.port}",
            *([] if is_timed else ["--virtual-time-budget=4000"]),
            *["--dump-dom", url],
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    def cookie(self, url, **how):
        """The cookie of the old library, as the page's scripts see it. None sees the visitor's id."""
        dom = self.visit(url, **how)
        shown = re.search(r"<pre id=\"out\">(.*?)</pre>", dom, re.S)
        assert shown, dom
        assert "seine_visitor" not in shown.group(1), dom
        pairs = dict(pair.split("=", 1) for pair in shown.group(1).split("; ") if "=" in pair)
        held = urllib.parse.unquote(pairs.get("multitouch", ""))
        return [re.sub(r"!\d+$", "", record) for record in held.split("*") if record]

    def sql(self, statement):
        asked = urllib.request.Request(f"http://127.0.0.1:{self.http}/cli_json", statement.encode())
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)[0]

    def rows(self, condition):
        found = self.sql(f"SELECT visitor, source, medium, subcat, order_id, value FROM touches WHERE {condition} LIMIT 1000")
        return found["data"]

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait(30)


def check(about, got, wanted):
    if got != wanted:
        raise SystemExit(f"touches.py: {about}:\n  wanted {wanted}\n  got    {got}")


def walk(site):
    """A visitor's way through the shop, and what is recorded of it."""
    search = ["baidu!organic!"]
    check("from a search engine", site.cookie(f"http://www.baidu.com/go.html#{SHOP}/landing.html"), search)
    check("a link within the site", site.cookie(f"{SHOP}/go.html#{SHOP}/landing.html"), search)
    both = ["newsletter!email!"] + search
    check("a campaign's link", site.cookie(f"{SHOP}/landing.html?utm_source=newsletter&utm_medium=email"), both)
    check("a script loaded twice", site.cookie(f"{SHOP}/twice.html"), ["direct!!twice"] + both)
    orders = ["__ORD!2!600.5", "__ORD!1!5.00", "direct!!twice"] + both
    check("several orders", site.cookie(f"{SHOP}/order.html"), orders)
    touches = wait_for("the touches", lambda: (rows := site.rows("value IS NULL")) and len(rows) == 3 and rows)
    names = sorted((row["source"], row["medium"], row["subcat"]) for row in touches)
    check("their rows", names, [("baidu", "organic", ""), ("direct", "", "twice"), ("newsletter", "email", "")])
    orders = wait_for("the orders", lambda: (rows := site.rows("value IS NOT NULL")) and len(rows) == 2 and rows)
    check("their ids", sorted(row["order_id"] for row in orders), ["1", "2"])
    visitors = {row["visitor"] for row in touches + orders}
    check("one visitor", len(visitors), 1)
    check("a private window", site.cookie(f"{SHOP}/landing.html", profile="private"), ["direct!!"])
    wait_for("the other visitor", lambda: len({row["visitor"] for row in site.rows("id > 0")}) == 2)
    site.cookie(f"{SHOP}/repeat.html")
    wait_for("the repeated beacon", lambda: len(site.rows("source = 'repeated'")) == 1)
    full = site.cookie(f"{SHOP}/overflow.html", profile="full")
    check("a full cookie: the youngest are kept", full[0], "__ORD!o79!123456.78")
    assert 60 < len(full) < 70, full
    wait_for("all orders of the full cookie", lambda: len(site.rows("value = 123456.78")) == 80)
    outside = site.visit("http://www.baidu.com/go.html#http://de.shop.example/domain.html", profile="domain")
    assert "baidu!organic!!" in outside, outside
    inside = site.visit(f"{SHOP}/go.html#http://de.shop.example/domain.html", profile="domain")
    assert "Internal" in inside, inside
    dom = site.visit(f"{SHOP}/speed.html", profile="speed", is_timed=True)
    load_ms, call_ms = map(float, re.search(r"<pre id=\"out\">(.*?)</pre>", dom).group(1).split())
    assert load_ms <= MEDIAN_MS, f"median of {LOADS} loads: {load_ms} ms"
    return f"{load_ms:.2f} ms to load and {call_ms:.2f} ms for the call"


def main(binary):
    browser = shutil.which(os.environ.get("SEINE_TEST_CHROMIUM", "chromium"))
    if not browser:
        print("touches.py: left out, no chromium here")
        return
    for name in ("nginx", "caddy"):
        program = shutil.which(os.environ.get(f"SEINE_TEST_{name.upper()}", name), path=os.environ["PATH"] + ":/usr/sbin")
        if not program:
            print(f"touches.py: left out, no {name} here")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            site = Site(binary, browser, Path(scratch))
            try:
                getattr(site, name)(program)
                times = walk(site)
            finally:
                site.stop()
        print(f"touches.py: {name}: recorded once, as wanted; the script took {times} (medians of {LOADS})")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]))
