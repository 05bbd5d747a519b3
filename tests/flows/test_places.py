"""A person reaches their home from their chat on each platform, whatever breaks on the way."""

from __future__ import annotations

import contextlib
import os
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import count, islice
from pathlib import Path
from signal import SIGKILL

import pytest

from stead.channels.manifests import MANIFESTS
from tests.fakes.models import Turn
from tests.flows import asking
from tests.flows.asleep import tree
from tests.flows.chatting import NAME, channel, through, told
from tests.flows.conftest import running_home
from tests.flows.counting import UNLIMITED
from tests.flows.house import Json, LivingHome, use_model
from tests.flows.places import Place, discord, email, matrix, signal, slack, teams, telegram, webhook, whatsapp
from tests.flows.served import served
from tests.promises import promise

LOST_S = 4.0
"""After which a message that nobody has any more is taken for lost, where the platform may lose it."""
SHOWN = re.compile(r"note number (\d+)\.")


PLACES: dict[str, Callable[[], AbstractContextManager[Place]]] = {
    "discord": discord.place,
    "email": email.place,
    "matrix": matrix.place,
    "signal": signal.place,
    "slack": slack.place,
    "slack by requests": slack.posting_place,
    "teams": teams.place,
    "telegram": telegram.place,
    "webhook": webhook.place,
    "whatsapp": whatsapp.place,
}


WAYS = ("email", "slack", "telegram", "whatsapp")
"""One of each way in: a mailbox, a WebSocket, a long poll, requests. CI has all flows of these."""
UNCHANGED = ("whatsapp",)
"""No message can be changed there, so that what came of a press is a message."""
each_platform = pytest.mark.parametrize(
    "place",
    [pytest.param(kind, marks=pytest.mark.long) if kind == "slack by requests" else kind for kind in sorted(PLACES)],
    indirect=True,
)
each_way = pytest.mark.parametrize(
    "place",
    [kind if kind in WAYS else pytest.param(kind, marks=pytest.mark.long) for kind in sorted(PLACES)],
    indirect=True,
)
numbers = count()
"""Of notes: none is used twice, since the flows of a platform share a chat."""


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Ada's chat on a platform, for all flows through it."""
    with PLACES[request.param]() as opened:
        yield opened


