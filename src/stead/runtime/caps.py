"""What may be spent in a day and in a month, changed by a person's word.

Layer: runtime. Pure.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.channels import Channels
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.objectives import NO_CAP, PeriodCaps, Spend, require_budget
from stead.domain.rows import ChannelCaps

NO_CAPS = ev.CapSet(daily=NO_CAP)
_MOST_SHARES = 5


def capped(command: cmd.SetCap, caps: ev.CapSet, known: Channels) -> ev.CapSet:
    """The caps after a command, which changes what it names.

    Args:
        command: the word.
        caps: as they are.
        known: channels and chats; the cap of one that is gone can be changed still, since it holds for its sessions.

    Raises:
        InvalidRequest: a figure that cannot be.
        NotFound: there is no such channel or chat.
    """
    shares = caps.warn_at if command.warn_at is None else tuple(sorted(set(command.warn_at)))
    if len(shares) > _MOST_SHARES or not all(0 < share < 100 for share in shares):
        raise InvalidRequest(f"shares of a cap are up to {_MOST_SHARES} whole numbers from 1 to 99")
    of = command.channel
    old = caps.channels.get(of, PeriodCaps()) if of else PeriodCaps(caps.daily, caps.monthly)
    new = PeriodCaps(command.daily or old.daily, command.monthly or old.monthly)
    require_budget(new.daily, least=0)
    require_budget(new.monthly, least=0)
    if not of:
        return ev.CapSet(new.daily, new.monthly, shares, caps.channels)
    if of not in caps.channels and of not in _names(known):
        raise NotFound(f"there is no channel and no chat {of[:80]!r}; see: stead channel list")
    channels = {name: one for name, one in {**caps.channels, of: new}.items() if one != PeriodCaps()}
    return replace(caps, warn_at=shares, channels=channels)


def channel_caps(
    caps: ev.CapSet, known: Channels, spent: Callable[[str], tuple[Spend, Spend]]
) -> tuple[ChannelCaps, ...]:
    """The caps of channels and chats for people. ``spent``: on this day and in this month, by one of them."""
    names = _names(known)
    return tuple(
        ChannelCaps(of, names.get(of, ""), one.daily, one.monthly, *spent(of))
        for of, one in sorted(caps.channels.items())
    )


def _names(known: Channels) -> dict[str, str]:
    """What channels and chats are called, by what caps name them."""
    chats = {f"{one.channel}/{one.id}": one.name for one in known.chats.values()}
    return {**chats, **{name: name for name in known.channels}}
