"""The parts of one request in which values may take the place of placeholders, as they go over the wire.

Layer: egress. Decides nothing: ``Release`` says for each placeholder whether its value may go into this part. One that
may not stays as it is, and the connection's event names it.
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote_plus, unquote_plus

import msgspec

from stead.domain.secrets import PLACEHOLDER, Filler
from stead.egress.refusal import Refusal

_BASIC = re.compile(r"(basic +)([A-Za-z0-9+/]+={0,2})", re.IGNORECASE)
_HEADER_ENDS = re.compile(r"[\r\n\0]")
_FORM = "application/x-www-form-urlencoded"


class Filling:
    """One request's parts, as they go over the wire."""

    def __init__(self, filler: Filler) -> None:
        self._filler = filler

    def header(self, name: bytes, value: bytes) -> bytes:
        """A header's value; the user name and password of basic authentication are looked into.

        Raises:
            Refusal: a value has line ends, so that it would make headers of its own.
        """
        text, place = value.decode("latin-1"), f"header:{name.decode('latin-1')}"
        if name == b"authorization" and (basic := _BASIC.fullmatch(text)):
            try:
                inner = base64.b64decode(basic[2], validate=True).decode("utf-8")
            except (binascii.Error, UnicodeDecodeError):
                return value
            filled = self._filler.fill(inner, place)
            return value if filled == inner else basic[1].encode() + base64.b64encode(filled.encode())
        filled = self._filler.fill(text, place, lambda secret: secret.encode().decode("latin-1"))
        if _HEADER_ENDS.search(filled):
            named = ", ".join(repr(found[1]) for found in PLACEHOLDER.finditer(text))
            why = f"a value with line ends fits into no header: bind {named} to a field of the body, or another value"
            raise Refusal(400, "egress-request", why)
        return filled.encode("latin-1")

    def target(self, path: str) -> str:
        """A request's path and query; the path is never filled."""
        plain, mark, query = path.partition("?")
        self._filler.leave(unquote_plus(plain))
        return plain + mark + self._form(query, "query")

    def body(self, body: bytes, media_type: str) -> bytes:
        """A whole body, by its media type (lower case, without parameters): the fields of a form or a JSON object."""
        if media_type == _FORM:
            return self._form(body.decode("utf-8", "surrogateescape"), "body").encode("utf-8", "surrogateescape")
        if media_type == "application/json" or media_type.endswith("+json"):
            try:
                fields = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                fields = {}
            filled = {name: self._json(name, value) for name, value in fields.items()}
            if filled != fields:  # written again, so that no one reads a field in it that was not read here
                return msgspec.json.encode(filled)
        self._filler.leave(body.decode("utf-8", "replace"))
        return body

    def _json(self, name: str, value: msgspec.Raw) -> msgspec.Raw:
        """A field of an object; what is nested deeper stays as it is."""
        try:
            text = msgspec.json.decode(value, type=str)
        except msgspec.ValidationError:
            self._filler.leave(bytes(value).decode())
            return value
        filled = self._filler.fill(text, f"body:{name}")
        return value if filled == text else msgspec.Raw(msgspec.json.encode(filled))

    def _form(self, text: str, part: str) -> str:
        """``name=value&…``, in which a placeholder may be percent-encoded."""
        return "&".join(self._pair(pair, part) for pair in text.split("&"))

    def _pair(self, pair: str, part: str) -> str:
        name, mark, value = pair.partition("=")
        plain = unquote_plus(value)
        self._filler.leave(unquote_plus(name))
        filled = self._filler.fill(plain, f"{part}:{unquote_plus(name)}")
        return pair if filled == plain else name + mark + quote_plus(filled)
