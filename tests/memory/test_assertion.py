"""What a model makes of the person's words: the whole sentence says whether they assert it."""

from __future__ import annotations

import pytest

from stead.brain.extraction import worth_reading
from stead.domain.memory import Episode
from stead.domain.sessions import PERSON
from stead.memory.assertion import asserts
from stead.memory.material import BooksMaterial
from tests.memory.items import Item, items
from tests.storage.drafts import session


def noted(item: Item) -> bool:
    """Whether an item of a model's is taken in, as a run would judge it."""
    turn = Episode(1, session(1), "chat", "user", item.turn, 1, private=True, label=PERSON)
    material = BooksMaterial(None, None)  # type: ignore[arg-type]  # this question reads no index
    return worth_reading(turn) and material.bears(item.text, item.quote, turn) is not None


@pytest.mark.parametrize("half", ["tuned", "held"])
def test_nine_of_ten_right_items_are_noted_and_one_of_twenty_careless_ones(half: str) -> None:
    good, careless = items(f"good_{half}"), items(f"careless_{half}")
    lost = [item.turn for item in good if not noted(item)]
    wrong = [f"{item.turn} -> {item.text}" for item in careless if noted(item)]
    assert len(lost) <= len(good) // 10, lost
    assert len(wrong) <= len(careless) // 20, wrong


FRAGMENTS = {
    "denied": ("I no longer work at Siemens.", "work at Siemens"),
    "denied across a soft line break": ("I no longer\nwork at Siemens.", "work at Siemens"),
    "denied in another case": ("I NO LONGER WORK AT SIEMENS.", "WORK AT SIEMENS"),
    "denied behind": ("Work at Siemens is what I never did.", "Work at Siemens"),
    "supposed": ("If all goes well, I work at Siemens by May.", "I work at Siemens"),
    "wished": ("I wish I could work at Siemens.", "work at Siemens"),
    "reported": ("She said I work at Siemens.", "I work at Siemens"),
    "reported without that": ("Er meint, ich arbeite bei Siemens.", "ich arbeite bei Siemens"),
    "somebody else": ("My brother's wife works at Siemens.", "works at Siemens"),
    "somebody else, quoted whole": ("My brother's wife works at Siemens.", "My brother's wife works at Siemens"),
    "somebody else, further on": ("My sister lives in Oslo and works at Siemens.", "works at Siemens"),
    "a pronoun": ("She works at Siemens.", "She works at Siemens"),
    "asked": ("Do I work at Siemens?", "I work at Siemens"),
    "asked without a mark": ("did i work at siemens", "i work at siemens"),
    "played": ("Imagine: I work at Siemens.", "I work at Siemens"),
    "joked": ("I work at Siemens, haha.", "I work at Siemens"),
    "in quotation marks": ("The form has “I work at Siemens” on it.", "I work at Siemens"),
    "in German quotation marks": ("Da steht „Ich arbeite bei Siemens“ drauf.", "Ich arbeite bei Siemens"),
    "in backticks": ("The key is `work at Siemens` in the file.", "work at Siemens"),
    "with another name": ("I work at Nokia these days.", "I work at Nokia these days"),
}


@pytest.mark.parametrize("case", FRAGMENTS)
def test_a_fragment_is_judged_by_its_sentence(case: str) -> None:
    turn, quote = FRAGMENTS[case]
    statement = "Ich arbeite bei Siemens." if "ich " in turn.lower() else "The person works at Siemens."
    start = turn.index(quote)
    assert not asserts(turn, start, start + len(quote), statement)


@pytest.mark.parametrize(
    ("turn", "quote", "statement"),
    [
        ("I work at Siemens.", "work at Siemens", "The person works at Siemens."),
        ("I no longer work at Siemens.", "no longer work at Siemens", "The person no longer works at Siemens."),
        ("My sister lives in Oslo, and I work at Siemens.", "I work at Siemens", "The person works at Siemens."),
        ("She said so. I work at Siemens.", "I work at Siemens", "The person works at Siemens."),
        ("Do you know? I work at Siemens.", "I work at Siemens", "The person works at Siemens."),
        ("If tests fail, tell me first.", "If tests fail, tell me first", "If tests fail, tell the person first."),
        ("My wife is allergic to nuts.", "My wife is allergic to nuts", "The person's wife is allergic to nuts."),
        ("It's Sam not Samuel.", "It's Sam not Samuel", "The person's name is Sam."),
        ("My boss is Eva Holm, she likes short mails.", "she likes short mails", "Eva Holm likes short mails."),
    ],
)
def test_what_the_person_asserts_is_asserted(turn: str, quote: str, statement: str) -> None:
    start = turn.index(quote)
    assert asserts(turn, start, start + len(quote), statement)
