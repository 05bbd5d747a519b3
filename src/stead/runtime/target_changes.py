"""What a person's word about a notification target makes of it.

Layer: runtime. Every refusal comes before anything is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from stead.config import zone_name
from stead.domain.due_times import settled
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.notifications import (
    KINDS,
    MOST_TARGETS,
    ChatTarget,
    NotificationTarget,
    Push,
    RemoveTarget,
    Sender,
    SetTarget,
    SubscribePush,
    SwitchTarget,
    TargetCommand,
    TargetFact,
    TargetRemoved,
    TargetSet,
    TargetState,
    TargetSwitched,
)
from stead.domain.schedules import Cron

Targets = Mapping[str, TargetState]
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


async def target_fact(command: TargetCommand, known: Targets, sender: Sender, now_ms: int, door: str) -> TargetFact:
    """The fact that a command makes. What a browser gave is stored on the way.

    Raises:
        InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
    """
    match command:
        case SetTarget(target=target):
            _require_possible(target, known)
            if isinstance(target.via, Push):
                old = known.get(target.name)
                if old is None or not isinstance(old.target.via, Push):
                    raise InvalidRequest("a browser adds itself: open the page's settings in it, Notifications")
                target = replace(target, via=old.target.via)
            sender.check(target)
            return TargetSet(_timed(target, now_ms), door)
        case SubscribePush(name=name):
            target = known[name].target if name in known else NotificationTarget(name, Push())
            if not isinstance(target.via, Push):
                raise Conflict(f"there is a target {name!r} that is no browser; give another name")
            _require_possible(target, known)
            return TargetSet(replace(_timed(target, now_ms), via=await sender.subscribe(command)), door)
        case SwitchTarget(name=name, on=on):
            if known_target(known, name).on == on:
                raise Conflict(f"{name} is {'on' if on else 'off'} already")
            return TargetSwitched(name, on, door)
        case RemoveTarget(name=name):
            known_target(known, name)
            return TargetRemoved(name, door)
        case _:
            assert_never(command)


def known_target(known: Targets, name: str) -> TargetState:
    """The target of a name; raises ``NotFound`` where there is none."""
    if name not in known:
        raise NotFound(f"there is no notification target {name[:80]!r}; see: stead notify list")
    return known[name]


def _require_possible(target: NotificationTarget, known: Targets) -> None:
    if not _NAME.fullmatch(target.name):
        raise InvalidRequest(f"the name {target.name[:80]!r} cannot be; a small letter, then up to 30 of a-z, 0-9, -")
    if target.name not in known and len(known) >= MOST_TARGETS:
        raise InvalidRequest(f"{MOST_TARGETS} targets are the most; remove one first: stead notify remove NAME")
    if isinstance(target.via, ChatTarget):  # two would say everything twice there
        also = (one.target.name for one in known.values() if one.target.via == target.via)
        if other := next((name for name in also if name != target.name), ""):
            raise InvalidRequest(f"{other} notifies that chat already; change it: stead notify add {other} --chat CHAT")
    if not target.kinds or not set(target.kinds) <= set(KINDS):
        raise InvalidRequest(f"say what is sent there, of: {', '.join(KINDS)}")
    for time in (target.quiet_from, target.quiet_to, target.digest):
        if time and not _TIME.fullmatch(time):
            raise InvalidRequest(f"{time[:20]!r} is no time of day, such as 22:00")
    if (target.quiet_from or target.quiet_to) and len({"", target.quiet_from, target.quiet_to}) < 3:
        raise InvalidRequest("quiet hours begin and end, at different times, as 22:00-07:00")


def _timed(target: NotificationTarget, now_ms: int) -> NotificationTarget:
    """The target with a zone that there is."""
    daily = settled(Cron("0 0 * * *", target.zone), zone_name(), now_ms)
    return replace(target, zone=daily.zone if isinstance(daily, Cron) else "")
