"""Putting values in place of placeholders in one request, for the destination that it goes to and no other.

Layer: egress. Decides nothing: ``Release`` says for each placeholder whether its value may go there. A placeholder that
may not stays as it is, and the connection's event names it.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from urllib.parse import quote_plus, unquote_plus

from stead.domain.secrets import PLACEHOLDER, Release
from stead.egress.refusal import Refusal
from stead.guardian.reach import Target

_BASIC = re.compile(r"(basic +)([A-Za-z0-9+/]+={0,2})", re.IGNORECASE)
_HEADER_ENDS = re.compile(r"[\r\n\0]")
_FORM = "application/x-www-form-urlencoded"


class Filling:
    """One request's placeholders.

    Args:
        release: see there.
        target: where the request goes.
        method: upper case.

    ``used`` and ``left`` then hold the names whose values were put in, and those that may not go there. What may go
    into TLS to a host never goes to it in the clear.
    """

    def __init__(self, release: Release, target: Target, method: str) -> None:
        self._release = release
        self._target = target
        self._method = method
        self._withheld = target.scheme == "http" and release.opens_tls(target.host)
        self.used: dict[str, None] = {}
        self.left: dict[str, None] = {}

    def header(self, name: bytes, value: bytes) -> bytes:
        """A header's value; the user name and password of basic authentication are looked into.

        Raises:
            Refusal: a value has line ends, so that it would make headers of its own.
        """
        text = value.decode("latin-1")
        if name == b"authorization" and (basic := _BASIC.fullmatch(text)):
            try:
                inner = base64.b64decode(basic[2], validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                return value
            filled = self._fill(inner)
            return value if filled == inner else basic[1].encode() + base64.b64encode(filled.encode())
        filled = self._fill(text, lambda secret: secret.encode().decode("latin-1"))
        if _HEADER_ENDS.search(filled):
            named = ", ".join(repr(found[1]) for found in PLACEHOLDER.finditer(text))
            why = f"a value with line ends fits into no header: send {named} in the body, or bind another value"
            raise Refusal(400, "egress-request", why)
        return filled.encode("latin-1")

    def target(self, path: str) -> str:
        """A request's path and query; only the query is looked into."""
        plain, mark, query = path.partition("?")
        return plain + mark + self._form(query)

    def body(self, body: bytes, media_type: str) -> bytes:
        """A whole body, by its media type (lower case, without parameters)."""
        text = body.decode("utf-8", "surrogateescape")
        if media_type == _FORM:
            text = self._form(text)
        elif media_type == "application/json" or media_type.endswith("+json"):
            text = self._fill(text, lambda secret: json.dumps(secret)[1:-1])
        else:
            text = self._fill(text)
        return text.encode("utf-8", "surrogateescape")

    def _form(self, text: str) -> str:
        """``name=value&…``, in which a placeholder may be percent-encoded."""
        return "&".join("=".join(map(self._form_part, pair.split("="))) for pair in text.split("&"))

    def _form_part(self, part: str) -> str:
        plain = unquote_plus(part)
        filled = self._fill(plain)
        return part if filled == plain else quote_plus(filled)

    def _fill(self, text: str, write: Callable[[str], str] = str) -> str:
        def put(found: re.Match[str]) -> str:
            value = None
            if not self._withheld:
                path = self._target.path.partition("?")[0]
                value = self._release.for_request(found[0], self._target.host, self._method, path)
            if value is None:
                self.left[found[1]] = None
                return found[0]
            self.used[found[1]] = None
            return write(value)

        return PLACEHOLDER.sub(put, text)
