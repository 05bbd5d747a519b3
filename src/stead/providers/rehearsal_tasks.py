"""What the rehearsal model does for each kind of task.

Layer: providers. Pure. Each kind is one generator of steps that ends in an outcome: what was found, and what was done
with it. Everything that is said comes from results of tools, and what could not be done is said too.
"""

from __future__ import annotations

import csv
import re
from decimal import Decimal, InvalidOperation
from typing import assert_never

import msgspec

from stead.providers.rehearsal_grammar import Task
from stead.providers.rehearsal_steps import Found, Problem, Toolset, Work, reason

SHOWN_LINES = 40
SHOWN_CHARACTERS = 3000


class Outcome(msgspec.Struct, frozen=True):
    """How a task ended.

    Args:
        met: the goal is reached.
        said: sentences for the person.
        shown: lines to be quoted below them.
        worked: the work before writing was done.
    """

    met: bool
    said: tuple[str, ...]
    shown: tuple[str, ...] = ()
    worked: bool = True


class Result(msgspec.Struct, frozen=True):
    """What the work before writing brought: a sentence about it, and its lines."""

    said: str
    lines: list[str]


def titles(task: Task) -> tuple[str, str]:
    """The plan of a task: the work, and what comes of it."""
    named = ", ".join(task.sources[:3]) or "the workspace"
    work = {
        "headings": f"Read {named} and find its headings",
        "count": f"Count in {named}",
        "find": f"Search {named}",
        "replace": f"Replace text in {named}",
        "list": f"List {named}",
        "csv": f"Read {named} as a table",
        "copy": f"Read {named}",
        "run": "Run the command",
        "fetch": "Fetch the page",
        "write": f"Prepare {task.out}",
        "show": f"Read {named}",
    }[task.kind][:200]
    return (work, f"Write {task.out}"[:200]) if task.out else (work, "Report")


def carry_out(task: Task, tools: Toolset) -> Work[Outcome]:
    """Do a task to its end."""
    try:
        result = yield from _work(task, tools)
    except Problem as problem:
        written = " Nothing was written." if task.out else ""
        return Outcome(False, (f"{problem}.{written} The goal is not met.",), worked=False)
    if not task.out:
        return Outcome(True, (result.said,), tuple(result.lines))
    try:
        answer = yield from tools.write(task.out, "".join(f"{line}\n" for line in result.lines))
    except Problem as problem:
        refused = f"I did not write {task.out}: {problem}. So here is the result instead. The goal is not met."
        return Outcome(False, (result.said, refused), tuple(result.lines))
    return Outcome(True, (result.said, _written(task.out, answer, len(result.lines))))


def _work(task: Task, tools: Toolset) -> Work[Result]:
    match task.kind:
        case "headings":
            return _headings(task, tools)
        case "count":
            return _count(task, tools)
        case "find":
            return _find(task, tools)
        case "replace":
            return _replace(task, tools)
        case "list":
            return _list(task, tools)
        case "csv":
            return _csv(task, tools)
        case "copy" | "show":
            return _contents(task, tools)
        case "run":
            return _run(task, tools)
        case "fetch":
            return _fetch(task, tools)
        case "write":
            return _text(task, tools)
        case _:
            assert_never(task.kind)


_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+.*|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,}) *")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def _headings(task: Task, tools: Toolset) -> Work[Result]:
    found: list[str] = []
    read: list[str] = []
    for source in task.sources:
        for path in (yield from tools.files(source)):
            lines = yield from tools.read_all(path)
            found += headings(lines)
            read.append(f"{path} ({_many(len(lines), 'line')})")
    return Result(f"I read {_and(read)} and found {_many(len(found), 'heading')}.", found or ["(no headings)"])


def headings(lines: list[str]) -> list[str]:
    """Headings of Markdown, marked by signs or by a line below; code blocks and front matter hold none."""
    found: list[str] = []
    fence, before = "", ""
    start = next((at for at, line in enumerate(lines[1:], 1) if line == "---"), 0) if lines[:1] == ["---"] else 0
    for line in lines[start:]:
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark.group(1).startswith(fence) else fence
            before = ""
        elif mark:
            fence = mark.group(1)[:3]
        elif _HEADING.fullmatch(line):
            found.append(re.sub(r"[ \t]+#+[ \t]*$", "", line.strip()))
            before = ""
        elif before and _UNDERLINE.fullmatch(line):
            found.append(f"{'#' if '=' in line else '##'} {before}")
            before = ""
        else:
            before = "" if re.match(r"\s*(?:[-*+>|]|\d+[.)])(?:\s|$)|\s*$| {4}|\t", line) else line.strip()
    return found


