"""The screens of ``stead top``: what is under way, one session in full, and the questions that wait.

Layer: cli. The only module that imports Textual. Every text here was written by a model, a tool or a file: it is
cleaned or revealed before, and handed over as ``Content``, which reads no markup.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.message import Message
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from stead.cli.approving import HASTY, decide, is_hasty
from stead.cli.cards import card, headline
from stead.cli.dashboard_feed import Feed, Seen, Written, details, ordered, waits
from stead.cli.dashboard_lines import HELP, KEYS, heading, line_of
from stead.cli.figures import counted
from stead.cli.invocation import Invocation
from stead.cli.output import clean, clean_line
from stead.client import ApiError, Client, Json

_BY_LETTER = ("answer", "pause", "stop", "filter", "help", "quit")
_STYLES = {"running": "ansi_cyan", "waiting": "ansi_yellow", "failed": "ansi_red", "incomplete": "ansi_red"}


class News(Message):
    """There is something new to show."""

    def __init__(self, seen: Seen) -> None:
        super().__init__()
        self.seen = seen


class Done(Message):
    """A request has been answered."""

    def __init__(self, then: Callable[[], None]) -> None:
        super().__init__()
        self.then = then


class Text(VerticalScroll):
    """A clean text that can be scrolled through."""

    def __init__(self) -> None:
        self._shown = Static(id="text")
        super().__init__(self._shown)

    def show(self, text: str) -> None:
        """Put a text in place of the one before."""
        self._shown.update(Content(text))

    @property
    def at_end(self) -> bool:
        """Whether its last line is on the screen."""
        return self.scroll_offset.y >= self.max_scroll_y


class Part(Screen[None]):
    """A screen above the list. Its parts are made with it: it may be left before it is drawn."""

    def __init__(self) -> None:
        super().__init__()
        self._text = Text()

    @property
    def _dashboard(self) -> Dashboard:
        assert isinstance(self.app, Dashboard)
        return self.app


class Details(Part):
    """One session in full, with its last events."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss")]

    def __init__(self, id: str) -> None:
        super().__init__()
        self.session = id
        self._reading = self._unread = False

    def compose(self) -> ComposeResult:
        """The text, and the keys."""
        yield self._text
        yield Static(Content("Esc back  a answer  p pause  s stop  q quit"), classes="keys")

    def on_mount(self) -> None:
        """Read it."""
        self._text.focus()
        self.read()

    def read(self) -> None:
        """Read what is new; who stands at its end stays there. One reading at a time: another follows it."""
        self._unread = self._reading
        if self._reading:
            return
        self._reading = True
        self._dashboard.carry(lambda client: details(client, self.session), self._show, self)

    def _show(self, text: str) -> None:
        part, self._reading = self._text, False
        stays = part.at_end and part.max_scroll_y > 0
        part.show(text)
        if stays:
            part.scroll_end(animate=False)
        if self._unread:
            self.read()


