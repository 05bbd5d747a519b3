"""What the dashboard shows, read from the daemon: all of it once, then what changed, a few times a second at most.

Layer: cli. Knows no screen: ``dashboard.py`` is handed a ``Seen`` whenever there is something new.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from stead.cli.output import Output, clean
from stead.cli.session_row import print_row
from stead.cli.timeline import TimelinePrinter
from stead.client import ApiError, Client, Json, Stream
from stead.config import Home

LAST_ITEMS = 40
"""Of a session's timeline, in its details."""
_GATHER_S = 0.4
"""So long after something has come, what comes as well is read with it."""
_TICK_S = 1.0
_AGAIN_S = 2.0
_NEWEST = 50
_HEAD = 2**62
_UNDER_WAY = ("running", "waiting", "paused", "pending")
_WINDOWS = (2_000, 50_000, _HEAD)
"""Events in which the last items are looked for, one after another."""
_GONE = 404


class Seen(NamedTuple):
    """What is to be shown.

    Args:
        rows: sessions, objectives and subagents by id, as ``/sessions/ID`` has them.
        approvals: questions that wait, the oldest first.
        version: of the daemon; "" before it has answered.
        changed: ids of sessions of which something is new.
        away: why the daemon is not reached; "" while it is.
        again: it is reached again, after it was away.
    """

    rows: Mapping[str, Json] = {}
    approvals: tuple[Json, ...] = ()
    version: str = ""
    changed: frozenset[str] = frozenset()
    away: str = ""
    again: bool = False


class Feed:
    """Reads in a thread of its own until it is stopped; a daemon that leaves is looked for until it is back.

    Args:
        home: whose daemon.
        tell: called in that thread with what is new.
    """

    def __init__(self, home: Home, tell: Callable[[Seen], object]) -> None:
        self._client = Client(home)
        self._tell = tell
        self._seen = Seen()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End; waits for what it is just reading."""
        self._stopped.set()
        self._thread.join(_TICK_S + _GATHER_S)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow()
            except ApiError as error:
                self._lost(clean(error.message))
                self._stopped.wait(_AGAIN_S)

    def _follow(self) -> None:
        """Read everything, then what changed, until the connection is lost."""
        head = self._client.get("/events", after=_HEAD, limit=1)["head"]
        stream = self._client.stream(head)
        try:
            self._read_all()
            while not self._stopped.is_set():
                changed = self._changed(stream, _TICK_S)
                if not stream.connected:
                    return self._lost("")
                if changed:
                    self._read(changed)
        finally:
            stream.close()

    def _lost(self, why: str) -> None:
        if not self._seen.away and not self._stopped.is_set():
            self._show(self._seen._replace(away=why or "its connection ended", changed=frozenset(), again=False))

    def _changed(self, stream: Stream, timeout_s: float) -> set[str]:
        """The sessions of which something has come; none if nothing comes in time."""
        changed: set[str] = set()
        until = time.monotonic() + timeout_s
        while (left_s := until - time.monotonic()) > 0:
            found = {envelope["stream"] for envelope in stream.next(left_s) if envelope.get("seq") is not None}
            if found and not changed:
                until = time.monotonic() + _GATHER_S
            changed |= {id for id in found if id.startswith("s_")}
            if not stream.connected:
                break
        return changed

    def _read_all(self) -> None:
        client = self._client
        rows: dict[str, Json] = {}
        for path in ("/objectives", "/sessions"):
            found = client.get(path, limit=_NEWEST)["items"]
            for status in _UNDER_WAY:
                found += client.items(path, status=status, limit=200)
            rows |= {row["id"]: row for row in found}
        for id in [id for id, row in rows.items() if row["agents"]]:
            rows |= {row["id"]: row for row in client.items(f"/sessions/{id}/agents")}
        version, again = client.get("/status")["version"], bool(self._seen.away)
        self._show(Seen(rows, self._approvals(), version, frozenset(rows), again=again))

    def _read(self, changed: set[str]) -> None:
        rows = dict(self._seen.rows)
        for id in sorted(changed):
            try:
                row = self._client.get(f"/sessions/{id}")
            except ApiError as error:
                if error.status != _GONE:
                    raise
                row = {}
            if row and not row["archived"] and not row["trashed_ms"]:
                rows[id] = row
            else:
                rows.pop(id, None)
        self._show(self._seen._replace(rows=rows, approvals=self._approvals(), changed=frozenset(changed), again=False))

    def _approvals(self) -> tuple[Json, ...]:
        return tuple(reversed(self._client.get("/approvals", limit=200)["items"]))

    def _show(self, seen: Seen) -> None:
        self._seen = seen
        self._tell(seen)


class Written(Output):
    """Output that is kept, without any style, for a screen to show it."""

    def __init__(self) -> None:
        super().__init__(plain=True, as_json=False, colourless=True)
        self.text = ""

    def line(self, text: str = "") -> None:
        """As ``Output.line``."""
        self.text += f"{text}\n"

    def write(self, text: str) -> None:
        """As ``Output.write``."""
        self.text += text


def details(client: Client, id: str) -> str:
    """A session in full with the end of its timeline, clean.

    Raises:
        ApiError: there is no such session, or the daemon does not answer.
    """
    out = Written()
    items, row = _last_items(client, id)
    print_row(out, row)
    out.line("\nlast events")
    TimelinePrinter(out, id, live=False).print(items)
    return out.text


def _last_items(client: Client, id: str) -> tuple[list[Json], Json]:
    head = client.get("/events", after=_HEAD, limit=1)["head"]
    items: dict[int, Json] = {}
    row: Json = {}
    for events in _WINDOWS:
        after, more = max(0, head - events), True
        while more:
            page = client.get(f"/sessions/{id}/timeline", after=after)
            items |= {item["place"]: item for item in page["items"]}
            after, more, row = page["seq"], page["more"], page["row"]
            items = dict(sorted(items.items())[-LAST_ITEMS:])
        if len(items) == LAST_ITEMS:
            break
    return list(items.values()), row


def ordered(rows: Mapping[str, Json], words: str) -> Iterator[tuple[int, Json]]:
    """Rows in the order in which they are shown, each with its depth: subagents stand below what started them.

    What waits for the person is first, then what is under way. A place changes only when that does.

    Args:
        rows: by id.
        words: of which each must be in a row's text; of a tree, what leads to such a row is shown as well.
    """
    below: dict[str, list[Json]] = {}
    for row in rows.values():
        below.setdefault(row["parent"] if row["parent"] in rows else "", []).append(row)
    wanted = words.casefold().split()

    def rank(row: Json) -> int:
        own = (
            0 if waits(row) else 1 if row["status"] in ("running", "pending") else 2 if row["status"] == "paused" else 3
        )
        return min([own, *map(rank, below.get(row["id"], ()))])

    def fits(row: Json) -> bool:
        shown = " ".join((row["id"], row["title"], row["status"], row["directory"], row["specialist"])).casefold()
        return all(word in shown for word in wanted) or any(map(fits, below.get(row["id"], ())))

    def walk(id: str, depth: int) -> Iterator[tuple[int, Json]]:
        for row in sorted(below.get(id, ()), key=lambda row: (rank(row), -row["created_ms"], row["id"])):
            if fits(row):
                yield depth, row
                yield from walk(row["id"], depth + 1)

    return walk("", 0)


def waits(row: Json) -> bool:
    """Whether it waits for the person: for an answer, or with changes for a review."""
    return bool(row["pending_approvals"] or row["review"]["waiting"] or row["status"] == "waiting")
