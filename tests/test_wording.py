"""No retired word is added, and none comes back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.wording import LEFT, NOT_ON_THE_PAGE, count, page_texts, retired_words

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("area", LEFT)
def test_retired_words_only_grow_fewer(area: str) -> None:
    found = count(ROOT, area)
    worst = ", ".join(f"{name} ({number})" for name, number in found.most_common(5))
    assert found.total() <= LEFT[area], f"{area} has {found.total()} retired words; most are in {worst}"
    assert found.total() >= LEFT[area] - 25, f"{area} has {found.total()} left: lower its number in tests/wording.py"


def test_the_page_uses_standard_words() -> None:
    texts = list(page_texts(ROOT))
    denied = re.compile(rf"\b(?:{'|'.join(NOT_ON_THE_PAGE)})\b", re.IGNORECASE)
    assert len(texts) > 1500
    assert [(file, text) for file, text in texts if denied.search(text)] == []


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
