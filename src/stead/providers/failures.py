"""A failed try of a model, described for a person, without a secret in it.

Layer: providers. Light: loads no HTTP library (``faults.py`` reads its errors and the servers').
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator

import msgspec

TEXT_LIMIT = 300

_ADVICE = {
    "rate_limit": "wait, or add a fallback model",
    "overloaded": "wait, or add a fallback model",
    "server": "wait, or add a fallback model",
    "timeout": "try again, or add a fallback model",
    "connection": "check the address and the network, or add a fallback model",
    "quota": "add credit, or a further account with `stead providers add NAME --account-of {provider}`",
    "auth": "give a working key with `stead providers set-key {provider}`",
    "context": "use a model with a larger window, or a goal with less material",
    "refused": "check the model and the account with `stead providers test {provider}`",
    "malformed": "check what answers at the provider's address with `stead providers test {provider}`",
    "truncated": "try again, or add a fallback model",
    "unconfigured": "see `stead providers` for what is set up",
}
"""Every kind of failure, the ones worth another try first, with the next step."""


class Failure(msgspec.Struct, frozen=True):
    """One failed try.

    Args:
        kind: as in ``ModelFault``.
        said: what happened, one line without a full stop.
        charged: whether the provider may count tokens for it.
        retry_after_s: how long it asked to wait, 0 when it did not.
    """

    kind: str
    said: str
    charged: bool
    retry_after_s: float = 0.0

    @property
    def rank(self) -> int:
        """Smaller for kinds that another try may mend."""
        return list(_ADVICE).index(self.kind)

    def advice(self, provider: str) -> str:
        """The next step for a person."""
        return _ADVICE[self.kind].format(provider=provider)


class Broken(Exception):
    """A request brought no usable reply. It never leaves ``providers``."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.said)
        self.failure = failure


def clean(text: str, secret: str) -> str:
    """One short line, no full stop, without the secret, any longer piece of it, or what looks like another key.

    Args:
        text: anything, a server's words included.
        secret: "" for none.
    """
    line = " ".join(text[:4000].split())
    if secret:
        line = line.replace(secret, "[key]")
    line = _WORD.sub(lambda word: "[key]" if _is_secret(word.group(), secret) else word.group(), line)
    return line[:TEXT_LIMIT].rstrip(" .")


def broken_connection(error: BaseException) -> str:
    """Why no connection came about, by what the system said; "" when it did not say."""
    for cause in causes(error):
        match cause:
            case ConnectionRefusedError():
                return "connection refused"
            case socket.gaierror():
                return "the host name does not resolve"
            case ssl.SSLError():
                return f"no secure connection: {cause.reason or cause}"
            case _:
                continue
    return ""


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and everything behind it, groups included; each once."""
    queue, seen = [error], set[int]()
    while queue:
        cause = queue.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        queue += [behind for behind in (cause.__cause__, cause.__context__) if behind is not None]
        if isinstance(cause, BaseExceptionGroup):
            queue += cause.exceptions


_WORD = re.compile(r"[A-Za-z0-9_\-+/=.*~]{8,}")
_KEYLIKE = re.compile(r"(?:sk|pk|rk|gsk|xai|key)-[A-Za-z0-9_-]{8,}|AIza[A-Za-z0-9_-]{20,}")


def _is_secret(word: str, secret: str) -> bool:
    return bool(_KEYLIKE.search(word)) or any(secret[at : at + 8] in word for at in range(len(secret) - 7))
