"""What a broken request means: whose fault, and whether it may have cost something.

Layer: providers. No text that leaves here holds a key. Vendors tell of errors by an HTTP status, by words in the body
(a code, a type, Google's status) or only in a sentence; ``vendors.json`` holds what each of them says, and the most
exact of these is believed first.
"""

from __future__ import annotations

import email.utils
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import httpcore2
import msgspec

from stead.providers.failures import Failure, broken_connection, clean
from stead.providers.presets import ERRORS
from stead.providers.transport import UNSENT, Nonsense, Overflow, Silence

RETRY_AFTER_LIMIT_S = 24 * 3600.0


class Reported(Exception):
    """The provider tells of an error in the middle of a stream. ``error`` is what it says, as plain data."""

    def __init__(self, error: object) -> None:
        super().__init__("reported in the stream")
        self.error = error


_BY_WORD = {word: meaning for meaning in ERRORS for word in meaning.words}
_BY_STATUS = {status: meaning for meaning in ERRORS for status in meaning.statuses}


def broken(error: Exception, *, secret: str) -> Failure:
    """What an error of ``transport.BROKEN`` means.

    Args:
        error: what was raised.
        secret: the key, to be kept out of the text.
    """
    sent = not isinstance(error, UNSENT)
    match error:
        case Overflow():
            return Failure("malformed", clean(f"the answer has no end: {error}", secret), charged=sent)
        case Nonsense():
            return Failure("malformed", clean(f"nonsense on the wire: {error}", secret), charged=sent)
        case Silence():
            return Failure("timeout", clean(str(error), secret), charged=sent)
        case httpcore2.ConnectTimeout():
            return Failure("timeout", "no connection within the time limit", charged=sent)
        case _:
            pass
    said = broken_connection(error) or f"the connection broke: {str(error) or type(error).__name__}"
    return Failure("connection", clean(said, secret), charged=sent)


def refused(status: int, headers: Mapping[str, str], body: bytes, *, secret: str) -> Failure:
    """What an answer with another status than 200 means; nothing was charged for it.

    Args:
        status: of HTTP.
        headers: names in lower case.
        body: as much of it as came.
        secret: the key, to be kept out of the text.
    """
    if 300 <= status < 400:
        return Failure("refused", f"{status} redirects elsewhere, which is not followed", charged=False)
    described = _error_body(_plain(body))
    kind, words = _meaning(described, status) or (
        ("server", "server error") if status >= 500 else ("refused", "not accepted")
    )
    wait_s = _wait_s(headers, described)
    after = f", retry after {wait_s:g} s" if wait_s else ""
    said = f"{status} {words}{after}{_detail(kind, described)}"
    return Failure(kind, clean(said, secret), charged=False, retry_after_s=wait_s)


def reported(error: Reported, *, started: bool, secret: str) -> Failure:
    """What an error within a stream means.

    Args:
        error: what was raised.
        started: the model had begun to answer, so its tokens are being counted.
        secret: the key, to be kept out of the text.
    """
    described = _error_body(error.error)
    status = next((int(word) for word in described.words if word.isdecimal() and 400 <= int(word) < 600), 0)
    kind, words = _meaning(described, status) or ("server", "failed in the stream")
    wait_s = _wait_s({}, described)
    return Failure(kind, clean(words + _detail(kind, described), secret), charged=started, retry_after_s=wait_s)


class _ErrorBody(msgspec.Struct, frozen=True):
    """An error's body: what it is called, its sentence, and how long to wait."""

    words: tuple[str, ...] = ()
    message: str = ""
    wait: str = ""


def _plain(body: bytes) -> object:
    """What is in a body, nothing when it is no JSON."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return None


def _error_body(data: object) -> _ErrorBody:
    """What an error says, in whatever form; nothing where it is none that is known."""
    if isinstance(data, list) and data:
        data = data[0]
    if isinstance(data, dict):
        data = data.get("error", data)
    if isinstance(data, str):
        return _ErrorBody(message=data)
    if not isinstance(data, dict):
        return _ErrorBody()
    listed = data.get("details")
    details = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    named = [data.get("code"), data.get("type"), *(item.get("reason") for item in details), data.get("status")]
    words = tuple(str(word).lower() for word in named if isinstance(word, str | int))
    message, waits = data.get("message"), [item.get("retryDelay") for item in details]
    wait = next((delay for delay in waits if isinstance(delay, str)), "")
    return _ErrorBody(words, message if isinstance(message, str) else "", wait)


def _meaning(described: _ErrorBody, status: int) -> tuple[str, str] | None:
    sentence = described.message.lower()
    by_word = (_BY_WORD[word] for word in described.words if word in _BY_WORD)
    by_sentence = (meaning for meaning in ERRORS if any(part in sentence for part in meaning.sentences))
    meaning = next(by_word, None) or next(by_sentence, None) or _BY_STATUS.get(status)
    return (meaning.kind, meaning.said) if meaning else None


def _detail(kind: str, described: _ErrorBody) -> str:
    return f": {described.message}" if described.message and kind in ("refused", "server", "context") else ""


def _wait_s(headers: Mapping[str, str], described: _ErrorBody) -> float:
    """How long the provider asks to wait, in seconds; 0 when it does not say."""
    for waited_s in _waits(headers, described.wait):
        if math.isfinite(waited_s):
            return min(max(waited_s, 0.0), RETRY_AFTER_LIMIT_S)
    return 0.0


def _waits(headers: Mapping[str, str], delay: str) -> Iterator[float]:
    after = headers.get("retry-after", "")
    yield _number(headers.get("retry-after-ms", "")) / 1000
    yield _number(after)
    yield _until(after)
    yield _number(delay.removesuffix("s"))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _until(date: str) -> float:
    """Seconds until an HTTP date."""
    try:
        return (email.utils.parsedate_to_datetime(date).replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds()
    except ValueError:
        return math.nan
