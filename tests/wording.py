"""Words that the product's text no longer uses, and how many of them are left: a ratchet that only falls.

STYLE's first section says what to write in their place: the noun that is meant, or the field's own term. Counted are
names, docstrings, comments and texts of the product, the page's sources, and the docs; decisions already made
(``docs/adr``) and the changelog are records and stay as they were written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

RETIRED = (
    "whoever",
    "anew",
    "likewise",
    "see there",
    "had back",
    "somebody",
    "told",
    "beside",
    "mend",
    "mends",
    "come to pass",
    "attended",
    "desk",
    "shelf",
    "knock",
)
"""Lower case; matched as whole words, in names at their underscores and capitals too."""

LEFT = {"src/stead": 435, "frontend/src": 240, "docs": 4}
"""How many each area still has. Lower them with every text that is rewritten; nothing raises them."""

NOT_ON_THE_PAGE = (
    *RETIRED,
    "again later",
    "call off",
    "called off",
    "cut in",
    "go on",
    "goes on",
    "have it back",
    "nobody",
    "put away",
    "put back",
    "take back",
    "taken back",
    "throw away",
    "thrown away",
    "strangers",
    "whatever became",
)
"""What no text of the page says: a button has the field's verb, and a sentence names its noun."""

_MESSAGE = re.compile(r'^  \w+:\s*("(?:[^"\\]|\\.)*")', re.MULTILINE)
_SUFFIXES = {"src/stead": (".py",), "frontend/src": (".ts", ".tsx"), "docs": (".md",)}
_RECORDS = ("docs/adr/", "docs/generated/", "frontend/src/api/generated", "frontend/src/i18n/de/")
_WORD = re.compile(rf"(?<![a-z])(?:{'|'.join(RETIRED)})(?![a-z])")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def retired_words(text: str) -> list[str]:
    """Every retired word of a text, in order, with repeats."""
    return _WORD.findall(_HUMP.sub(" ", text).lower())


def page_texts(root: Path) -> Iterable[tuple[str, str]]:
    """Each message of the page's English catalogues, with its file."""
    for path in sorted((root / "frontend" / "src" / "i18n" / "en").glob("*.ts")):
        for message in _MESSAGE.finditer(path.read_text("utf-8")):
            yield path.name, message[1]


def files(root: Path, area: str) -> Iterable[Path]:
    """The texts of one area of ``LEFT``, below a clone's root; for ``docs`` also the pages at the root."""
    if area == "docs":
        yield from (root / name for name in ("README.md", "CONTRIBUTING.md"))
    for path in sorted((root / area).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.suffix in _SUFFIXES[area] and not name.startswith(_RECORDS):
            yield path


def count(root: Path, area: str) -> Counter[str]:
    """How many retired words each file of an area has, by its path below the root; files without any are left out."""
    found: Counter[str] = Counter()
    for path in files(root, area):
        found[path.relative_to(root).as_posix()] = len(retired_words(path.read_text("utf-8")))
    return +found
