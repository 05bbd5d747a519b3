"""Files of memory taken apart and put together, whatever stands in them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.brain.remembering import clean
from stead.memory.files.codec import Bullet, Document, parse
from stead.memory.files.foreign import from_markdown

WORDS = st.text(st.sampled_from("ab -*+#<>!\\`\n\t:m_v0\u200b\u2028é"), max_size=40)


@given(texts=st.lists(WORDS.filter(lambda text: bool(clean(text))), max_size=6))
def test_what_is_written_as_bullets_is_read_back_word_for_word(texts: list[str]) -> None:
    document = Document(["# Title", ""])
    bullets = []
    for number, text in enumerate(texts):
        bullet = Bullet("")
        bullet.become(f"m_{number:016x}", clean(text))
        bullets.append(bullet)
    document.add("Knowledge", bullets)
    text = document.text(3)
    read = parse(text)
    assert [(bullet.id, bullet.text) for bullet in read.bullets] == [(bullet.id, bullet.text) for bullet in bullets]
    assert read.generation == 3
    assert read.text(3) == text


@given(text=st.text(st.sampled_from("ab -*+#<>!`\n\t:m_v0\r\ufeff"), max_size=200))
def test_a_file_that_nobody_changes_stays_as_it_is(text: str) -> None:
    once = parse(text).text(1)
    assert parse(once).text(1) == once
    body = once.partition("\n")[2].strip("\n")
    kept = [
        line for line in text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").strip("\n").split("\n")
    ]
    assert body.split("\n") == kept


HOSTILE = [" ", "#", "# ", "- ", "<!-- ", "<!-- not remembered x:0123456789ab ", "<!-- m:m_1 ", "<!-- stead g:1 "]
HOSTILE += ["`", "\n", "<\\", "- a\n\t", "- a\n  - b <!-- m:m_1 v:0123456789ab -->\n"]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_is_read_in_a_moment(piece: str) -> None:
    text = "- a\n" + piece * (1_000_000 // len(piece)) + "x"
    before = time.process_time()
    parse(text).text(1)
    list(from_markdown("CLAUDE.md", text))
    assert time.process_time() - before < 20


def test_a_bullet_in_a_bullet_with_a_comment_of_its_own_is_its_own() -> None:
    text = "- One <!-- m:m_1 v:0123456789ab -->\n  - plain\n  - Two <!-- m:m_2 v:0123456789ab -->\n    more\n"
    assert [(bullet.id, bullet.text) for bullet in parse(text).bullets] == [
        ("m_1", "One\n- plain"),
        ("m_2", "Two\nmore"),
    ]


def test_bullets_in_code_and_in_comments_are_no_memories() -> None:
    text = "```\n- not this\n```\n<!--\n- nor this\n-->\n    - nor this\n- this\n"
    assert [bullet.text for bullet in parse(text).bullets] == ["this"]


def test_an_emptied_bullet_is_left_out_and_a_bare_dash_stays() -> None:
    document = parse("- <!-- m:m_1 v:0123456789ab -->\n-  \n- words\n")
    assert [bullet.text for bullet in document.bullets] == ["words"]
    assert "m_1" not in document.text(1)
    assert "\n-  \n" in document.text(1)
