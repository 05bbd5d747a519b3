"""What ``/`` begins in ``stead chat``, and what Tab completes.

Layer: cli.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from stead.cli.invocation import CommandError, Invocation
from stead.cli.own_commands import OwnCommand
from stead.cli.templates import fill

HELP = """Enter     say it; while something is under way, it is read before the next model request
Alt-Enter begins another line, as \\ at the end of one and Ctrl-J do; arrows have what you said before
Esc       stops what is under way, and holds until you say more; so does /now
/now TEXT say it at once: what is under way is cut off
!COMMAND  run it yourself in the folder; the model reads what it printed, before your next words
@FILE     name a file (Tab completes it); a picture or PDF is shown to the model, also one dropped here
/model /cost /context /plan /compact   the model, what was spent, the context, the plan, a shorter context
/diff /changes /undo [KEY] /checkpoint /restore K /calls   any of `stead session`
/NAME     your own: a Markdown file in .stead/commands, .claude/commands or .agents/commands
Ctrl-D    leave, as /quit and Ctrl-C do; the session goes on"""
_OWN = ("now", "model", "cost", "undo", "plan", "compact", "help", "quit")
_ELSEWHERE = ("new", "attach", "send", "delete")
_MOST = 60


def names_of(invocation: Invocation) -> Sequence[str]:
    """The commands that there are here, but for the person's own."""
    of_session = invocation.parser_of("session").get_default("names")
    return [*dict.fromkeys((*_OWN, *(name for name in of_session if name not in _ELSEWHERE)))]


def completed(word: str, before: str, directory: str, names: Iterable[str]) -> Sequence[str]:
    """What a word may become: a command at the beginning of the line, a file after ``@``."""
    if word.startswith("/") and not before:
        return sorted(f"/{name}" for name in names if name.startswith(word[1:]))
    if word.startswith("@"):
        return sorted(_files(word[1:], directory))[:_MOST]
    return ()


def _files(typed: str, directory: str) -> Iterator[str]:
    """Files and folders that begin so; names that a line could not hold, or that hide something, are left out."""
    folder, _, begun = typed.rpartition("/")
    above = f"{folder}/" if "/" in typed else ""
    with suppress(OSError), os.scandir(os.path.join(directory, os.path.expanduser(above))) as entries:
        for entry in entries:
            name = entry.name
            hidden = name.startswith(".") and not begun.startswith(".")
            if name.startswith(begun) and not hidden and name.isprintable() and " " not in name:
                yield f"@{above}{name}" + ("/" if entry.is_dir() else "")


def undo_last(invocation: Invocation, session: str) -> None:
    """Undo the last change of a file that a call made and that was not undone.

    Raises:
        CommandError: there is none.
    """
    rows = [row for row in invocation.client.items(f"/sessions/{session}/changes") if not row["undone"]]
    if not rows:
        raise CommandError("there is no change to undo", "/restore CHECKPOINT, or /diff")
    last, body = rows[-1], {"path": rows[-1]["change"]["path"], "again": False}
    invocation.client.post(f"/sessions/{session}/changes/{last['key']}/undo", body)
    invocation.out.line(fill("{change.path:path} is as it was before {key}. Back again: /undo {key} --again", last))


def sent_text(invocation: Invocation, command: OwnCommand, words: str) -> str:
    """Show what the person's own command says, and give it once they agree; else ""."""
    from stead.cli.keyboard import forget_typed

    said, out = command.filled(words), invocation.out
    out.line(fill("{path:path}", {"path": command.path}))
    out.lines(f"    | {line}".rstrip() for line in said.split("\n"))
    forget_typed()
    if input("Say this? [y/N] ").strip().lower() in ("y", "yes"):
        return said
    out.line("Nothing was said.")
    return ""
