"""A platform that does not work for hours: the owner sees that and why, and what waited goes out once and in order."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fakes.gate import Fault
from tests.fakes.receivers import SIGNING, Receiver, receiver
from tests.flows.chatting import NAME, channel, telegram
from tests.flows.chatting import connect as connect_bot
from tests.flows.clocked_daemon import set_clock
from tests.flows.house import LivingHome
from tests.flows.places import Place
from tests.flows.served import in_thread
from tests.flows.test_places import PLACES, connect, pair, settle, until_shown

DOWN_S = 150.0
"""Within which it is known that a platform does not answer; one that answers nonsense is known at once."""
UP_S = 90.0
"""Within which a platform is found that works again."""
MINUTE_MS = 60_000
FAULTS: tuple[Fault, ...] = ("500", "page", "garbage", "nothing")
FIRST = (("slack by requests", "500"),)
"""One whose connection says nothing of it; one that asks is below, and of the others CI knows their processes alone."""
CASES = [(kind, fault) for kind in sorted(PLACES) for fault in FAULTS if (kind, fault) != ("webhook", "page")]
"""To a person's own program, whatever it says with 200 is its yes."""
LONG = [pytest.mark.long, pytest.mark.timeout(600)]


class Clocked(LivingHome):
    """A home whose clock the test sets."""

    def later(self, minutes: int) -> None:
        """It is so many minutes after the start; a change of nothing has Stead look at the clock."""
        set_clock(Path(self.env["CLOCK"]), minutes * MINUTE_MS)
        self.post("/secrets", {"name": "later", "value": "something else", "replace": minutes > 0})


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Clocked]:
    """One that runs."""
    (clock := tmp_path / "clock").write_text("0")
    home = Clocked(tmp_path / "clocked", {"CLOCK": str(clock)}, "tests.flows.clocked_daemon", forked=True)
    home.start()
    try:
        home.later(0)
        yield home
    finally:
        home.stop()


@contextmanager
def talking(home: LivingHome, kind: str, project: Path) -> Iterator[Place]:
    """Ada's chat, in which she has begun to talk."""
    for n in range(4):
        (project / f"note{n}.txt").write_text(f"These are the words of note number {n}.\n", "utf-8")
    with PLACES[kind]() as place:
        connect(home, place)
        pair(home, place, project)
        place.writes("show README.md")
        home.until(lambda: any("Quill" in text for text in place.sent()), "a reply", last=home.log_tail)
        yield place


def ask(home: LivingHome, *numbers: int) -> None:
    """Go on with that talk elsewhere: what is answered goes to the chat all the same."""
    (session,) = [row["id"] for row in home.get("/sessions")["items"]]
    for n in numbers:
        ended = len(home.bodies(session, "turn.ended"))
        home.post(f"/sessions/{session}/messages", {"text": f"show note{n}.txt"})
        home.until(lambda e=ended: len(home.bodies(session, "turn.ended")) > e, "the answer")  # type: ignore[misc]


def shown(place: Place) -> list[int]:
    """The numbers of the notes that were shown in the chat."""
    return [int(number) for text in place.sent() for number in re.findall(r"note number (\d)\.", text)]


@contextmanager
def alarmed(home: Clocked) -> Iterator[Receiver]:
    """Where she hears of what fails, whatever her channel does."""
    with in_thread(receiver()) as hook:
        home.post("/secrets", {"name": "signing", "value": SIGNING})
        via = {"type": "webhook", "url": hook.url, "secret": "signing"}
        home.post("/notifications", {"name": "hook", "via": via, "kinds": ["failed"]})
        yield hook


def down(home: LivingHome) -> bool:
    """Whether the channel is shown as down."""
    return bool(channel(home)["state"] == "down")


@pytest.mark.parametrize(
    ("kind", "fault"), [case if case in FIRST else pytest.param(*case, marks=LONG) for case in CASES]
)
def test_a_platform_that_does_not_work_for_hours_is_shown_as_down_and_loses_and_doubles_nothing(
    home: Clocked, project: Path, kind: str, fault: Fault
) -> None:
    with talking(home, kind, project) as place, alarmed(home) as hook:
        place.breaks(fault)
        ask(home, 0, 1, 2)
        home.until(lambda: down(home), "it to be shown as down", timeout_s=DOWN_S, last=home.log_tail)
        row = channel(home)
        assert row["error"] and row["chats"][0]["waiting"] == 3, row
        heads, line = home.cli("channel", "list").stdout.splitlines()[:2]
        assert " down " in line and line[heads.index("WHY") :].strip(), "with a cause, which may be another one by now"

        home.later(11)
        said = lambda: any("is not connected: phone" in title for title in hook.titles)  # noqa: E731
        home.until(said, "the alarm", timeout_s=45, last=hook)
        home.later(180)
        assert shown(place) == [] and down(home)
        began_s = time.monotonic()
        place.breaks("")
        if (kind, fault) in FIRST:
            home.post(f"/channels/{NAME}/test")  # the owner asks, and does not wait until it is found
        later_s = time.monotonic() + 5

        def arrived() -> bool:
            """Looked at while time passes: the host's own timer does not ring for a clock that was set."""
            nonlocal later_s
            if time.monotonic() > later_s:
                home.later(180 + round(later_s - began_s))
                later_s += 5
            return shown(place) == [0, 1, 2]

        home.until(arrived, "all of it, in order", timeout_s=UP_S, last=home.log_tail)
        settle(home)
        row = channel(home)
        assert (row["state"], row["error"]) == ("connected", ""), row
        place.writes("show note3.txt")
        until_shown(home, place, 3)
        assert shown(place) == [0, 1, 2, 3]
        assert len(hook.titles) == 1


def test_a_channel_that_connects_and_breaks_all_the_time_is_said_to_be_down_once(home: Clocked) -> None:
    with telegram() as bot, alarmed(home) as hook:
        connect_bot(home, bot)
        bot.run(bot.server.fail, "getUpdates", *["500"] * 500)
        bot.run(bot.server.cut)
        home.until(lambda: "Internal Server Error" in channel(home)["error"], "it to break", last=home.log_tail)
        for minutes in (11, 22):
            home.later(minutes)
            home.until(lambda: hook.titles != [], "the alarm", last=home.log_tail)
        asked = bot.server.requests
        home.until(lambda: bot.server.requests > asked, "another attempt", timeout_s=75)
        assert len(hook.titles) == 1
