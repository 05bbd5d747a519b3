"""What a command is answered, from the first claim to the journal's own words.

Layer: runtime.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.ids import CommandId, SessionId
from stead.domain.ports import Claimed


def claim_of(id: CommandId, digest: str, session: SessionId, text: str) -> Claimed:
    """The claim of a command that has not been carried out."""
    return Claimed(id=id, digest=digest, answer=cmd.Answer(command=id, session=session, seq=0, text=text))


def of(claim: Claimed, session: SessionId, text: str = "") -> Claimed:
    """The claim of a command that turned out to be this session's, and what else there is to say to it."""
    said = "; ".join(filter(None, (claim.answer.text, text)))
    return msgspec.structs.replace(claim, answer=msgspec.structs.replace(claim.answer, session=session, text=said))


def answer(claim: Claimed, events: Sequence[ev.Event]) -> cmd.Answer:
    """The claim's answer as the journal completed it."""
    return msgspec.structs.replace(claim.answer, seq=events[-1].seq)
