"""How lists are read: what is asked at every statement is looked up, however much is remembered."""

from __future__ import annotations

from typing import Any

from stead.domain import events as ev
from stead.domain.memory import GLOBAL
from stead.memory import listing
from stead.memory.books import MemoryBooks
from tests.memory.saying import Sayings, memory


class Overheard:
    """A connection, and what it is asked.

    Args:
        connection: see there.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.plan: list[str] = []

    def execute(self, sql: str, values: tuple[object, ...]) -> Any:
        found = self._connection.execute(f"EXPLAIN QUERY PLAN {sql}", values)
        self.plan += [step for *_, step in found]
        return self._connection.execute(sql, values)


async def test_what_is_alike_is_looked_up_and_not_searched_for(books: MemoryBooks, sayings: Sayings) -> None:
    ada = memory(1, "Ada lives in Bergen.", key="person.city")
    await sayings.note(ev.MemoryMade(ada, "cli"))
    assert books.alike(ada.scope, ada.text, "")
    index = books.index(GLOBAL)
    assert index is not None
    with index.reading() as connection:
        overheard: Any = Overheard(connection)
        (row,) = listing.alike(overheard, "global", ada.text, ada.key)
    assert row.memory == ada
    assert any("USING INDEX sayings" in step for step in overheard.plan)
    assert any("USING INDEX keys" in step for step in overheard.plan)
    assert not any("INDEX levels" in step or step.startswith("SCAN") for step in overheard.plan)
