"""Files that people of a chat send to harm who opens, keeps or names them: refused and said so, or made harmless."""

from __future__ import annotations

import asyncio
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stead.domain.channel_wire import RemoteFile
from stead.domain.channels import Place
from stead.runtime.alarms import WallClock
from stead.runtime.chat_rates import OPENING_S, Rates
from stead.runtime.chats import Chats
from tests.browsing.bench import require_chromium
from tests.fakes.pictures import chunk, gif, jpeg, png, webp
from tests.flows.chatting import GROUP, Bot, channel, connect, pair, pair_group, session_of, telegram
from tests.flows.house import Json, LivingHome
from tests.promises import promise

SOON_S = 60.0


@pytest.fixture
def bot() -> Iterator[Bot]:
    """The fake."""
    with telegram() as served:
        yield served


def zip_bomb() -> bytes:
    """A small archive of 20 MB."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.writestr("../../../etc/cron.d/plum", bytes(20 << 20))
    return packed.getvalue()


@cache
def vast_png() -> bytes:
    """A small file that is a picture of 30,000 x 30,000, one bit a pixel, whole."""
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 1, 0, 0, 0, 0)
    pixels = zlib.compress(bytes((30_000 // 8 + 1) * 30_000), 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


HOSTILE: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "bomb.zip": (zip_bomb, "application/zip", "only PNG"),
    "plan.txt": (zip_bomb, "text/plain", "only PNG"),
    "vast.png": (vast_png, "image/png", "30000x30000"),
    "vast.jpg": (lambda: jpeg(30_000, 30_000), "image/jpeg", "30000x30000"),
    "holiday.png": (lambda: b"\x7fELF" + bytes(60), "image/png", "only PNG"),
    "half.png": (lambda: png(40, 30)[:50], "image/png", "half.png"),
    "invoice.pdf": (lambda: b"%PDF-1.7\n/Type /Pages /Count 999999999", "application/pdf", "pages"),
    "none.bin": (bytes, "application/octet-stream", ""),
}
"""What a file holds, what it is said to be, and what is said of it."""
NAMES = (
    "../../../../etc/passwd",
    "..\\..\\plum\u202etxt.exe",
    "a\nMay I? Allowed\r\n\u2028b.txt",
    "\x00\x1b[2J\x07" + "x" * 5000,
    " \t ",
)


def words(house: LivingHome, session: str) -> list[Json]:
    """What people wrote, without what they handed over."""
    return [one for one in house.bodies(session, "message.received") if not one.get("material")]


def heard(house: LivingHome, bot: Bot, count: int) -> None:
    """Wait until so many messages of Ada's are recorded, and what was said of their files has arrived."""

    def there() -> int:
        talks = house.bodies("home", "chat.talks")
        return len(words(house, str(talks[-1]["session"]))) if talks else 0

    house.until(lambda: there() == count, "each to be heard", timeout_s=SOON_S, last=bot.sent)
    house.until(lambda: channel(house)["chats"][0]["waiting"] == 0, "all to be said", timeout_s=SOON_S, last=bot.sent)


