"""What runs cost and how many sessions there are, without a word of theirs.

Layer: storage. Reads the tables of ``views``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from stead.domain.ends import ENDS
from stead.domain.forecast import Run, run_of
from stead.storage.projector import decode_objective

if TYPE_CHECKING:
    from sqlite3 import Connection

_RUNS = """
    SELECT s.state FROM states s JOIN objectives o ON o.id = s.session
    WHERE s.kind = 'objective' AND o.parent = '' AND s.status IN (?, ?, ?, ?, ?) ORDER BY s.seq DESC LIMIT 500
"""
_COUNTS = """
    SELECT kind, status, count(*) FROM states WHERE archived < 2 GROUP BY kind, status
    UNION ALL SELECT 'approval', status, count(*) FROM approvals WHERE status = 'pending' GROUP BY status
"""


class WorkFigures:
    """Of one workspace. Both methods block, and raise ``StorageFault``.

    Args:
        reading: the read models, see ``Views.reading``.
    """

    def __init__(self, reading: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._reading = reading

    def runs(self) -> list[Run]:
        """The newest 500 objectives that ended by themselves, subagents apart, in the order of their openings."""
        ended = [end for end in ENDS if end != "cancelled"]
        with self._reading() as connection:
            rows = connection.execute(_RUNS, ended).fetchall()
        return [run_of(decode_objective(state).row) for (state,) in reversed(rows)]

    def counts(self) -> list[tuple[str, str, int]]:
        """Kind, state and number: of objectives, of sessions, and of the "approval"s that wait."""
        with self._reading() as connection:
            return connection.execute(_COUNTS).fetchall()
