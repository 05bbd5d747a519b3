"""What people say as rules, in four languages, with meanings fixed by hand before: none is kept with another one."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.natural_rules import readings


@pytest.mark.promise("SEC-13.sentences")
def test_no_sentence_is_kept_with_another_meaning() -> None:
    assert {one.sentence.id: one.wrong for one in readings() if one.wrong} == {}


def test_of_those_that_a_rule_can_say_nearly_half_are_understood_in_each_language() -> None:
    meant = [one for one in readings() if one.sentence.meaning is not None]
    understood = Counter(one.sentence.lang for one in meant if one.rule is not None)
    for lang, number in Counter(one.sentence.lang for one in meant).items():
        assert understood[lang] / number > 0.45, lang
