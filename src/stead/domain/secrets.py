"""Secrets by name: where each may go, and who lets one out.

Layer: domain. A model and a machine see a placeholder such as ``{{secret:shop#1a2b3c4d}}``; the value takes its place at
the edge alone, and only for a destination that the person bound the secret to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import msgspec

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
    """A value that may never leave as itself, and what stands in its place."""

    name: str
    placeholder: str
    value: str


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
