"""No retired word is added, and none comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.wording import LEFT, count, retired_words

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("area", LEFT)
def test_retired_words_only_grow_fewer(area: str) -> None:
    found = count(ROOT, area)
    worst = ", ".join(f"{name} ({number})" for name, number in found.most_common(5))
    assert found.total() <= LEFT[area], f"{area} has {found.total()} retired words; most are in {worst}"
    assert found.total() >= LEFT[area] - 25, f"{area} has {found.total()} left: lower its number in tests/wording.py"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It was Told anew", ["told", "anew"]),
        ("MemoryShelf", ["shelf"]),
        ("what_desk_it", ["desk"]),
        ("_told", ["told"]),
        ("see there", ["see there"]),
        ("a bedroom, an amendment, told2", ["told"]),
        ("the size of items", []),
    ],
)
def test_a_retired_word_is_found_in_prose_and_in_names(text: str, found: list[str]) -> None:
    assert retired_words(text) == found
