"""The request that opens a session: a part of ``domain.commands``, and the job of a schedule.

Layer: domain.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from stead.domain.bounds import Folder, Text, bounds
from stead.domain.checks import Check
from stead.domain.messages import Material
from stead.domain.objectives import Budget, Limits, ModelRef
from stead.domain.policies import Profile
from stead.domain.trials import WorkMode

Given = Annotated[tuple[Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")], ...], bounds(maxItems=20)]
"""Names of uploaded files."""


class OpenSession(msgspec.Struct, frozen=True, tag="session.open", forbid_unknown_fields=True):
    """Open a session in a folder. The answer's ``session`` is the new one.

    With a goal it is an objective and starts at once; without one it is interactive, and idle until the person says
    something.

    Args:
        directory: the workspace folder, absolute; must exist and be a folder that the machine may show.
        goal: what to reach, 1 byte to under 1 MB of UTF-8; None for an interactive session.
        title: "" derives it from the goal's first line, or from the folder.
        constraints: rules that the result of a goal must keep, in the person's words.
        tools: names to offer; empty offers all.
        allow: names of tools granted for this session without asking.
        chain: models to use; empty uses the home's default.
        budget: both figures positive or "unlimited"; None for the default of its mode.
        limits: of an objective's run, or of each turn.
        profile: strictness.
        hosts: patterns of hosts that its commands may reach without asking; see ``domain.hosts``.
        secrets: names of secrets that the model may use; it never reads their values.
        checks: what has to be true before a goal counts as verified; see ``domain.checks``.
        second_opinion: a model of the role ``review`` is asked at the end of a goal; see ``domain.opinions``.
        mode: "trial" keeps all changes out of the folder until they are applied (``ApplyTrial``); not for the readonly
            profile.
        ignore: patterns as in .gitignore of what checkpoints leave out, in addition to what they always do.
        attachments: of a goal, as of ``SendMessage``.
        context: of a goal, so also.
    """

    directory: Folder
    goal: Text | None = None
    title: str = ""
    constraints: Annotated[tuple[str, ...], bounds(maxItems=100)] = ()
    tools: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    chain: tuple[ModelRef, ...] = ()
    budget: Budget | None = None
    limits: Limits = Limits()
    profile: Profile = Profile.WORK
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    checks: Annotated[tuple[Check, ...], bounds(maxItems=50)] = ()
    second_opinion: bool = False
    mode: WorkMode = "workspace"
    ignore: Annotated[tuple[Text, ...], bounds(maxItems=100)] = ()
    attachments: Given = ()
    context: Annotated[tuple[Material, ...], bounds(maxItems=20)] = ()
