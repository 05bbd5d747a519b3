"""A session as one HTML file that stands alone: no script, no request, everything that others wrote escaped.

Layer: runtime. It is made of the Markdown of ``runtime.story``, of which it knows the few forms that occur there:
headings, fences, quotes, lists, and spans of code, bold and emphasis within a line. Every character of the input goes
through ``html.escape``, and only the tags below are added, so a form that is read wrongly costs looks and no safety.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:52rem;margin:2rem auto;padding:0 1rem;color:#1b1d21;"
    "background:#fff}pre{background:#f4f5f7;padding:.75rem;overflow-x:auto;border-radius:6px;font-size:14px}"
    "code{background:#f4f5f7;padding:.1em .3em;border-radius:4px}pre code{padding:0}"
    "blockquote{margin:0;padding:.1rem 1rem;border-left:3px solid #c5c9d0}h2{margin-top:2.5rem}"
    "@media(prefers-color-scheme:dark){body{color:#e6e8eb;background:#16181c}pre,code{background:#23262c}}"
)
_BREAK = "<br>\n"
_FENCE = re.compile(r"(`{3,})(\w*)")
_INLINE = re.compile(
    r"(?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)|\*\*(?P<bold>[^*`]+)\*\*"
    r"|(?P<star>\*)|\\(?P<escaped>[\[\]+~-])"
)


def page(title: str, pieces: Iterable[str]) -> Iterator[str]:
    """The file, piece by piece.

    Args:
        title: anybody's words.
        pieces: of ``runtime.story.told``, each a whole number of blocks.
    """
    yield (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">\n'
        f'<meta name="referrer" content="no-referrer"><meta name="viewport" content="width=device-width">\n'
        f"<style>{_STYLE}</style></head><body><main>\n"
    )
    for piece in pieces:
        yield from _blocks(piece.split("\n"))
    yield "</main></body></html>\n"


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if fence := _FENCE.fullmatch(lines[at]):
            # A fence is longer than any run of backticks within, so this line alone ends it.
            end = next((n for n in range(at + 1, len(lines)) if lines[n] == fence[1]), len(lines))
            text = escape("\n".join(lines[at + 1 : end]))
            yield f"<pre><code>{text}</code></pre>\n"
            at = end + 1
            continue
        kind = _kind(lines[at])
        end = at + 1
        while end < len(lines) and kind and kind != "h" and _kind(lines[end]) == kind:
            end += 1
        if kind:
            yield _block(kind, lines[at:end])
        at = end


def _kind(line: str) -> str:
    if not line.strip():
        return ""
    return {"#": "h", ">": "quote", "-": "list"}.get(line[0], "p") if not _FENCE.fullmatch(line) else "fence"


def _block(kind: str, lines: list[str]) -> str:
    match kind:
        case "h":
            marks, _, words = lines[0].partition(" ")
            level = min(len(marks), 6)
            return f"<h{level}>{_inline(words)}</h{level}>\n"
        case "quote":
            return f"<blockquote>{_BREAK.join(escape(line[1:].strip()) for line in lines)}</blockquote>\n"
        case "list":
            return f"<ul>{''.join(f'<li>{_inline(line[1:].strip())}</li>' for line in lines)}</ul>\n"
        case _:
            return f"<p>{_BREAK.join(map(_inline, lines))}</p>\n"


def _inline(text: str) -> str:
    parts, at, open_ = [], 0, False
    for found in _INLINE.finditer(text):
        parts.append(escape(text[at : found.start()]))
        at = found.end()
        if code := found["code"]:
            parts.append(f"<code>{escape(code.strip(' ') or code)}</code>")
        elif bold := found["bold"]:
            parts.append(f"<strong>{escape(bold)}</strong>")
        elif found["star"]:
            parts.append("</em>" if open_ else "<em>")
            open_ = not open_
        else:
            parts.append(escape(found["escaped"]))
    return "".join((*parts, escape(text[at:]), "</em>" if open_ else ""))
