"""The outbox of chats may be lost: how far channels were read is not; nothing is read twice, and nothing left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.flows.chatting import channel
from tests.flows.house import LivingHome
from tests.flows.places import Place
from tests.flows.test_places import settle
from tests.flows.test_places_silent import shown, talking

FIRST = "discord"
READ = ("discord", "email", "matrix", "slack")
"""Platforms that keep nothing for the bot: it reads a mailbox or a history, from where it was."""


def _helped(place: Place) -> int:
    """How often a chat was said what can be done there."""
    return sum("goes to this chat" in text for text in place.sent())


@pytest.mark.parametrize("kind", [one if one == FIRST else pytest.param(one, marks=pytest.mark.long) for one in READ])
def test_after_the_box_of_chats_was_moved_away_what_was_written_meanwhile_is_read_and_nothing_is_answered_twice(
    own_house: LivingHome, project: Path, kind: str
) -> None:
    house, data = own_house, own_house.home.data
    with talking(house, kind, project) as place:
        place.writes("/help")
        house.until(lambda: _helped(place) == 1, "the answer", last=house.log_tail)
        settle(house)
        house.stop()
        for file in data.glob("chats.db*"):
            file.write_bytes(b"damaged" * 9000)
        place.writes("show note1.txt")
        house.start()
        house.until(lambda: "damaged" in channel(house)["error"], "it to be said", last=house.log_tail)
        house.stop()
        place.writes("show note2.txt")
        for file in data.glob("chats.db*"):
            file.rename(file.with_name(f"moved-{file.name}"))
        house.start()
        house.until(lambda: len(shown(place)) == 2, "both replies", timeout_s=90, last=house.log_tail)
        settle(house)
        assert sorted(shown(place)) == [1, 2]
        assert _helped(place) == 1
        assert sum("Quill" in text for text in place.sent()) == 1


def test_damaged_positions_of_channels_are_said_with_the_way_out(own_house: LivingHome, project: Path) -> None:
    house, data = own_house, own_house.home.data
    with talking(house, FIRST, project) as place:
        settle(house)
        house.stop()
        for file in data.glob("positions.db*"):
            file.write_bytes(b"damaged" * 9000)
        house.start()
        house.until(lambda: "positions.db" in channel(house)["error"], "it to be said", last=house.log_tail)
        assert "move the file away" in house.cli("doctor").stdout
        house.stop()
        for file in data.glob("positions.db*"):
            file.rename(file.with_name(f"moved-{file.name}"))
        house.start()
        house.until(lambda: channel(house)["state"] == "connected", "it to connect", timeout_s=60, last=house.log_tail)
        place.writes("show note3.txt")
        house.until(lambda: shown(place) == [3], "a reply", last=house.log_tail)
        assert sum("Quill" in text for text in place.sent()) == 1
