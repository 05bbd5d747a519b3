"""The permit: proof, inside this process only, that the guardian allowed one call.

Layer: domain. Only ``guardian/decide.py`` builds one (an AST test holds that). A permit cannot be copied, pickled or
decoded from anywhere, so no peer, client or journal row can hand one in. Its life: fresh, then spent by the one
``Tool.run`` that it was made for (now the machine serves it), then closed by the gate when that call has returned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

import msgspec

from stead.domain.errors import PermitRefused
from stead.domain.ids import CallDigest, CallKey, SessionId


def canonical(arguments: Mapping[str, object]) -> bytes:
    """The one byte form of a call's arguments: JSON with sorted keys. Equal arguments, and only they, are equal."""
    return msgspec.json.encode(arguments, order="sorted")


class Permit:
    """Leave for one call: one tool, one set of arguments, one session, one use.

    Args:
        session: the session whose machine may serve the call.
        call: the call's key in that session.
        tool: the tool's name.
        arguments: what the guardian judged; ``spend`` compares byte for byte.
        digest: what an approval of this call was bound to.
        nonce: 16 random bytes, handed in; two permits for the same call differ by it.
    """

    __slots__ = ("_arguments", "_state", "call", "digest", "nonce", "session", "tool")

    def __init__(
        self,
        *,
        session: SessionId,
        call: CallKey,
        tool: str,
        arguments: Mapping[str, object],
        digest: CallDigest,
        nonce: bytes,
    ) -> None:
        self.session = session
        self.call = call
        self.tool = tool
        self.digest = digest
        self.nonce = nonce
        self._arguments = canonical(arguments)
        self._state = "fresh"

    def spend(self, tool: str, arguments: Mapping[str, object]) -> None:
        """Use the permit up, as the first act of the tool that it names.

        Raises:
            PermitRefused: it was used before, or it is for another tool or other arguments; anything else is a bug.
        """
        if self._state != "fresh":
            raise PermitRefused(f"the permit for {self.call!r} is {self._state}; every run needs a new decision")
        if tool != self.tool or canonical(arguments) != self._arguments:
            raise PermitRefused(f"the permit for {self.call!r} is for another call; run what was judged")
        self._state = "spent"

    def require_live(self, session: SessionId) -> None:
        """Check, in a machine, that the tool is being run under this permit right now.

        Raises:
            PermitRefused: it is not spent yet, already closed, or belongs to another session.
        """
        if self._state != "spent" or session != self.session:
            raise PermitRefused(f"the permit for {self.call!r} ({self._state}) does not cover work in {session!r}")

    @property
    def live(self) -> bool:
        """Whether the tool that spent it is still at work."""
        return self._state == "spent"

    def close(self) -> None:
        """End the permit's life. Whatever still holds it can do nothing more."""
        self._state = "closed"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse every copy.

        Raises:
            PermitRefused: always.
        """
        raise PermitRefused("a permit is never copied, pickled or sent")
