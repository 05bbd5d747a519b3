"""What a person's word about a named profile makes of it.

Layer: runtime. Tools and secrets are looked at when something is started with it, as everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.hosts import parse_host
from stead.domain.objectives import require_budget, require_limits
from stead.domain.profiles import (
    MOST_PROFILES,
    NamedProfile,
    NamedProfileRemoved,
    NamedProfileSet,
    ProfileCommand,
    ProfileFact,
    RemoveNamedProfile,
)
from stead.domain.registries import REGISTRIES

_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
Profiles = Mapping[str, NamedProfile]


def fold_profiles(profiles: Profiles, fact: ProfileFact) -> Profiles:
    """The profiles after one more fact about them."""
    if isinstance(fact, NamedProfileSet):
        return {**profiles, fact.profile.name: fact.profile}
    return {name: profile for name, profile in profiles.items() if name != fact.name}


def profile_change(command: ProfileCommand, profiles: Profiles) -> ProfileFact:
    """The fact that a command makes.

    Raises:
        InvalidRequest: a name, host, limit or budget that cannot be, or too many profiles.
        NotFound: there is none to remove.
    """
    if isinstance(command, RemoveNamedProfile):
        if command.name not in profiles:
            raise NotFound(f"there is no profile {command.name[:80]!r}; see: stead profile list")
        return NamedProfileRemoved(command.name)
    profile = command.profile
    if not _NAME.fullmatch(profile.name):
        raise InvalidRequest(f"the name {profile.name[:80]!r} cannot be; a small letter, then up to 30 of a-z, 0-9, -")
    if profile.name not in profiles and len(profiles) >= MOST_PROFILES:
        raise InvalidRequest(f"{MOST_PROFILES} profiles are the most; remove one first: stead profile remove NAME")
    require_limits(profile.limits)
    if profile.budget is not None:
        require_budget(profile.budget, least=0)
    hosts = tuple(host if host == REGISTRIES else str(parse_host(host)) for host in profile.hosts)
    return NamedProfileSet(replace(profile, hosts=hosts))
