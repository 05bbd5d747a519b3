"""What a person is shown before answering: exactly what would run, where, how risky it is, and why it is asked.

Layer: cli. Texts are revealed, not cleaned: a command that hides something behind an escape sequence must look like it.
"""

from __future__ import annotations

import json
import re
import time
from itertools import groupby

from stead.cli import figures
from stead.cli.output import Output, clean_line, cut_line
from stead.client import Json
from stead.domain.shown import BEGINNING_CHARACTERS, BEGINNING_LINES, is_long, reveal

_WHOLE = ("command", "path", "url")
"""Arguments that say what is acted on: shown first, and never cut."""
_UNSET = {("shell", "hosts", "[]"), ("shell", "service", ""), ("shell", "stop", "false"), ("edit", "every", "false")}
_UNSET |= {("shell", "timeout_s", "120")}
"""Arguments as they are where a model leaves them out: shown with ``whole`` alone, as they say nothing more."""
_SHORT = 120
_BLANK_LINES = 3
_BLANKS = re.compile(r"[^\S\n]{24,}")
_COVERS = {
    "any": "every call of this tool in this session",
    "changes": "commands that only change files here, in plain ways",
    "shell": "this command again: ",
    "net": "this command again, with its hosts: ",
    "host": "every request to ",
}
"""What a lasting yes would cover, by the kind of its shape."""
_SOURCES = {
    "workspace": "files of this folder",
    "web": "pages of ",
    "registry": "packages of ",
    "message": "a message from ",
    "handed": "what you handed over: ",
}
"""What has been read, by the kind of its source."""


def card(row: Json, out: Output, *, whole: bool = False) -> list[str]:
    """The lines that describe an approval.

    Args:
        row: an ``ApprovalRow``.
        out: for its styles.
        whole: show long contents from end to end, not only how they begin.
    """
    risk = clean_line(row["risk"])
    coloured = out.style(risk, "red") if risk in ("high", "critical") else risk
    lines = [f"{out.style(clean_line(row['tool']), 'bold')} asks: {clean_line(row['id'])}, risk {coloured}"]
    shown = [
        (reveal(name).replace("\n", "\\n"), _shown(name, value, whole=whole))
        for name, value in _arguments(row["arguments"])
        if whole or (row["tool"], name, value) not in _UNSET
    ]
    pairs = [pair for pair in shown if "\n" not in pair[1]]
    pairs.append(("directory", reveal(row["directory"])))
    pairs.append(("why", f"{reveal(row['reason'])} (rule {clean_line(row['rule'])})"))
    telling = [origin for origin in row["origins"] if origin["integrity"] != "untrusted" or origin["source"]]
    pairs += [("source", f"{reveal(origin['argument'])}: {_whence(origin)}") for origin in telling]
    if row["sources"] and not doubtful(row):
        pairs.append(("untrusted", f"input so far: {', '.join(map(source_name, row['sources']))}"))
    if row["shape"]:
        pairs.append(("session", f"a yes also allows {_covered(row['shape'])}"))
        if row["bound"]:
            pairs.append(("until", "a file that it names changes; whatever else it runs may change meanwhile"))
    if row["status"] == "pending":
        left_ms = row["expires_at_ms"] - time.time() * 1000
        pairs.append(("expires", f"in {figures.duration(left_ms)}" if left_ms > 0 else "now"))
    else:
        door = f" from {clean_line(row['door'])}" if row["door"] else ""
        pairs.append(("answered", f"{clean_line(row['status'])}{door}"))
    pairs += [pair for pair in shown if "\n" in pair[1]]
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        first, *more = value.split("\n")
        lines.append(f"  {name:<{width}}  {first}")
        lines += [f"    | {line}" for line in more]
    return lines


def doubtful(row: Json) -> list[str]:
    """The untrusted sources that hold one of the call's arguments: what trusting them would change something about."""
    return list(dict.fromkeys(origin["source"] for origin in row["origins"] if origin["source"]))


def source_name(source: str) -> str:
    """A source in words."""
    kind, _, name = source.partition(":")
    return _SOURCES.get(kind, f"{reveal(kind)} ") + reveal(name) if kind in _SOURCES or name else reveal(source)


def _whence(origin: Json) -> str:
    """Where a value came from, in words."""
    if origin["integrity"] != "untrusted":
        return "your own words" if origin["integrity"] == "person" else "a source that is trusted"
    return f"{source_name(origin['source'])} (untrusted)"


def _covered(shape: str) -> str:
    """The calls of a shape, in words; a shape of no kind is that of one call."""
    kind, _, rest = shape.partition(":")
    return _COVERS[kind] + reveal(rest) if kind in _COVERS else "exactly this call again"


def is_cut(row: Json) -> bool:
    """Whether the card leaves out part of what would run."""
    return any(_is_cut(name, value) for name, value in _arguments(row["arguments"]))


def headline(row: Json) -> str:
    """What would run, on one line next to the answer: a long card scrolls away."""
    lines = [line for _, value in _arguments(row["arguments"])[:1] for line in value.split("\n") if line.strip()]
    more = f" (and {figures.counted(len(lines) - 1, 'more line')})" if len(lines) > 1 else ""
    about = cut_line(lines[0], _SHORT) if lines else ""
    return f"{clean_line(row['tool'])}, risk {clean_line(row['risk'])}: {about}{more}"


def _arguments(text: str) -> list[tuple[str, str]]:
    """Names and values of a call's arguments, what is acted on first; the raw text if it is no JSON object."""
    try:
        values = json.loads(text)
    except ValueError:
        values = None
    if not isinstance(values, dict):
        return [("arguments", text)]
    if isinstance(values.get("old"), str) and isinstance(values.get("new"), str):
        values["change"] = _change(values.pop("old"), values.pop("new"))
    pairs = [(k, v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)) for k, v in values.items()]
    return sorted(pairs, key=lambda pair: pair[0] not in _WHOLE)


def _change(old: str, new: str) -> str:
    """What an edit takes out and puts in, as a diff that has every line of both."""
    from difflib import ndiff

    return "\n".join(line for line in ndiff(old.split("\n"), new.split("\n")) if not line.startswith("? "))


def _is_cut(name: str, value: str) -> bool:
    return is_long(value) and name not in _WHOLE


def _lines(value: str) -> list[str]:
    """A value's lines as they are shown: hidden characters are escaped, and long runs of blanks are counted."""
    runs = groupby(value.removesuffix("\n").split("\n"), key=lambda line: not line.strip())
    return [
        _BLANKS.sub(lambda found: f"<{len(found[0])} blanks>", reveal(line))
        for blank, run in runs
        for line in _squeezed(list(run), blank=blank)
    ]


def _squeezed(lines: list[str], *, blank: bool) -> list[str]:
    return [f"<{len(lines)} blank lines>"] if blank and len(lines) > _BLANK_LINES else lines


def _shown(name: str, value: str, *, whole: bool) -> str:
    """A value: short ones as they are, what is acted on in full, long contents by their size and how they begin."""
    lines = _lines(value)
    if "\n" not in value and (len(value) <= _SHORT or name in _WHOLE):
        return lines[0]
    count = figures.counted(value.removesuffix("\n").count("\n") + 1, "line")
    about = f"{figures.size(len(value.encode('utf-8', 'replace')))}, {count}"
    if _is_cut(name, value) and not whole:
        lines = [line[:BEGINNING_CHARACTERS] for line in lines[:BEGINNING_LINES]]
        about += f"; it begins (lines cut at {BEGINNING_CHARACTERS} characters):"
    return "\n".join(["" if name in _WHOLE else about, *lines])
