"""Sentences that the grammar of rules was developed on: how people say the same rule in other words."""

from __future__ import annotations

import time
from pathlib import Path

from stead.brain.rule_sentences.grammar import SENTENCE_CHARS, understood

DEVELOPED = Path(__file__).parents[1] / "data" / "rule_sentences_dev.txt"


def _said(sentence: str) -> str:
    """The rule of a sentence, in the form of the file; "-" for none."""
    rule = understood(sentence)
    if rule is None:
        return "-"
    where = (f"{one.role}{'+' if one.side == 'inside' else '-'}{','.join(one.values)}" for one in rule.where)
    return " ".join([rule.decision, ",".join(rule.what), *where])


def test_each_way_to_say_a_rule_is_read_as_what_it_says_and_what_says_none_is_refused() -> None:
    rows = [line.split(" | ") for line in DEVELOPED.read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(rows) > 170
    assert [(said, _said(said), rule) for _, rule, said in rows if _said(said) != rule] == []


def test_a_long_sentence_of_places_and_connecting_words_is_refused_at_once() -> None:
    started = time.thread_time()
    for said in ("in a/ " * 80, "never change " + "in of files in " * 25 + "a", "never run `a`" + ", or with in" * 30):
        assert understood(said[:SENTENCE_CHARS]) is None
    assert time.thread_time() - started < 1