@pytest.fixture(scope="module")
def project(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the chat is about."""
    folder = tmp_path_factory.mktemp(place.kind)
    (folder / "README.md").write_text("# Quill\n\nNotes.\n", "utf-8")
    return folder


@pytest.fixture(scope="module")
def house(place: Place, project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivingHome]:
    """A home that the chat is paired with."""
    with running_home(tmp_path_factory.mktemp("paired"), shared=True) as living:
        connect(living, place)
        pair(living, place, project)
        yield living


def test_each_platform_goes_through_the_flows() -> None:
    assert {kind.partition(" ")[0] for kind in PLACES} == set(MANIFESTS)


def connect(house: LivingHome, place: Place) -> None:
    """Have the home use the bot, and wait until it is connected."""
    for field, value in place.secrets.items():
        house.post("/secrets", {"name": f"{NAME}-{field}", "value": value})
    given: Json = {"settings": dict(place.settings), "secrets": {field: f"{NAME}-{field}" for field in place.secrets}}
    if place.ca_file:
        given["ca_file"] = place.ca_file
    house.post("/channels", {"name": NAME, "kind": place.kind, **given})
    house.until(lambda: channel(house)["state"] == "connected", "the channel to connect", last=house.log_tail)
    house.until(lambda: not place.posts or channel(house)["url"], "the listener to open", last=house.log_tail)
    place.url = channel(house)["url"]


def pair(house: LivingHome, place: Place, folder: Path) -> None:
    """Pair Ada's chat with the bot, by the code that she writes there."""
    # Some hundred messages in one session are more than it may spend by itself, as each goes with all before it.
    rights = {"directory": str(folder), "profile": "ask", "budget": UNLIMITED}
    place.writes(house.post(f"/channels/{NAME}/pair", {"rights": rights, "name": "ada"})["code"])
    house.until(lambda: any("Paired" in text for text in place.sent()), "the chat to be paired", last=house.log_tail)
    settle(house)


def settle(house: LivingHome) -> None:
    """Wait until nothing waits to be sent."""
    house.until(lambda: channel(house)["chats"][0]["waiting"] == 0, "all to be sent", last=house.log_tail)


def allow(house: LivingHome, place: Place, part: str) -> None:
    """Ada says yes to the question in which this part stands, as she can there."""
    house.until(lambda: any("May I?" in text for text in place.sent()), "the question", last=place.sent)
    asked = next(text for text in reversed(place.sent()) if "May I?" in text and part in text)
    if place.answering == "button":
        place.presses(part, "Allow")
    elif place.answering == "code":
        place.writes(re.findall(r"\by-\w+", asked)[0])
    else:
        (question,) = house.get("/approvals")["items"]
        assert "No answer counts here; answer it on the page: http" in asked
        asking.answer(house, question, "once")


@promise("CH-1.discord", "CH-1.email", "CH-1.signal", "CH-1.slack", "CH-1.teams", "CH-1.telegram", "CH-1.whatsapp")
@promise("CH-3.approve")
@each_platform
def test_words_are_answered_in_the_chat_and_a_question_in_the_way_that_the_platform_has(
    house: LivingHome, project: Path, place: Place
) -> None:
    place.writes("show README.md")
    house.until(lambda: any("Quill" in text for text in place.sent()), "the reply", last=place.sent)

    place.writes('write "hello" to greeting.txt')
    allow(house, place, "greeting.txt")
    house.until(lambda: (project / "greeting.txt").exists(), "the call to run", last=place.sent)
    assert (project / "greeting.txt").read_text("utf-8").strip() == "hello"
    house.until(lambda: house.get("/approvals")["items"] == [], "the question to be closed")
    if place.answering == "button":
        house.until(lambda: any("Allowed" in text for text in place.sent()), "that to be shown", last=place.sent)

    if place.kind in UNCHANGED:
        place.presses("greeting.txt", "Deny")
        house.until(lambda: "It was answered already: allowed." in place.sent(), "that to be said", last=place.sent)


@each_way
@pytest.mark.parametrize(
    ("messages", "every"), [(2, 1), pytest.param(200, 8, marks=[pytest.mark.long, pytest.mark.timeout(3600)])]
)
def test_each_message_is_one_turn_and_one_reply_however_often_the_daemon_or_the_channels_process_is_killed(
    house: LivingHome, project: Path, place: Place, messages: int, every: int
) -> None:
    chance = random.Random(27)
    own = notes(project, messages)
    for at, n in enumerate(own):
        kill, rest = divmod(at, every)
        killed = rest == every - 1
        written = not killed or kill % 4 in (0, 3)
        if written:
            place.writes(f"show note{n}.txt")
        if killed:
            time.sleep(chance.uniform(0, 1.2))  # the moment of the kill is what is tried
            (kill_process if kill % 2 else LivingHome.kill)(house)
            if not written:
                place.writes(f"show note{n}.txt")
            if kill % 2 == 0:
                house.start()
        until_shown(house, place, n)
    assert once(heard(house, own), place) == own
    # A platform that takes no key by which it would know a message again is sent one twice where the kill comes between
    # its taking it and our record of that. Nothing else may be.
    doubled = len(shown(place, own)) - messages
    assert doubled <= 1 + messages // every // 10, shown(place, own)


@each_way
@pytest.mark.parametrize(
    ("messages", "pause_s"), [(3, 0.0), pytest.param(300, 5.0, marks=[pytest.mark.long, pytest.mark.timeout(3600)])]
)
def test_what_is_written_while_every_connection_is_dropped_is_answered_once_and_in_order(
    house: LivingHome, project: Path, place: Place, messages: int, pause_s: float
) -> None:
    own = notes(project, messages)
    began = cut_at = time.monotonic()
    for at, n in enumerate(own):
        if pause_s:
            time.sleep(max(0.0, began + at * 1.1 - time.monotonic()))  # 60 a minute are the most of one person
        place.writes(f"show note{n}.txt")
        if time.monotonic() - cut_at >= pause_s:
            place.cut()
            cut_at = time.monotonic()
        until_shown(house, place, n)
    assert once(heard(house, own), place) == own
    assert sorted(set(shown(place, own))) == own


@each_way
def test_files_go_both_ways_as_they_were(house: LivingHome, project: Path, place: Place) -> None:
    data = bytes(range(256)) * 40
    (project / "out.bin").write_bytes(data)
    turns = {"send it back": Turn("", calls=(through("send_file", to="ada", path="out.bin"),))}
    with served(told(turns)) as model:
        use_model(house, model.openai)
        before = {row["id"] for row in house.get("/sessions")["items"]}
        place.writes("/reset")  # a session keeps the model that it began with
        house.until(lambda: any("A new session" in text for text in place.sent()), "that", last=place.sent)
        place.sends("in.txt", b"Plums, 3 kg", "keep it")
        house.until(lambda: any("So it is." in text for text in place.sent()), "the reply", last=place.sent)
        (session,) = [row["id"] for row in house.get("/sessions")["items"] if row["id"] not in before]
        assert [one["text"] for one in house.bodies(session, "message.received")] == ["keep it", "Plums, 3 kg"]
        own = house.post("/sessions", {"directory": str(project)})["session"]
        house.post(f"/sessions/{own}/messages", {"text": "send it back"})
        asking.answer(house, asking.question(house, own), "once")
        house.until(lambda: place.files() == [data], "the file", last=house.log_tail)


def until_shown(house: LivingHome, place: Place, n: int) -> None:
    """Wait until a note is shown. Where the platform may have lost what asked for it, that is written again."""
    again_at = time.monotonic() + LOST_S

    def there() -> bool:
        nonlocal again_at
        if not place.keeps and time.monotonic() > again_at and not place.waits():
            if n not in heard(house, [n]):
                place.writes(f"show note{n}.txt")
            again_at = time.monotonic() + LOST_S
        return n in shown(place, [n])

    house.until(there, f"the reply to {n}", last=place.sent)


def once(numbers: list[int], place: Place) -> list[int]:
    """Numbers as they were written: of a platform that loses nothing as they are, of others without repetitions."""
    return numbers if place.keeps else list(dict.fromkeys(numbers))


def kill_process(house: LivingHome) -> None:
    """The channel's own process is killed, and nothing of it is tidied."""
    assert house.process is not None
    below = house.process.pid

    def running() -> list[int]:
        return [pid for pid in tree(below) if b"stead.channels.worker" in arguments(pid)]

    house.until(lambda: bool(running()), "the channel's process to run", last=house.log_tail)
    os.kill(running()[-1], SIGKILL)  # the last is the program itself; before it comes what holds its machine


def arguments(pid: int) -> list[bytes]:
    """What a process was started with; nothing of one that has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def notes(project: Path, many: int) -> list[int]:
    """Files of which each says its number; gives the numbers."""
    own = list(islice(numbers, many))
    for n in own:
        (project / f"note{n}.txt").write_text(f"These are the words of note number {n}.\n", "utf-8")
    return own


def shown(place: Place, own: list[int]) -> list[int]:
    """Of these numbers those of notes that were shown in the chat."""
    return [n for text in place.sent() for n in map(int, SHOWN.findall(text)) if n in own]


def heard(house: LivingHome, own: list[int]) -> list[int]:
    """Of these numbers those of notes that sessions were asked for, in order."""
    asked = [one["body"]["text"] for one in house.events() if one["body"]["type"] == "message.received"]
    return [n for text in asked for n in map(int, re.findall(r"note(\d+)\.txt", text)) if n in own]
