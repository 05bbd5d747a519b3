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
    assert (found.who, found.label.integrity) == ("user", Integrity.TRUSTED)
    assert found.label.confidentiality is PERSON.confidentiality
