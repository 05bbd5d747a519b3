"""Secrets by name: where each may go, and who lets one out.

Layer: domain. The session that the person gave a secret to reads a placeholder of its own, such as
``{{secret:shop#1a2b3c4d5e6f7a8b}}``; the value takes its place at the edge alone, only for a destination that the
person bound the secret to, only in the part of a request that the binding names, and once in a request. A text that
holds the value shows a mark instead, such as ``{{secret:shop#1a2b3c4d}}``, the same everywhere: it stands for the value
and gives nobody leave to use it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from stead.domain.ids import SessionId

NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
PLACEHOLDER = re.compile(r"\{\{secret:([a-z][a-z0-9_-]{0,63})#((?:[0-9a-f]{8}){1,2})\}\}")
"""A placeholder or a mark. Group 1 is the name; group 2 is taken from a keyed hash, so that none can be made up."""


class HostBinding(msgspec.Struct, frozen=True, tag="host"):
    """Requests to one host may carry the value.

    Args:
        host: an exact name, or ``*.name`` for every name below it.
        methods: upper case; empty for every method.
        path: the request's path begins with it; ends at a segment.
        tls: let the proxy open TLS to this host with the workspace's own authority, which the machine trusts; without
            it the value can go into plain HTTP only.
        place: the one part of the request that may: ``header`` for any one header, ``header:NAME``, ``query:NAME``, or
            ``body:NAME``, which is a field of a form or of a JSON object.
    """

    host: str
    methods: tuple[str, ...] = ()
    path: str = "/"
    tls: bool = False
    place: str = "header"


class ToolBinding(msgspec.Struct, frozen=True, tag="tool"):
    """One argument of one tool may carry the value."""

    tool: str
    argument: str


Binding = HostBinding | ToolBinding


class Secret(msgspec.Struct, frozen=True):
    """What is known of a secret without its value. ``placeholder`` is the mark, or what one session reads."""

    name: str
    version: int
    placeholder: str
    bindings: tuple[Binding, ...] = ()


class Known(msgspec.Struct, frozen=True):
    """A value that may never leave as itself, and its placeholder.

    Args:
        name: the secret's name.
        placeholder: the mark that stands in its place, like ``{{secret:NAME#1a2b3c4d}}``.
        value: the value; a very short one is not looked for (``screen.known_forms.SHORTEST``).
    """

    name: str
    placeholder: str
    value: str


class RequestHead(msgspec.Struct, frozen=True):
    """Where a request goes. ``method`` in upper case; ``path`` as it is sent."""

    scheme: str
    host: str
    method: str
    path: str


class Release(Protocol):
    """Lets values out: to sessions that were given them, for bound destinations alone."""

    def for_request(self, session: SessionId, placeholder: str, head: RequestHead, place: str) -> str | None:
        """The value for one part of a request, as ``HostBinding.place`` names it with its name.

        Nothing when the session was not given the secret, or it is not bound to this destination and part.
        """

    def for_argument(self, session: SessionId, placeholder: str, tool: str, argument: str) -> str | None:
        """The value for an argument of a tool, where it may be used there."""

    def opens_tls(self, host: str) -> bool:
        """Whether some secret is bound to the host with leave to open TLS."""

    def known(self) -> Sequence[Known]:
        """Every value there is, for redaction."""


def mark_of(key: bytes, name: str, version: int) -> str:
    """What texts show instead of a value."""
    return _minted(key, name, f"stead placeholder {version} {name}", 8)


def placeholder_of(key: bytes, name: str, version: int, session: SessionId) -> str:
    """What a session writes in place of a value; it cannot be forged without the home's digest key."""
    return _minted(key, name, f"stead placeholder {version} {name} {session}", 16)


def _minted(key: bytes, name: str, said: str, digits: int) -> str:
    return f"{{{{secret:{name}#{hmac.new(key, said.encode(), hashlib.sha256).hexdigest()[:digits]}}}}}"


class Filler:
    """Puts values in place of one request's placeholders, each secret's once.

    Args:
        release: says for each whether it may go there; without one, none may.
        session: whose request it is.
        head: where it goes.

    ``used`` and ``left`` then hold the names whose values were put in, and those that had to stay placeholders.
    """

    def __init__(self, release: Release | None, session: SessionId, head: RequestHead) -> None:
        self._release = release
        self._session = session
        self._head = head
        self.used: dict[str, None] = {}
        self.left: dict[str, None] = {}

    def fill(self, text: str, place: str, write: Callable[[str], str] = str) -> str:
        """The text of one part of the request with its values; ``write`` spells them for it."""

        def put(found: re.Match[str]) -> str:
            value = None
            if place and self._release is not None and found[1] not in self.used:
                value = self._release.for_request(self._session, found[0], self._head, place)
            if value is None:
                self.left[found[1]] = None
                return found[0]
            self.used[found[1]] = None
            return write(value)

        return PLACEHOLDER.sub(put, text)

    def leave(self, text: str) -> None:
        """Note the placeholders of a part that is never filled."""
        self.fill(text, "")


def filled(arguments: Mapping[str, object], tool: str, session: SessionId, release: Release) -> dict[str, object]:
    """A call's arguments with the values that are bound to them; every other placeholder stays as it is.

    The permit covers the arguments with placeholders: they are what was judged, shown and recorded. So this comes after
    the permit was spent, and what it gives goes into the tool alone.
    """

    def into(argument: str) -> Callable[[re.Match[str]], str]:
        return lambda found: release.for_argument(session, found[0], tool, argument) or found[0]

    return {name: _filled(value, into(name)) for name, value in arguments.items()}


def _filled(value: object, put: Callable[[re.Match[str]], str]) -> object:
    if isinstance(value, str):
        return PLACEHOLDER.sub(put, value)
    if isinstance(value, list | tuple):
        return [_filled(item, put) for item in value]
    if isinstance(value, Mapping):
        return {key: _filled(item, put) for key, item in value.items()}
    return value
