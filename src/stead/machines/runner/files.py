"""File work that is short: read, write, edit, hash.

Layer: machines, runner. Standard library only. The kernel confines this process to the machine; the checks here keep
it within the workspace, away from its own entries in ``/proc``.
"""

from __future__ import annotations

import os
from itertools import accumulate

from .enter import WORK
from .frames import Fault

TYPE_CHECKING = False
if TYPE_CHECKING:  # a type checker takes it for true; importing it here would cost milliseconds
    from collections.abc import Callable

_LARGEST = 16 << 20
_DIFF_CHARACTERS, _DIFF_LINES = 8_000, 2_000
_SEARCHED, _SOUGHT = 40_000, 10_000
"""Lines of a file among which those nearest to an edit's are looked for, and lines of the edit."""
_COMPARED = 1_000
"""Lines that are compared letter by letter when none is the same."""
_SHOWN_LINES, _SHOWN_CHARACTERS = 10, 200


def name(path: str | bytes) -> str:
    """A path as people see it: relative to the workspace, control characters escaped."""
    text = os.fsdecode(path)
    text = text[len(WORK) + 1 :] if text.startswith(WORK + "/") else text
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def explain(error: OSError, operation: str) -> str:
    """What an operating-system error says, and about which file."""
    return f"{name(error.filename or operation)!r}: {error.strerror}"


def inside(real: str) -> bool:
    """Whether a resolved path is the workspace or below it."""
    return real == WORK or real.startswith(WORK + "/")


def target(path: bytes) -> str:
    """The real path that a path of the workspace means, links followed; "" means the workspace itself.

    Raises:
        Fault: it leads out.
    """
    real = os.path.realpath(os.path.join(WORK, os.fsdecode(path)))
    if not inside(real):
        raise Fault(f"{name(path)!r} leads out of the workspace")
    return real


