"""Named profiles: what a person gives goals again and again, under a name of their own.

Layer: domain. A profile is filled in when work is given, and says nothing after that: a schedule keeps what it was set
with, whatever becomes of the profile.
"""

from __future__ import annotations

import msgspec

from stead.domain.bounds import Name
from stead.domain.objectives import Budget, Limits, ModelRef
from stead.domain.policies import Profile
from stead.domain.trials import WorkMode

MOST_PROFILES = 100


class NamedProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a goal, session or schedule is started with; see ``OpenSession`` for the fields.

    Args:
        name: the person's own choice.
        profile: strictness.
        budget: None for the default of what is started.
    """

    name: Name
    profile: Profile = Profile.WORK
    chain: tuple[ModelRef, ...] = ()
    budget: Budget | None = None
    limits: Limits = Limits()
    tools: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    mode: WorkMode = "workspace"


class NamedProfileSet(msgspec.Struct, frozen=True, tag="named_profile.set"):
    """A named profile was added or changed."""

    profile: NamedProfile


class NamedProfileRemoved(msgspec.Struct, frozen=True, tag="named_profile.removed"):
    """A named profile is no more. What was started with it goes on."""

    name: str


ProfileFact = NamedProfileSet | NamedProfileRemoved


class SetNamedProfile(msgspec.Struct, frozen=True, tag="named_profile.set", forbid_unknown_fields=True):
    """Add or change a named profile."""

    profile: NamedProfile


class RemoveNamedProfile(msgspec.Struct, frozen=True, tag="named_profile.remove", forbid_unknown_fields=True):
    """Forget a named profile."""

    name: Name


ProfileCommand = SetNamedProfile | RemoveNamedProfile
