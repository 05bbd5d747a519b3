"""The search engines that Stead can ask, and how a person sets one up.

Layer: domain. Knows no wire of an engine.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Literal, get_args
from urllib.parse import urlsplit

from stead.domain.errors import InvalidRequest

Engine = Literal["searxng", "brave", "tavily"]

ADDRESSES: dict[Engine, str] = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "tavily": "https://api.tavily.com/search",
}
"""Where the engines are that are a company's; SearXNG's are its operator's."""
KEYED = frozenset(ADDRESSES)
"""The engines that want a key."""
KEY_NAME = "provider/search_engine/key"
"""Under which name the vault holds the engine's key: among the providers' keys, where every redactor looks, with an
underscore, which no provider's name has."""
URL_CHARS = 1000


def require_valid(engine: Engine, url: str) -> None:
    """Refuse an engine that could not be asked, or to which a key would go in the clear.

    Args:
        engine: which.
        url: "" for the engine's own address.

    Raises:
        InvalidRequest: names the part and what it may be.
    """
    if engine not in get_args(Engine):
        raise InvalidRequest(f"the search engine {engine!r} is unknown; choose one of {', '.join(get_args(Engine))}")
    if not url:
        if engine not in ADDRESSES:
            raise InvalidRequest(f"{engine!r} needs the address of an instance, like http://127.0.0.1:8888")
        return
    if len(url) > URL_CHARS or not url.isascii() or any(char.isspace() or not char.isprintable() for char in url):
        raise InvalidRequest(
            f"an address is at most {URL_CHARS} signs of ASCII without spaces; write it as http://host/"
        )
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise InvalidRequest(f"the address {url!r} cannot be read: {error}; write it as http://host:port/") from error
    if parts.username is not None or parts.password is not None:
        raise InvalidRequest("an address holds no name and no password; a key goes into the vault")
    if parts.scheme not in ("http", "https") or not host or port == 0 or "\\" in url:
        raise InvalidRequest(
            f"the address {url!r} cannot be asked; give http:// or https://, a host, and a path if any"
        )
    if parts.query or parts.fragment:
        raise InvalidRequest(f"the address {url!r} has a query or a fragment; leave them out")
    if engine in KEYED and parts.scheme == "http" and not _is_here(host):
        raise InvalidRequest(f"the key of {engine!r} would go to {host!r} in the clear; give an https:// address")


def _is_here(host: str) -> bool:
    """Whether a host is this computer by its text alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
