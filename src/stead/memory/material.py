"""What consolidation reads: turns that are new, work that was done, memories whose time is over.

Layer: memory. Implements ``domain.consolidating.Material`` over the indexes and the journal. How far a place was
read is what its runs say in the journal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from stead.brain.sentences import others_blank
from stead.domain import events as ev
from stead.domain.consolidating import Unread, Work
from stead.domain.ids import SessionId
from stead.domain.memory import Episode, Evidence, MemoryRow, PlaceId
from stead.domain.memory_ports import Said
from stead.domain.policies import Integrity
from stead.memory import listing
from stead.memory.assertion import asserts, sentence
from stead.memory.books import MemoryBooks
from stead.memory.evidence import LEAST_SHARE, OWN_TOOLS, Spoken, share, spoken
from stead.storage.journal import JournalFile

_DUE = 1_000
_LEAST_QUOTE = 8
_STEPS = 200
_PROGRAMS = frozenset(
    """awk bash black bun cargo cat cmake composer convert cp curl dart deno diff docker dotnet eslint ffmpeg find
    flutter gcc gh git go gofmt gradle grep gzip head java jest jq just kubectl latexmk ls magick make mkdir mv mvn mypy
    mysql ninja node npm npx pandoc patch pdflatex php pip playwright pnpm poetry prettier psql pytest python python3
    rails rake rg rsync ruff ruby rustc scp sed sh sort sqlite3 ssh tail tar terraform touch tox tsc unzip uv vite
    vitest wc wget xargs yarn zip""".split()  # noqa: SIM905 - as a list it would be a hundred lines
)
_PROGRAM = re.compile(r"^(?:\w+=\S+\s+)*(?:sudo\s+)?([\w./+-]{1,40})")


class BooksMaterial:
    """See ``domain.consolidating.Material``.

    Args:
        books: see there.
        record: the truth.
    """

    def __init__(self, books: MemoryBooks, record: JournalFile) -> None:
        self._books = books
        self._record = record

    def unread(self, place: PlaceId, *, model: bool, limit: int, since_ms: int = 0) -> Unread:
        """See there."""
        head = self._record.head()
        read = self._books.position(place, model)
        after, since_ms = (0, since_ms) if read is None else (read, 0)
        index = self._books.index(place)
        if index is None:
            return Unread((), head)
        with index.reading() as connection:
            turns = tuple(
                listing.episodes(
                    connection,
                    "source <> 'memory' AND who = 'user' AND i.id IN (SELECT id FROM items "
                    "WHERE source <> 'memory' AND who = 'user' AND seq > ? AND ts_ms >= ? ORDER BY seq LIMIT ?)",
                    (after, since_ms, limit + 1),
                )
            )
        if len(turns) > limit:
            return Unread(turns[:limit], turns[limit - 1].seq, more=True)
        return Unread(turns, max(head, after))

    def requests(self, place: PlaceId, limit: int) -> tuple[Episode, ...]:
        """See there."""
        index = self._books.index(place)
        if index is None:
            return ()
        newest = "SELECT id FROM items WHERE source <> 'memory' AND who = 'user' ORDER BY seq DESC LIMIT ?"
        with index.reading() as connection:
            return tuple(listing.episodes(connection, f"i.id IN ({newest})", (limit,)))

    def work(self, session: SessionId) -> tuple[Work, ...]:
        """See there."""
        return tuple(_work(event for event in self._record.events(session=session) if isinstance(event, ev.Event)))

    def due(self, place: PlaceId, now_ms: int, unused_since_ms: int) -> tuple[MemoryRow, ...]:
        """See there."""
        index = self._books.index(place)
        if index is None:
            return ()
        past = "(expires > 0 AND expires <= ?)"
        idle = "(origin = 'inferred' AND max(ts_ms, last_used) <= ?)"
        with index.reading() as connection:
            return tuple(
                listing.memories(
                    connection,
                    f"status = 'live' AND NOT pinned AND ({past} OR {idle}) ORDER BY ts_ms, id LIMIT ?",
                    (now_ms, unused_since_ms, _DUE),
                )
            )

    def bears(self, statement: str, quote: str, turn: Episode) -> Said | None:
        """See there."""
        start = others_blank(turn.text).find(quote)
        end = start + len(quote)
        if len(quote) < _LEAST_QUOTE or start < 0 or not turn.text.startswith(quote, start):
            return None
        borne = share(statement, quote)
        if borne < LEAST_SHARE or not asserts(turn.text, start, end, statement):
            return None
        first, last = sentence(turn.text, start, end)
        evidence = Evidence(turn.session, turn.seq, start, end)
        return Said(evidence, turn.text[first:last], turn.who, turn.label, borne, turn.ts_ms)


def _work(events: Iterator[ev.Event]) -> Iterator[Work]:
    """Pieces of work, from the words that ask for one to the fact that ends it."""
    asked: Spoken | None = None
    steps: list[str] = []
    started: dict[str, str] = {}
    for event in events:
        match event.body:
            case ev.SessionOpened() | ev.MessageReceived():
                said = spoken(event, tainted=False)
                if said is not None and said.label.integrity is Integrity.PERSON and asked is None:
                    asked, steps, started = said, [], {}
            case ev.ToolStarted(key=key, tool=tool, arguments=arguments) if tool not in OWN_TOOLS:
                started[key] = _step(tool, arguments)
            case ev.ToolFinished(key=key, outcome="ok") if key in started and len(steps) < _STEPS:
                steps.append(started[key])
            case ev.TurnEnded(reason=reason) | ev.ObjectiveEnded(reason=reason) if asked is not None:
                yield Work(asked.session, asked.seq, asked.text, asked.ts_ms, tuple(steps), reason == "done")
                asked = None
            case _:
                continue


def _step(tool: str, arguments: str) -> str:
    """A call without its values: a tool's name, and of a command line the program if it is a well-known one.

    A model chooses the command, perhaps after reading a stranger's words; from a fixed list, it can carry none of them.
    """
    try:
        command = msgspec.json.decode(arguments, type=dict[str, object]).get("command")
    except msgspec.MsgspecError:
        return tool
    program = _PROGRAM.match(command) if isinstance(command, str) else None
    name = program[1].rpartition("/")[2] if program else ""
    return f"{tool}: {name}" if name in _PROGRAMS else tool
