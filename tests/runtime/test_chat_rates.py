"""How much of a chat and of a person is taken in a while."""

from __future__ import annotations

from stead.domain.channel_wire import Update
from stead.runtime.chat_rates import PERSON_A_MINUTE, Rates


class Clock:
    """It is always the same moment, unless it is set."""

    ms = 1_790_000_000_000

    def now_ms(self) -> int:
        return self.ms


def update(number: int) -> Update:
    return Update(n=1, id=f"{number}", chat="42", person="42", private=True, text="hello")


def test_what_a_platform_sends_twice_is_counted_once_and_what_was_left_out_stays_so() -> None:
    rates = Rates(Clock())
    for number in range(PERSON_A_MINUTE):
        assert rates.over("phone", update(number)) is None
        assert rates.over("phone", update(number)) is None
    assert rates.over("phone", update(PERSON_A_MINUTE))
    assert rates.over("phone", update(PERSON_A_MINUTE)) == ""
    assert rates.over("phone", update(0)) is None


def test_an_id_of_another_chat_or_channel_lets_nothing_through() -> None:
    rates = Rates(Clock())
    for number in range(PERSON_A_MINUTE):
        rates.over("phone", update(number))
    other = Update(n=1, id="0", chat="43", person="42", private=True, text="hello")
    assert rates.over("phone", other)
    assert rates.over("work", update(0)) is None
    assert rates.over("phone", other) == ""


def test_a_clock_that_is_set_back_holds_nobody_up_for_longer_than_a_minute() -> None:
    clock = Clock()
    rates = Rates(clock)
    for number in range(PERSON_A_MINUTE):
        assert rates.over("phone", update(number)) is None
    assert rates.over("phone", update(PERSON_A_MINUTE))
    clock.ms -= 3_600_000
    assert rates.over("phone", update(PERSON_A_MINUTE + 1)) is None
