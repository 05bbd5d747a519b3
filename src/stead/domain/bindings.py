"""Whether a request is one that a secret is bound to, and whether a binding can be meant at all.

Layer: domain. Strict on purpose: what a server might read in another way than we do is no match, and then the value
stays at home. A name is compared after lower-casing and in no other way; a path is followed only while every reader of
it must come to the same place, so a percent sign that hides a slash, a dot or another percent sign ends it, and so do
``..``, ``//``, a backslash, and letters that some servers fold into dots and slashes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from ipaddress import IPv4Address
from urllib.parse import unquote_to_bytes

from stead.domain.errors import InvalidRequest
from stead.domain.secrets import Binding, HostBinding

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\Z")
_METHOD = re.compile(r"[A-Z]{1,16}\Z")
_NEVER = ("CONNECT", "TRACE")
"""A tunnel hides what is in it, and a trace sends back what it was sent."""
_PATH = re.compile(r"(?:/[A-Za-z0-9._~!$&'()*+,=:@-]+)*/?\Z")
_PATH_CHARS = 1000
_PLACE = re.compile(r"header(:[a-z0-9-]{1,60})?|(query|body):[!-~]{1,100}")


def require_host_binding(binding: HostBinding) -> None:
    """Refuse a binding to a host that could match nothing, or more than is meant.

    Raises:
        InvalidRequest: names the part and what it may be.
    """
    if not _is_pattern(binding.host):
        raise InvalidRequest(
            f"the host {binding.host[:300]!r} cannot be bound: give one name like api.example.com, or *.example.com for"
            " every name below it; small letters, no port, no scheme, names outside ASCII as xn--…"
        )
    if binding.host == "localhost" or binding.host.endswith(".localhost"):
        raise InvalidRequest(
            f"the host {binding.host[:300]!r} cannot be bound: in a machine it is the machine itself, where no value "
            "is ever filled in; give the name of the server that is to get it"
        )
    for method in binding.methods:
        if not _METHOD.match(method) or method in _NEVER:
            raise InvalidRequest(f"the method {method[:50]!r} cannot be bound; give one like GET or POST")
    path = binding.path
    if not path.startswith("/") or len(path) > _PATH_CHARS or not _PATH.match(path) or _strays(_segments(path)):
        raise InvalidRequest(
            f"the path {path[:300]!r} cannot be bound: begin with /, and write no .., //, %, ?, # or ; in it"
        )
    if not _PLACE.fullmatch(binding.place):
        raise InvalidRequest(
            f"{binding.place[:120]!r} is no part of a request: say header, header:NAME in small letters, query:NAME or "
            "body:NAME"
        )


def fills(binding: HostBinding, place: str) -> bool:
    """Whether a part of a request, such as ``header:x-key``, is the one that the binding is for."""
    return place == binding.place or (binding.place == "header" and place.startswith("header:"))


def allows(binding: HostBinding, host: str, method: str, path: str) -> bool:
    """Whether a request is one that the binding is for.

    Args:
        binding: a valid one.
        host: as the request is sent to it, without a port.
        method: as it stands in the request line.
        path: the same; a query or fragment after it does not count.
    """
    if not matches_host(binding.host, host) or (binding.methods and method not in binding.methods):
        return False
    return method not in _NEVER and _is_below(binding.path, re.split(r"[?#]", path, maxsplit=1)[0])


def matches_host(pattern: str, host: str) -> bool:
    """Whether a host is the one of a pattern, or below it when the pattern begins with ``*.``."""
    if not host.isascii():
        return False  # lower-casing alone could turn a sign that only looks like a K into one
    host = host.lower()
    if not _is_name(host):
        return False
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and not _is_address(host)
    return host == pattern


def ends(binding: Binding, host: str, tool: str) -> bool:
    """Whether a binding is one to this host (as it was bound) or to this tool; the other of the two is ""."""
    return binding.host == host if isinstance(binding, HostBinding) else binding.tool == tool


def _is_pattern(text: str) -> bool:
    name = text.removeprefix("*.")
    if name == text:
        return _is_name(name)
    # "*.com" is half of the Internet, and an address has nothing below it.
    return _is_name(name) and "." in name and not _is_address(name)


def _is_name(text: str) -> bool:
    """A host name in small letters, or an IPv4 address in its one plain notation."""
    if not _HOST.match(text):
        return False
    last = text.rpartition(".")[2]
    return not (last.isdigit() or last.startswith("0x")) or _is_address(text)


def _is_address(text: str) -> bool:
    try:
        return str(IPv4Address(text)) == text
    except ValueError:
        return False


def _is_below(prefix: str, path: str) -> bool:
    if not path.startswith("/"):
        return False
    if prefix == "/":
        return True
    if not (path == prefix or path.startswith(prefix if prefix.endswith("/") else prefix + "/")):
        return False
    return not _is_doubtful(path)


def _is_doubtful(path: str) -> bool:
    """Whether two servers could take the path for different ones."""
    try:
        decoded = unquote_to_bytes(path.encode("ascii")).decode("utf-8")
    except UnicodeError:  # not ASCII on the wire, or not UTF-8 behind the percent signs
        return True
    if decoded.count("/") != path.count("/"):
        return True
    folded = unicodedata.normalize("NFKC", decoded)
    if folded.count("/") != path.count("/") or not folded.isprintable():
        return True
    return any(sign in folded for sign in "\\%") or _strays(_segments(folded))


def _segments(path: str) -> list[str]:
    """The segments; some servers take what follows a semicolon for a parameter and forget it."""
    return [segment.partition(";")[0].strip() for segment in path.split("/")[1:]]


def _strays(segments: Iterable[str]) -> bool:
    """Whether a segment is empty (but for the last one) or leads elsewhere."""
    *inner, last = segments
    return not all(inner) or any(segment.strip(".") == "" for segment in [*inner, last] if segment)
