"""Hosts as people and models name them: what may be reached, written down.

Layer: domain. Says what a pattern covers; whether an address may be connected to at all is ``guardian.reach``'s to say.
"""

from __future__ import annotations

import re

import msgspec

from stead.domain.errors import InvalidRequest

USUAL_PORTS = (80, 443)

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_WRITTEN = re.compile(r"(\*\.)?([A-Za-z0-9._-]{1,254})(?::([0-9]{1,5}))?")


class HostPattern(msgspec.Struct, frozen=True):
    """Which hosts and ports are meant.

    Args:
        name: lower case, without a dot at its end.
        below: every name below ``name`` is meant, and not itself.
        port: 0 for the usual ones, 80 and 443.
    """

    name: str
    below: bool = False
    port: int = 0

    def covers(self, host: str, port: int) -> bool:
        """Whether a host, in lower case and without a dot at its end, is meant at this port."""
        named = host.endswith(f".{self.name}") if self.below else host == self.name
        return named and (port == self.port if self.port else port in USUAL_PORTS)

    def __str__(self) -> str:
        return f"{'*.' if self.below else ''}{self.name}{f':{self.port}' if self.port else ''}"


def parse_host(text: str, *, wildcard: bool = True) -> HostPattern:
    """Read ``name``, ``*.name``, ``name:port`` or ``*.name:port``.

    Args:
        text: as it was typed, at most 260 characters.
        wildcard: whether ``*.`` may stand before it.

    Raises:
        InvalidRequest: it is something else, an address, or wider than one organisation's names.
    """
    found = _WRITTEN.fullmatch(text)
    name = found[2].lower().removesuffix(".") if found else ""
    labels = name.split(".")
    if found is None or len(labels) < 2 or not all(_LABEL.fullmatch(label) for label in labels):
        raise InvalidRequest(f"{text[:80]!r} is no host; write it as name.example.com, without https:// and path")
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise InvalidRequest(f"{text[:80]!r} is an address; hosts are allowed by their names")
    if found[1] and not wildcard:
        raise InvalidRequest(f"{text[:80]!r} stands for many hosts; name each that is needed")
    port = int(found[3] or 0)
    if port > 65535 or (found[3] and not port):
        raise InvalidRequest(f"{found[3]!r} is no port; give 1 to 65535")
    return HostPattern(name, bool(found[1]), port)
