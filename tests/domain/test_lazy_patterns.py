"""Patterns that are compiled late."""

from __future__ import annotations

import re

import pytest

from stead.domain.lazy_patterns import lazy_pattern


def test_a_late_pattern_finds_what_the_compiled_one_finds() -> None:
    late, compiled = lazy_pattern(r"(?P<word>[a-z]+)!", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)!", re.IGNORECASE)
    for _ in range(2):
        assert late.findall("Ho! ho") == compiled.findall("Ho! ho") == ["Ho"]
    assert late.sub(r"\g<word>?", "ho!") == "ho?" and late.groupindex == compiled.groupindex
    assert lazy_pattern(rb"\d+").fullmatch(b"12") is not None


def test_what_is_never_used_is_never_compiled() -> None:
    late = lazy_pattern("(")
    with pytest.raises(re.error, match="unterminated"):
        late.search("")
