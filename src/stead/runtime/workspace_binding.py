"""Binding a session's folder to its machine: what the machine shows, and which changes wait for the person.

Layer: runtime.
"""

from __future__ import annotations

from collections.abc import Sequence

from stead.domain import events as ev
from stead.domain.ids import SessionId
from stead.domain.policies import Profile
from stead.domain.ports import Machines
from stead.domain.sessions import Session
from stead.domain.trials import Barred, unbarred
from stead.guardian.flow import kinds
from stead.runtime.deps import Deps


def bind_workspace(
    machines: Machines,
    session: SessionId,
    spec: ev.SessionOpened,
    sources: Sequence[str] | None,
    known: Sequence[str] = (),
    barred: Barred = unbarred,
) -> None:
    """Bind a folder to a session's machine; on trial, or once strangers were read, all its changes wait for the person.

    Args:
        machines: they make the machine.
        session: whose machine it is.
        spec: the session's first fact.
        sources: the untrusted ones that it has read until now; nothing when that is not known. Its own folder is no
            stranger.
        known: kinds of sources that the person said are none here.
        barred: what waits besides, by the person's rules.

    Raises:
        InvalidRequest: the folder is one that no machine may show.
    """
    clean = spec.mode != "trial" and sources is not None and set(kinds(sources)) <= set(known)
    machines.bind(
        session,
        spec.directory,
        writable=spec.profile is not Profile.READONLY,
        hold="obeyed" if clean else "all",
        hosts=spec.hosts,
        barred=barred,
    )


def bind_by_session(deps: Deps, session: Session) -> None:
    """Bind a session's machine by what the session has read and what the person's rules say now.

    Raises:
        InvalidRequest: as ``bind_workspace``.
    """
    known = deps.gate.known(session.spec.directory)
    bind_workspace(
        deps.machines, session.id, session.spec, session.sources, known, deps.gate.barring(session, deps.clock.now_ms())
    )
