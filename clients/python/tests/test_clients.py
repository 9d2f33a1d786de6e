import logging
import os
import threading
import unittest

from seine_scribe import BufferedClient, Client, Refused, ScribeError, ScribeHandler, TryLater

from server import Server, free_port


def unique(lines):
    return list(dict.fromkeys(lines))


@unittest.skipUnless(os.environ.get("SEINE"), "SEINE names no binary of a server")
class Clients(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.addCleanup(self.server.close)

    def client(self, **options):
        return Client("127.0.0.1", self.server.port, **options)

    def buffered(self, **options):
        return BufferedClient("127.0.0.1", self.server.port, **options)

    def test_messages_of_any_kind_are_kept_as_they_came(self):
        with self.client() as client:
            client.log("odd", [b"a\0b\n", "\n", "é ü\n", b"\xff\xfe\n"])
            client.log("odd", [])
            large = b"x" * (64 << 20) + b"\n"
            client.log("large", [large])
        self.assertEqual(self.server.lines("odd", 4), [b"a\0b", b"", "é ü".encode(), b"\xff\xfe"])
        self.assertEqual(len(self.server.lines("large", 1)[0]), 64 << 20)

    def test_a_client_connects_again_after_the_server_was_killed(self):
        with self.client() as client:
            client.log("web", ["1\n"])
            self.server.kill()
            with self.assertRaises(ScribeError):
                client.log("web", ["2\n"])
            self.server.start()
            client.log("web", ["3\n"])
        lines = unique(self.server.lines("web", 2))
        self.assertEqual(lines, [b"1", b"3"])

    def test_a_buffered_client_sends_everything_in_order_while_the_server_is_killed(self):
        client = self.buffered(batch_messages=7, pause_max=0.2)
        for number in range(500):
            client.log("web", [f"{number}\n"])
            if number % 200 == 100:
                self.server.kill()
                self.server.start()
        self.assertEqual(client.close(), 0)
        self.assertEqual(unique(self.server.lines("web", 500)), [str(number).encode() for number in range(500)])
        with self.assertRaises(ScribeError):
            client.log("web", ["late"])

    def test_the_messages_of_each_thread_stay_in_order(self):
        with self.buffered() as client:
            def send(name):
                for number in range(2_000):
                    client.log("web", [f"{name} {number}\n"])
            threads = [threading.Thread(target=send, args=(name,)) for name in "abc"]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertTrue(client.flush(30))
        lines = self.server.lines("web", 6_000)
        for name in "abc":
            own = [line for line in lines if line.startswith(name.encode())]
            self.assertEqual(own, [f"{name} {number}".encode() for number in range(2_000)])

    def test_a_full_buffer_blocks_until_the_server_takes_messages(self):
        self.server.kill()
        client = self.buffered(buffer_bytes=10_000, pause_max=0.1)
        sent = []

        def send():
            for number in range(300):
                client.log("web", ["x" * 99 + "\n"])
                sent.append(number)

        thread = threading.Thread(target=send)
        thread.start()
        thread.join(1)
        self.assertTrue(thread.is_alive())
        # The buffer, and the call that is under way.
        self.assertLess(len(sent), 250)
        self.server.start()
        thread.join(30)
        self.assertEqual(client.close(), 0)
        self.assertEqual(len(sent), 300)

    def test_close_tells_how_many_messages_were_not_sent(self):
        client = BufferedClient("127.0.0.1", free_port())
        client.log("web", ["x\n"] * 5)
        self.assertEqual(client.close(0.2), 5)

    def test_try_later_is_raised_and_a_buffered_client_tries_again(self):
        strict = Server("max_msg_per_second=10")
        self.addCleanup(strict.close)
        with Client("127.0.0.1", strict.port) as client, self.assertRaises(TryLater):
            for _ in range(100):
                client.log("web", ["x\n"])
        with BufferedClient("127.0.0.1", strict.port, batch_messages=2, pause_max=0.2) as client:
            client.log("kept", [f"{number}\n" for number in range(15)])
        self.assertEqual(strict.lines("kept", 15), [str(number).encode() for number in range(15)])

    def test_what_the_server_can_never_take_is_refused_and_the_rest_goes_on(self):
        conf = Server(f"max_conn=0\n<store>\ncategory=rows\ntype=index\ntable=rows\n</store>")
        self.addCleanup(conf.close)
        large = "x" * (17 << 20)
        with Client("127.0.0.1", conf.port) as client:
            with self.assertRaisesRegex(Refused, "too long for column"):
                client.log("rows", [large])
            client.log("rows", ["fits"])
        refused = []
        told = lambda count, why: refused.append((count, why))
        with BufferedClient("127.0.0.1", conf.port, on_refused=told) as client:
            client.log("rows", [large])
            client.log("web", ["next\n"])
        self.assertEqual(refused[0][0], 1)
        self.assertEqual(conf.lines("web", 1), [b"next"])

    def test_a_handler_sends_records_by_their_category(self):
        handler = ScribeHandler(None, "127.0.0.1", self.server.port)
        handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
        logger = logging.getLogger("shop")
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        logger.warning("a %s", "line")
        logger.error("other", extra={"category": "errors"})
        handler.flush()
        self.assertEqual(self.server.lines("shop", 1), [b"WARNING a line"])
        self.assertEqual(self.server.lines("errors", 1), [b"ERROR other"])
        handler.close()


if __name__ == "__main__":
    unittest.main()
