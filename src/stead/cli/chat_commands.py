"""What ``/`` begins in ``stead chat``, and what Tab completes.

Layer: cli.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from stead.cli.chat_line import Left
from stead.cli.clipboard import Clipboard
from stead.cli.invocation import CommandError, Invocation
from stead.cli.own_commands import OwnCommand, own_commands
from stead.cli.templates import fill
from stead.client import Json

HELP = """Enter     say it; while something is under way, it is read before the next model request
Alt-Enter begins another line, as \\ at the end of one and Ctrl-J do; arrows have what you said before
Ctrl-V    put the picture on the clipboard into what you say, as /paste [TEXT] does
Esc       stops what is under way, and holds until you say more; so does /now
/now TEXT say it at once: what is under way is cut off
!COMMAND  run it yourself in the folder; the model reads what it printed, before your next words
@FILE     name a file (Tab completes it); a picture or PDF is shown to the model, also one dropped here
/model /cost /context /plan /compact   the model, what was spent, the context, the plan, a shorter context
/diff /changes /undo [KEY] /checkpoint /restore K /calls   any of `stead session`
/NAME     your own: a Markdown file in .stead/commands, .claude/commands or .agents/commands
Ctrl-D    leave, as /quit and Ctrl-C do; the session goes on"""
_OWN = ("now", "paste", "model", "cost", "undo", "plan", "help", "quit")
_ELSEWHERE = ("new", "attach", "send", "delete")
_MOST = 60


class Say(Protocol):
    """Says something to a session."""

    def __call__(self, text: str, *, interrupt: bool = False, to_model: bool = False) -> None:
        """Say it; with ``interrupt`` what is under way is cut off, with ``to_model`` no intent is looked for in it."""


@dataclass(eq=False, repr=False)
class ChatCommands:
    """What a line of the person's does.

    Args:
        invocation: whose terminal it is.
        session: its id.
        directory: gives the session's folder.
        say: says words to the session, at once with ``interrupt``.
        lent: while entered, the terminal is free for questions and for what a command prints.
    """

    _invocation: Invocation
    _session: str
    _directory: Callable[[], str]
    _say: Say
    _lent: Callable[[], AbstractContextManager[None]]

    def __post_init__(self) -> None:
        self.clipboard = Clipboard()
        self.run: list[str] = []
        """The person's own lines whose beginning has not come back."""

    @cached_property
    def _own(self) -> Mapping[str, OwnCommand]:
        return own_commands(self._directory(), self._invocation.home.root)

    @cached_property
    def _names(self) -> Sequence[str]:
        """The commands that there are here, but for the person's own."""
        of_session = self._invocation.parser_of("session").get_default("names")
        return [*dict.fromkeys((*_OWN, *(name for name in of_session if name not in _ELSEWHERE)))]

    def completed(self, word: str, before: str) -> Sequence[str]:
        """What a word may become: a command at the beginning of the line, a file after ``@``."""
        if word.startswith("/") and not before:
            return sorted(f"/{name}" for name in (*self._names, *self._own) if name.startswith(word[1:]))
        if word.startswith("@"):
            return sorted(_files(word[1:], self._directory()))[:_MOST]
        return ()

    def do(self, line: str) -> None:
        """Say it, run it, or carry out the command that it is.

        Raises:
            Left: the person is done.
            CommandError, ApiError: it cannot be.
        """
        text = line.strip()
        if line.startswith("/"):
            self._command(text[1:])
        elif line.startswith("!"):
            if not text[1:].strip():
                raise CommandError("there is nothing to run", "! and a command, such as !make test")
            self._post("lines", {"line": (own := text[1:].strip())})
            self.run.append(own)
        else:
            self._say(text)

    def picture(self, attempt: Callable[[Callable[[], object]], bool]) -> str:
        """What to type for the picture on the clipboard; "" where there is none, which ``attempt`` then says."""
        names: list[str] = []
        attempt(lambda: names.append(f"@{self.clipboard.take(self._directory())} "))
        return "".join(names)

    def _post(self, what: str, body: Json) -> None:
        self._invocation.client.post(f"/sessions/{self._session}/{what}", body)

    def _command(self, text: str) -> None:
        """Run a command of the chat, one of ``stead session`` on this session, or the person's own."""
        name, _, rest = text.partition(" ")
        match name:
            case "quit" | "q" | "exit":
                raise Left
            case "help":
                self._invocation.out.line(HELP)
            case "now" if rest.strip():
                self._say(rest.strip(), interrupt=True)
            case "now":
                self._post("stop", {"why": ""})
            case "paste" if rest.strip():
                self._say(f"{rest.strip()} @{self.clipboard.take(self._directory())}")
            case "paste":
                name = self.clipboard.take(self._directory())
                self._invocation.out.line(f"The picture is kept. Name it in what you say: @{name}")
            case "cost":
                self._of_session(["budget"])
            case "undo" if not rest.strip():
                with self._lent():
                    _undo_last(self._invocation, self._session)
            case _ if name in self._names:
                try:
                    words = shlex.split(text)
                except ValueError as error:
                    raise CommandError(f"{text!r} is no command: {error}", "/help") from error
                self._of_session(words)
            case _ if name in self._own:
                with self._lent():
                    said = _agreed(self._invocation, self._own[name], rest.strip())
                if said:
                    self._say(said, to_model=True)
            case _:
                raise CommandError(f"there is no command /{name}", "/help, or begin with a space to say it as it is")

    def _of_session(self, words: list[str]) -> None:
        name, *rest = words
        place = 1 if name == "call" and rest else 0  # the action comes before the session
        rest = [*rest[:place], self._session, *rest[place:]]
        with self._lent(), suppress(SystemExit):  # its help was shown
            arguments = self._invocation.parser_of("session").parse_args([name, *rest])
            arguments.carry_out(self._invocation, arguments)


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


def _undo_last(invocation: Invocation, session: str) -> None:
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


def _agreed(invocation: Invocation, command: OwnCommand, words: str) -> str:
    """Show what the person's own command says, and give it once they agree; else ""."""
    from stead.cli.keyboard import forget_typed

    said, out = command.filled(words), invocation.out
    out.line(fill("{path:path}", {"path": command.path}))
    out.lines(("    | " + line).rstrip() for line in said.split("\n"))
    forget_typed()
    if input("Say this? [y/N] ").strip().lower() in ("y", "yes"):
        return said
    out.line("Nothing was said.")
    return ""
