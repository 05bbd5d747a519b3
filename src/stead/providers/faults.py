"""What an error of the vendors' libraries means: whose fault, and whether the request may have cost something.

Layer: providers. Knows their errors so that nothing else need. No text that leaves here holds a key.
"""

from __future__ import annotations

import httpx2
from pydantic_ai import exceptions as failed

from stead.providers.failures import Failure, broken_connection, causes, clean
from stead.providers.transport import Nonsense, Overflow

RETRY_AFTER_LIMIT_S = 24 * 3600.0


BROKEN = (
    failed.AgentRunError,
    failed.UserError,
    httpx2.HTTPError,
    httpx2.StreamError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
)
"""What a reply can raise while it is read. A server may send anything at all, and the libraries that take it apart were
written for honest ones: nonsense surfaces as whatever the first surprised line raises. Our own code never runs under
this net."""

_CATEGORIES: tuple[tuple[type[failed.ModelAPIError], str, str], ...] = (
    (failed.ModelQuotaExceededError, "refused", "quota or credit is used up"),
    (failed.ModelRateLimitError, "rate_limit", "rate limited"),
    (failed.ModelUnavailableError, "overloaded", "overloaded"),
    (failed.ModelServerError, "server", "server error"),
    (failed.ModelAuthenticationError, "auth", "the key was refused"),
    (failed.ModelContextWindowExceededError, "context", "the request is longer than the model's window"),
    (failed.ModelNotFoundError, "refused", "no such model or address"),
    (failed.ModelRequestRejectedError, "refused", "refused"),
)


def read(error: Exception, *, started: bool, secret: str) -> Failure:
    """What an error of ``BROKEN`` means.

    Args:
        error: what was raised.
        started: the model had begun to answer, so its tokens are being counted.
        secret: the key, to be kept out of the text.
    """
    match error:
        case failed.ModelConnectionError():
            sent = error.phase not in ("pool", "connect")
            kind = "timeout" if isinstance(error, failed.ModelTimeoutError) else "connection"
            if any(isinstance(cause, Overflow | Nonsense) for cause in causes(error)):
                kind = "malformed"
            return Failure(kind, clean(_connection_text(error), secret), charged=sent)
        case failed.ModelAPIError():
            return _api_failure(error, started, secret)
        case httpx2.TimeoutException():
            return Failure("timeout", "the connection went silent", charged=True)
        case httpx2.TransportError():
            return Failure("connection", clean(f"the connection broke: {error}", secret), charged=True)
        case _:
            return Failure("malformed", clean(f"nonsense on the wire: {type(error).__name__}: {error}", secret), True)


def _api_failure(error: failed.ModelAPIError, started: bool, secret: str) -> Failure:
    status = error.status_code if isinstance(error, failed.ModelHTTPError) else None
    wait_s = min(max(error.retry_after or 0.0, 0.0), RETRY_AFTER_LIMIT_S)
    found = next(((kind, words) for category, kind, words in _CATEGORIES if isinstance(error, category)), None)
    redirect = next((code for code in map(_status, causes(error)) if 300 <= code < 400), 0)
    if redirect:
        return Failure("refused", f"{redirect} redirects elsewhere, which is not followed", charged=False)
    if found is None and status is None and not error.in_stream:
        return Failure("malformed", clean(f"nonsense on the wire: {error.message}", secret), charged=True)
    kind, words = found or (("server", "failed in the stream") if error.in_stream else ("refused", "not accepted"))
    said = f"{status} {words}" if status else words
    if wait_s:
        said += f", retry after {wait_s:g} s"
    if kind in ("refused", "server", "context") and (detail := _detail(error)):
        said += f": {detail}"
    return Failure(kind, clean(said, secret), charged=error.in_stream and started, retry_after_s=wait_s)


def _status(error: BaseException) -> int:
    """The HTTP status that an error of a vendor's client carries, 0 for none."""
    code = getattr(error, "status_code", 0)
    return code if isinstance(code, int) else 0


def _detail(error: failed.ModelAPIError) -> str:
    """The provider's own words, from the forms that error bodies take."""
    body = error.body
    inner = body.get("error", body) if isinstance(body, dict) else body
    message = inner.get("message") if isinstance(inner, dict) else inner
    return message if isinstance(message, str) else ""


def _connection_text(error: failed.ModelConnectionError) -> str:
    if said := broken_connection(error):
        return said
    for cause in causes(error):
        match cause:
            case Overflow():
                return f"the answer has no end: {cause}"
            case Nonsense():
                return f"nonsense on the wire: {cause}"
            case httpx2.ConnectTimeout():
                return "no connection within the time limit"
            case httpx2.ReadTimeout() if str(cause):
                return str(cause)
    last = list(causes(error))[-1]
    return f"the connection broke: {str(last) or type(last).__name__}"
