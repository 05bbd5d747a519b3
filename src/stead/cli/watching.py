"""Following an objective or a session: its timeline up to now, then what is new, and the questions it asks.

Layer: cli. The daemon says how a session stands; events say only that there is something new, and with ``--json`` they
are what is printed.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from stead.cli.figures import counted
from stead.cli.invocation import FAILED, INTERRUPTED, NEEDS_PERSON, OK, Invocation
from stead.cli.output import clean_line
from stead.cli.spending import cost_line
from stead.cli.timeline import TimelinePrinter
from stead.client import ApiError, Json, NoDaemon
from stead.domain.ends import ENDS, WELL

if TYPE_CHECKING:
    from stead.client import Stream

_TICK_S = 1.0
_FIRST_NEWS_S = 5
_ENDED = (*ENDS, "idle", "closed")
AWAY = "the daemon is away; trying to reach it again. Start it with: stead up"
_RESULT = ("id", "status", "reason", "summary", "tokens_used", "usd_micros_used", "price_known", "facts")


class Watch:
    """One objective or session, watched by one terminal or script; it ends when that rests.

    Args:
        invocation: whose output it is.
        session: its whole id.
        wait: without a person at the terminal, wait until questions are answered elsewhere instead of leaving.
        since: the event after which to begin; -1 begins with the last turn, or with an objective's first event.
        whole: begin with the session's first event.
    """

    def __init__(
        self, invocation: Invocation, session: str, *, wait: bool = False, since: int = -1, whole: bool = False
    ) -> None:
        self._invocation = invocation
        self._session = session
        self._wait = wait
        self._asks = invocation.interactive
        self._printer = TimelinePrinter(invocation.out, session, live=self._asks, verbose=invocation.verbose)
        self._since = since
        self._whole = whole
        self._seq = self._reported = max(since, 0)
        self._heard = 0
        self._row: Json = {}
        self._items: dict[int, Json] = {}
        self._pending: dict[str, Json] = {}
        self._turn: Json = {}
        self._awaits_model = self._deleted = False

    def follow(self) -> int:
        """Watch to the end; gives the exit code."""
        try:
            self._begin()
            return self._follow()
        except KeyboardInterrupt:
            self._printer.finish_line()
            session = clean_line(self._session)
            self._invocation.out.note(
                f"\nYou left; {session} goes on.\nwatch again: {self._again}\nstop it:     stead stop {session}"
            )
            return INTERRUPTED

    @property
    def _again(self) -> str:
        way = "session attach" if self._row.get("kind") == "session" else "watch"
        return f"stead {way} {clean_line(self._session)}"

    @property
    def _rests(self) -> bool:
        return self._deleted or self._row["status"] in _ENDED

    @property
    def _is_paused(self) -> bool:
        return not self._deleted and self._row["status"] == "paused"

    def _follow(self) -> int:
        stream = self._open()
        silent_since, news_at_s = time.monotonic(), _FIRST_NEWS_S
        was_connected = True
        try:
            while True:
                self._catch_up()
                self._print()
                if (code := self._settle(stream)) is not None:
                    return code
                if batch := stream.next(_TICK_S):
                    self._take(batch)
                    silent_since, news_at_s = time.monotonic(), _FIRST_NEWS_S
                elif stream.connected != was_connected:
                    was_connected = stream.connected
                    self._note("connected again" if was_connected else AWAY)
                    silent_since, news_at_s = time.monotonic(), _FIRST_NEWS_S
                elif (
                    stream.connected
                    and time.monotonic() - silent_since >= news_at_s
                    and (awaited := awaited_by(self._row, self._printer, awaits_model=self._awaits_model))
                ):
                    self._note(f"waiting for {awaited}, {news_at_s} s")
                    news_at_s *= 2
        finally:
            stream.close()

    def _open(self) -> Stream:
        after = self._reported if self._invocation.as_json else self._seq
        return self._invocation.client.stream(after, [self._session])

    def _note(self, text: str) -> None:
        if self._asks:
            self._printer.finish_line()
            self._invocation.out.note(f"({text})")

    # -- what is new ----------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Show what was, up to now."""
        self._pull()
        self._printer.shows_edits = bool(self._row) and self._row["kind"] == "session"
        items = [self._items[place] for place in sorted(self._items)]
        start = sum(item["seq"] <= self._since for item in items)  # those that changed since
        self._printer.skim(items[:start])
        if self._since < 0 and not self._whole:
            start = _last_turn(items)
        if start and self._invocation.as_json:
            self._reported = max(self._reported, items[start - 1]["seq"])
        elif start and self._since < 0:
            self._printer.print(items[:1])
            self._printer.skim(items[1:start])
            out = self._invocation.out
            out.line(out.style(f"({counted(start, 'item')} before: {self._again} --all)", "dim"))
        self._items = {item["place"]: item for item in items[start:]}
        self._report_events()
        self._print()

    def _pull(self) -> None:
        """Read the new items, the session's row, and the questions that wait for an answer."""
        client, path, more = self._invocation.client, f"/sessions/{self._session}/timeline", True
        while more:
            try:
                page = client.get(path, after=self._seq)
            except ApiError as error:
                if error.status != 404:
                    raise
                self._deleted, self._pending = True, {}
                return
            for item in page["items"]:
                self._items[item["place"]] = item
                if item["kind"] == "line" and item["body"]["type"] == "turn.ended":
                    self._turn = item["body"]
            self._seq, self._row, more = page["seq"], page["row"], page["more"]
            self._awaits_model = page["request"] is not None
        questions = client.items("/approvals", session=self._session) if self._row["pending_approvals"] else ()
        self._pending = {row["id"]: row for row in reversed(list(questions))}

    def _catch_up(self) -> None:
        """Read what was heard of. While the daemon is away, that waits for as long as the stream does."""
        if self._heard > self._seq or self._row.get("agents"):  # what a subagent asks stands in its own stream
            with suppress(NoDaemon):
                self._pull()

    def _take(self, batch: list[Json], *, hold: bool = False) -> None:
        """Take in what came; what it changes is printed, unless a person is in the middle of a line."""
        for envelope in batch:
            seq = envelope.get("seq")
            if self._invocation.as_json:
                self._report_event(envelope)
            if seq is None:
                if not hold and not self._items and not self._invocation.as_json:
                    self._printer.stream(envelope["body"])
            else:
                self._heard = seq
                self._catch_up()
            if not hold:
                self._print()

    def _print(self) -> None:
        if self._items and not self._invocation.as_json:
            self._printer.print([self._items[place] for place in sorted(self._items)])
        self._items = {}

    def _report_event(self, envelope: Json) -> None:
        seq = envelope.get("seq")
        if seq is None or seq > self._reported:
            self._invocation.out.json(envelope)
            self._reported = seq or self._reported

    def _report_events(self) -> None:
        """With ``--json``: every event up to now that has not been printed."""
        if self._invocation.as_json:
            for page in self._invocation.client.events(self._session, self._reported):
                for envelope in page:
                    self._report_event(envelope)

    # -- what it calls for ----------------------------------------------------------------------------------------

    def _settle(self, stream: Stream) -> int | None:
        """Do what the state calls for: answer, leave or end; nothing when it is to be followed further."""
        while self._pending and (self._asks or not self._wait) and not self._rests:
            if not self._asks or not self._ask(next(iter(self._pending.values())), stream):
                return self._leave()
            self._pull()
            self._print()
        if self._rests:
            return self._report()
        if self._is_paused and not self._asks and not self._wait:
            return self._leave()
        return None

    def _ask(self, row: Json, stream: Stream) -> bool:
        """Put a question to the person; whether it is settled."""
        from stead.cli.approving import ask

        def take(batch: list[Json]) -> bool:
            self._take(batch, hold=True)
            return row["id"] in self._pending

        self._printer.finish_line()
        return ask(self._invocation, row, stream, take, editable=self._row["kind"] == "session")

    def _leave(self) -> int:
        if self._invocation.as_json:
            return self._print_result(NEEDS_PERSON)
        self._print()
        self._printer.finish_line()
        out = self._invocation.out
        if not self._pending:
            out.line(f"It is paused. Go on with: stead resume {clean_line(self._session)}")
            return NEEDS_PERSON
        from stead.cli.approving import print_pending

        if self._asks:  # the question stands above
            approval = clean_line(next(iter(self._pending)))
            out.line(f"Left pending. Answer it later with: stead approve {approval}, or stead deny {approval}")
        else:
            print_pending(self._invocation, list(self._pending.values()))
        out.line(f"then watch:  {self._again}")
        return NEEDS_PERSON

    def _report(self) -> int:
        out, row = self._invocation.out, self._row
        self._printer.finish_line()
        if self._deleted:
            if out.as_json:
                self._report_events()
                out.json({"type": "result", "id": self._session, "status": "deleted"})
            return FAILED
        session = row["kind"] == "session"
        code = OK if row["status"] in WELL or (session and row["reason"] in ("", "done")) else FAILED
        if out.as_json:
            return self._print_result(code)
        if not session:
            out.line(f"  {cost_line(row)}")
            if code == FAILED:
                out.line(f"  try again: stead retry {clean_line(self._session)}")
        return code

    def _print_result(self, code: int) -> int:
        self._report_events()
        row, result = self._row, {"type": "result"} | {name: self._row[name] for name in _RESULT}
        if row["kind"] == "session":
            result |= {"turns": row["turns"], **{name: self._turn.get(name, 0) for name in ("turn", "changed")}}
        else:
            result |= {"iterations": row["iterations"], "checks": row["checks"]}
        approvals = [] if self._rests else list(self._pending.values())
        self._invocation.out.json({**result, "approvals": approvals, "exit_code": code})
        return code


def _last_turn(items: list[Json]) -> int:
    """Where the turn under way begins; when there is none, the last one. 0 in an objective."""
    ends = [
        place for place, item in enumerate(items) if item["kind"] == "line" and item["body"]["type"] == "turn.ended"
    ]
    if not ends:
        return 0
    going_on = any(item["kind"] == "message" for item in items[ends[-1] + 1 :])
    before = ends[-1:] if going_on else ends[-2:-1]
    return before[0] + 1 if before else 0


def awaited_by(row: Json, printer: TimelinePrinter, *, awaits_model: bool) -> str:
    """What the work waits for; "" where that is not known."""
    if printer.checking or (row.get("status") == "pending" and row["checks"]):
        return "its acceptance checks"
    return "the model" if awaits_model else next(iter(printer.running.values()), "")
