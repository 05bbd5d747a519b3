"""A unified diff put into one text: all of it exactly, or nothing.

Layer: machines, runner. Standard library only; text in, text out, no file is touched here.

Where a hunk goes follows from the lines that it shows. The numbers in its header are hints, because models often get
them wrong: if every hunk's lines stand where its header says, they go there; else each has to occur exactly once. A
hunk that fits nowhere, or at several places, is refused with what the file has, so that it can be mended.

Spaces count. What ends a line does not, unless the diff says so itself: readers are shown lines, not what ends them. So
added lines end as those around them, and a last line without a line feed stays without.
"""

from __future__ import annotations

import re

from .frames import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; importing it here would cost milliseconds
    from collections.abc import Sequence

_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@")
_PREAMBLE = ("diff --git ", "index ", "new file mode ")
_COMMON = 10_000
"""Places of one line that are looked at; a hunk of nothing but such lines is not searched for."""
_STEPS = 1_000_000
"""Lines that are compared in the search for all hunks together."""
_WINDOW = 20_000
"""Lines to each side of a hint among which the nearest ones are looked for."""
_SHOWN_LINES, _SHOWN_CHARACTERS = 10, 200
_COMPARED = 1_000
"""Lines that are compared letter by letter when none is the same."""


class Hunk:
    """Some neighbouring lines, before and after.

    Args:
        number: from 1.
        header: its first line.
    """

    def __init__(self, number: int, header: str) -> None:
        self.number = number
        found = _HEADER.match(header)
        self.hint = int(found[1]) - 1 if found else -1
        """The place of its first line, from 0; negative for none."""
        self.promised = (int(found[2] or 1), int(found[3] or 1)) if found else (-1, -1)
        """Lines before and after, as the header has them; they tell where a hunk ends whose lines look like headers."""
        self.lines: list[str] = []
        """With their signs: space, ``-`` or ``+``."""
        self.old: list[str] = []
        """The lines that it shows of the text as it is."""
        self.new_lines = 0
        self.old_open = self.new_open = False
        """Whether it says that the text before, or after, ends without a line feed."""

    def add(self, line: str) -> None:
        """Take in one more line with its sign.

        Raises:
            Fault: by the hunk's own words the text had ended.
        """
        sign = line[0]
        if sign != "+":
            self.old.append(line[1:])
        if sign != "-":
            self.new_lines += 1
        if (sign != "+" and self.old_open) or (sign != "-" and self.new_open):
            raise Fault(f"hunk {self.number} goes on after 'No newline at end of file'; leave that line out")
        self.lines.append(line)

    def end(self) -> None:
        """Note that no line feed follows the last line that was added.

        Raises:
            Fault: there is none.
        """
        if not self.lines:
            raise Fault(f"hunk {self.number} begins with 'No newline at end of file'; leave that line out")
        sign = self.lines[-1][0]
        self.old_open |= sign != "+"
        self.new_open |= sign != "-"

    def full(self) -> bool:
        """Whether it has the lines that its header promises."""
        return self.promised == (len(self.old), self.new_lines)

    def over(self) -> bool:
        """Whether it has more lines than its header promises, which may promise nothing."""
        return len(self.old) > self.promised[0] or self.new_lines > self.promised[1]

    def shortens(self) -> bool:
        """Whether it takes its last line away and puts nothing there."""
        signs = "".join(line[0] for line in self.lines)
        return "-" in (tail := signs[signs.rfind(" ") + 1 :]) and "+" not in tail