def _count(task: Task, tools: Toolset) -> Work[Result]:
    rows: list[str] = []
    total = 0
    for source in task.sources:
        for path in (yield from tools.files(source)):
            lines = yield from tools.read_all(path)
            number = _measure(lines, task.unit)
            total += number
            rows.append(f"{path}: {number}")
    said = f"I counted {_many(total, task.unit.removesuffix('s'))} in {_and([row.rpartition(':')[0] for row in rows])}."
    return Result(said, rows if len(rows) == 1 else [*rows, f"total: {total}"])


def _measure(lines: list[str], unit: str) -> int:
    match unit:
        case "words":
            return sum(len(line.split()) for line in lines)
        case "characters":
            return sum(len(line) + 1 for line in lines)
        case "rows":
            return max(len(_table(lines)) - 1, 0)
        case _:
            return len(lines)


def _find(task: Task, tools: Toolset) -> Work[Result]:
    rows: list[str] = []
    total, complete = 0, True
    for source in task.sources or ("**",):
        found: Found = yield from tools.grep(task.text, source)
        rows += found.rows
        total += found.total
        complete = complete and found.complete
    files = len({row.partition(":")[0] for row in rows})
    least = "" if complete else "at least "
    said = f"I found {task.text!r} in {least}{_many(total, 'line')} of {_many(files, 'file')}."
    return Result(said, rows or ["(no match)"])


def _replace(task: Task, tools: Toolset) -> Work[Result]:
    rows: list[str] = []
    total = 0
    for source in task.sources:
        for path in (yield from tools.files(source)):
            lines = yield from tools.read_all(path)
            number = "\n".join(lines).count(task.text)
            if not number:
                rows.append(f"{path}: 0")
                continue
            try:
                yield from _edit(path, task, tools)
            except Problem as problem:
                before = f"; changed before that: {_and([row.rpartition(':')[0] for row in rows])}" if total else ""
                raise Problem(f"{problem}{before}") from None
            rows.append(f"{path}: {number}")
            total += number
    if not total:
        raise Problem(f"I found no {task.text!r} in {_and(list(task.sources))}, so nothing was replaced")
    changed = [row.rpartition(":")[0] for row in rows if not row.endswith(": 0")]
    return Result(f"I edited {_and(changed)}: {task.text!r} became {task.new!r} {_times(total)}.", rows)


def _edit(path: str, task: Task, tools: Toolset) -> Work[None]:
    """Replace everywhere in one file; after an interruption, only if it still has the old text."""
    arguments = {"path": path, "old": task.text, "new": task.new, "every": True}
    seen = yield from tools.call("edit", f"Replace {task.text!r} in {path}.", **arguments)
    if seen.unknown:
        lines = yield from tools.read_all(path)
        if task.text in task.new:
            raise Problem(f"I cannot tell whether {path} was changed: the change was interrupted, and either text fits")
        if task.text not in "\n".join(lines):
            return
        seen = yield from tools.call("edit", f"Replace {task.text!r} in {path}; it still has it.", **arguments)
    if seen.failed:
        raise Problem(f"I did not change {path}: {reason(seen.text)}")


def _list(task: Task, tools: Toolset) -> Work[Result]:
    rows: list[str] = []
    total = 0
    for source in task.sources:
        found = yield from tools.glob(source)
        rows += found.rows
        total += found.total
    named = "" if task.sources == ("**",) else f" match {_and(list(task.sources))}"
    said = f"{_many(total, 'file')}{named or ' are in the workspace'}; {len(rows)} are listed."
    return Result(said, rows or ["(no files)"])


def _csv(task: Task, tools: Toolset) -> Work[Result]:
    lines: list[str] = []
    said: list[str] = []
    for source in task.sources:
        for path in (yield from tools.files(source)):
            rows = _table((yield from tools.read_all(path)))
            if not rows:
                raise Problem(f"I found no table in {path}: it is empty")
            header, data = rows[0], rows[1:]
            said.append(f"{path} ({_many(len(header), 'column')}, {_many(len(data), 'row')})")
            lines += _table_lines(header, data)
    return Result(f"I read {_and(said)} as a table.", lines)


