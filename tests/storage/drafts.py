"""Short ways to write what goes into a journal."""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain import events as ev
from stead.domain.commands import Answer
from stead.domain.ids import CallKey, CommandId, RequestNo, SessionId
from stead.domain.messages import Text, Usage
from stead.domain.policies import Label
from stead.domain.ports import Claimed
from stead.storage import ledger
from stead.storage.journal import JournalFile
from stead.storage.keys import derive_keys
from tests.build import MODEL, START_MS

KEYS = derive_keys(bytes(range(32)))
OTHER_KEYS = derive_keys(bytes(range(1, 33)))
DAY = "2027-01-15"
"""The day of ``START_MS`` in UTC, the zone of the tests."""
DAY_MS = 86_400_000


def session(number: int) -> SessionId:
    return SessionId(f"s_{number:016x}")


def draft(id: SessionId, place: int, body: ev.Body, *, ts_ms: int = START_MS, cause: str = "") -> ev.Draft:
    return ev.Draft(id, place, ts_ms, "stead", CommandId(cause), body)


def stream(id: SessionId, bodies: Sequence[ev.Body], *, first: int = 1, ts_ms: int = START_MS) -> list[ev.Draft]:
    """Drafts of one stream, a second apart."""
    return [draft(id, first + at, body, ts_ms=ts_ms + at * 1000) for at, body in enumerate(bodies)]


def finished(text: str = "done", key: str = "call_1_0") -> ev.ToolFinished:
    return ev.ToolFinished(CallKey(key), "shell", "ok", text, Label(), len(text), 5)


def requested(number: int = 1, tokens: int = 100, usd_micros: int = 0) -> ev.ModelRequested:
    return ev.ModelRequested(RequestNo(number), "", 1, 500, ev.Spend(tokens, usd_micros))


def replied(number: int = 1, tokens: int = 60, usd_micros: int = 0, text: str = "Hello.") -> ev.ModelReplied:
    spend, usage = ev.Spend(tokens, usd_micros), Usage(input=tokens - 10, output=10, cached=5)
    return ev.ModelReplied(RequestNo(number), (Text(text),), "stop", MODEL, usage, spend, (), 1000, 100)


def reading(number: int = 1, tokens: int = 100, usd_micros: int = 0) -> ev.ReadingRequested:
    return ev.ReadingRequested(RequestNo(number), CallKey("call_1_0"), 70, 500, ev.Spend(tokens, usd_micros))


def read(number: int = 1, tokens: int = 60) -> ev.ReadingReplied:
    usage = Usage(input=tokens - 10, output=10, cached=5)
    return ev.ReadingReplied(
        RequestNo(number), CallKey("call_1_0"), "stop", (), MODEL, usage, ev.Spend(tokens), (), 1000
    )


def unread(number: int = 1, tokens: int = 0) -> ev.ReadingFailed:
    return ev.ReadingFailed(RequestNo(number), CallKey("call_1_0"), "overloaded", "Try again.", (), ev.Spend(tokens))


def failed(number: int = 1, tokens: int = 0) -> ev.ModelFailed:
    return ev.ModelFailed(RequestNo(number), "overloaded", "Try again.", (), ev.Spend(tokens), 0)


def claim(id: str, id_of: SessionId, text: str = "") -> Claimed:
    return Claimed(CommandId(id), "digest", Answer(CommandId(id), id_of, 0, text))


def spent(journal: JournalFile, day: str) -> ev.Spend:
    """What the ledger says for a day, open reservations included."""
    with journal.heads.database.reading() as connection:
        return ledger.spent(connection, day)


def caps(journal: JournalFile) -> tuple[ev.Budget, ev.Budget]:
    """What the ledger allows a day, and a month."""
    with journal.heads.database.reading() as connection:
        return ledger.caps(connection)