def patched(text: str | None, diff: str, path: str) -> tuple[str, int]:
    """The text with the diff in it, and how many hunks that were.

    Args:
        text: of the file; None when there is no such file.
        diff: hunks for it; headers that name files may stand before them.
        path: the file's, as the headers have to have it.

    Raises:
        Fault: it is no such diff, is for another file, or does not fit; the text says how to mend it.
    """
    hunks, end = _parsed(diff, path)
    if not text:
        if any(hunk.old for hunk in hunks):
            what = "there is no file" if text is None else "there is nothing in"
            raise Fault(f"{what} {path!r}, so every line of the diff has to begin with +")
        made = [line[1:] for hunk in hunks for line in hunk.lines]
        return end.join(made) + ("" if hunks[-1].new_open else end), len(hunks)
    if bare := next((hunk for hunk in hunks if not hunk.old), None):
        way = "show a line or more before or after those it adds"
        raise Fault(f"hunk {bare.number} shows no line of {path!r}, so where it goes is not known; {way}")
    apart = "\r\n" in text and not any(line.endswith("\r") for hunk in hunks for line in hunk.lines)
    lines = text.split("\n")
    closed = not lines[-1]
    lent = apart and not closed and lines[-2].endswith("\r")  # as if it were closed; taken back at the end
    if closed:
        lines.pop()
    elif lent:
        lines[-1] += "\r"
    compared = [line[:-1] if line.endswith("\r") else line for line in lines] if apart else lines
    placed = _placed(compared, closed, hunks, path)
    made = _joined(lines, placed, apart)
    last, at = placed[-1]
    if at + len(last.old) == len(lines):
        closed = not last.new_open and (closed or last.old_open or last.shortens())
    if closed or not made:
        return "".join(line + "\n" for line in made), len(hunks)
    if lent and made[-1].endswith("\r"):
        made[-1] = made[-1][:-1]
    return "\n".join(made), len(hunks)


def _parsed(diff: str, path: str) -> tuple[list[Hunk], str]:
    """The hunks, and what ends the lines of the diff itself, which is then no part of what they show."""
    lines = diff.split("\n")
    if not lines[-1]:
        lines.pop()
    end = "\n"
    if lines and all(line.endswith("\r") for line in lines):
        lines, end = [line[:-1] for line in lines], "\r\n"
    hunks: list[Hunk] = []
    at = _after_preamble(lines, 0, path)
    while at < len(lines):
        hunk = Hunk(len(hunks) + 1, lines[at])
        at = _after_preamble(lines, _fill(hunk, lines, at + 1), path)
        if len(hunk.lines) == hunk.new_lines == len(hunk.old):
            raise Fault(f"hunk {hunk.number} changes nothing; a line begins with - to go and with + to come")
        hunks.append(hunk)
    if not hunks:
        raise Fault("the diff has no hunk; one begins with a line like @@ -12,3 +12,4 @@")
    return hunks, end


def _after_preamble(lines: Sequence[str], at: int, path: str) -> int:
    """Where the next hunk begins: past headers, which must not name another file."""
    while at < len(lines) and not lines[at].startswith("@@"):
        line = lines[at]
        if line.startswith(("--- ", "+++ ")):
            named = line[4:].partition("\t")[0].strip()
            if named == "/dev/null" and line.startswith("+++"):
                raise Fault("a patch deletes no file; use shell (rm)")
            if named != "/dev/null" and _plain(path) not in (_plain(named), _plain(named.partition("/")[2])):
                raise Fault(f"the diff is for {named!r} and not for {path!r}; patch one file in a call")
        elif line.strip() and not line.startswith(_PREAMBLE):
            way = "a hunk begins with @@, each of its lines with a space, - or +"
            raise Fault(f"line {at + 1} of the diff belongs to no hunk: {_clip(line)!r}; {way}")
        at += 1
    return at


def _fill(hunk: Hunk, lines: Sequence[str], at: int) -> int:
    """Take in the hunk's lines; gives where they end. A blank line stands for one that was shown blank."""
    blank = 0
    while at < len(lines):
        line = lines[at]
        sign = line[:1] or " "
        if sign not in " +-\\" or (line.startswith("--- ") and _is_header(hunk, lines, at)):
            break
        at += 1
        if not line:
            blank += 1
            continue
        for _ in range(blank):
            hunk.add(" ")
        blank = 0
        if sign == "\\":
            hunk.end()
        else:
            hunk.add(line)
    while blank and not (hunk.old_open or hunk.new_open or hunk.full() or hunk.over()):  # others only end the diff
        blank -= 1
        hunk.add(" ")
    return at


