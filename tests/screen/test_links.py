from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.screen.outgoing import links

EVIL = "https://evil.example/x"


@pytest.mark.parametrize(
    "text",
    [
        "see https://evil.example/x.",
        "(https://evil.example/x)",
        "[read](https://evil.example/x) on",
        "[read](https://evil.example/x)on",
        "[read]( <https://evil.example/x> )",
        '[read](https://evil.example/x "a title")',
        "![](https://evil.example/x)",
        "[read]: https://evil.example/x",
        "<https://evil.example/x>",
        "<https://evil.example/x|shown>",
        "evil.example/x",
        "**evil.example/x**",
        "_evil.example/x_",
        "//evil.example/x",
        '<a href="//evil.example/x">',
        "<a href=https://evil.example/x>",
        "<img src='https://evil.example/x'>",
        "<img srcset='https://evil.example/x 2x'>",
        "background: url(https://evil.example/x)",
        "background: url(//evil.example/x)",
        r"background: url(\68 ttps://evil.example/x)",
        r"https\://evil.example/x",
        r'{"url": "https:\/\/evil.example\/x"}',
        r"\u0068ttps://evil.example/x",
        "&#104;ttps://evil.example/x",
        "&#x0000068;ttps://evil.example/x",
        "https&colon;//evil.example/x",
        "https:evil.example/x",
        r"https:\\evil.example\x",
        "https:/evil.example/x",
        "https:////evil.example/x",
        "HTTPS://EVIL.EXAMPLE:443/x",
        "https://evil.example./x",
        "https://evil%2Eexample/x",
        "https://evil.example/%78",
        "ht\ntps://evil.example/x",
        "java https://evil.example/x",
        "xhttps://evil.example/x",
        "ｈｔｔｐｓ://ｅｖｉｌ．example/x",  # noqa: RUF001 - full width on purpose
        "https://evil。example/x",
        "https://ev\u200bil.exa\u00admple/x",
        "h\u202ettps://evil.example/x",
        "https://𝐞𝐯𝐢𝐥.example/x",  # noqa: RUF001
        "a\x00https://evil.example/x",
    ],
)
def test_a_url_is_found_in_every_notation(text: str) -> None:
    assert EVIL in links(text)


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("write to Foo.Bar@Example.COM, please", "foo.bar@example.com"),
        ("mailto:a@example.org", "a@example.org"),
        ("mailto:a@example.org?body=x", "mailto:a@example.org?body=x"),
        ("evil.com", "https://evil.com/"),
        ("at www.anything.md", "https://www.anything.md/"),
        ("пример.рф", "https://xn--e1afmkfd.xn--p1ai/"),
        ("https://xn--e1afmkfd.xn--p1ai", "https://xn--e1afmkfd.xn--p1ai/"),
        ("https://a.example/ключ", "https://a.example/%D0%BA%D0%BB%D1%8E%D1%87"),
        ("http://[2001:db8::1]:8080/x", "http://[2001:db8::1]:8080/x"),
        ("192.0.2.7/x", "https://192.0.2.7/x"),
        ("192.0.2.7:8080", "https://192.0.2.7:8080/"),
        ("http://3221225991/", "http://3221225991/"),
        ("https://good.example@evil.example/", "https://good.example@evil.example/"),
        ("https://a.example/x_(y)", "https://a.example/x_(y)"),
        ("data:text/html;base64,AAAA", "data:text/html;base64,AAAA"),
        ("javascript:alert(1)", "javascript:alert(1)"),
        ("tel:+4930123456", "tel:+4930123456"),
        ("<steam:run/1>", "steam:run/1"),
        ("ftp://files.example/a", "ftp://files.example/a"),
        ("to DE89 3704 0044 0532 0130 00 today", "DE89370400440532013000"),
        ("to de89-3704-0044-0532-0130-00", "DE89370400440532013000"),
        ("ab12 DE89370400440532013000", "DE89370400440532013000"),
        ("to GB33BUKB20201555555555.", "GB33BUKB20201555555555"),
        ("to US133000000121212121212", "US133000000121212121212"),
    ],
)
def test_each_kind_of_address_has_one_spelling(text: str, link: str) -> None:
    assert link in links(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Meet at 10:30, bring notes.md and main.py (see main.py:12).",
        "e.g. this, i.e. that; 3.5 of 4.0; v1.2.3",
        "and/or, src/stead/screen/links.py, tests/a",
        "data: as before; note: the rest follows",
        "user@host said: hello",
        "sha 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "ABCD 1234, AB12CD",
    ],
)
def test_prose_about_code_carries_no_address(text: str) -> None:
    assert links(text) == ()


def test_where_readers_disagree_about_the_end_both_readings_are_listed() -> None:
    assert set(links("https://a.example/x)secret")) == {"https://a.example/x", "https://a.example/x)secret"}


def test_each_address_is_listed_once_in_order() -> None:
    assert (
        links("b.com, https://b.com/ and https://a.com:443 https://a.com") == ("https://a.com/", "https://b.com/")[::-1]
    )


@given(st.text(max_size=300))
def test_any_text_is_answered(text: str) -> None:
    assert all(isinstance(link, str) and link for link in links(text))


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_url_between_spaces_is_found_whatever_stands_around_it(before: str, after: str) -> None:
    assert EVIL in links(f"{before} {EVIL} {after}")


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        ":",
        "/",
        "a.",
        "http:",
        "&#",
        "&#0",
        "<a:",
        "DE12 ",
        "DE89370400440532013000 ",
        "a@",
        "a.com ",
        "\\",
        "(",
        ")",
    ],
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    links(piece)  # what is made on first use
    started = time.process_time()
    links(f"https://a.com/{piece * (300_000 // len(piece))}")
    assert time.process_time() - started < 6  # about 3 at worst; a quadratic scan would take hours


def test_a_long_run_of_combining_marks_takes_linear_time() -> None:
    started = time.process_time()
    links("\u0301\u0327" * 500_000)
    assert time.process_time() - started < 6
