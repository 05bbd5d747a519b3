"""``session attach`` at a terminal: what happens, and a line to say something, at the same time.

Layer: cli. While the person types, output is held back, so that nothing is written into their words; what they typed
stays when it could not be sent.
"""

from __future__ import annotations

import select
import shlex
import sys
from typing import TYPE_CHECKING

from stead.cli.attachments import attached, named
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.output import clean, clean_line
from stead.cli.prompt import Left, Prompt
from stead.cli.watching import AWAY, Watch
from stead.client import ApiError, Json

if TYPE_CHECKING:
    from stead.client import Stream

_TICK_S = 5.0
_RECONNECT_S = 0.5
_HELP = """Enter     say it; while something is under way, it is read before the next model request
!WORDS    say it at once: what is under way is cut off     !  alone stops, and holds until you say more
/COMMAND  any of `stead session`: /diff, /changes, /undo KEY, /checkpoint, /restore K, /context, /calls, /plan ...
Ctrl-D    leave, as Ctrl-C does; the session goes on"""
_ELSEWHERE = ("new", "here", "attach", "send", "delete")


class AttachedSession(Watch):
    """An interactive session at the terminal; it does not end with a turn, and the person may leave and come back."""

    def __init__(self, invocation: Invocation, session: str, *, since: int = -1, whole: bool = False) -> None:
        super().__init__(invocation, session, since=since, whole=whole)
        self._prompt = Prompt(invocation.out.style("you> ", "cyan"), self._printer.finish_line)
        self._left_pending: set[str] = set()
        self._others: list[str] = []
        self._sent: list[str] = []

    def _follow(self) -> int:
        out, client = self._invocation.out, self._invocation.client
        watchers = client.get(f"/sessions/{self._session}/watchers")["items"]  # before ours is one of them
        stream = self._open()
        out.line(out.style("(Enter sends, ! interrupts, / has commands, Ctrl-C leaves; /help says more)", "dim"))
        self._tell_others([clean_line(watcher["door"]) for watcher in watchers])
        out.before = self._prompt.hide
        try:
            with self._prompt:
                self._sit(stream)
        except Left:
            self._prompt.hide()
            out.line(f"You left; {clean_line(self._session)} goes on. Back again: {self._again}")
        finally:
            out.before = lambda: None
            stream.close()
        return FAILED if self._deleted else OK

    def _sit(self, stream: Stream) -> None:
        was_connected = True
        self._take(stream.next(0.0))  # watched before the person is asked for words
        while not self._deleted:
            self._catch_up()
            self._ask_what_is_open(stream)
            if self._rests or self._is_paused or self._prompt.text:
                self._prompt.show()
            watched = [sys.stdin.fileno()] + ([stream.fileno()] if stream.connected else [])
            ready, _, _ = select.select(watched, [], [], _TICK_S if stream.connected else _RECONNECT_S)
            if sys.stdin.fileno() in ready:
                for line in self._prompt.read():
                    self._hear(line)
            if batch := stream.next(0.0):
                self._take(batch)
            if stream.connected != was_connected and not self._prompt.text:
                was_connected = stream.connected
                self._note("connected again" if was_connected else AWAY)
            if not self._prompt.text:
                self._print()

    def _take(self, batch: list[Json], *, hold: bool = False) -> None:
        for envelope in batch:
            if envelope["body"]["type"] == "presence":
                doors = [clean_line(watcher["door"]) for watcher in envelope["body"]["watchers"]]
                if "cli" in doors:  # this one
                    doors.remove("cli")
                self._tell_others(doors)
        super()._take(batch, hold=hold or bool(self._prompt.text))

    def _print(self) -> None:
        for place, item in [*self._items.items()]:
            if item["kind"] == "message" and item["body"]["text"] in self._sent:  # on the screen already
                self._sent.remove(item["body"]["text"])
                del self._items[place]
        super()._print()

    def _tell_others(self, doors: list[str]) -> None:
        doors.sort()
        if doors != self._others:
            self._note(f"also here: {', '.join(doors)}" if doors else "nobody else is here any more")
        self._others = doors

    def _ask_what_is_open(self, stream: Stream) -> None:
        """Every question that was not left, unless the person is in the middle of a line."""
        while not self._prompt.text:
            approval = next((id for id in self._pending if id not in self._left_pending), None)
            if approval is None:
                return
            with self._prompt.lent():
                if not self._ask(self._pending[approval], stream):
                    self._left_pending.add(approval)
                    self._invocation.out.line(f"Left pending. Answer it later with: stead approve {approval}")
            self._pull()
            self._print()

    def _hear(self, line: str) -> None:
        text = line.strip()
        try:
            if line.startswith("/"):
                self._command(text[1:])
            elif text == "!":
                self._invocation.client.post(f"/sessions/{self._session}/stop", {"why": ""})
            elif text:
                self._say(text.removeprefix("!").strip(), interrupt=text.startswith("!"))
        except ApiError as error:
            done = "not done" if line.startswith("/") else "not sent"
            self._invocation.out.note(f"{done}: {clean(error.message)}")
            self._prompt.text = "" if line.startswith("/") else line
        except CommandError as error:
            self._invocation.out.note(f"{clean(error.cause)}\nnext: {clean(error.next_step)}")

    def _say(self, text: str, *, interrupt: bool) -> None:
        rested, body = self._rests, {"text": text, "interrupt": interrupt}
        body |= attached(self._invocation, named(text))
        answered = self._invocation.client.post(f"/sessions/{self._session}/messages", body).get("intent")
        if not answered:
            self._sent.append(text)
        if not (rested or answered or interrupt):
            self._note("queued: it is read before the next model request; a ! at the start interrupts")
        self._pull()

    def _command(self, text: str) -> None:
        """Run a command of ``stead session`` on this session."""
        try:
            name, *words = shlex.split(text)
        except ValueError as error:
            raise CommandError(f"{text!r} is no command: {error}", "/help") from error
        if name in ("quit", "q", "exit"):
            raise Left
        if name == "help":
            self._invocation.out.line(_HELP)
            return
        parser = self._invocation.parser_of("session")
        if name not in parser.get_default("names") or name in _ELSEWHERE:
            raise CommandError(f"there is no command /{name} here", "/help, or begin with a space to say it as it is")
        place = 1 if name == "call" and words else 0  # the action comes before the session
        words = [*words[:place], self._session, *words[place:]]
        with self._prompt.lent():
            try:
                arguments = parser.parse_args([name, *words])
                arguments.carry_out(self._invocation, arguments)
            except SystemExit:
                return  # its help was shown
