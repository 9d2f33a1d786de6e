"""A handler of the module logging."""

from __future__ import annotations

import logging
from typing import Any, Optional

from .buffered import BufferedClient


class ScribeHandler(logging.Handler):
    """Sends each record, formatted, as a message with a line feed. A record may name its category: `extra={"category": "web"}`.

    `category=None`: the logger's name is the category. Options are those of BufferedClient. The program's own messages about
    sending, of the logger `seine_scribe`, are not sent.
    """

    def __init__(self, category: Optional[str] = None, host: str = "localhost", port: int = 1463, **options: Any) -> None:
        super().__init__()
        self._category = category
        self._client = BufferedClient(host, port, **options)

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.split(".")[0] == "seine_scribe":
            return
        try:
            category = getattr(record, "category", None) or self._category or record.name
            self._client.log(category, [self.format(record) + "\n"])
        except Exception:  # logging's own rule: a handler throws nothing at the caller
            self.handleError(record)

    def flush(self) -> None:
        self._client.flush(5.0)

    def close(self) -> None:
        left = self._client.close()
        if left:
            logging.getLogger("seine_scribe").error("%d messages were not sent", left)
        super().close()
