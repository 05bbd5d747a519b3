"""A daemon that may go to one more place: a server on loopback, at the port that ``FETCH_PORT`` names.

For flows. The product has no such switch: what is not public is never reached, and so a test without the Internet needs
a composition of its own. Everything else is the product's. For machines, ``pypi.org`` and all names below
``example.com`` lead to loopback, and servers are trusted by the certificates that ``FETCH_TRUST`` names, if it is set.
"""

from __future__ import annotations

import os
import ssl
import sys
from collections.abc import Sequence

from stead.daemon import Own, main
from stead.guardian.reach import Reach
from stead.net.dialing import Dialer, resolve_name

LOOPBACK = "127.0.0.1"


async def resolve(host: str, port: int) -> Sequence[str]:
    """Where a name leads to."""
    there = host == "pypi.org" or host.endswith(".example.com")
    return [LOOPBACK] if there else await resolve_name(host, port)


def dialer(reach: Reach) -> Dialer:
    """The product's own, with these names and this trust."""
    trust = os.environ.get("FETCH_TRUST")
    return Dialer(reach, resolve=resolve, tls=ssl.create_default_context(cafile=trust) if trust else None)


if __name__ == "__main__":
    site = Reach(endpoints=frozenset({(LOOPBACK, int(os.environ["FETCH_PORT"]))}))
    sys.exit(main(own=Own(reach=site, dialer=dialer)))
