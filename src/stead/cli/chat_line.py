"""The line at which a person types in ``stead chat``, while other things go on being shown above it.

Layer: cli. ``EditedLine`` is prompt_toolkit's, which is imported here alone, and only once a chat begins. What it draws
(the status, the tail of what is under way, the person's line) is taken away before anything else is written and drawn
again below it, so it never becomes a part of what the terminal keeps. ``PlainLine`` draws nothing: it is the terminal's
own line, for ``--plain`` and for terminals that can move no cursor.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import termios
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol

from stead.cli.attachments import pasted
from stead.cli.output import clean, width_of

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.formatted_text import AnyFormattedText
    from prompt_toolkit.key_binding import KeyBindings

    from stead.client import Stream

LABEL = "you> "
_TICK_S = 1.0
_RECONNECT_S = 0.5
_ESCAPE_S = 0.05
"""How long a lone Esc waits for the rest of a sequence, and again for a second key."""
_TAIL_ROWS = 4


class Left(Exception):
    """The person is done here: the end of input, on an empty line."""


class Sitting(Protocol):
    """What the line is a part of."""

    def look(self) -> bool:
        """Take in what is new and show it; whether something else than the line has its turn now."""

    def interrupt(self) -> None:
        """Stop what is under way."""

    def status(self) -> str:
        """How things stand, on one clean line; "" while a person who sees no status has nothing to say."""

    def tail(self) -> str:
        """What there is of a line of the output that is not whole; clean."""

    def completions(self, word: str, before: str) -> Sequence[str]:
        """What may stand in place of a word, by what stands before it in the line."""


class Line(ABC):
    """Where a person types; to be entered before anything is read.

    Args:
        picture: gives what to type for the picture on the clipboard; "" where there is none, and the person knows why.
    """

    text = ""
    """What is typed and has not been sent."""

    def __init__(self, picture: Callable[[], str] = lambda: "") -> None:
        self._picture = picture

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    @abstractmethod
    def read(self, stream: Stream, sitting: Sitting) -> str | None:
        """The next line that the person ends; None when something else has its turn.

        Raises:
            Left: they are done.
            KeyboardInterrupt: they pressed Ctrl-C.
        """

    @abstractmethod
    def hide(self) -> None:
        """Make room for other output."""

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While entered, the terminal is as it was before, for a question or another command."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()

    @abstractmethod
    def remember(self, text: str) -> None:
        """Have what was said come back by the arrow keys, where there are any."""


class PlainLine(Line):
    """The terminal's own line. The person's words and what happens stand in the order in which they came."""

    _shown = False

    def read(self, stream: Stream, sitting: Sitting) -> str | None:
        """As ``Line.read``. Lines that come at once, as those of a pasted text do, are one message."""
        keyboard = sys.stdin.fileno()
        while not sitting.look():
            self._show(sitting)
            watched = [keyboard] + ([stream.fileno()] if stream.connected else [])
            ready, _, _ = select.select(watched, [], [], _TICK_S if stream.connected else _RECONNECT_S)
            if keyboard in ready:
                self._shown = False
                return _lines(keyboard)
        return None

    def hide(self) -> None:
        """As ``Line.hide``."""
        if self._shown:
            self._shown = False
            sys.stdout.write("\n")

    def remember(self, text: str) -> None:
        """As ``Line.remember``."""

    def _show(self, sitting: Sitting) -> None:
        if not self._shown and (status := sitting.status()):
            sys.stdout.write(f"{status}\n{LABEL}")
            sys.stdout.flush()
            self._shown = True


def _lines(keyboard: int) -> str:
    """What was typed, with everything that is there already.

    Raises:
        Left: the end of input.
    """
    lines: list[str] = []
    while select.select([keyboard], [], [], 0.0 if lines else None)[0]:
        if not (data := os.read(keyboard, 65536)):
            if lines:
                break
            raise Left
        lines.append(data.decode("utf-8", "replace").rstrip("\n"))
    return clean("\n".join(lines))


class EditedLine(Line):
    """prompt_toolkit's: several lines, history, completion by Tab, Esc; nothing of it stays on the screen.

    Args:
        picture: see ``Line``.
        colour: whether styles may be used.
    """

    def __init__(self, picture: Callable[[], str], *, colour: bool) -> None:
        from prompt_toolkit.data_structures import Size
        from prompt_toolkit.history import InMemoryHistory
        from prompt_toolkit.output.color_depth import ColorDepth
        from prompt_toolkit.output.vt100 import Vt100_Output
        from prompt_toolkit.shortcuts import CompleteStyle, PromptSession
        from prompt_toolkit.styles import DummyStyle

        def size() -> Size:
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
            return Size(rows=rows or 24, columns=columns or 80)

        super().__init__(picture)
        self._sitting: Sitting | None = None
        self._reading = self._over = False
        self._mode = termios.tcgetattr(sys.stdin.fileno())
        self._history = InMemoryHistory()
        self._session: PromptSession[str] = PromptSession(
            self._above,
            multiline=True,
            history=self._history,
            completer=_completer(self),
            complete_while_typing=False,
            complete_style=CompleteStyle.READLINE_LIKE,
            prompt_continuation="",
            key_bindings=self._keys(),
            color_depth=None if colour else ColorDepth.DEPTH_1_BIT,
            style=None if colour else DummyStyle(),
            erase_when_done=True,
            enable_suspend=True,
            refresh_interval=_TICK_S,
            # It asks the terminal nothing: an answer that comes late would be read as typed.
            output=Vt100_Output(sys.stdout, size, os.environ.get("TERM"), enable_bell=False, enable_cpr=False),
        )
        self._session.app.ttimeoutlen = self._session.app.timeoutlen = _ESCAPE_S

    def __enter__(self) -> Line:
        mode = termios.tcgetattr(sys.stdin.fileno())
        mode[0] &= ~termios.ICRNL  # what is typed between two lines waits, as it is, for the next one
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, mode)
        return self

    def __exit__(self, *_: object) -> None:
        termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._mode)

    @property
    def sitting(self) -> Sitting | None:
        """What it is a part of, once it was read from."""
        return self._sitting

    def read(self, stream: Stream, sitting: Sitting) -> str | None:
        """As ``Line.read``."""
        self._sitting, self._over = sitting, False
        default, self.text = self.text, ""
        self._reading = True
        try:
            line = self._session.prompt(
                default=default,
                pre_run=lambda: self._watch(stream, sitting, -1),
                set_exception_handler=False,
            )
        except EOFError:
            raise Left from None
        finally:
            self._reading = False
        self.text = line if self._over else ""
        return None if self._over else line

    def hide(self) -> None:
        """As ``Line.hide``. It is drawn again as soon as there is time."""
        app = self._session.app
        if self._reading and not app.is_done and app.renderer.last_rendered_screen is not None:
            app.renderer.erase()
            app.invalidate()

    def remember(self, text: str) -> None:
        """As ``Line.remember``."""
        if self._history.get_strings()[-1:] != [text]:
            self._history.append_string(text)

    def _watch(self, stream: Stream, sitting: Sitting, watched: int) -> None:
        """Look what is new, now and whenever something comes; what goes wrong in it is raised by ``read``."""
        app, loop = self._session.app, asyncio.get_running_loop()

        def look() -> None:
            nonlocal watched
            if app.is_done:
                return
            self.text = self._session.default_buffer.text
            self._over = sitting.look()
            if watched != stream.fileno():
                if watched >= 0:
                    with suppress(OSError, ValueError):
                        loop.remove_reader(watched)
                watched = stream.fileno()
                if watched >= 0:
                    loop.add_reader(watched, look)
            if self._over:
                app.exit(result=self.text)

        def tick() -> None:
            look()
            if not app.is_done:
                loop.call_later(_TICK_S if watched >= 0 else _RECONNECT_S, tick)

        def fail(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            """End the line with what went wrong in something that is called by the loop."""
            if not app.is_done:
                app.exit(exception=context.get("exception") or RuntimeError(context["message"]))

        loop.set_exception_handler(fail)
        tick()

    def _above(self) -> AnyFormattedText:
        """What stands before the person's words: the tail of the output, how things stand, and the label."""
        if self._sitting is None:
            return LABEL
        columns = max(2, os.get_terminal_size(sys.stdout.fileno()).columns)
        text = self._sitting.tail()
        begin = max(0, len(text) // columns - _TAIL_ROWS) * columns  # a whole number of rows, so that they stand still
        tail = _rows(text[begin:], columns)[-_TAIL_ROWS:]
        status = _rows(self._sitting.status(), columns)
        return [*(("", row) for row in tail), *(("dim", row) for row in status), ("ansicyan", LABEL)]

    def _keys(self) -> KeyBindings:
        from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
        from prompt_toolkit.keys import Keys

        keys = KeyBindings()

        def end(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.document.text_before_cursor.endswith("\\"):
                buffer.delete_before_cursor()
                buffer.newline(copy_margin=False)
            else:
                buffer.validate_and_handle()

        def another_line(event: KeyPressEvent) -> None:
            event.current_buffer.newline(copy_margin=False)

        def interrupt(event: KeyPressEvent) -> None:
            if self._sitting:
                self._sitting.interrupt()

        def picture(event: KeyPressEvent) -> None:
            if name := self._picture():
                event.current_buffer.insert_text(name)

        def paste(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text(pasted(clean(event.data)))

        keys.add(Keys.Enter)(end)
        keys.add(Keys.Escape, Keys.Enter)(another_line)
        keys.add(Keys.ControlJ)(another_line)
        keys.add(Keys.Escape)(interrupt)
        keys.add(Keys.ControlV)(picture)
        keys.add(Keys.BracketedPaste)(paste)
        return keys


def _rows(text: str, columns: int) -> list[str]:
    """A clean line as the rows that it takes, each with its end."""
    rows, row = [], ""
    for character in text:
        if width_of(row + character) > columns:
            rows.append(f"{row}\n")
            row = ""
        row += character
    return [*rows, f"{row}\n"] if row else rows


def _completer(line: EditedLine) -> Completer:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Words(Completer):
        """The last word of what is typed, as what the line is a part of completes it."""

        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            before, _, word = document.text_before_cursor.rpartition(" ")
            if line.sitting:
                for text in line.sitting.completions(word, before):
                    yield Completion(text, start_position=-len(word))

    return Words()
