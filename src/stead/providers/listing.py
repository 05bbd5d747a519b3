"""What models a provider's server lists, asked for without a vendor's library.

Layer: providers. Those libraries take seconds of CPU to load, and whoever has just typed a key waits for the answer: a
wrong key and an address where nobody is show themselves here, before anything of that is loaded.
"""

from __future__ import annotations

import httpx2
import msgspec

from stead.providers.directory import Endpoint
from stead.providers.failures import Broken, Failure, broken_connection, clean
from stead.providers.transport import Transport

CONNECT_S = 4.0
"""A live test tells within five seconds that nobody is there."""
_MOST = 1000
_REFUSED = (401, 403)


class _Listed(msgspec.Struct):
    id: str


class _List(msgspec.Struct):
    data: list[_Listed]


async def try_endpoint(endpoint: Endpoint) -> tuple[str, ...]:
    """What the server lists, by a connection of its own; nothing when it lists none but may well serve requests.

    Raises:
        Broken: it cannot be reached or refuses the key, so that no request would fare better.
    """
    async with httpx2.AsyncClient(
        transport=Transport(endpoint),
        timeout=httpx2.Timeout(None, connect=min(CONNECT_S, endpoint.deadlines.connect_s)),
        follow_redirects=False,
        trust_env=False,
    ) as http:
        try:
            return await list_models(http, endpoint)
        except httpx2.HTTPStatusError as error:
            status = error.response.status_code
            # Some servers of no known vendor guard their list and not their models.
            if status in _REFUSED and endpoint.preset.key_env:
                raise Broken(Failure("auth", f"{status} the key was refused", charged=False)) from None
        except httpx2.ConnectTimeout:
            raise Broken(Failure("connection", f"no connection within {CONNECT_S:g} s", charged=False)) from None
        except httpx2.ConnectError as error:
            said = clean(broken_connection(error) or f"the connection broke: {error}", endpoint.key)
            raise Broken(Failure("connection", said, charged=False)) from None
        except (httpx2.HTTPError, httpx2.StreamError, msgspec.MsgspecError, ValueError):
            return ()
    return ()


async def list_models(http: httpx2.AsyncClient, endpoint: Endpoint) -> tuple[str, ...]:
    """What the server lists, sorted; at most 1,000 names.

    Raises:
        httpx2.HTTPError, httpx2.StreamError, msgspec.MsgspecError, ValueError: it lists none.
    """
    url, headers = f"{endpoint.base_url.rstrip('/')}/models", {"authorization": f"Bearer {endpoint.key}"}
    if endpoint.kind == "anthropic":
        url = f"{endpoint.base_url.rstrip('/')}/v1/models?limit=1000"
        headers = {"x-api-key": endpoint.key, "anthropic-version": "2023-06-01"}
    answer = await http.get(url, headers=headers)
    listed = msgspec.json.decode(answer.raise_for_status().content, type=_List).data
    return tuple(sorted(model.id.removeprefix("models/") for model in listed)[:_MOST])
