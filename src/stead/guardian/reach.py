"""Which addresses and URLs a fetch may reach: decided from their text alone.

Layer: guardian; pure, it resolves no name and opens no socket. The gate asks ``check_url`` before anything happens,
and the fetching client asks ``check_url`` and ``check_address`` again for each hop, so that a redirect or a name that
changes its mind between two look-ups gains nothing.

A URL is read strictly, since two readers that disagree about one URL are how such checks are passed. What the check
understood is returned as a ``Target``, and the client connects by that and never parses the URL again.

Source: IANA special-purpose address registries (RFC 6890 and its updates), RFC 3986, RFC 4291, RFC 6052, RFC 5214.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from urllib.parse import quote, urlsplit

import msgspec

from stead.domain.hosts import is_address, is_local, is_name

Address = IPv4Address | IPv6Address

URL_LIMIT_CHARS = 4096

_AUTHORITY = re.compile(r"(?:\[([^\[\]]+)\]|([^:\[\]]+))(?::([0-9]{0,5}))?")
_SCHEME_PORTS = {"http": 80, "https": 443}

# Python's own ``is_global`` differs between patch releases and lets some of these through, hence the whole table.
_CLOSED = tuple(
    ip_network(text)
    for text in (
        *("0.0.0.0/8", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),  # this network; documentation
        *("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8"),
        "100.64.0.0/10",  # carrier-grade NAT, where one cloud keeps its metadata server
        "168.63.129.16/32",  # a cloud's host agent, at a public address
        "169.254.0.0/16",  # link-local, where most clouds keep their metadata servers
        "192.0.0.0/24",  # protocol assignments, and one more metadata server
        *("192.31.196.0/24", "192.52.193.0/24", "192.175.48.0/24"),  # AS112 and AMT, which any network may answer
        *("192.88.99.0/24", "198.18.0.0/15"),  # 6to4 relays; benchmarking
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID
        *("2001:db8::/32", "3fff::/20", "2620:4f:8000::/48"),  # documentation; AS112
    )
)
_PUBLIC_V6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


class Target(msgspec.Struct, frozen=True):
    """A URL as the check understood it; the client connects by this alone.

    Args:
        scheme: ``http`` or ``https``.
        host: a lower-case name, or an address in its usual notation (IPv6 without brackets).
        port: 1 to 65535.
        path: what the request line asks for, query included, percent-encoded; starts with ``/``.
        address: set when the host is an address.
    """

    scheme: str
    host: str
    port: int
    path: str
    address: str = ""

    @property
    def authority(self) -> str:
        """Host and port as the ``Host`` field and a URL write them; a scheme's own port is left out."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _SCHEME_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in its one canonical form."""
        return f"{self.scheme}://{self.authority}{self.path}"


class Unreachable(msgspec.Struct, frozen=True):
    """A refusal: one sentence that names what is refused and the way out."""

    text: str


class Reach(msgspec.Struct, frozen=True):
    """What may be fetched. The defaults are the product's; there is no setting that widens them.

    Args:
        ports: of public addresses.
        endpoints: pairs of address and port that may be reached although they are not public; the product has none.
    """

    ports: frozenset[int] = frozenset({80, 443, 8080, 8443})
    endpoints: frozenset[tuple[str, int]] = frozenset()

    def check_url(self, url: str) -> Target | Unreachable:
        """Read a URL and judge all that its text tells: scheme, user info, host, port, a literal address."""
        target = read_url(url)
        if isinstance(target, Unreachable):
            return target
        if not target.address and is_local(target.host):
            return Unreachable(f"{target.host!r} is a name of this host or its networks; only public names are fetched")
        if target.port not in self.ports and all(target.port != port for _, port in self.endpoints):
            known = ", ".join(str(port) for port in sorted(self.ports))
            return Unreachable(f"port {target.port} is not fetched from; only {known} are")
        refusal = self.check_address(target.address, target.port) if target.address else None
        return refusal or target

    def check_address(self, address: str, port: int) -> Unreachable | None:
        """Judge an address that a name resolved to, or none: then it may be connected to.

        Args:
            address: as a resolver writes it.
            port: that would be connected to.
        """
        if (address, port) in self.endpoints:
            return None
        found = parse_address(address)
        if found is None:
            return Unreachable(f"{address!r} is not an address")
        if not is_public(found):
            return Unreachable(f"{address} is not a public address; pages on this host or its networks are not fetched")
        return None


def read_url(url: str) -> Target | Unreachable:
    """Read a URL strictly, wherever it leads."""
    if len(url) > URL_LIMIT_CHARS:
        return Unreachable(f"the URL has {len(url)} characters; {URL_LIMIT_CHARS} are the most")
    # ``urlsplit`` drops tabs and line ends without a word, and browsers take "\" for "/": both are refused outright.
    if any(char.isspace() or not char.isprintable() or char == "\\" for char in url):
        return Unreachable(f"{url!r} holds a space, a control character or a backslash; percent-encode them")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return Unreachable(f"{url!r} is not a URL: {error}; write it as https://host/path")
    if parts.scheme not in _SCHEME_PORTS:
        return Unreachable(f"only http and https can be fetched, not {parts.scheme or 'a URL without a scheme'!r}")
    if "@" in parts.netloc:
        return Unreachable("a URL with a user name or password is not fetched; write it without")
    found = _AUTHORITY.fullmatch(parts.netloc)
    port = int(found[3] or _SCHEME_PORTS[parts.scheme]) if found else 0
    if found is None or not 0 < port < 65536:
        return Unreachable(f"{parts.netloc!r} is no host with a port from 1 to 65535; write it as https://host:port/")
    host, bracketed, address = found[1] or found[2], bool(found[1]), None
    name = host.lower().removesuffix(".")
    # A last label that is a number makes the whole host an address (WHATWG URL, "ends in a number"): resolvers take
    # 2130706433, 0x7f.1 and 0177.0.0.1 for 127.0.0.1, so only the plain notation is read.
    if bracketed or is_address(name):
        address = parse_address(host)
        if address is None or bracketed is not isinstance(address, IPv6Address):
            return Unreachable(f"{host!r} is not an address in the usual notation, a.b.c.d or an IPv6 one in brackets")
        name = str(address)
    elif not is_name(name):
        return Unreachable(f"{host!r} is not a host name; outside ASCII use the name's xn-- form")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        path += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return Target(parts.scheme, name, port, path, name if address else "")


def parse_address(text: str) -> Address | None:
    """An address in its usual notation, or none: no octal, hexadecimal or short forms, no zone."""
    try:
        return IPv6Address(text) if ":" in text and "%" not in text else IPv4Address(text)
    except ValueError:
        return None


def is_public(address: Address) -> bool:
    """Whether an address is on the public Internet, whatever it is wrapped in."""
    if isinstance(address, IPv6Address):
        last = IPv4Address(address.packed[12:])
        wrapped = last if address in _NAT64 else address.ipv4_mapped or address.sixtofour
        if wrapped is not None:
            return is_public(wrapped)
        isatap = address.packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
        if address not in _PUBLIC_V6 or (isatap and not is_public(last)):
            return False
    return not any(address in network for network in _CLOSED)
