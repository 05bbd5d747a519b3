"""Another soul, as a session would have it: put before the person, and theirs to decide.

Layer: runtime. A session that has read strangers' words proposes none, nor does one that others read along in: whoever
speaks through such a model would be asking the person to become somebody else's.
"""

from __future__ import annotations

import asyncio

from stead.brain.remembering import clean, without_hidden
from stead.domain import events as ev
from stead.domain.directives import TEXT_CHARS
from stead.domain.errors import CallerError
from stead.domain.ids import SessionId
from stead.domain.memory import ProposalId
from stead.domain.memory_ports import Done
from stead.domain.policies import Confidentiality, Integrity, Label
from stead.memory.files.souls import DirectiveSouls
from stead.runtime.memories import Memories

MOST_WAITING = 3
"""Of souls that wait for an answer; each is a page to read."""
WHY_CHARS = 300


class SoulProposals:
    """Implements ``domain.memory_ports.SoulProposing``.

    Args:
        memories: knows what may be kept, and has the record.
        souls: the soul as it is.
    """

    def __init__(self, memories: Memories, souls: DirectiveSouls) -> None:
        self._memories = memories
        self._souls = souls

    async def propose(self, session: SessionId, text: str, why: str) -> Done:
        """See ``domain.memory_ports.SoulProposing``."""
        where = await asyncio.to_thread(self._memories.remembered.whereabouts, session)
        if where.tainted:
            return _refused("this session has read strangers' words; the soul is proposed from the person's own alone")
        if where.viewer.channel:
            return _refused("others speak here; the soul is proposed in the person's own sessions alone")
        text = without_hidden(text.replace("\r\n", "\n")).strip()
        if not 0 < len(text) <= TEXT_CHARS:
            return _refused(f"a soul has 1 to {TEXT_CHARS} characters, not {len(text)}")
        why = clean(why)[:WHY_CHARS].strip()
        try:
            self._memories.require_sayable(f"{text}\n{why}")
        except CallerError as refused:
            return _refused(str(refused))
        async with self._memories.stream.lock:
            if known := await asyncio.to_thread(self._known, text):
                return known
            id = ProposalId(self._memories.new_id("p"))
            label = Label(Integrity.TRUSTED, Confidentiality.PRIVATE)
            fact = ev.MemoryProposed(
                id, "soul", (), text, f"A session would have it so: {why or 'it does not say why'}", label
            )
            await self._memories.stream.record((fact,), by="model")
        return Done("made", "", f"proposed as {id}; the person decides, and until then the soul stays as it is")

    def _known(self, text: str) -> Done | None:
        """What is said of a text that needs no new proposal, or may have none."""
        now = self._souls.soul("")
        if now is not None and now.text == text:
            return Done("same", "", "it is the soul already")
        asked = [row for row in self._memories.reports.proposals(waiting=False) if row.proposal.what == "soul"]
        before = next((row for row in asked if row.proposal.text == text and row.answer != "accepted"), None)
        if before is not None:
            answer = "the person refused it" if before.answer else "it waits for the person's answer"
            return Done(
                "refused" if before.answer else "same", "", f"proposed before as {before.proposal.id}: {answer}"
            )
        if sum(not row.answer for row in asked) >= MOST_WAITING:
            return _refused(f"{MOST_WAITING} souls wait for the person's answer already")
        return None


def _refused(why: str) -> Done:
    return Done("refused", "", f"not proposed: {why}")
