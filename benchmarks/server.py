"""A server on loopback for benchmarks that ask it by PyMySQL."""
import pathlib
import subprocess
import threading

import pymysql


class Server:
    """A server with its data in the folder `name` below a directory, which must be new."""

    def __init__(self, binary, directory, name):
        self.data = pathlib.Path(directory) / name
        command = [binary, "serve", "--data", self.data]
        for door in ("--mysql", "--http", "--scribe"):
            command += [door, "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if line.startswith("ready "):
                self.port = int(line.split("mysql=127.0.0.1:", 1)[1].split()[0])
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return
        raise SystemExit("the server did not start")

    def connect(self):
        return pymysql.connect(host="127.0.0.1", port=self.port, user="bench", autocommit=True)


def ask(connection, text):
    """The rows of all result sets."""
    with connection.cursor() as cursor:
        cursor.execute(text)
        rows = cursor.fetchall()
        while cursor.nextset():
            rows += cursor.fetchall()
        return rows
