"""A server of the binary that SEINE names, in a folder of its own."""

import os
import shutil
import socket
import subprocess
import tempfile
import time


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Server:
    def __init__(self, globals_=None):
        self.folder, self.port, self.globals = tempfile.mkdtemp(), free_port(), globals_
        if globals_:
            with open(f"{self.folder}/scribe.conf", "w") as conf:
                store = f"<store>\ncategory=default\ntype=file\nfile_path={self.folder}/files\n</store>\n"
                conf.write(f"{globals_}\n{store}")
        self.start()

    def start(self):
        command = [os.environ["SEINE"], "serve", "--data", f"{self.folder}/data", "--mysql", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        command += ["--scribe", f"127.0.0.1:{self.port}"]
        if self.globals:
            command += ["--scribe-config", f"{self.folder}/scribe.conf"]
        with open(f"{self.folder}/log", "a") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        if not self.process.stdout.readline():
            raise RuntimeError("the server did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder)

    def lines(self, category, count):
        """The lines of a category, once there are this many; fails after 30 seconds."""
        root = f"{self.folder}/files" if self.globals else f"{self.folder}/data/collected"
        end = time.monotonic() + 30
        while True:
            # One look at each: the server renames its link to the newest file meanwhile.
            paths = []
            if os.path.isdir(f"{root}/{category}"):
                with os.scandir(f"{root}/{category}") as entries:
                    paths = sorted(entry.path for entry in entries if entry.is_file(follow_symlinks=False))
            text = b""
            for path in paths:
                with open(path, "rb") as file:
                    text += file.read()
            lines = text.split(b"\n")[:-1]
            if len(lines) >= count:
                return lines
            assert time.monotonic() < end, f"{len(lines)} of {count} lines of {category}"
            time.sleep(0.05)
