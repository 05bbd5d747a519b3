"""What a person's word about a notification target makes of it.

Layer: runtime. Every refusal comes before anything is recorded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from stead.config import zone_name
from stead.domain import notifications as notify
from stead.domain.bounds import require_name, require_room
from stead.domain.due_times import settled
from stead.domain.errors import Conflict, InvalidRequest, NotFound
from stead.domain.schedules import Cron

Targets = Mapping[str, notify.TargetState]
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


async def target_fact(
    command: notify.TargetCommand, known: Targets, sender: notify.Sender, now_ms: int, door: str
) -> notify.TargetFact:
    """The fact that a command makes. What a browser gave is stored on the way.

    Raises:
        InvalidRequest, NotFound, Conflict: it cannot be; the text says why.
    """
    match command:
        case notify.SetTarget(target=target):
            _require_possible(target, known)
            if isinstance(target.via, notify.Push):
                old = known.get(target.name)
                if old is None or not isinstance(old.target.via, notify.Push):
                    raise InvalidRequest("a browser adds itself: open the page's settings in it, Notifications")
                target = replace(target, via=old.target.via)
            sender.check(target)
            return notify.TargetSet(_timed(target, now_ms), door)
        case notify.SubscribePush(name=name):
            target = known[name].target if name in known else notify.NotificationTarget(name, notify.Push())
            if not isinstance(target.via, notify.Push):
                raise Conflict(f"there is a target {name!r} that is no browser; give another name")
            _require_possible(target, known)
            return notify.TargetSet(replace(_timed(target, now_ms), via=await sender.subscribe(command)), door)
        case notify.SwitchTarget(name=name, on=on):
            if known_target(known, name).on == on:
                raise Conflict(f"{name} is {'on' if on else 'off'} already; see: stead notify list")
            return notify.TargetSwitched(name, on, door)
        case notify.RemoveTarget(name=name):
            known_target(known, name)
            return notify.TargetRemoved(name, door)
        case _:
            assert_never(command)


def known_target(known: Targets, name: str) -> notify.TargetState:
    """The target of a name; raises ``NotFound`` where there is none."""
    if name not in known:
        raise NotFound(f"there is no notification target {name[:80]!r}; see: stead notify list")
    return known[name]


def _require_possible(target: notify.NotificationTarget, known: Targets) -> None:
    require_name(target.name)
    require_room(known, target.name, notify.MOST_TARGETS, "targets", "notify")
    if isinstance(target.via, notify.ChatTarget):  # two would say everything twice there
        also = (one.target.name for one in known.values() if one.target.via == target.via)
        if other := next((name for name in also if name != target.name), ""):
            raise InvalidRequest(f"{other} notifies that chat already; change it: stead notify add {other} --chat CHAT")
    if not target.kinds or not set(target.kinds) <= set(notify.KINDS):
        raise InvalidRequest(f"say what is sent there, of: {', '.join(notify.KINDS)}")
    for time in (target.quiet_from, target.quiet_to, target.digest):
        if time and not _TIME.fullmatch(time):
            raise InvalidRequest(f"{time[:20]!r} is no time of day, such as 22:00")
    if (target.quiet_from or target.quiet_to) and len({"", target.quiet_from, target.quiet_to}) < 3:
        raise InvalidRequest("quiet hours begin and end, at different times, as 22:00-07:00")


def _timed(target: notify.NotificationTarget, now_ms: int) -> notify.NotificationTarget:
    """The target with a zone that there is."""
    daily = settled(Cron("0 0 * * *", target.zone), zone_name(), now_ms)
    return replace(target, zone=daily.zone if isinstance(daily, Cron) else "")
