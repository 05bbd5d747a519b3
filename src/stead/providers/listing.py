"""Whether a provider's server is there and takes the key: its list of models, by a connection of its own.

Layer: providers. A person who has just typed a key waits for the answer, so a wrong key and an address that nothing
answers at show themselves here first.
"""

from __future__ import annotations

import httpcore2
import msgspec

from stead.providers import faults
from stead.providers.connection import KEY_REFUSED, Refused, listed, wire_of
from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure
from stead.providers.transport import BROKEN, Channel

CONNECT_S = 4.0
"""A live test tells within five seconds that nothing answers."""


async def try_endpoint(endpoint: Endpoint) -> dict[str, int]:
    """What the server lists, each with its window; nothing when it lists none but may well serve requests.

    Raises:
        Broken: it cannot be reached or refuses the key, so that no request would fare better.
    """
    channel = Channel(endpoint)
    try:
        return await listed(channel, wire_of(endpoint), endpoint, min(CONNECT_S, endpoint.deadlines.connect_s))
    except Refused as refused:
        # Some servers of no known vendor guard their list and not their models.
        if refused.status in KEY_REFUSED and endpoint.preset.key_env:
            raise Broken(Failure("auth", f"{refused.status} the key was refused", charged=False)) from None
    except httpcore2.ConnectTimeout:
        raise Broken(Failure("connection", f"no connection within {CONNECT_S:g} s", charged=False)) from None
    except httpcore2.ConnectError as error:
        raise Broken(faults.broken(error, secret=endpoint.key)) from None
    except (*BROKEN, msgspec.MsgspecError):
        return {}
    finally:
        await channel.close()
    return {}
