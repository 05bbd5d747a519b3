"""Where the page's styles name the left or the right, though the start or the end of the writing is meant."""

from __future__ import annotations

import re
from pathlib import Path

_CLASS = re.compile(
    r"""(?<=[\s"'`:!])-?(?:
      (?: m[lr] | p[lr] | scroll-[mp][lr] | left | right ) - (?: \d | px | auto | full | \[ | \( )
    | (?: border-[lr] | rounded-(?:l|r|tl|tr|bl|br) ) (?= [-\s"'`] )
    | (?: text | float | clear ) - (?: left | right ) (?= [\s"'`] )
    )""",
    re.VERBOSE,
)
_STYLE = re.compile(
    r"(?:margin|padding|border|inset)(?:-left|-right|Left|Right)\b|text-align:\s*(?:left|right)|^\s+(?:left|right):\s*[\d-]",
    re.MULTILINE,
)
_UNMIRRORED = re.compile(r"""(?<=[\s"'`])(?:[\w-]+:)*-?(?:translate-x-(?!\()|origin-(?:left|right))""")
_MIRROR = re.compile(r"rtl:|-translate-x-1/2|--away")


def sides(text: str) -> list[str]:
    """Each place in a source of the page; nothing where it turns with the writing."""
    found = [match[0] for match in (*_CLASS.finditer(text), *_STYLE.finditer(text))]
    for line in text.splitlines():
        if (match := _UNMIRRORED.search(line)) and not _MIRROR.search(line):
            found.append(match[0])
    return found


def sources(root: Path) -> list[Path]:
    """What has styles: components and style sheets, below a clone's root."""
    files = (root / "frontend" / "src").rglob("*")
    return [file for file in files if file.suffix in (".css", ".ts", ".tsx") and ".test." not in file.name]
