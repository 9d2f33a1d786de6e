"""A server on loopback for benchmarks, and the costs that the kernel counts for it."""
import os
import pathlib
import subprocess
import threading
import time



class Server:
    """A server with its data in the folder `name` below a directory. A folder that exists is opened as it is."""

    def __init__(self, binary, directory, name, *flags):
        self.data = pathlib.Path(directory) / name
        command = [binary, "serve", "--data", self.data, *flags]
        for door in ("--mysql", "--http", "--scribe"):
            command += [door, "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            if line.startswith("ready "):
                pairs = [word.split("=127.0.0.1:", 1) for word in line.split()[1:]]
                self.ports = {door: int(port) for door, port in pairs}
                self.port = self.ports["mysql"]
                threading.Thread(target=self.process.stdout.read, daemon=True).start()
                return
        raise SystemExit(f"{binary} did not start")

    def connect(self):
        """A connection by PyMySQL. The module `doors` has one that needs nothing but Python."""
        import pymysql

        return pymysql.connect(host="127.0.0.1", port=self.port, user="bench", autocommit=True)

    def processor_time(self):
        return processor_time(self.process.pid)

    def settle(self, seconds_max):
        """Waits until the server does next to nothing: merges are over, statements have ended. Whether it came to that in time."""
        until = time.monotonic() + seconds_max
        while time.monotonic() < until:
            before = self.processor_time()
            time.sleep(0.25)
            if self.processor_time() - before < 0.03:
                return True
        return False

    def end(self, seconds_max=60):
        """Ends the server by SIGTERM, or after this time by SIGKILL. Gives the seconds that it took, None after SIGKILL."""
        begun = time.monotonic()
        self.process.terminate()
        try:
            self.process.wait(seconds_max)
            return time.monotonic() - begun
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self):
        self.process.kill()
        self.process.wait()


def processor_time(pid):
    """Seconds of processor that a process has taken, all its threads together, to the nanosecond: Linux's clock of the process."""
    return time.clock_gettime((~pid << 3) | 2)


def anonymous_mib(pid):
    """Anonymous memory of a process: mapped files, such as an index, do not count."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


def ask(connection, text):
    """The rows of all result sets of a connection by PyMySQL."""
    with connection.cursor() as cursor:
        cursor.execute(text)
        rows = cursor.fetchall()
        while cursor.nextset():
            rows += cursor.fetchall()
        return rows