def _is_header(hunk: Hunk, lines: Sequence[str], at: int) -> bool:
    """Whether a line that could be one to take away names a file."""
    known = hunk.promised[0] >= 0
    _, second, third = (*lines[at : at + 3], "", "")[:3]
    return second.startswith("+++ ") and (hunk.full() if known else third.startswith("@@"))


def _placed(lines: list[str], closed: bool, hunks: list[Hunk], path: str) -> list[tuple[Hunk, int]]:
    """The hunks with where they go, from the first line to the last."""
    placed = [(hunk, hunk.hint) for hunk in hunks]
    if not all(at >= 0 and _stands(lines, closed, hunk, at) for hunk, at in placed):
        search = _Search(lines, closed, hunks)
        placed = [(hunk, search.only_place(hunk, path)) for hunk in hunks]
    placed.sort(key=lambda pair: pair[1])
    before, end = placed[0][0], 0
    for hunk, at in placed:
        if at < end:
            raise Fault(f"hunks {before.number} and {hunk.number} overlap; make one of them")
        before, end = hunk, at + len(hunk.old)
        if hunk.new_open and end < len(lines):
            raise Fault(f"hunk {hunk.number} says that {path!r} ends where it goes on; leave '\\ No newline' out")
    return placed


def _stands(lines: list[str], closed: bool, hunk: Hunk, at: int) -> bool:
    """Whether the hunk's lines are there, and the text ends with them if they say so."""
    end = at + len(hunk.old)
    return lines[at:end] == hunk.old and not (hunk.old_open and (closed or end < len(lines)))


class _Search:
    """Looks for hunks by the rarest of their lines; what it costs is bounded, whatever the text repeats.

    Args:
        lines: of the text.
        closed: whether a line feed ends the last of them.
        hunks: all that may be asked for.
    """

    def __init__(self, lines: list[str], closed: bool, hunks: list[Hunk]) -> None:
        self._lines = lines
        self._closed = closed
        self._steps = _STEPS
        self._index: dict[str, list[int]] = {line: [] for hunk in hunks for line in hunk.old}
        for at, line in enumerate(lines):
            places = self._index.get(line)
            if places is not None and len(places) < _COMMON:
                places.append(at)

    def only_place(self, hunk: Hunk, path: str) -> int:
        """The one place where it stands.

        Raises:
            Fault: there is none, or another.
        """
        anchor = min(range(len(hunk.old)), key=lambda place: len(self._index[hunk.old[place]]))
        starts = self._index[hunk.old[anchor]]
        if len(starts) == _COMMON:
            raise Fault(f"hunk {hunk.number} shows only lines that {path!r} has everywhere; {_MEND_NUMBER}")
        found = []
        for start in starts:
            at = start - anchor
            if at >= 0 and self._same(hunk.old, at, path) and _stands(self._lines, self._closed, hunk, at):
                found.append(at)
        if len(found) > 1:
            where = ", ".join(str(at + 1) for at in found[:5]) + (" …" if len(found) > 5 else "")
            raise Fault(f"hunk {hunk.number} fits {len(found)} places of {path!r}, at lines {where}; {_MEND_NUMBER}")
        if not found:
            raise Fault(_unlike(self._lines, hunk, path))
        return found[0]

    def _same(self, old: list[str], at: int, path: str) -> bool:
        for place, line in enumerate(old, at):
            self._steps -= 1
            if place >= len(self._lines) or self._lines[place] != line:
                break
        else:
            return True
        if self._steps < 0:
            raise Fault(f"{path!r} repeats itself too much to find every hunk; {_MEND_NUMBER}")
        return False


_MEND_NUMBER = "show more of the lines around it, or put the right numbers into every @@ line"


