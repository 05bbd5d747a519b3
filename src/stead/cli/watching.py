"""Following an objective or a session: what was, then what happens, and the questions it asks.

Layer: cli.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from stead.cli.figures import counted
from stead.cli.invocation import FAILED, INTERRUPTED, NEEDS_PERSON, OK, Invocation
from stead.cli.narrating import Narrator
from stead.cli.output import clean_line
from stead.cli.spending import cost_line
from stead.client import Json

if TYPE_CHECKING:
    from stead.client import Stream

_TICK_S = 1.0
_FIRST_NEWS_S = 5
_SETTLED = ("approval.given", "approval.denied", "approval.lapsed")


class Watch:
    """One objective, watched by one terminal or script.

    Args:
        invocation: whose output it is.
        session: whole id of the objective.
        wait: without a person at the terminal, wait until questions are answered elsewhere instead of leaving.
    """

    def __init__(self, invocation: Invocation, session: str, *, wait: bool) -> None:
        self._path = f"/objectives/{session}"
        self._again = f"stead watch {clean_line(session)}"
        self._may_edit = False
        self._invocation = invocation
        self._session = session
        self._wait = wait
        self._asks = invocation.interactive
        self._narrator = Narrator(invocation.out, live=self._asks, verbose=invocation.verbose)
        self._pending: dict[str, Json] = {}
        self._held = ""
        self._ended = self._deleted = False
        self._untold: list[Json] = []

    def follow(self) -> int:
        """Watch to the end; gives the exit code."""
        try:
            return self._follow()
        except KeyboardInterrupt:
            self._narrator.finish_line()
            session = clean_line(self._session)
            self._invocation.out.note(
                f"\nYou left; {session} goes on.\nwatch again: {self._again}\nstop it:     stead stop {session}"
            )
            return INTERRUPTED

    def _follow(self) -> int:
        stream = self._invocation.client.stream(self._replay(), [self._session])
        silent_since, news_at_s = time.monotonic(), _FIRST_NEWS_S
        was_connected = True
        try:
            while True:
                if (code := self._settle(stream)) is not None:
                    return code
                if batch := stream.next(_TICK_S):
                    self._take(batch)
                    self._tell_untold()
                    silent_since, news_at_s = time.monotonic(), _FIRST_NEWS_S
                elif stream.connected != was_connected:
                    was_connected = stream.connected
                    self._note("connected again" if was_connected else "the daemon is away; trying to reach it again")
                elif time.monotonic() - silent_since >= news_at_s and self._narrator.awaiting:
                    self._note(f"waiting for {self._narrator.awaiting}, {news_at_s} s")
                    news_at_s *= 2
        finally:
            stream.close()

    def _note(self, text: str) -> None:
        if self._asks:
            self._narrator.finish_line()
            self._invocation.out.note(f"({text})")

    def _replay(self) -> int:
        """Tell what was, up to now; gives the seq to go on from."""
        after = 0
        for page in self._invocation.client.events(self._session):
            self._take(page)
            self._tell_untold()
            after = page[-1]["seq"]
        return after

    def _take(self, batch: list[Json]) -> None:
        """Fold what came into what matters for going on; telling it waits while a person is asked something."""
        for envelope in batch:
            self._fold(envelope["body"])
        self._untold += batch

    def _fold(self, body: Json) -> None:
        match body["type"]:
            case "approval.requested":
                self._pending[body["id"]] = body
            case kind if kind in _SETTLED:
                self._pending.pop(body["id"], None)
            case "session.paused" | "session.stopped":
                self._held = body["type"].removeprefix("session.")
            case "session.resumed":
                self._held = ""
            case "objective.ended":
                self._ended = True
            case "objective.retried":
                self._ended, self._held = False, ""
            case "session.deleted":
                self._deleted = True
            case _:
                pass

    def _tell_untold(self) -> None:
        for envelope in self._untold:
            if self._invocation.as_json:
                self._invocation.out.json(envelope)
            else:
                self._narrator.tell(envelope)
        self._untold = []

    def _settle(self, stream: Stream) -> int | None:
        """Do what the state calls for: answer, leave or end; nothing when it is to be followed further."""
        if self._deleted or self._ended:
            self._narrator.finish_line()
            return self._report(self._deleted)
        while self._pending:
            approval = next(iter(self._pending))
            row = self._invocation.client.get(f"/approvals/{approval}")
            if row["status"] != "pending":
                self._pending.pop(approval)
            elif self._asks:
                if not self._ask(row, stream):
                    return self._leave_pending()
            elif self._wait:
                return None
            else:
                return self._leave_pending()
        if self._held and not self._asks and not self._wait:
            return self._leave_held()
        return None

    def _ask(self, row: Json, stream: Stream) -> bool:
        from stead.cli.approving import ask

        def take(batch: list[Json]) -> bool:
            self._take(batch)
            return row["id"] in self._pending

        self._narrator.finish_line()
        answered = ask(self._invocation, row, stream, take, editable=self._may_edit)
        if answered:
            self._pending.pop(row["id"], None)
        self._tell_untold()
        return answered

    def _leave_pending(self) -> int:
        self._narrator.finish_line()
        approvals = [self._invocation.client.get(f"/approvals/{approval}") for approval in self._pending]
        if self._invocation.as_json:
            self._print_result(NEEDS_PERSON, approvals)
            return NEEDS_PERSON
        from stead.cli.approving import print_pending

        if self._asks:
            self._invocation.out.line("Left pending. Answer it later with: stead approve, or stead deny")
        print_pending(self._invocation, approvals)
        self._invocation.out.line(f"then watch:  {self._again}")
        return NEEDS_PERSON

    def _leave_held(self) -> int:
        self._narrator.finish_line()
        if self._invocation.as_json:
            self._print_result(NEEDS_PERSON, [])
        else:
            self._invocation.out.line(f"It is {self._held}. Go on with: stead resume {clean_line(self._session)}")
        return NEEDS_PERSON

    def _report(self, deleted: bool) -> int:
        if deleted:
            if self._invocation.as_json:
                self._invocation.out.json({"type": "result", "id": self._session, "status": "deleted"})
            return FAILED
        row = self._invocation.client.get(self._path)
        code = OK if row["status"] == "completed" else FAILED
        if self._invocation.as_json:
            self._print_result(code, [], row)
        else:
            self._invocation.out.line(f"  {cost_line(row)}")
            if code == FAILED:
                self._invocation.out.line(f"  try again: stead retry {clean_line(self._session)}")
        return code

    def _print_result(self, code: int, approvals: list[Json], row: Json | None = None) -> None:
        row = row or self._invocation.client.get(self._path)
        names = ("id", "status", "reason", "summary", "tokens_used", "usd_micros_used", "price_known", "iterations")
        result = {name: row[name] for name in names}
        self._invocation.out.json({"type": "result", **result, "approvals": approvals, "exit_code": code})


class SessionWatch(Watch):
    """One session, watched by one terminal or script; it ends when the session rests.

    Args:
        invocation: whose output it is.
        session: whole id of the session.
        wait: as ``Watch``.
        since: the event after which to begin, which is a person's message; -1 begins with the last turn.
        whole: begin with the session's first event.
    """

    def __init__(
        self, invocation: Invocation, session: str, *, wait: bool = False, since: int = -1, whole: bool = False
    ) -> None:
        super().__init__(invocation, session, wait=wait)
        self._path = f"/sessions/{session}"
        self._again = f"stead session attach {clean_line(session)}"
        self._may_edit = self._narrator.tells_changes = True
        self._since = since
        self._whole = whole
        self._turn: Json = {}
        self._unheard = False
        """The model has not been asked anything since a message came, so the turn's end is not the end."""
        self.mine: set[str] = set()
        """Commands that carried words of this terminal's, which are on its screen already."""

    def _replay(self) -> int:
        if self._since >= 0:
            for row in self._invocation.client.items("/approvals", session=self._session):
                self._pending[row["id"]] = row
            return self._since
        events = [event for page in self._invocation.client.events(self._session) for event in page]
        start = 0 if self._whole else _last_turn(events)
        for envelope in events[:start]:
            self._fold(envelope["body"])
            self._narrator.skim(envelope)
        if start and not self._invocation.as_json:
            self._narrator.tell(events[0])
            out = self._invocation.out
            out.line(out.style(f"({counted(start, 'event')} before: {self._again} --all)", "dim"))
        self._take(events[start:])
        self._tell_untold()
        return int(events[-1]["seq"]) if events else 0

    def _take(self, batch: list[Json]) -> None:
        super()._take(batch)
        mine = [envelope for envelope in self._untold if envelope.get("cause") in self.mine]
        if mine and not self._invocation.as_json:
            self._untold = [envelope for envelope in self._untold if envelope not in mine]

    def _fold(self, body: Json) -> None:
        match body["type"]:
            case "session.opened" | "session.closed":
                self._ended, self._held = True, ""
            case "message.received":
                self._ended, self._held, self._unheard = False, "", True
            case "model.requested":
                self._unheard = False
            case "turn.ended":
                self._ended, self._turn = not self._unheard, body
            case "checkpoint.restored" if body["conversation"]:
                self._ended = True
            case _:
                super()._fold(body)

    def _report(self, deleted: bool) -> int:
        if deleted:
            return super()._report(deleted)
        code = OK if self._turn.get("reason", "done") == "done" else FAILED
        if self._invocation.as_json:
            self._print_result(code, [])
        return code

    def _print_result(self, code: int, approvals: list[Json], row: Json | None = None) -> None:
        row = row or self._invocation.client.get(self._path)
        names = ("id", "status", "reason", "summary", "turns", "tokens_used", "usd_micros_used", "price_known")
        result = {name: row[name] for name in names}
        turn = {name: self._turn.get(name, 0) for name in ("turn", "changed")}
        self._invocation.out.json({"type": "result", **result, **turn, "approvals": approvals, "exit_code": code})


def _last_turn(events: list[Json]) -> int:
    """Where the turn under way begins; when there is none, the last one."""
    ends = [place for place, envelope in enumerate(events) if envelope["body"]["type"] == "turn.ended"]
    if not ends:
        return 0
    going_on = any(envelope["body"]["type"] == "message.received" for envelope in events[ends[-1] + 1 :])
    before = ends[-1:] if going_on else ends[-2:-1]
    return before[0] + 1 if before else 0
