"""What a broken request means: whose fault, and whether it may have cost something.

Layer: providers. No text that leaves here holds a key. Vendors tell of errors by an HTTP status, by words in the body
(a code, a type, Google's status) or only in a sentence; the tables hold what each of them says, and the most exact of
these is believed first.
"""

from __future__ import annotations

import email.utils
import math
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import httpcore2
import msgspec

from stead.providers.failures import Failure, broken_connection, clean
from stead.providers.transport import UNSENT, Nonsense, Overflow, Silence

RETRY_AFTER_LIMIT_S = 24 * 3600.0


class Reported(Exception):
    """The provider tells of an error in the middle of a stream. ``error`` is what it says, as plain data."""

    def __init__(self, error: object) -> None:
        super().__init__("reported in the stream")
        self.error = error


_QUOTA = ("quota", "quota or credit is used up")
_RATE = ("rate_limit", "rate limited")
_BUSY = ("overloaded", "overloaded")
_SERVER = ("server", "server error")
_KEY = ("auth", "the key was refused")
_LONG = ("context", "the request is longer than the model's window")
_ABSENT = ("refused", "no such model or address")
_REFUSED = ("refused", "refused")

_WORDS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        (
            "insufficient_quota",
            "billing_hard_limit_reached",
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            "exceeded_current_quota_error",
            "billing_error",
        ),
        _QUOTA,
    ),
    "context_length_exceeded": _LONG,
    **dict.fromkeys(("invalid_api_key", "authentication_error", "api_key_invalid", "unauthenticated"), _KEY),
    **dict.fromkeys(("rate_limit_exceeded", "rate_limit_error", "too_many_requests", "resource_exhausted"), _RATE),
    **dict.fromkeys(("overloaded_error", "overloaded", "server_is_overloaded", "service_unavailable"), _BUSY),
    **dict.fromkeys(("service_unavailable_error", "engine_overloaded_error", "unavailable"), _BUSY),
    **dict.fromkeys(("model_not_found", "not_found_error", "not_found"), _ABSENT),
    **dict.fromkeys(("permission_error", "permission_denied"), _KEY),
    **dict.fromkeys(("api_error", "server_error", "internal"), _SERVER),
}
"""By a code, a type or a status, in lower case."""

_SENTENCES: tuple[tuple[str, tuple[str, str]], ...] = (
    ("maximum context length", _LONG),
    ("reduce the length of the messages", _LONG),
    ("prompt is too long", _LONG),
    ("input token count", _LONG),
    ("number of tokens allowed", _LONG),
    ("credit balance is too low", _QUOTA),
)
"""What vendors say of these by nothing else."""

_STATUSES = {
    401: _KEY,
    402: _QUOTA,
    403: _KEY,
    404: _ABSENT,
    400: _REFUSED,
    422: _REFUSED,
    429: _RATE,
    503: _BUSY,
    529: _BUSY,
}


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
    kind, words = _meaning(described, status) or (_SERVER if status >= 500 else ("refused", "not accepted"))
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
    by_word = (_WORDS[word] for word in described.words if word in _WORDS)
    by_sentence = (meaning for part, meaning in _SENTENCES if part in sentence)
    return next(by_word, None) or next(by_sentence, None) or _STATUSES.get(status)


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
