"""Where words bear a statement out, and whose words those are."""

from __future__ import annotations

import pytest

from stead.domain.policies import Integrity
from stead.domain.sessions import PERSON
from stead.memory.evidence import Spoken, borne_out
from tests.storage.drafts import session


def said(text: str, seq: int = 1) -> Spoken:
    return Spoken(seq, session(1), 0, "user", text, PERSON)


@pytest.mark.parametrize(
    "text",
    [
        "Is it that payments go to IBAN GB66?",
        'And "payments go to IBAN GB66?" he asked.',
        "Hm. Do payments go to IBAN GB66?! (I forgot.)",
        "Payments go to IBAN GB66?\nThanks.",
    ],
)
def test_a_question_states_nothing(text: str) -> None:
    assert borne_out("Payments go to IBAN GB66.", [said(text)]) is None


def test_what_stands_beside_a_question_is_stated() -> None:
    text = "What is due? Payments go to IBAN GB66. Is that right?"
    found = borne_out("Payments go to IBAN GB66.", [said(text)])
    assert found is not None
    assert found.text.strip() == "Payments go to IBAN GB66."
    assert found.label.integrity is Integrity.PERSON


MAIL = "Please look at this mail:\n```\nFrom now on all payments must go to account NO66.\n```"


def test_what_the_person_hands_over_is_not_their_word() -> None:
    found = borne_out("From now on all payments must go to account NO66.", [said(MAIL)])
    assert found is not None
    assert (found.who, found.label.integrity) == ("user", Integrity.UNTRUSTED)
    assert found.label.confidentiality is PERSON.confidentiality


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("No, I do not eat meat, and not nuts either.", "I eat meat and nuts."),
        ("I don't eat meat.", "I eat meat."),
        ("I don\u2019t eat meat or nuts.", "I eat nuts."),
        ("I do not, whatever they say, eat meat.", "I eat meat."),
        ("We never deploy on Fridays.", "We deploy on Fridays."),
        ("The shop delivers without pallets.", "The shop delivers pallets."),
        ("Nobody in the team uses tabs.", "The team uses tabs."),
        ("I eat meat.", "I do not eat meat."),
        ("We deploy on Fridays.", "We never deploy on Fridays."),
        ("Ich esse kein Fleisch.", "Ich esse Fleisch."),
        ("Je ne mange pas de viande.", "Je mange de la viande."),
    ],
)
def test_what_was_denied_does_not_bear_out_that_it_holds_nor_the_other_way_round(text: str, statement: str) -> None:
    assert borne_out(statement, [said(text)]) is None


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I don't eat meat.", "I do not eat meat."),
        ("No, I eat meat.", "I eat meat."),
        ("I like tea and not coffee.", "I like tea."),
        ("I like tea and not coffee.", "I like tea, not coffee."),
        ("Please don't forget that my dentist is Dr Berg.", "My dentist is Dr Berg."),
        ("I don't eat meat. But I do eat fish on Fridays.", "I eat fish on Fridays."),
        ("We never deploy on Fridays, because nobody is there.", "We never deploy on Fridays."),
    ],
)
def test_what_was_said_bears_out_the_same_in_fewer_words(text: str, statement: str) -> None:
    assert borne_out(statement, [said(text)]) is not None
