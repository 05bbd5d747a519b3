"""What a run is likely to cost: the share of hits over invented histories, and when no figure is given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.b1_forecast import KINDS, coverage
from stead.domain.forecast import LAST, LEAST, Forecast, Run, forecast, replayed

HERE, OTHER = "/home/ada/notes", "/home/ada/letters"
MODEL = "acme/m-1"


def runs(costs: list[int], schedule: str = "", directory: str = HERE, model: str = MODEL) -> list[Run]:
    return [Run(schedule, directory, model, usd_micros=cost, tokens=10 * cost) for cost in costs]


@pytest.mark.parametrize("kind", KINDS)
def test_of_each_kind_of_history_75_to_85_in_100_runs_fall_within_80_percent_intervals(kind: str) -> None:
    within, of = coverage(KINDS[kind], seed=1000, each=10)
    assert of > 4000
    assert 0.75 <= within / of <= 0.85, f"{within} of {of}"


def test_a_short_history_of_like_runs_is_forecast_as_honestly() -> None:
    within, of = coverage(KINDS["log-normal"], seed=7, lengths=(5, 6, 8), each=1500)
    assert 0.77 <= within / of <= 0.83, f"{within} of {of}"


def test_similar_runs_are_those_of_the_schedule_else_of_the_folder_and_model_else_of_the_model() -> None:
    history = [
        *runs([100] * 4),
        *runs([900] * 4, "night"),
        *runs([50] * 9, directory=OTHER),
        *runs([7] * 9, model="b/c"),
    ]
    assert forecast(history, Run("night", HERE, MODEL)).low == 900
    assert forecast(history, Run("", HERE, MODEL)).basis == "folder"
    few = forecast(history, Run("morning", OTHER, MODEL))
    assert (few.basis, few.low, few.high, few.runs) == ("folder", 50, 50, 9)
    assert forecast(history, Run("", "/elsewhere", MODEL)).basis == "model"
    assert forecast(history, Run("", HERE, "acme/other")) == Forecast()


def test_with_fewer_than_four_runs_no_figure_is_given() -> None:
    assert forecast(runs([100] * (LEAST - 1)), Run("", HERE, MODEL)) == Forecast()
    assert forecast(runs([100] * LEAST), Run("", HERE, MODEL)).basis == "folder"


def test_tokens_are_forecast_where_a_price_is_not_known_or_nothing_is_paid() -> None:
    unpriced = [Run("", HERE, MODEL, 100, 1000), *(Run("", HERE, MODEL, 0, 1000, price_known=False) for _ in range(5))]
    free = [Run("", HERE, MODEL, 0, 1000) for _ in range(6)]
    for history in (unpriced, free):
        found = forecast(history, Run("", HERE, MODEL))
        assert (found.unit, found.low, found.high) == ("tokens", 1000, 1000)


def test_the_calibration_counts_the_last_forecasts_alone() -> None:
    found = forecast(runs([100 + at % 7 for at in range(200)]), Run("", HERE, MODEL))
    assert found.of == LAST and 0 < found.within <= LAST


@given(st.lists(st.integers(0, 10**15), min_size=LEAST, max_size=120))
def test_an_interval_is_never_upside_down_negative_or_without_end(costs: list[int]) -> None:
    low, high, hits = replayed(costs)
    assert 0 <= low <= high and len(hits) == len(costs) - LEAST
    if len(set(costs)) == 1:
        assert low <= costs[0] <= high or abs(high - costs[0]) <= costs[0] * 1e-9
