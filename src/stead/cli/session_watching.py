"""Following a session that people work in until its turn has ended.

Layer: cli.
"""

from __future__ import annotations

from stead.cli.figures import counted
from stead.cli.invocation import FAILED, OK, Invocation
from stead.cli.output import clean_line
from stead.cli.watching import Watch
from stead.client import Json


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
