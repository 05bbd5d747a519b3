"""What a session's machine shows of its folder.

Layer: runtime.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.domain.policies import Profile
from stead.domain.ports import Machines


def show(machines: Machines, session: SessionId, spec: ev.Opening, allowed: Sequence[str] = ()) -> None:
    """Say what the session's machine is to show; one that shows something else is replaced at its next use.

    Args:
        machines: that make it.
        session: whose it is.
        spec: the objective's first fact.
        allowed: protected paths that a yes to the very call lets it write, beside those that the objective releases.

    Raises:
        InvalidRequest: the folder is one that no machine may show, or a path cannot be released.
    """
    machines.bind(
        session,
        spec.directory,
        writable=spec.profile is not Profile.READONLY,
        trial=spec.mode == "trial",
        released=spec.unprotected,
        allowed=allowed,
        hosts=spec.hosts,
    )
