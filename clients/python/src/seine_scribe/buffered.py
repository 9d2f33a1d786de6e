"""A client whose thread sends calls, in order, until the server has taken them."""

from __future__ import annotations

import collections
import logging
import threading
import time
from typing import Callable, Deque, Iterable, Optional

from .client import Client, Refused, ScribeError, Text, entries

_LOG = logging.getLogger("seine_scribe")


class BufferedClient:
    """Sends messages in the background. May be used by several threads; the messages of each stay in order.

    A call has up to `batch_messages` messages or `batch_bytes` bytes, whatever came within `linger` seconds. A call that fails
    is sent again after a pause, which doubles from 0.05 seconds up to `pause_max`. `log` blocks while `buffer_bytes` wait.

    Messages of a call that the server refuses for good are dropped: `on_refused` gets their number and the reason; without it,
    the logger `seine_scribe` does.
    """

    def __init__(
        self,
        host: str = "localhost",
        port: int = 1463,
        timeout: float = 30.0,
        *,
        batch_messages: int = 1_000,
        batch_bytes: int = 256 << 10,
        buffer_bytes: int = 64 << 20,
        linger: float = 0.01,
        pause_max: float = 5.0,
        on_refused: Optional[Callable[[int, str], None]] = None,
    ) -> None:
        self._client = Client(host, port, timeout)
        self._batch_messages, self._batch_bytes = batch_messages, batch_bytes
        self._buffer_bytes, self._linger, self._pause_max = buffer_bytes, linger, pause_max
        self._on_refused = on_refused
        self._waiting: Deque[bytes] = collections.deque()
        self._bytes = 0
        self._under_way = 0
        self._is_closing = False
        self._gives_up_at: Optional[float] = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="seine-scribe", daemon=True)
        self._thread.start()

    def log(self, category: Text, messages: Iterable[Text]) -> None:
        """Takes messages to send. Blocks while the buffer is full. Raises ScribeError after `close`."""
        made = entries(category, messages)
        taken = 0
        with self._changed:
            while taken < len(made):
                # One message above the bound is taken while none waits.
                self._changed.wait_for(
                    lambda: self._is_closing
                    or not self._waiting
                    or self._bytes + len(made[taken]) <= self._buffer_bytes
                )
                if self._is_closing:
                    raise ScribeError("the client is closed")
                was_empty = not self._waiting
                while taken < len(made) and (not self._waiting or self._bytes + len(made[taken]) <= self._buffer_bytes):
                    self._waiting.append(made[taken])
                    self._bytes += len(made[taken])
                    taken += 1
                if was_empty or self._is_full():
                    self._changed.notify_all()

    def flush(self, timeout: Optional[float] = None) -> bool:
        """Waits until the server has everything. False: it has not within `timeout` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._under_way, timeout)

    def close(self, timeout: float = 30.0) -> int:
        """Takes no more messages, and sends what waits for up to `timeout` seconds. The number of messages that were not sent."""
        with self._changed:
            self._is_closing = True
            self._gives_up_at = time.monotonic() + timeout
            self._changed.notify_all()
        self._thread.join()
        self._client.close()
        return len(self._waiting) + self._under_way

    def __enter__(self) -> BufferedClient:
        return self

    def __exit__(self, *_: object) -> None:
        left = self.close()
        if left:
            _LOG.error("%d messages were not sent", left)

    def _is_full(self) -> bool:
        return len(self._waiting) >= self._batch_messages or self._bytes >= self._batch_bytes

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closing)
                if not self._waiting:
                    return
                self._changed.wait_for(lambda: self._is_full() or self._is_closing, self._linger)
                batch = self._take()
            if not self._deliver(batch):
                return
            with self._changed:
                self._under_way = 0
                self._changed.notify_all()

    def _take(self) -> list[bytes]:
        batch, size = [], 0
        while self._waiting and len(batch) < self._batch_messages:
            if batch and size + len(self._waiting[0]) > self._batch_bytes:
                break
            made = self._waiting.popleft()
            batch.append(made)
            size += len(made)
        self._bytes -= size
        self._under_way = len(batch)
        self._changed.notify_all()
        return batch

    def _deliver(self, batch: list[bytes]) -> bool:
        """Sends a call until it is taken or refused. False: the time of `close` is over."""
        pause = 0.05
        while True:
            try:
                self._client.send(batch)
                return True
            except Refused as error:
                if self._on_refused is not None:
                    self._on_refused(len(batch), str(error))
                else:
                    _LOG.error("%d messages are dropped: %s", len(batch), error)
                return True
            except ScribeError as error:
                _LOG.debug("a call is sent again in %.2f s: %s", pause, error)
            with self._changed:
                if self._gives_up_at is not None and time.monotonic() >= self._gives_up_at:
                    return False
                left = self._gives_up_at and self._gives_up_at - time.monotonic()
                was_closing = self._is_closing
                self._changed.wait_for(
                    lambda: self._is_closing and not was_closing, pause if left is None else min(pause, max(left, 0.0))
                )
            pause = min(2 * pause, self._pause_max)