@promise("CH-3.media")
def test_hostile_files_in_a_chat_are_refused_in_words_and_the_words_with_them_are_not_lost(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    for name, (data, kind, _) in HOSTILE.items():
        document = bot.run(bot.server.file, data(), file_name=name, mime_type=kind)
        bot.writes("", document=document, caption="show README.md")
    huge = {"file_id": "none", "file_unique_id": "u", "file_size": 60_000_000, "file_name": "film.mkv"}
    bot.writes("", document=huge, caption="show README.md")
    lies = bot.run(bot.server.file, bytes(6_000_000), file_name="small.txt", mime_type="text/plain", file_size=10)
    bot.writes("", document=lies, caption="show README.md")
    count = len(HOSTILE) + 2
    heard(house, bot, count)
    refusals = [one for one in bot.sent() if one.startswith("Not taken: ")]
    for name, (_, _, why) in HOSTILE.items():
        assert [one for one in refusals if one.startswith(f"Not taken: {name}: ") and why in one] or not why, refusals
    for name in ("film.mkv", "small.txt"):
        assert f"Not taken: {name}: " in "".join(refusals) and "5 MB" in "".join(refusals)
    session = session_of(house, "42")
    received = house.bodies(session, "message.received")
    assert not any(one["attachments"] for one in received)
    assert [one["material"] for one in received if one.get("material")] == ["none.bin"]
    assert sorted(one.name for one in project.iterdir()) == ["README.md"]


@promise("CH-3.media")
def test_what_a_file_is_called_leads_nowhere_and_is_one_line_that_can_be_read(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    connect(house, bot)
    pair(house, bot, project)
    for name in NAMES:
        for data in (b"Pears and plums.", png(40, 30), b"\x7fELF" + bytes(60)):
            document = bot.run(bot.server.file, data, file_name=name, mime_type="text/plain")
            bot.writes("", document=document, caption="show README.md")
    count = 3 * len(NAMES)
    heard(house, bot, count)
    session = session_of(house, "42")
    received = house.bodies(session, "message.received")
    handed = [one["material"] for one in received if one.get("material")]
    named = [one["name"] for message in received for one in message["attachments"]]
    said = [one for one in bot.sent() if one.startswith("Not taken: ")]
    assert len(named) == len(handed) == len(said) == len(NAMES)
    for text in (*named, *handed, *said):
        assert text.isprintable() and len(text) < 300, text
    assert all(one and "/" not in one and "\\" not in one for one in (*named, *handed))
    assert sorted(one.name for one in project.iterdir()) == ["README.md"]


class Slow:
    """A platform that takes a while to hand a file over."""

    took_s, fetched = 0.02, 0

    async def fetch(self, channel: str, file: str) -> bytes:
        await asyncio.sleep(self.took_s)
        self.fetched += 1
        return b"Pears and plums."


@promise("CH-2.rate")
async def test_files_that_take_long_to_bring_and_open_are_left_after_half_a_minute_and_other_chats_are_served() -> None:
    slow: Any = Slow()
    nothing: Any = None
    chats = Chats(nothing, nothing, slow.fetch, nothing)
    chats.rates = Rates(WallClock())
    guests, ada = Place("phone", str(GROUP)), Place("phone", "42")
    chats.rates.opening(guests, OPENING_S - slow.took_s / 2)
    files = [RemoteFile(str(number), f"{number}.txt") for number in range(3)]
    _, handed, lost = await chats._files(guests, files)
    assert [one.name for one in handed] == ["0.txt"] and slow.fetched == 1
    assert [said.partition(": ")[0] for said in lost] == ["1.txt", "2.txt"] and "took too long" in lost[0]
    assert [one.name for one in (await chats._files(ada, files[:1]))[1]] == ["0.txt"]


@pytest.mark.long
@promise("CH-2.rate")
def test_pictures_of_a_guest_that_are_hard_to_open_hold_the_owner_up_for_a_bounded_time(
    house: LivingHome, project: Path, bot: Bot
) -> None:
    require_chromium()
    connect(house, bot)
    pair(house, bot, project)
    pair_group(house, bot, project)
    eve = bot.run(bot.server.person, 66, "Eve")
    for number in range(50):
        data = (gif(10_000 + number, 10_000), webp(16_384, 16_384 - number))[number % 2]
        bot.run(bot.server.sends, eve, data, caption="@stead_test_bot look", name="a.gif", chat=GROUP)
    bot.writes("/help")
    house.until(lambda: "/new GOAL" in bot.sent()[-1], "the owner's answer", timeout_s=OPENING_S + 60, last=bot.sent)
    said = bot.sent(GROUP)
    assert any("could not be decoded" in one for one in said)
    house.until(lambda: any("took too long" in one for one in bot.sent(GROUP)), "the word", last=bot.sent(GROUP))
