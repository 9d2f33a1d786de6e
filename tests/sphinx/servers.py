"""Starts Sphinx and Seine with the same rows in two tables: `plain` without settings, `english` with stems and sentences."""

import html
import signal
import subprocess
import threading
import time

import pymysql

from generate import PARAGRAPH

TABLES = ("plain", "english")
INSERTED = 10_000  # rows of one INSERT
CONFIGURATION = """
source rows
{{
    type = tsvpipe
    tsvpipe_command = cat '{folder}/rows.tsv'
    tsvpipe_field = title
    tsvpipe_field = body
    tsvpipe_attr_uint = kind
}}
index plain
{{
    source = rows
    path = {folder}/plain
    dict = keywords
    min_infix_len = 1
    mlock = 0
    html_strip = 1
}}
index english : plain
{{
    path = {folder}/english
    morphology = stem_en
    index_exact_words = 1
    index_sp = 1
}}
indexer
{{
    mem_limit = 64M
}}
searchd
{{
    listen = {folder}/socket:mysql41
    listen = {folder}/api:sphinx
    workers = threads
    pid_file = {folder}/pid
    binlog_path =
    log = {folder}/log
    query_log = /dev/null
    max_children = 0
}}
"""


class Server:
    """A process that speaks MySQL's protocol at a unix socket. Each thread has its own connection to it."""

    def __init__(self, command, socket, says_ready):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE if says_ready else subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if says_ready:
            self.process.stdout.readline()
        self.socket, self.connected = str(socket), threading.local()

    def connect(self):
        """Opens a connection; tries again for 60 seconds while the process starts."""
        until = time.monotonic() + 60
        while True:
            try:
                return pymysql.connect(unix_socket=self.socket, user="root", charset="utf8mb4", autocommit=None)
            except pymysql.err.OperationalError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def sql(self, statement, *arguments):
        if not hasattr(self.connected, "cursor"):
            self.connected.cursor = self.connect().cursor()
        self.connected.cursor.execute(statement, arguments or None)
        return self.connected.cursor.fetchall()

    def found(self, table, text, ranker="none"):
        """Pairs (id, weight), best first, at most 1,000; or the text of an error."""
        statement = f"SELECT id, weight() FROM {table} WHERE MATCH(%s) ORDER BY weight() DESC, id ASC LIMIT 1000 OPTION ranker={ranker}"
        try:
            return list(self.sql(statement, text))
        except pymysql.err.Error as error:
            return str(error.args[-1]).rstrip("\0")

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def searchd(configuration):
    """Makes the indexes of a configuration and starts Debian's sphinxsearch with it, which listens at `socket` in the same folder."""
    subprocess.run(["indexer", "--quiet", "--config", str(configuration), "--all"], check=True, stdout=subprocess.DEVNULL)
    return Server(["searchd", "--nodetach", "--config", str(configuration)], configuration.parent / "socket", False)


def sphinx(folder, documents):
    """Starts Sphinx with the documents. Writes the end of a paragraph as `<p>`, which Sphinx knows."""
    with (folder / "rows.tsv").open("w", encoding="utf-8") as rows:
        for number, title, body in documents:
            fields = (html.escape(field).replace(PARAGRAPH, " <p> ") for field in (title, body))
            rows.write(f"{number}\t" + "\t".join(fields) + "\t0\n")
    configuration = folder / "sphinx.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder), encoding="utf-8")
    return searchd(configuration)


def seine(binary, folder, documents):
    doors = ["--mysql", f"unix:{folder}/seine", "--http", "127.0.0.1:0"]
    server = Server([binary, "serve", "--data", str(folder / "data"), *doors], folder / "seine", True)
    server.sql("CREATE TABLE plain (title text, body text)")
    server.sql("CREATE TABLE english (title text, body text) morphology='stem_en' index_exact_words='1' index_sp='1'")
    for table in TABLES:
        for first in range(0, len(documents), INSERTED):
            some = documents[first : first + INSERTED]
            rows = ", ".join(["(%s, %s, %s)"] * len(some))
            server.sql(f"INSERT INTO {table} (id, title, body) VALUES {rows}", *(value for row in some for value in row))
    return server