def open_file(path: bytes) -> int:
    """A descriptor of a regular file of the workspace. What was opened is checked, so no race of links misleads it.

    Raises:
        Fault: it is a folder, a device, or not in the workspace.
        OSError: it cannot be opened.
    """
    fd = os.open(os.path.join(WORK, os.fsdecode(path)), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    kind = os.fstat(fd).st_mode & 0o170000
    within = inside(os.readlink(f"/proc/self/fd/{fd}"))
    if within and kind == 0o100000:
        return fd
    os.close(fd)
    if not within:
        raise Fault(f"{name(path)!r} leads out of the workspace")
    raise Fault(f"{name(path)!r} is a folder; use glob" if kind == 0o040000 else f"{name(path)!r} is no regular file")


def read(path: bytes, first: bytes, count: bytes, cap: bytes) -> list[bytes]:
    """Answer with some lines, how many there are, the file's size, and whether the cap cut the lines."""
    text = _text(path).encode()
    lines = text.split(b"\n")
    if not lines[-1]:
        del lines[-1]
    wanted = b"\n".join(lines[int(first) - 1 : int(first) - 1 + int(count)])
    cut = wanted[: int(cap)].decode("utf-8", "ignore").encode()
    return [cut, b"%d" % len(lines), b"%d" % len(text), b"%d" % (len(wanted) > int(cap))]


def chunk(path: bytes, start: bytes, count: bytes) -> list[bytes]:
    """Answer with some bytes of a file, text or not, and its size."""
    with open(open_file(path), "rb") as file:
        file.seek(int(start))
        return [file.read(int(count)), b"%d" % os.fstat(file.fileno()).st_size]


def write(path: bytes, text: bytes) -> list[bytes]:
    """Replace or create a file; answers with whether it was created, its size, 0, and a diff."""
    real = target(path)
    if os.path.isdir(real):
        raise Fault(f"{name(path)!r} is a folder")
    try:
        old = _text(path) if os.path.exists(real) else ""
    except Fault:
        old = None
    return [*_replace(real, text), b"0", _diff(old, text.decode())]


def edit(path: bytes, old: bytes, new: bytes, every: bytes) -> list[bytes]:
    """Replace exact text; answers as ``write`` does, with the number of places."""
    text, wanted, wish = _text(path), old.decode(), new.decode()
    if "\r\n" in text and ("\n" not in wanted or wanted not in text):  # readers are shown lines, not what ends them
        wanted, wish = (whole.replace("\r\n", "\n").replace("\n", "\r\n") for whole in (wanted, wish))
    count = text.count(wanted) if wanted else 0
    if count == 0 or (count > 1 and every == b"0"):
        way = "give more of the lines around it, or set every" if count else "read the file and copy it exactly"
        nearest = "" if count else _alike(text, wanted)
        raise Fault(f"the old text occurs {count} times in {name(path)!r}; {way}" + (nearest and f". {nearest}"))
    changed = text.replace(wanted, wish)
    return [*_replace(target(path), changed.encode()), b"%d" % count, _diff(text, changed)]


def save(path: bytes, data: bytes) -> list[bytes]:
    """Replace or create a file that need not be text; answers with its size."""
    real = target(path)
    if os.path.isdir(real):
        raise Fault(f"{name(path)!r} is a folder")
    return [_replace(real, data)[1]]


CHANGING: dict[str, Callable[..., list[bytes]]] = {"write": write, "edit": edit, "save": save}
"""What needs a transaction that keeps its changes."""


def hashes(*paths: bytes) -> list[bytes]:
    """SHA-256 of each file in hex, or "absent", "folder", "unreadable" (which a link out of the workspace is too)."""
    from hashlib import sha256

    found = []
    for path in paths:
        digest = sha256()
        try:
            with open(open_file(path), "rb") as file:
                while chunk := file.read(1 << 20):
                    digest.update(chunk)
            found.append(digest.hexdigest().encode())
        except (FileNotFoundError, NotADirectoryError):
            found.append(b"absent")
        except (Fault, OSError):
            found.append(b"folder" if os.path.isdir(os.path.join(WORK, os.fsdecode(path))) else b"unreadable")
    return found


def _text(path: bytes) -> str:
    with open(open_file(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > _LARGEST:
            raise Fault(
                f"{name(path)!r} is larger than {_LARGEST >> 20} MB ({size} bytes); use shell (head, sed, grep)"
            )
        data = file.read(_LARGEST)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Fault(f"{name(path)!r} is no UTF-8 text ({size} bytes); use shell (file, xxd, iconv)")
    return text


def _replace(real: str, data: bytes) -> list[bytes]:
    """Write a whole file. The write need not be atomic: it is not visible before the transaction lands."""
    os.makedirs(os.path.dirname(real), exist_ok=True)
    created = not os.path.exists(real)
    fd = os.open(real, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    with open(fd, "wb") as file:
        file.write(data)
    return [b"%d" % created, b"%d" % len(data)]


def _alike(text: str, wanted: str) -> str:
    """The lines that are most like what was looked for and is not there, to be copied; "" when none is like it."""
    lines, old = text.split("\n"), wanted.split("\n")
    votes = _votes(lines, old)
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


def _votes(lines: list[str], old: list[str]) -> dict[int, int]:
    """How many of the old lines match at their places, ignoring spaces, if the text began at a given line."""
    wanted: dict[str, list[int]] = {}
    for offset, line in enumerate(old[:_SOUGHT]):
        if line.strip():
            wanted.setdefault(line.strip(), []).append(offset)
    votes: dict[int, int] = {}
    for at, line in enumerate(lines[:_SEARCHED]):
        for offset in wanted.get(line.strip(), ())[:3]:
            if at >= offset:
                votes[at - offset] = votes.get(at - offset, 0) + 1
    return votes


def _clip(line: str) -> str:
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"


def _diff(old: str | None, new: str) -> bytes:
    diff, cut = unified(old, new)
    return (f"{diff}\n… {cut} more lines" if cut > 0 else diff).encode()


def unified(old: str | None, new: str, *, whole: bool = False) -> tuple[str, int]:
    """A unified diff without file names, and how many lines of it are left out; -1 when the old content was no text.

    Its cost is bounded: a long one is cut at a line, a large one is described by size. If the whole is wanted, a large
    one has every old line and every new one.
    """
    if old is None:
        return "", -1
    from difflib import SequenceMatcher

    before, after = _lines(old), _lines(new)
    same = tail = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    while tail < min(len(before), len(after)) - same and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    base, tail = max(0, same - 3), max(0, tail - 3)
    before, after = before[base : len(before) - tail], after[base : len(after) - tail]
    large = len(before) + len(after) > _DIFF_LINES
    if large and not whole:
        said = f"@@ {len(before)} lines from line {base + 1} became {len(after)} @@"
        return said, len(before) + len(after)
    everything = [[("replace", 0, len(before), 0, len(after))]]
    lines = []
    for group in everything if large else SequenceMatcher(None, before, after).get_grouped_opcodes(3):
        (_, i, _, j, _), (_, _, k, _, m) = group[0], group[-1]
        lines.append(f"@@ -{base + i + 1},{k - i} +{base + j + 1},{m - j} @@")
        for kind, low, high, left, right in group:
            lines += [(" " if kind == "equal" else "-") + line for line in before[low:high]]
            lines += ["+" + line for line in after[left:right] if kind != "equal"]
    ends = accumulate(len(line) + 1 for line in lines)
    kept = len(lines) if whole else sum(end <= _DIFF_CHARACTERS for end in ends)
    return "\n".join(lines[:kept]), len(lines) - kept


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: whatever else ends a line somewhere is a character that must be seen."""
    return text.removesuffix("\n").split("\n") if text else []
