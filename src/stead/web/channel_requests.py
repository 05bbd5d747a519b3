"""Requests of messaging platforms at the listener: handed to who has the channel, answered in time, few where refused.

Layer: a door. Whether a request is signed is found out in the channel's process, which costs more than reading it here.
So each takes a place of its address and one of its channel, and gives them back unless it was refused: a flood of
unsigned requests ends here, and so do more at a time than there are places.
"""

from __future__ import annotations

import asyncio

from stead.domain.channel_wire import Request, Response
from stead.domain.errors import NotFound, SteadError
from stead.domain.ports import Clock
from stead.runtime.arrivals import Arrivals
from stead.web.signin import TokenBucket

ANSWER_S = 10.0
"""For the channel's process to check a request, and for what it brings to be recorded."""
PLACES, PLACES_PER_S = 60, 20.0
_MOST_KEYS = 1000
_REFUSED = (401, 403)


class _Places(TokenBucket):
    def give_back(self) -> None:
        """What was taken was not refused."""
        self._tokens = min(self._burst, self._tokens + 1)

    @property
    def whole(self) -> bool:
        """Whether it is as one that was never used."""
        since_s = max(0, self._clock.now_ms() - self._at_ms) / 1000
        return self._tokens + since_s * self._per_s >= self._burst


class ChannelDoor:
    """Hands requests on.

    Args:
        arrivals: knows who has the channels.
        clock: says what time it is.
    """

    def __init__(self, arrivals: Arrivals, clock: Clock) -> None:
        self._arrivals = arrivals
        self._clock = clock
        self._places: dict[str, _Places] = {}

    async def answer(self, name: str, address: str, request: Request) -> Response:
        """What a request to a channel is answered.

        Args:
            name: of the channel, as the path has it.
            address: where it came from.
            request: as it was read.
        """
        channels = self._arrivals.channels
        if channels is None:
            return Response(0, 404)
        if not self._take(address, name):
            return Response(0, 429)
        refused = True
        try:
            async with asyncio.timeout(ANSWER_S):
                response = await channels.request(name, request)
            refused = response.status in _REFUSED
            return response
        except NotFound:
            refused = False
            return Response(0, 404)
        except (SteadError, OSError):
            return Response(0, 503)
        finally:
            self._settle(address, name, refused=refused)

    def _take(self, address: str, name: str) -> bool:
        if len(self._places) >= _MOST_KEYS:
            self._places = {key: one for key, one in self._places.items() if not one.whole}
            if len(self._places) >= _MOST_KEYS:
                return False
        found = [
            self._places.setdefault(key, _Places(self._clock, PLACES, PLACES_PER_S)) for key in _keys(address, name)
        ]
        if found[0].take():
            return False
        if found[1].take():
            found[0].give_back()
            return False
        return True

    def _settle(self, address: str, name: str, *, refused: bool) -> None:
        for key in () if refused else _keys(address, name):
            if one := self._places.get(key):
                one.give_back()
                if one.whole:
                    del self._places[key]


def _keys(address: str, name: str) -> tuple[str, str]:
    return f"from {address}", f"to {name}"
