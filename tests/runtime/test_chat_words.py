"""What of a session's words does not go to a chat."""

from __future__ import annotations

import pytest

from stead.domain.objectives import ModelRef
from stead.domain.sessions import Session
from stead.runtime.chat_words import without_names, without_strange
from tests.guardian.test_narrowing import opened, session

PAGE = "http://stead-0123.localhost:31769"
EVIL = (
    "http://collect.example.net/in?d=medlar",
    "HTTP://Collect.Example.NET/in?d=medlar",
    "collect.example.net/in?d=medlar",
    "//collect.example.net/in?d=medlar",
    "http:\\\\collect.example.net\\medlar",
    "ht\u200btp://collect.example.net/medlar",
    "&#104;ttp://collect.example.net/medlar",
    "http://c\u043ellect.example.net/medlar",
    "http://collect\u3002example\u3002net/medlar",
    "[here](http://collect.example.net/medlar)",
    "medlar@collect.example.net",
    "DE89 3704 0044 0532 0130 00",
    f"{PAGE}@collect.example.net/medlar",
    f"{PAGE}.collect.example.net/medlar",
)


def tainted(*words: str, sources: tuple[str, ...] = ("message:chat:phone/42",)) -> Session:
    """A session with what the person said, which has read from these sources."""
    made = session(opened(chain=(ModelRef("acme", "acme-9.1"), ModelRef("hosted", "scripted"))))
    made.words[:] = words
    made.sources[:] = sources
    return made


@pytest.mark.parametrize("link", EVIL)
@pytest.mark.parametrize("text", ["Look at {} now", "{}", "One\n\n- two: ({}), three\nfour"])
def test_an_address_that_a_model_composed_is_left_out_however_it_is_spelled(link: str, text: str) -> None:
    clean = without_strange(text.format(link), tainted(), PAGE)
    assert "medlar" not in clean and "0532" not in clean and "collect" not in clean.casefold()
    assert "left out" in clean


def test_what_the_person_wrote_and_their_own_page_stay_and_so_does_all_of_a_clean_session() -> None:
    text = f"See https://docs.example.com/a and {PAGE}/sessions/s_1"
    assert without_strange(text, tainted("read docs.example.com/a"), PAGE) == text
    assert without_strange(f"See {EVIL[0]}", tainted(sources=()), PAGE) == f"See {EVIL[0]}"


def test_no_model_provider_or_tool_is_named_but_what_the_person_named() -> None:
    tools = ("config_set", "read")
    said = "I am acme-9.1 (acme/ACME-9.1), read it, and used config_set, scripted by acme-9.1-x."
    clean = without_names(said, tainted(), tools, own=False)
    assert clean == "I am the model (the model), read it, and used a tool, scripted by acme-9.1-x."
    fault = "provider acme answered 429 for model scripted"
    assert without_names(fault, tainted(), tools, own=True) == "provider the provider answered 429 for model the model"
    assert without_names("It is acme-9.1.", tainted("are you acme-9.1?"), tools, own=False) == "It is acme-9.1."