class Questions(Part):
    """The questions that wait, one at a time, each with all that would run. None is answered unseen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss"),
        Binding("y", "answer('once')"),
        Binding("n", "answer('deny')"),
        Binding("right", "turn(1)"),
        Binding("left", "turn(-1)"),
    ]

    def __init__(self, waiting: Sequence[Json]) -> None:
        super().__init__()
        self._which = Static(id="which")
        self._waiting = list(waiting)
        self._row: Json = {}
        self._came = ""
        self._since_s = 0.0

    def compose(self) -> ComposeResult:
        """Which question, all of it, and the keys."""
        yield self._which
        yield self._text
        yield Static(Content("y allow once  n deny  ↑↓ read on  →← next  Esc back"), classes="keys")

    def on_mount(self) -> None:
        """Begin with the first."""
        self._text.focus()
        self.action_turn(0)

    def take(self, waiting: Sequence[Json]) -> None:
        """Other questions wait now. The person alone turns to another: a key that is on its way answers no other."""
        self._waiting = list(waiting)
        if self._row and self._row["id"] not in {row["id"] for row in waiting}:
            self._settled("It is settled: answered elsewhere, or void.")
        elif not self._row:
            self._settled(self._came)

    def action_turn(self, by: int) -> None:
        """Show another question: the next, or the one before."""
        if not self._waiting:
            return self._settled("")
        ids = [row["id"] for row in self._waiting]
        at = (ids.index(self._row["id"]) + by if self._row.get("id") in ids else 0) % len(ids)
        self._row, self._since_s = self._waiting[at], time.monotonic()
        self._say(f"question {at + 1} of {len(ids)}: {headline(self._row)}")
        part = self._text
        part.show("\n".join(card(self._row, Written(), whole=True)))
        part.scroll_home(animate=False)

    def action_answer(self, answer: str) -> None:
        """Answer what is on the screen; a yes counts only once its end was there, and there was time to read it."""
        row = self._row
        if not row:
            return
        if answer != "deny" and not self._text.at_end:
            return self._say("Not all of it was shown: read on to its end first.")
        if answer != "deny" and is_hasty(row, self._since_s):
            return self._say(HASTY)
        self._row = {}

        def work(client: Client) -> str:
            decide(client, row, answer)
            return "Allowed, once." if answer == "once" else "Refused."

        self._dashboard.carry(work, lambda said: self._settled(said, row["id"]), self)

    def _settled(self, said: str, id: str = "") -> None:
        self._row, self._came = {}, said
        self._waiting = [row for row in self._waiting if row["id"] != id]
        waiting = f"{counted(len(self._waiting), 'question')} for you: → shows it."
        self._say(f"{said} {waiting if self._waiting else 'Nothing waits for your answer.'}".strip())
        self._text.show("")

    def _say(self, text: str) -> None:
        self._which.update(Content(clean(text)))


class Ask(ModalScreen[bool]):
    """A yes or a no; with ``only_shown``, any key ends it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("y", "dismiss(True)"), Binding("n,escape,q", "dismiss(False)")]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The question."""
        with VerticalScroll():
            yield Static(Content(self._text))


class Dashboard(App[None]):
    """The list of what there is, and what can be done from it.

    Args:
        invocation: whose home, and whether colours may be used.
    """

    ENABLE_COMMAND_PALETTE = False
    CSS = """
    Screen, ModalScreen { background: ansi_default; color: ansi_default; }
    #head, #columns, .keys { height: 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #columns, .keys { text-style: dim; }
    #head, #which { text-style: bold; }
    #said, #which { height: auto; max-height: 4; }
    #said { color: ansi_yellow; }
    OptionList { height: 1fr; min-height: 1; border: none; padding: 0; background: ansi_default; text-wrap: nowrap; }
    OptionList:focus { border: none; background: ansi_default; }
    OptionList > .option-list--option { padding: 0; }
    OptionList > .option-list--option-highlighted, OptionList:focus > .option-list--option-highlighted {
        background: ansi_default; color: ansi_default; text-style: reverse;
    }
    VerticalScroll { height: 1fr; scrollbar-size: 0 0; background: ansi_default; }
    #text { text-wrap: wrap; }
    Input, Input:focus { height: 1; border: none; padding: 0; background: ansi_default; color: ansi_default; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority, so that what one key opens is there for the next, however fast it comes.
        Binding("a", "answer", priority=True),
        Binding("p", "pause", priority=True),
        Binding("s", "stop", priority=True),
        Binding("slash", "filter", priority=True),
        Binding("question_mark", "help", priority=True),
        Binding("q,ctrl+c", "quit", priority=True),
        Binding("escape", "clear"),
    ]

    def __init__(self, invocation: Invocation) -> None:
        if not invocation.out.colour:
            os.environ["NO_COLOR"] = "1"
        super().__init__(ansi_color=True)
        self._home = invocation.home
        self.feed = Feed(invocation.home, lambda seen: self.post_message(News(seen)))
        self._seen = Seen()
        self._listed: list[tuple[str, Content]] = []
        self._head, self._columns, self._said = Static(id="head"), Static(id="columns"), Static(id="said")
        self._list = OptionList(markup=False)
        self._filter = Input(placeholder="words of a title, an id, a status or a folder")

    def compose(self) -> ComposeResult:
        """How things stand, the list, a line for the filter and for what is said, and the keys."""
        yield from (self._head, self._columns, self._list, self._said, self._filter)
        yield Static(Content(KEYS), classes="keys")

    def on_mount(self) -> None:
        """Begin to read."""
        self.theme = "ansi-dark"
        self._filter.cursor_blink = self._filter.display = False
        self._list.focus()
        self.feed.start()

    # -- what is shown --------------------------------------------------------------------------------------------

    def on_news(self, news: News) -> None:
        """Show what is new."""
        seen = self._seen = news.seen
        if seen.away:
            self.say(f"the daemon is away ({seen.away}); trying to reach it again. Start it with: stead up")
        elif seen.again:
            self.say("connected again")
        self._draw()
        top = self.screen
        if isinstance(top, Questions):
            top.take(seen.approvals)
        elif isinstance(top, Details) and top.session in seen.changed:
            top.read()

    def on_resize(self, _: Resize) -> None:
        """Fit the lines into the window, once its size is known."""
        self.call_later(self._draw)

    def on_input_changed(self, _: Input.Changed) -> None:
        """Show what the words of the filter leave."""
        self._draw()

    def on_input_submitted(self, _: Input.Submitted) -> None:
        """Keep the filter, and go to the list."""
        self._list.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """While words are typed, a key is one of their letters."""
        return not isinstance(self.focused, Input) or action not in _BY_LETTER

    def say(self, text: str) -> None:
        """Show one thing above the keys, until there is another."""
        self._said.update(Content(clean_line(text)))

    def _draw(self) -> None:
        seen, options, words, width = self._seen, self._list, self._filter.value, self.size.width
        shown = [(row["id"], _option(seen, depth, row, width)) for depth, row in ordered(seen.rows, words)]
        self._head.update(Content(_summary(seen, len(shown), words)))
        self._columns.update(Content(heading(width)))
        if shown == self._listed:
            return
        at = options.highlighted
        chosen = self._listed[at][0] if at is not None and at < len(self._listed) else ""
        self._listed = shown
        options.set_options([Option(prompt, id) for id, prompt in shown])
        ids = [id for id, _ in shown]
        options.highlighted = ids.index(chosen) if chosen in ids else min(at or 0, len(ids) - 1) if ids else None

    # -- what the keys do -----------------------------------------------------------------------------------------

    def carry(self, work: Callable[[Client], str], then: Callable[[str], None], asker: Part | None = None) -> None:
        """Ask the daemon in another thread, and go on with what came of it; a refusal is said.

        Args:
            work: the request; gives what to go on with.
            then: takes it; not called, and the text is said on the list, where the screen that asked is left.
            asker: the screen that asks; None for the list.
        """

        def answered(said: str) -> None:
            if asker is None or asker.is_attached:
                then(said)
            elif isinstance(asker, Questions):
                self.say(said)

        def carried() -> None:
            try:
                said = work(Client(self._home))
            except ApiError as error:
                said = f"not done: {clean(error.message)}"
            self.post_message(Done(lambda: answered(said)))

        threading.Thread(target=carried, name="request", daemon=True).start()  # leaving does not wait for it

    def on_done(self, done: Done) -> None:
        """Go on with an answer."""
        done.then()

    async def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter shows a session in full."""
        await self.push_screen(Details(str(event.option.id)))

    async def action_answer(self) -> None:
        """Go to the questions that wait."""
        if not isinstance(self.screen, Questions):
            await self.push_screen(Questions(self._seen.approvals))

    def action_pause(self) -> None:
        """Pause the chosen session after its step, or let it go on."""
        if row := self._chosen:
            done = "resume" if row["status"] == "paused" else "pause"
            said = f"{row['id']} {'is running again' if done == 'resume' else 'pauses after the current step'}"
            self.carry(_posted(f"/sessions/{row['id']}/{done}", {}, said), self.say)

    async def action_stop(self) -> None:
        """Ask once, then kill what runs in the chosen session."""
        if row := self._chosen:
            id, title = row["id"], clean_line(row["title"], 200)

            def answered(yes: bool | None) -> None:
                if yes:
                    self.carry(
                        _posted(f"/sessions/{id}/stop", {"why": ""}, f"{id} is stopped; p lets it go on"), self.say
                    )

            await self.push_screen(
                Ask(f"Stop {id} ({title})?\nIts processes are killed at once.\n\ny yes  n no"), answered
            )

    def action_filter(self) -> None:
        """Type words that leave only some rows."""
        if len(self.screen_stack) == 1:
            self._filter.display = True
            self.screen.set_focus(self._filter)  # at once: the next key is a part of the words

    def action_clear(self) -> None:
        """Show all rows again."""
        self._filter.value = ""
        self._filter.display = False
        self._list.focus()

    async def action_help(self) -> None:
        """What the keys do."""
        await self.push_screen(Ask(HELP))

    @property
    def _chosen(self) -> Json | None:
        """The session that a key is for."""
        if isinstance(self.screen, Details):
            return self._seen.rows.get(self.screen.session)
        option = self._list.highlighted_option if len(self.screen_stack) == 1 else None
        return self._seen.rows.get(str(option.id)) if option else None


def _option(seen: Seen, depth: int, row: Json, width: int) -> Content:
    asked = [headline(approval) for approval in seen.approvals if approval["session"] == row["id"]]
    text = line_of(depth, row, width, asked)
    return Content(text).stylize(_STYLES.get("waiting" if waits(row) else row["status"], ""), 0, 9)


def _summary(seen: Seen, shown: int, words: str) -> str:
    if not seen.version:
        return "Stead: reading …" if not seen.away else "Stead: the daemon is away"
    running = sum(row["status"] == "running" for row in seen.rows.values())
    waiting = sum(map(waits, seen.rows.values()))
    said = f"Stead {clean_line(seen.version)}: {running} running, {waiting} waiting for you, {len(seen.rows)} in all"
    return said + (f", {shown} fit {clean_line(words)!r}" if words else "") + ("  (AWAY)" if seen.away else "")


def _posted(path: str, body: Json, said: str) -> Callable[[Client], str]:
    """A command for ``Dashboard.carry``, and what is said once it is done."""

    def work(client: Client) -> str:
        client.post(path, body)
        return said

    return work