def _joined(lines: list[str], placed: list[tuple[Hunk, int]], apart: bool) -> list[str]:
    """The lines after all changes. Kept ones stay as they are; with ``apart``, added ones end as those around them."""
    made: list[str] = []
    at = 0
    for hunk, start in placed:
        made += lines[at:start]
        at = start
        end = "\r" if apart and lines[at].endswith("\r") else ""
        for line in hunk.lines:
            if line[0] == "+":
                made.append(line[1:] + end)
                continue
            end = "\r" if apart and lines[at].endswith("\r") else ""
            if line[0] == " ":
                made.append(lines[at])
            at += 1
    return made + lines[at:]


def _unlike(lines: list[str], hunk: Hunk, path: str) -> str:
    """What the text has where the hunk fits best, and the first line that differs."""
    start = _nearest(lines, hunk)
    if lines[start : start + len(hunk.old)] == hunk.old:
        what = f"hunk {hunk.number} says that {path!r} ends with its lines and without a newline"
        return f"{what}, and it does not; leave '\\ No newline at end of file' out"
    differs = next(n for n, line in enumerate(hunk.old) if lines[start + n : start + n + 1] != [line])
    has = repr(_clip(lines[start + differs])) if start + differs < len(lines) else "no more lines"
    first = max(0, start + max(0, differs - _SHOWN_LINES // 2))
    shown = lines[first : min(first + _SHOWN_LINES, start + len(hunk.old) + 1)]
    return "\n".join(
        [
            f"hunk {hunk.number} does not fit {path!r}; nothing was changed. Nearest are these lines:",
            *(f"{number}: {_clip(line)}" for number, line in enumerate(shown, first + 1)),
            f"At line {start + differs + 1} the file has {has} where the hunk has {_clip(hunk.old[differs])!r}. "
            "Copy the lines exactly as they are, spaces included.",
        ]
    )


def _nearest(lines: list[str], hunk: Hunk) -> int:
    """Where most of its lines stand, spaces aside; near its hint when there is no such place."""
    hint = min(max(hunk.hint, 0), max(0, len(lines) - 1))
    votes = _votes(lines, hunk.old, max(0, hunk.hint - _WINDOW))
    return min(votes, key=lambda at: (-votes[at], abs(at - hint)), default=hint)


def _votes(lines: list[str], old: list[str], low: int) -> dict[int, int]:
    """How many of the old lines stand where they should, spaces aside, if they began at a line."""
    wanted: dict[str, list[int]] = {}
    for offset, line in enumerate(old[:_COMMON]):
        if line.strip():
            wanted.setdefault(line.strip(), []).append(offset)
    votes: dict[int, int] = {}
    for at, line in enumerate(lines[low : low + 2 * _WINDOW], low):
        for offset in wanted.get(line.strip(), ())[:3]:
            if at >= offset:
                votes[at - offset] = votes.get(at - offset, 0) + 1
    return votes


def alike(text: str, wanted: str) -> str:
    """The lines that are most like what was looked for and is not there, to be copied; "" when none is like it."""
    lines, old = text.split("\n"), wanted.split("\n")
    votes = _votes(lines, old, 0)
    start = min(votes, key=lambda at: (-votes[at], at), default=-1)
    if start < 0:
        from difflib import get_close_matches

        longest = max(old, key=lambda line: len(line.strip()))
        near = [line.strip()[:_SHOWN_CHARACTERS] for line in lines[:_COMPARED]]
        found = get_close_matches(longest.strip()[:_SHOWN_CHARACTERS], near, 1)
        if not found:
            return ""
        start = max(0, near.index(found[0]) - old.index(longest))
    shown = lines[start : start + min(len(old), _SHOWN_LINES)]
    rows = (f"{number}: {_clip(line)}" for number, line in enumerate(shown, start + 1))
    return "\n".join(["Nearest are these lines:", *rows])


def _plain(path: str) -> str:
    path = path[len("/work/") :] if path.startswith("/work/") else path
    return path[2:] if path.startswith("./") else path


def _clip(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"
