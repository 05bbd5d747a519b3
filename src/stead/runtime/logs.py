"""The daemon's log: a file of the home, bounded, in which no value of the vault may stand.

Layer: runtime. Knows how lines are written and cleaned; knows nothing of what they say.
"""

from __future__ import annotations

import logging
import logging.handlers
import os

from stead.config import Home, Settings
from stead.runtime.secrets import SecretBook

_BYTES = 5_000_000
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"


def start_log(home: Home, settings: Settings) -> None:
    """Log to the home's file, bounded, readable by its owner alone."""
    os.close(os.open(home.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600))
    handler = logging.handlers.RotatingFileHandler(home.log, maxBytes=_BYTES, backupCount=3, encoding="utf-8")
    handler.setFormatter(logging.Formatter(_FORM))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler], force=True)
    for noisy in ("httpcore2", "uvicorn", "asyncio"):
        # They log requests with their headers or bodies at lower levels, and a key must never reach a log.
        logging.getLogger(noisy).setLevel(logging.WARNING)


def clean_log(book: SecretBook) -> None:
    """From now on write lines without the values that the book knows."""
    for handler in logging.getLogger().handlers:
        handler.setFormatter(CleanLines(book))


class CleanLines(logging.Formatter):
    """Lines of the log, traceback and all, without the values that the vault knows.

    Args:
        book: knows them.
    """

    def __init__(self, book: SecretBook) -> None:
        super().__init__(_FORM)
        self._book = book

    def format(self, record: logging.LogRecord) -> str:
        """See ``logging.Formatter``. A line of our own words and numbers needs no cleaning, and the first one costs."""
        line = super().format(record)
        told = isinstance(record.args, tuple) and all(isinstance(arg, int) for arg in record.args)
        return line if told and not record.exc_text else self._book.redactor().clean(line)
