"""What the page says in English, as the catalogues have it, so that it is found where another language should be."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

_CATALOGUES = Path(__file__).parents[2] / "frontend" / "src" / "i18n"
_TEXT = re.compile(r'^  \w+:\s*("(?:[^"\\]|\\.)*")', re.MULTILINE)
_NAMED = re.compile(r"\s*(\w+)")
_CASE = re.compile(r"\s*(?:=\d+|\w+)\s*\{")
_SEEN = r"""() => {
  const theirs = "bdi, code, pre, kbd, textarea, .prose, .cm-editor, .xterm";
  const said = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (!node.parentElement.closest(theirs) && node.parentElement.checkVisibility()) said.push(node.textContent);
  for (const name of ["aria-label", "placeholder", "title"])
    for (const element of document.querySelectorAll(`[${name}]`))
      if (element.checkVisibility() && !element.closest("code, pre, .cm-editor, .xterm"))
        said.push(element.getAttribute(name));
  return said.map((text) => text.trim()).filter((text) => /\p{L}{2}/u.test(text));
}"""


def english_on(page: Page) -> list[str]:
    """The texts in sight that are English ones of the catalogues and no German ones, but for what others wrote."""
    seen = {str(text) for text in page.evaluate(_SEEN)}
    return sorted(text for text in seen if _says("en").fullmatch(text) and not _says("de").fullmatch(text))


@cache
def _says(language: str) -> re.Pattern[str]:
    """Every message of a language, whatever values it is given."""
    patterns = []
    for file in sorted((_CATALOGUES / language).glob("*.ts")):
        for text in _TEXT.findall(file.read_text("utf-8")):
            message = text[1:-1].replace('\\"', '"')
            # One that is hardly more than its values, "{done} of {count}", could be anything.
            if len(re.findall(r"[^\W\d]", re.sub(r"\{[^{}]*\}", "", message))) >= 3:
                patterns.append(_pattern(message, 0)[0])
    assert len(patterns) > 1000
    return re.compile("|".join(patterns), re.DOTALL)


def _pattern(message: str, at: int) -> tuple[str, int]:
    """An ICU message, or a case of one up to its closing brace, as a regular expression; and where it ends."""
    made = ""
    while at < len(message) and message[at] != "}":
        if message[at] == "{":
            part, at = _value(message, at + 1)
            made += part
        else:
            made += ".*" if message[at] == "#" else re.escape(message[at])
            at += 1
    return made, at


def _value(message: str, at: int) -> tuple[str, int]:
    """What stands after an opening brace: a name, or one of several cases."""
    kind = re.compile(r"\s*\w+(?:,\s*(\w+))?,?").match(message, at)
    assert kind is not None, message
    at = kind.end()
    cases = []
    while case := _CASE.match(message, at):
        part, at = _pattern(message, case.end())
        cases.append(part)
        at += 1
    at = message.index("}", at) + 1
    return (f"(?:{'|'.join(cases)})" if cases else ".*"), at
