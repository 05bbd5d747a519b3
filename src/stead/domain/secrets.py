"""Secrets by name: where each may go, and who lets one out.

Layer: domain. A model and a machine see a placeholder such as ``{{secret:shop#1a2b3c4d}}``; the value takes its place
at the edge alone, and only for a destination that the person bound the secret to.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
PLACEHOLDER = re.compile(r"\{\{secret:([a-z][a-z0-9_-]{0,63})#([0-9a-f]{8})\}\}")
"""Group 1 is the name; group 2 is taken from a keyed hash of name and version, so that none can be made up."""


class HostBinding(msgspec.Struct, frozen=True, tag="host"):
    """Requests to one host may carry the value, in a header, the query or the body.

    Args:
        host: an exact name, or ``*.name`` for every name below it.
        methods: upper case; empty for every method.
        path: the request's path begins with it; ends at a segment.
        tls: let the proxy open TLS to this host with the workspace's own authority, which the machine trusts; without
            it the value can go into plain HTTP only.
    """

    host: str
    methods: tuple[str, ...] = ()
    path: str = "/"
    tls: bool = False


class ToolBinding(msgspec.Struct, frozen=True, tag="tool"):
    """One argument of one tool may carry the value."""

    tool: str
    argument: str


Binding = HostBinding | ToolBinding


class Secret(msgspec.Struct, frozen=True):
    """What is known of a secret without its value."""

    name: str
    version: int
    placeholder: str
    bindings: tuple[Binding, ...] = ()


class Known(msgspec.Struct, frozen=True):
    """A value that may never leave as itself, and what stands in its place.

    Args:
        name: the secret's name.
        placeholder: what stands in its place, like ``{{secret:NAME#1a2b3c4d}}``.
        value: the value; a very short one is not looked for (``screen.known_forms.SHORTEST``).
    """

    name: str
    placeholder: str
    value: str


class Vault(Protocol):
    """Values by name, with versions that only rise: a record of an older version was put back by somebody."""

    async def put(self, name: str, value: str) -> int:
        """Store or replace; gives the version.

        Raises:
            StorageFault: it was not written.
        """
        ...

    def get(self, name: str) -> str | None:
        """The value, or nothing."""
        ...

    def opened(self, name: str) -> tuple[int, str] | None:
        """The version and the value, or nothing.

        Raises:
            StorageFault: the record was changed, or the file cannot be read.
        """
        ...

    def names(self, prefix: str) -> Sequence[str]:
        """The names that begin so; opens no value."""
        ...

    async def remove(self, name: str) -> bool:
        """Erase the value; false when there was none."""
        ...


class Release(Protocol):
    """Lets values out, for bound destinations alone."""

    def for_request(self, placeholder: str, host: str, method: str, path: str) -> str | None:
        """The value for a request; nothing when the secret is unknown or not bound to this destination."""
        ...

    def for_argument(self, placeholder: str, tool: str, argument: str) -> str | None:
        """The value for an argument of a tool; likewise."""
        ...

    def opens_tls(self, host: str) -> bool:
        """Whether some secret is bound to the host with leave to open TLS."""
        ...

    def known(self) -> Sequence[Known]:
        """Every value there is, for redaction."""
        ...


def placeholder_of(key: bytes, name: str, version: int) -> str:
    """What stands for a secret. Without the home's digest key nobody can say what it is for another name or version."""
    said = f"stead placeholder {version} {name}".encode()
    return f"{{{{secret:{name}#{hmac.new(key, said, hashlib.sha256).hexdigest()[:8]}}}}}"


def told(secrets: Iterable[Secret]) -> str:
    """What a model is told of the secrets of its objective: a line for each, "" for none."""
    return "\n".join(map(_line, secrets))


def filled(arguments: Mapping[str, object], tool: str, release: Release) -> dict[str, object]:
    """A call's arguments with the values that are bound to them; every other placeholder stays as it is.

    The permit covers the arguments with placeholders: they are what was judged, shown and recorded. So this comes after
    the permit was spent, and what it gives goes into the tool alone.
    """
    return {name: _filled(value, tool, name, release) for name, value in arguments.items()}


def _filled(value: object, tool: str, argument: str, release: Release) -> object:
    if isinstance(value, str):
        return PLACEHOLDER.sub(lambda found: release.for_argument(found[0], tool, argument) or found[0], value)
    if isinstance(value, list | tuple):
        return [_filled(item, tool, argument, release) for item in value]
    if isinstance(value, Mapping):
        return {key: _filled(item, tool, argument, release) for key, item in value.items()}
    return value


def _line(secret: Secret) -> str:
    start = f"Secret {secret.name}: write {secret.placeholder} where its value belongs, in an address percent-encoded; "
    if not secret.bindings:
        return start + "it is bound to nothing yet, so it stays as it is everywhere."
    return start + "it works in " + "; ".join(describe(binding) for binding in secret.bindings) + ", and nowhere else."


def describe(binding: Binding) -> str:
    """Where a binding lets the value go, in a few words."""
    if isinstance(binding, ToolBinding):
        return f"the argument {binding.argument} of the tool {binding.tool}"
    methods = "/".join(binding.methods) or "any"
    return f"{methods} requests to {'https' if binding.tls else 'http'}://{binding.host}{binding.path}"
