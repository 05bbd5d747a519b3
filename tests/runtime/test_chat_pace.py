"""The pace at which messages go to chats."""

from __future__ import annotations

from stead.domain.channel_wire import Manifest
from stead.runtime.chat_rates import Pace

ADA, BOB = ("phone", "ada"), ("phone", "bob")


def test_a_chat_that_was_left_alone_is_sent_a_burst_and_then_its_platforms_pace() -> None:
    pace, platform = Pace(), Manifest("x", "X", (), chat_s=6.0, chat_burst=3)
    assert [max(0, pace.wait_s(ADA, 100.0, platform)) for _ in range(5)] == [0, 0, 0, 6, 12]
    assert pace.wait_s(BOB, 100.0, platform) <= 0, "another chat is sent its own"
    assert max(0, pace.wait_s(ADA, 118.0, platform)) == 0, "each pace that passes gives one back"
    assert [max(0, pace.wait_s(ADA, 1000.0, platform)) for _ in range(4)] == [0, 0, 0, 6], "and no more than a burst"


def test_a_platform_without_bursts_is_sent_one_at_a_time() -> None:
    pace, platform = Pace(), Manifest("x", "X", (), chat_s=1.0)
    assert [pace.wait_s(ADA, 100.0, platform) for _ in range(3)] == [0, 1, 2]
    assert pace.wait_s(ADA, 102.5, platform) == 0.5
