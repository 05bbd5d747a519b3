"""Hosts as people and models name them: what may be reached, written down.

Layer: domain. A *public* host is reached by its name, at addresses of the public Internet alone: those of
``guardian.reach``. A *local* one is on this computer or its networks. A person alone can allow it, for a folder,
one by one: the very address, or a name that public DNS does not have, with its port. No wildcard covers it, and no
public name that leads to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import msgspec

from stead.domain.errors import InvalidRequest

USUAL_PORTS = (80, 443)
EVERY_PORT = -1
COMPUTER = "host.docker.internal"
"""What containers call the computer that they are on; in a machine ``localhost`` is the machine itself."""
OF_PROGRAMS = "/mcp/"
"""Begins what stands, in place of a folder, for the hosts of a program: it reaches its own and none of a folder's."""
OF_CHANNELS = "/dev/null/channel/"
"""The same for a channel, and can be no folder: of local hosts it reaches those that the person gave it."""

_LOCAL_NAMES = (
    *("localhost", "local", "localdomain", "internal", "intranet", "private"),
    *("lan", "home", "corp", "svc", "arpa", "onion"),
)
"""Last labels of names that public DNS does not have."""

_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_WRITTEN = re.compile(r"(\*\.)?(?:\[([0-9A-Fa-f:.]{2,45})\]|([A-Za-z0-9._-]{1,254}))(?::([0-9]{1,5}|\*))?")
_PRIVATE = tuple(map(ip_network, ("10.0.0.0/8", "100.64.0.0/10", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")))
_METADATA = tuple(map(ip_address, ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254")))
"""Where clouds hand out keys, within these networks."""
_LOOPBACK = tuple(map(ip_network, ("127.0.0.0/8", "::1/128")))
_LINK_LOCAL = (ip_network("169.254.0.0/16"),)


class HostPattern(msgspec.Struct, frozen=True):
    """Which hosts and ports are meant.

    Args:
        name: lower case, without a dot at its end; an address in its usual notation.
        below: every name below ``name`` is meant, and not itself.
        port: 0 for the usual ones, 80 and 443; ``EVERY_PORT`` for all.
    """

    name: str
    below: bool = False
    port: int = 0

    def covers(self, host: str, port: int) -> bool:
        """Whether a host, in lower case and without a dot at its end, is meant at this port."""
        if is_local(host):
            names = ("localhost", COMPUTER, "127.0.0.1", "::1") if self.name == "localhost" else (self.name,)
            return host in names and not self.below and self.port in (port, EVERY_PORT)
        named = host.endswith(f".{self.name}") if self.below else host == self.name
        return named and (port == self.port if self.port else port in USUAL_PORTS)

    def __str__(self) -> str:
        name = f"[{self.name}]" if ":" in self.name else self.name
        port = "*" if self.port == EVERY_PORT else str(self.port or "")
        return f"{'*.' if self.below else ''}{name}{port and ':'}{port}"


def is_local(host: str) -> bool:
    """Whether a host, in lower case, is an address, or a name that only this computer and its networks know."""
    return "." not in host or host.rpartition(".")[2] in _LOCAL_NAMES or is_address(host)


def is_address(host: str) -> bool:
    """Whether a host is an address, in whatever notation: its last label is a number."""
    last = host.rpartition(".")[2]
    return ":" in host or last.isdigit() or last.startswith("0x")


def is_name(text: str) -> bool:
    """Whether it is a host's name in lower case and ASCII, without a dot at its end."""
    return len(text) <= 253 and all(_LABEL.fullmatch(label) for label in text.split("."))


def may_lead(name: str, address: str) -> bool:
    """Whether a local name may stand for an address: ``localhost`` for loopback, any other for a private one."""
    within = _is_within(address, _LOOPBACK if name == "localhost" else _PRIVATE)
    return within and ip_address(address) not in _METADATA


def read_pattern(text: str) -> HostPattern:
    """Read a pattern as it was recorded, whatever may be allowed nowadays.

    Raises:
        InvalidRequest: it is none.
    """
    found = _WRITTEN.fullmatch(text)
    if found is None:
        raise InvalidRequest(
            f"{text[:80]!r} is not a host name; write it as name.example.com, without https:// and path"
        )
    port = EVERY_PORT if found[4] == "*" else int(found[4] or 0)
    if port > 65535 or (found[4] and not port):
        raise InvalidRequest(f"{found[4]!r} is no port; give 1 to 65535")
    return HostPattern((found[2] or found[3].removesuffix(".")).lower(), bool(found[1]), port)


def parse_host(text: str, *, wildcard: bool = True) -> HostPattern:
    """Read ``name``, ``*.name``, ``name:port`` or ``*.name:port`` of a public host.

    Args:
        text: as it was typed, at most 260 characters.
        wildcard: whether ``*.`` may stand before it.

    Raises:
        InvalidRequest: it is something else, a local host, or wider than one organisation's names.
    """
    pattern = read_pattern(text)
    if is_local(pattern.name):
        kind = "an address" if is_address(pattern.name) else "no public host"
        way = f"`stead egress allow localhost:5432` lets a folder reach a port of this computer, as {COMPUTER}:5432"
        raise InvalidRequest(f"{text[:80]!r} is {kind}; hosts are named as name.example.com; {way}")
    if pattern.port == EVERY_PORT or not is_name(pattern.name):
        raise InvalidRequest(f"{text[:80]!r} is not a host name; write it as name.example.com or name.example.com:8443")
    if pattern.below and not wildcard:
        raise InvalidRequest(f"{text[:80]!r} stands for many hosts; name each that is needed")
    return pattern


def parse_allowed(text: str) -> HostPattern:
    """Read what a person may allow for a folder: a public host as ``parse_host`` has it, or one local host.

    A local one is an address or a name with its port, and for a name other than ``localhost`` perhaps with every port.

    Raises:
        InvalidRequest: it is neither.
    """
    pattern = read_pattern(text)
    if not is_local(pattern.name):
        return parse_host(text)
    name = "localhost" if pattern.name == COMPUTER else pattern.name
    if is_address(name):
        fits = pattern.port != EVERY_PORT and _is_within(name, (*_PRIVATE, *_LOOPBACK, *_LINK_LOCAL))
        name = str(ip_address(name)) if fits else ""
    elif name == "localhost":
        fits = pattern.port != EVERY_PORT
    else:
        fits = not name.endswith(".localhost") and is_name(name)
    if pattern.below or not pattern.port or not fits:
        raise InvalidRequest(
            f"{text[:80]!r} is not a host that can be allowed: name a public one as name.example.com, and one of this "
            "computer or its networks with its port, as localhost:5432, 192.168.1.20:8080 or db.internal:*"
        )
    return HostPattern(name, port=pattern.port)


def rule_for(host: str, port: int) -> str:
    """What a person would allow, so that a host can be reached at a port.

    Raises:
        InvalidRequest: there is no such rule.
    """
    usual = port in USUAL_PORTS and not is_local(host)
    return str(parse_allowed(str(HostPattern(host, port=0 if usual else port))))


def _is_within(address: str, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return any(found in network for network in networks)
