"""Sends log messages to Seine, or to a Scribe server."""

from .buffered import BufferedClient
from .client import Client, Refused, ScribeError, TryLater
from .handler import ScribeHandler

__all__ = ["BufferedClient", "Client", "Refused", "ScribeError", "ScribeHandler", "TryLater"]
