"""A past that nobody had the time to live: events of many objectives, written into a journal that no daemon has open.

They are the events that a real run leaves, in the same order, with the storage's own chain and encryption.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

from stead.config import Home
from stead.domain import events as ev
from stead.domain.ids import DEFAULT_WORKSPACE, CallDigest, CallKey, CommandId, RequestNo, SessionId
from stead.domain.messages import Text, ToolCall, Usage
from stead.domain.policies import Integrity, Label, Profile, Reason, Risk
from stead.storage.journal import JournalFile, open_journal
from stead.storage.keystore import open_keys
from tests.build import MODEL

DAY_MS = 86_400_000
OBJECTIVES, STEPS, TALK_EVENTS = 500, 10_000, 5_000
_BATCH = 2_000
_NOUNS = ("tides", "lamps", "boats", "quays", "berths", "ropes", "sails", "charts", "bells", "nets")
_VERBS = ("Sort", "Count", "Check", "Mend", "List", "Copy", "Weigh", "Paint", "Name", "Read")


def write(home: Home, directory: str) -> dict[str, str]:
    """Fill a home: 500 objectives that ended, one of 10,000 steps, a session of 5,000 events; gives ids by name."""
    ids = {"long": SessionId("s_00000000000010c5"), "talk": SessionId("s_0000000000007a1c")}
    now_ms = time.time_ns() // 1_000_000
    told: list[ev.Draft] = []
    for number in range(OBJECTIVES):
        start = now_ms - (OBJECTIVES - number) * DAY_MS // 10
        title = f"{_VERBS[number % 10]} the {_NOUNS[number // 10 % 10]} of quay {number:03d}"
        told += drafts(SessionId(f"s_{number:016x}"), start, objective(title, directory, turns=1 + number % 3))
    told += drafts(ids["long"], now_ms - DAY_MS // 2, objective("Read every log", directory, turns=STEPS))
    told += drafts(ids["talk"], now_ms - DAY_MS // 4, talk("Ten years of letters", directory, TALK_EVENTS))
    fill(home, told)
    return {name: str(id) for name, id in ids.items()}


def fill(home: Home, drafts: Sequence[ev.Draft]) -> None:
    """Append to the home's journal, made anew if there is none. No daemon has it open.

    In a thread, because a browser that is open keeps an event loop in this one.
    """
    home.make()
    journal = open_journal(home.journal, open_keys(home, "file", lambda: "").keys)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, _append(journal, drafts)).result()
    journal.close()


def objective(title: str, directory: str, *, turns: int, ended: bool = True) -> Iterator[ev.Body]:
    """An objective's events: a turn is a request, its reply and one call: a step.

    Args:
        title: also its goal.
        directory: absolute.
        turns: how many, at least one.
        ended: whether it was completed.
    """
    yield ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title=title,
        contract=ev.Contract(title),
        directory=directory,
        tools=(),
        chain=(MODEL,),
        budget=ev.Budget("unlimited", "unlimited"),
        limits=ev.Limits(),
        profile=Profile.ASK,
        instructions="Act for Ada.",
    )
    for number in range(1, turns + 1):
        yield from turn(number)
    if ended:
        yield ev.ObjectiveEnded("unverified", "done", f"{title}: done.")


def talk(title: str, directory: str, events: int) -> Iterator[ev.Body]:
    """A session's events, about this many: somebody says something, the model answers after one call."""
    yield ev.SessionOpened(
        workspace=DEFAULT_WORKSPACE,
        title=title,
        directory=directory,
        tools=(),
        chain=(MODEL,),
        budget=ev.Budget("unlimited", "unlimited"),
        limits=ev.Limits(),
        profile=Profile.ASK,
        instructions="Work with Ada.",
    )
    asked = Label(Integrity.TRUSTED)
    for number in range(1, events // 9 + 1):
        yield ev.MessageReceived(f"What does letter {number} say?", "web", asked)
        yield from turn(2 * number - 1)
        yield from answer(2 * number, f"Letter **{number}** says that the tide was high at 06:{number % 60:02d}.")
        yield ev.TurnEnded(number, "done", f"Letter {number} is read.")


def turn(number: int) -> Iterator[ev.Body]:
    """A request whose reply calls ``read``, and that call."""
    key, digest = CallKey(f"call_{number}_1"), CallDigest("d" * 64)
    arguments = json.dumps({"path": f"logs/{number:05d}.log"}, separators=(",", ":"))
    said = (Text(f"I read log {number} next."), ToolCall(key, "read", arguments))
    yield ev.ModelRequested(RequestNo(number), "", 2 * number - 1, 4096, ev.Spend(9000, 2000))
    yield _replied(number, said, "tool_call")
    yield ev.CallJudged(key, "read", "allow", Reason("auto", "Reads are free."), Risk.LOW, digest)
    yield ev.ToolStarted(key, "read", arguments, digest, idempotent=True)
    yield ev.ToolFinished(key, "read", "ok", f"log {number}: the lamp was lit", Label(), 32, 5)


def answer(number: int, text: str) -> Iterator[ev.Body]:
    """A request whose reply is words alone."""
    yield ev.ModelRequested(RequestNo(number), "", 2 * number, 4096, ev.Spend(9000, 2000))
    yield _replied(number, (Text(text),), "stop")


def drafts(id: SessionId, start_ms: int, bodies: Iterable[ev.Body]) -> list[ev.Draft]:
    """A stream's events from its first on, 0.4 s apart."""
    return [
        ev.Draft(id, place, start_ms + place * 400, "stead", CommandId(""), body)
        for place, body in enumerate(bodies, 1)
    ]


def _replied(number: int, parts: tuple[Text | ToolCall, ...], stop: Literal["stop", "tool_call"]) -> ev.ModelReplied:
    usage, spend = Usage(4000, 60, 3900), ev.Spend(4060, 900)
    return ev.ModelReplied(RequestNo(number), parts, stop, MODEL, usage, spend, (), 1500, 300)


async def _append(journal: JournalFile, drafts: Sequence[ev.Draft]) -> None:
    for start in range(0, len(drafts), _BATCH):
        await journal.append(drafts[start : start + _BATCH])
