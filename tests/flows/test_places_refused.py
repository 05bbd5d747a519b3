"""What a platform takes back, and what comes to the listener that is no word of its: refused, said, nothing lost."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.fakes.webhook_senders import send
from tests.flows.asleep import tree
from tests.flows.chatting import NAME, channel
from tests.flows.house import LivingHome
from tests.flows.test_places import PLACES, heard, settle
from tests.flows.test_places_silent import ask, shown, talking

REVOKED = sorted(PLACES.keys() - {"signal"})
"""signal-cli has no token; what it may lose is the account."""
POSTING = ("slack by requests", "teams", "webhook", "whatsapp")
FIRST = "whatsapp"
WEEK_S = 9 * 86_400
"""Longer ago than any platform sends again."""
MOST_BYTES = 1_000_000


def workers(house: LivingHome) -> list[int]:
    """The processes of channels that run."""
    assert house.process
    found = []
    for pid in tree(house.process.pid):
        with contextlib.suppress(OSError):
            if b"stead.channels.worker" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


@pytest.mark.parametrize(
    "kind", [one if one == FIRST else pytest.param(one, marks=pytest.mark.long) for one in REVOKED]
)
def test_a_token_that_is_revoked_is_said_and_tried_no_more_and_what_waits_goes_out_with_another(
    house: LivingHome, project: Path, kind: str
) -> None:
    with talking(house, kind, project) as place:
        place.revokes()
        ask(house, 0)
        house.until(lambda: channel(house)["state"] == "down", "it to be down", timeout_s=90, last=house.log_tail)
        row = channel(house)
        assert "It is not tried again before that is set right: stead secret add phone-" in row["error"]
        assert "--replace or stead channel add phone" in row["error"]
        house.until(lambda: workers(house) == [], "its process to end", last=house.log_tail)
        ask(house, 1)
        house.until(lambda: channel(house)["chats"][0]["waiting"] == 2, "both to wait", last=house.log_tail)
        assert channel(house)["chats"][0]["lost"] == 0
        assert row["error"][:40] in house.cli("channel", "list").stdout

        for field, value in place.renews().items():
            house.post("/secrets", {"name": f"{NAME}-{field}", "value": value, "replace": True})
        house.until(lambda: shown(place) == [0, 1], "what waited", last=house.log_tail)
        settle(house)
        assert (channel(house)["state"], channel(house)["error"]) == ("connected", "")
        place.writes("show note2.txt")
        house.until(lambda: shown(place) == [0, 1, 2], "a reply", last=house.log_tail)


def test_an_account_that_signal_cli_lost_is_said_and_what_waits_goes_out_once_it_is_back(
    house: LivingHome, project: Path
) -> None:
    with talking(house, "signal", project) as place:
        place.revokes()
        ask(house, 0)
        said = lambda: channel(house)["state"] == "down" and "Register or link" in channel(house)["error"]  # noqa: E731
        house.until(said, "it to be down", timeout_s=90, last=house.log_tail)
        assert "Register or link" in house.cli("channel", "list").stdout
        ask(house, 1)
        house.until(lambda: channel(house)["chats"][0]["waiting"] == 2, "both to wait", last=house.log_tail)
        assert channel(house)["chats"][0]["lost"] == 0

        place.renews()
        house.until(lambda: shown(place) == [0, 1], "what waited", timeout_s=120, last=house.log_tail)
        settle(house)
        assert (channel(house)["state"], channel(house)["error"]) == ("connected", "")
        place.writes("show note2.txt")
        house.until(lambda: shown(place) == [0, 1, 2], "a reply", last=house.log_tail)


@pytest.mark.parametrize(
    "kind", [one if one == FIRST else pytest.param(one, marks=pytest.mark.long) for one in POSTING]
)
def test_requests_that_are_forged_old_doubled_or_huge_bring_nothing_twice_and_are_counted_for_the_owner(
    house: LivingHome, project: Path, kind: str
) -> None:
    with talking(house, kind, project) as place:

        def post(body: bytes, headers: Mapping[str, str]) -> int:
            return send(place.url, body, tuple(headers.items()))[0]

        body, headers = place.request("show note1.txt")
        other = {name: one if name == "content-type" else f"{one[:-4]}0000" for name, one in headers.items()}
        assert post(body, other) == 401
        if kind != "teams":  # whose token vouches for the sender, and not for the words
            assert post(body.replace(b"note1", b"note2"), headers) == 401
        assert post(body, {}) == 401
        assert post(*place.request("show note2.txt", age_s=WEEK_S)) == (200 if kind == "whatsapp" else 401)
        with contextlib.suppress(ConnectionError):  # it may hang up before it was sent all
            assert post(*place.request(f"show note2.txt {'x' * 3 * MOST_BYTES}")) == 413
        with ThreadPoolExecutor(4) as pool:
            both = [pool.submit(post, body, headers) for _ in range(4)]
            assert [one.result() for one in both] == [200] * 4
        assert post(body, headers) == 200
        later, earlier = place.request("show note2.txt"), place.request("show note0.txt")
        assert [post(*earlier), post(*later)] == [200, 200]
        house.until(lambda: sorted(shown(place)) == [0, 1, 2], "the replies", last=house.log_tail)
        assert sorted(heard(house, [0, 1, 2])) == [0, 1, 2]
        assert channel(house)["refused"] >= 2

        assert {post(body, dict.fromkeys(headers, "no")) for _ in range(30)} <= {401, 429}
        place.writes("show note1.txt")
        house.until(lambda: len(shown(place)) == 4, "a reply after all these", last=house.log_tail)
        assert (channel(house)["state"], channel(house)["error"]) == ("connected", "")