def _table_lines(header: list[str], data: list[list[str]]) -> list[str]:
    lines = [f"columns: {', '.join(header)}", f"rows: {len(data)}"]
    for at, name in enumerate(header):
        numbers, other = _numbers(data, at)
        if numbers and not other:
            total = sum(numbers, Decimal(0))
            figures = {"sum": total, "mean": total / len(numbers), "min": min(numbers), "max": max(numbers)}
            lines.append(f"{name}: " + ", ".join(f"{what} {_plain(figure)}" for what, figure in figures.items()))
    return lines


_DIGITS = 30
"""Numbers with more digits before or behind the point are left out: nobody's table has them, only a prankster's."""


def _table(lines: list[str]) -> list[list[str]]:
    """Rows of comma, semicolon or tab separated values; empty lines are no rows."""
    head = lines[0] if lines else ""
    separator = max(",;\t", key=head.count)
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator) if row]
    except csv.Error as error:
        raise Problem(f"I could not read it as a table: {error}") from None


def _numbers(data: list[list[str]], at: int) -> tuple[list[Decimal], int]:
    """The numbers of a column, and how many of its other values are not empty."""
    numbers, other = [], 0
    for row in data:
        cell = row[at] if at < len(row) else ""
        try:
            number = Decimal(cell)
        except InvalidOperation:
            other += bool(cell)
            continue
        if number.is_finite() and abs(number.adjusted()) <= _DIGITS:
            numbers.append(number)
        else:
            other += 1
    return numbers, other


def _plain(number: Decimal) -> str:
    return f"{round(number, 6).normalize():f}"


def _contents(task: Task, tools: Toolset) -> Work[Result]:
    lines: list[str] = []
    read: list[str] = []
    for source in task.sources:
        for path in (yield from tools.files(source)):
            part = yield from tools.read_all(path)
            lines += part
            read.append(f"{path} ({_many(len(part), 'line')})")
    return Result(f"I read {_and(read)}.", lines)


def _run(task: Task, tools: Toolset) -> Work[Result]:
    seen = yield from tools.call("shell", f"Run {task.text!r}.", command=task.text)
    if seen.unknown:
        raise Problem("I do not know what the command did: it was interrupted. I do not run it a second time")
    lines = seen.text.rstrip("\n").split("\n")
    ended = re.fullmatch(r"\[(exit code \d+|killed after .*)\]", lines[-1])
    if seen.failed and not ended:
        raise Problem(f"I did not run the command: {reason(seen.text)}")
    status = ended.group(1) if ended else "exit code 0"
    return Result(f"I ran `{task.text}`: {status}.", lines[:-1] if ended else lines)


def _fetch(task: Task, tools: Toolset) -> Work[Result]:
    seen = yield from tools.call("fetch", f"Fetch {task.text}.", url=task.text)
    if seen.unknown:
        seen = yield from tools.call("fetch", f"Fetch {task.text} again.", url=task.text)
    if seen.failed:
        raise Problem(f"I could not fetch {task.text}: {reason(seen.text)}")
    lines = seen.text.split("\n")
    about = lines[0] if lines[0].startswith(("http://", "https://")) else task.text
    body = lines[2:] if about is lines[0] and lines[1:2] == [""] else lines
    return Result(f"I fetched {about}: {_many(len(' '.join(body).split()), 'word')}.", body)


def _text(task: Task, tools: Toolset) -> Work[Result]:
    if not task.append:
        yield from ()
        return Result("The text is yours, word for word.", task.text.split("\n"))
    lines = yield from tools.read_all(task.out)
    return Result(f"I read {task.out} ({_many(len(lines), 'line')}) and added yours.", [*lines, *task.text.split("\n")])


def _written(path: str, answer: str, lines: int) -> str:
    named = "the file that you named" if " " in path else path  # half a name would be taken for another file's
    if answer.startswith("was "):
        return f"{named} {answer} ({_many(lines, 'line')})."
    over = " over what was there before" if answer.startswith("replaced") else ""
    return f"I wrote {named}{over}: {_many(lines, 'line')}."


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _and(names: list[str]) -> str:
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"
