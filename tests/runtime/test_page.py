"""A session as one HTML file: whatever others wrote, the page has our tags alone, and all of their words."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stead.runtime.markdown import fenced, said, span
from stead.runtime.page import page

TAGS = {"html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "br", "pre", "code", "blockquote"}
TAGS |= {"h3", "h4", "h5", "h6", "ul", "li", "strong", "em"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name"}
HOSTILE = (
    "<script>alert(1)</script>",
    "</code></pre><img src=x onerror=alert(1)>",
    "</title><script>1</script>",
    "``````\n</pre><iframe src=//example.com>",
    "[click](javascript:alert(1)) ![](https://example.com/a.png)",
    "**bold** *em* `code` \\[x\\] # h",
    '" onmouseover="alert(1)',
    "<!-- --><!DOCTYPE svg><svg/onload=alert(1)>",
    "&lt;b&gt; &amp; &#60;",
    "> quote\n- list\n# head",
    "\x00\x1b[31m\u202eevil",
)


class Reader(HTMLParser):
    """What a browser would make of it: tags, attributes and words."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_comment(self, data: str) -> None:
        """There is none."""
        raise AssertionError(data)

    def handle_data(self, data: str) -> None:
        """Note words."""
        self.words += data


def read(title: str, *pieces: str) -> Reader:
    """Read a page as a browser would, and require that it has nothing but our tags."""
    reader = Reader()
    reader.feed("".join(page(title, pieces)))
    reader.close()
    assert set(reader.tags) <= TAGS, set(reader.tags) - TAGS
    assert set(reader.attributes) <= ATTRIBUTES
    return reader


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_stay_words_wherever_they_stand(text: str) -> None:
    pieces = (f"# {span(text)}\n\n", fenced(text), said(text), f"**Call** {span(text)}: *{span(text)}*\n\n")
    reader = read(text, *pieces, f"- \\[x\\] {span(text)}\n- +{span(text)}\n\n", text + "\n")
    assert reader.tags.count("style") == reader.tags.count("title") == 1


@given(st.text(alphabet="`*<>&\"'#->\\[] \nab", max_size=80))
def test_no_mixture_of_marks_makes_a_tag_of_its_own(text: str) -> None:
    read(text, fenced(text), said(text), f"**x** {span(text)}\n\n", text)


def test_the_forms_of_the_story_look_like_themselves() -> None:
    whole = "".join(
        page("Quill", ["# `Quill`\n\n**Said** through `cli`:\n\n> a\n> b\n\n", fenced("x < `y`", "json"), "- `z`\n\n"])
    )
    assert "<h1><code>Quill</code></h1>" in whole
    assert "<p><strong>Said</strong> through <code>cli</code>:</p>" in whole
    assert "<blockquote>a<br>\nb</blockquote>" in whole
    assert "<pre><code>x &lt; `y`</code></pre>" in whole
    assert "<ul><li><code>z</code></li></ul>" in whole
    assert "default-src &#x27;none&#x27;" in whole and "<script" not in whole
