"""``stead chat``: what happens in a session, and a line to say something, at the same time.

Layer: cli. What is printed stays as it was printed; see ``chat_line`` and ``chat_output``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from stead.cli import figures
from stead.cli.attachments import attached, named
from stead.cli.chat_commands import ChatCommands
from stead.cli.chat_line import LABEL, EditedLine, Left, Line, PlainLine
from stead.cli.chat_output import ChatOutput
from stead.cli.invocation import FAILED, OK, CommandError, Invocation
from stead.cli.output import clean, clean_line
from stead.cli.watching import AWAY, Watch, awaited_by
from stead.client import ApiError, Json


class ChatSession(Watch):
    """An interactive session at the terminal; it does not end with a turn, and the person may leave and come back."""

    def __init__(self, invocation: Invocation, session: str, *, since: int = -1, whole: bool = False) -> None:
        self._out = invocation.out = ChatOutput(invocation.out)
        super().__init__(invocation, session, since=since, whole=whole)
        self._line: Line = PlainLine()
        if not self._out.dumb:
            self._line = EditedLine(lambda: self._commands.picture(self._try), colour=self._out.colour)
        self._left_pending: set[str] = set()
        self._others: list[str] = []
        self._sent: list[str] = []
        self._was_connected = True
        self._context: tuple[object, str] = (None, "")
        self._news_s = time.monotonic()
        self._remembered = -1
        self._commands = ChatCommands(invocation, session, lambda: str(self._row["directory"]), self._say, self._lent)

    @property
    def _again(self) -> str:
        return f"stead chat --resume {clean_line(self._session)}"

    def _follow(self) -> int:
        out = self._out
        watchers = self._invocation.client.get(f"/sessions/{self._session}/watchers")["items"]  # before ours is one
        self._stream = self._open()
        key = "/now" if out.dumb else "Esc"
        out.line(out.style(f"(Enter sends, {key} interrupts, / has commands, Ctrl-D leaves; /help says more)", "dim"))
        self._tell_others([clean_line(watcher["door"]) for watcher in watchers])
        out.before = self._line.hide
        try:
            with self._line:
                self._take(self._stream.next(0.0))  # watched before the person is asked for words
                while not self._deleted:
                    self._print()
                    self._ask_what_is_open()
                    if (line := self._line.read(self._stream, self)) is not None:
                        self._hear(line)
        except Left:
            self._line.hide()
            self._printer.finish_line()
            out.line(f"You left; {clean_line(self._session)} goes on. Back again: {self._again}")
        finally:
            out.before = lambda: None
            self._stream.close()
            self._commands.clipboard.close()
        return FAILED if self._deleted else OK

    # -- what the line asks for -----------------------------------------------------------------------------------

    def look(self) -> bool:
        """As ``chat_line.Sitting.look``: a question has its turn once the person's line is empty."""
        if batch := self._stream.next(0.0):
            self._news_s = time.monotonic()
            self._take(batch)
        self._catch_up()
        self._print()
        if self._stream.connected != self._was_connected:
            self._was_connected = self._stream.connected
            self._note("connected again" if self._was_connected else AWAY)
        return self._deleted or (self._open_question is not None and not self._line.text)

    def interrupt(self) -> None:
        """As ``chat_line.Sitting.interrupt``."""
        if not (self._rests or self._is_paused):
            self._try(lambda: self._invocation.client.post(f"/sessions/{self._session}/stop", {"why": ""}))

    def status(self) -> str:
        """As ``chat_line.Sitting.status``."""
        row = self._row
        rests = self._rests or self._is_paused
        if self._out.dumb and not rests:
            return ""
        state = clean_line(row["status"])
        if self._open_question is not None:
            state = "a question waits for your line to be empty"
        elif not rests and (awaited := awaited_by(self._row, self._printer, awaits_model=self._awaits_model)):
            state += f": {awaited}, {time.monotonic() - self._news_s:.0f} s"
        money = figures.money(row["usd_micros_used"], known=row["price_known"])
        spent = f"{figures.tokens(row['tokens_used'])} tokens, {money}"
        return f"[{state}] {spent}{self._context_used()}"

    def tail(self) -> str:
        """As ``chat_line.Sitting.tail``."""
        return clean(self._out.tail)

    def completions(self, word: str, before: str) -> Sequence[str]:
        """As ``chat_line.Sitting.completions``."""
        return self._commands.completed(word, before)

    def _context_used(self) -> str:
        """How full the context is, read when a turn has ended."""
        at = (self._row["turns"], self._row["status"])
        if at != self._context[0] and (self._rests or not self._context[1]):
            self._context = at, self._context[1]
            with suppress(ApiError):  # no figure is shown where there is none
                used = self._invocation.client.get(f"/sessions/{self._session}/context")["used_percent"]
                self._context = at, f", context {used:.0f} %"
        return self._context[1]

    # -- what is new ----------------------------------------------------------------------------------------------

    def _note(self, text: str) -> None:
        self._out.note(f"({text})")

    def _take(self, batch: list[Json], *, hold: bool = False) -> None:
        for envelope in batch:
            if envelope["body"]["type"] == "presence":
                doors = [clean_line(watcher["door"]) for watcher in envelope["body"]["watchers"]]
                if "cli" in doors:  # this one
                    doors.remove("cli")
                self._tell_others(doors)
        super()._take(batch, hold=hold)

    def _pull(self) -> None:
        super()._pull()
        for place, item in self._items.items():
            if item["kind"] == "message" and place > self._remembered and item["body"]["text"] not in self._sent:
                self._line.remember(clean(item["body"]["text"]))
                self._remembered = place

    def _print(self) -> None:
        for place, item in [*self._items.items()]:
            if item["kind"] == "message" and item["body"]["text"] in self._sent:  # on the screen already
                self._sent.remove(item["body"]["text"])
                del self._items[place]
            elif item["kind"] == "line" and (line := _begun(item["body"])) in self._commands.run:
                self._commands.run.remove(line)
                self._printer.running[item["body"]["id"]] = clean_line(line)
                del self._items[place]
        super()._print()

    def _tell_others(self, doors: list[str]) -> None:
        doors.sort()
        if doors != self._others:
            self._note(f"also here: {', '.join(doors)}" if doors else "nobody else is here any more")
        self._others = doors

    @property
    def _open_question(self) -> str | None:
        """The id of the first question that the person has not left for later."""
        return next((id for id in self._pending if id not in self._left_pending), None)

    def _ask_what_is_open(self) -> None:
        while not self._line.text and not self._deleted and (approval := self._open_question) is not None:
            with self._lent():
                if not self._ask(self._pending[approval], self._stream):
                    self._left_pending.add(approval)
                    self._out.line(f"Left pending. Answer it later with: stead approve {approval}")
            self._pull()
            self._print()

    @contextmanager
    def _lent(self) -> Iterator[None]:
        """While entered, the terminal is another's: the line is hidden, and parts of lines are shown at once."""
        self._printer.finish_line()
        self._out.in_lines = False
        try:
            with self._line.lent():
                yield
        finally:
            self._out.in_lines = True

    # -- what the person says -------------------------------------------------------------------------------------

    def _hear(self, line: str) -> None:
        if not line.strip():
            return
        self._line.remember(line)
        if not self._out.dumb:
            self._printer.finish_line()
            self._out.line(self._out.style(LABEL, "cyan") + clean(line))
        if not self._try(lambda: self._commands.do(line)) and not line.startswith("/"):
            self._line.text = line

    def _try(self, work: Callable[[], object]) -> bool:
        """Do something that the daemon, or the command line, may refuse; whether it did not."""
        try:
            work()
        except ApiError as error:
            self._out.note(f"not done: {clean(error.message)}")
            return False
        except CommandError as error:
            self._out.note(f"{clean(error.cause)}\nnext: {clean(error.next_step)}")
            return False
        return True

    def _say(self, text: str, *, interrupt: bool = False, to_model: bool = False) -> None:
        rested, body = self._rests, {"text": text, "interrupt": interrupt, "to_model": to_model}
        places = (self._row["directory"], *self._commands.clipboard.folders)
        body |= attached(self._invocation, [*dict.fromkeys(name for place in places for name in named(text, place))])
        answered = self._invocation.client.post(f"/sessions/{self._session}/messages", body)["intent"]
        if not answered:
            self._sent.append(text)
        if not (rested or answered or interrupt):
            self._note("queued: it is read before the next model request; /now before it interrupts")
        self._pull()


def _begun(body: Json) -> str:
    """The person's own line that an event begins; "" for any other."""
    return str(body.get("line", "")) if body["type"] == "terminal.opened" else ""
