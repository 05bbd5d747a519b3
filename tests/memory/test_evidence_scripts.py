"""Where words bear a statement out that have no spaces between them."""

from __future__ import annotations

import pytest

from stead.domain.ids import SessionId
from stead.domain.sessions import PERSON
from stead.memory.evidence import Spoken, borne_out

SAID = {
    "Chinese": ("我住在东京。我的牙医是王医生\uff01明天见。", "用户的牙医是王医生", "我的牙医是王医生\uff01"),
    "Japanese": ("東京に住んでいます。歯医者は田中先生です。", "歯医者は田中先生", "歯医者は田中先生です。"),
    "Hindi": ("मैं दिल्ली में हूँ। मेरे दंत चिकित्सक डॉ शर्मा हैं।", "दंत चिकित्सक डॉ शर्मा", " मेरे दंत चिकित्सक डॉ शर्मा हैं।"),
}


@pytest.mark.parametrize("language", SAID)
def test_the_sentence_that_says_it_is_the_evidence(language: str) -> None:
    text, statement, sentence = SAID[language]
    said = borne_out(statement, [Spoken(1, SessionId("s_1"), 1, "user", text, PERSON)])
    assert said is not None
    assert said.text == sentence


def test_what_nobody_said_is_not_borne_out() -> None:
    text, _, _ = SAID["Chinese"]
    assert borne_out("用户在银行工作", [Spoken(1, SessionId("s_1"), 1, "user", text, PERSON)]) is None
