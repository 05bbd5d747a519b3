"""Facts of the home's own stream: the daemon, providers, the day's cap, the person's hosts, rules, secrets, directives.

Layer: domain. A part of the tagged union of ``domain.events``, whose rules for changes hold here too; knows no session.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from stead.domain.channels import ChannelFact
from stead.domain.devices import DeviceFact
from stead.domain.directive_events import DirectiveBody
from stead.domain.external_agents import AgentFact
from stead.domain.ids import SessionId
from stead.domain.mcp_events import McpFact, McpRemoved
from stead.domain.notifications import TargetFact
from stead.domain.objectives import NO_CAP, Budget, ModelRef, PeriodCaps
from stead.domain.policies import Clearance, Rule
from stead.domain.profiles import ProfileFact
from stead.domain.providers import ModelSettings, Role
from stead.domain.schedules import ScheduleFact
from stead.domain.search import Engine
from stead.domain.secrets import Binding
from stead.domain.trust import Tier, TrackRecord


class DaemonStarted(msgspec.Struct, frozen=True, tag="daemon.started"):
    """A daemon took the home."""

    version: str
    recovered: tuple[SessionId, ...]
    """Sessions that were under way and go on by themselves."""


class DaemonStopped(msgspec.Struct, frozen=True, tag="daemon.stopped"):
    """It left in good order."""

    why: str


class ProviderConfigured(msgspec.Struct, frozen=True, tag="provider.configured"):
    """A provider was added or changed. ``key`` is where its key is: "none", "env:NAME" or "vault"; never the key."""

    name: str
    preset: str
    base_url: str
    model: str
    key: str
    clearance: Clearance = "private"
    """With "public" it is sent no request of a session that has read something private."""
    account_of: str = ""
    """The provider that it is a further account of: asked for the same models when that one is out of quota."""


class ModelConfigured(msgspec.Struct, frozen=True, tag="model.configured"):
    """The person said something of a model, or with ``model`` "" of every model of a provider. No value of a header."""

    provider: str
    model: str
    settings: ModelSettings


class TierMeasured(msgspec.Struct, frozen=True, tag="tier.measured"):
    """A model's track record came to another tier than before: sessions that begin from now on lead it so.

    Nothing is recorded while it stays what it was, "normal" at first.
    """

    model: ModelRef
    tier: Tier
    record: TrackRecord


class ProviderRemoved(msgspec.Struct, frozen=True, tag="provider.removed"):
    """A provider is no longer used; its key is erased from the vault."""

    name: str


class SearchConfigured(msgspec.Struct, frozen=True, tag="search.configured"):
    """The engine that searches the web was chosen. Its key, if it has one, is in the vault and in no event."""

    engine: Engine
    url: str
    """Where it is; "" for the engine's own address."""


class SearchRemoved(msgspec.Struct, frozen=True, tag="search.removed"):
    """The web is no longer searched; the engine's key was erased from the vault."""


class ChainSet(msgspec.Struct, frozen=True, tag="chain.set"):
    """The default model and its fallbacks for new objectives; empty means whatever is found."""

    chain: tuple[ModelRef, ...]


class RoleSet(msgspec.Struct, frozen=True, tag="role.set"):
    """What a role is played by from now on; an empty chain gives it back to the session's own models, or the default.

    ``fast`` notes down what was said; ``reading`` reads strangers' texts in quarantine.
    """

    role: Role
    chain: tuple[ModelRef, ...]


WARN_AT = (50, 80, 95)


class CapSet(msgspec.Struct, frozen=True, tag="cap.set"):
    """What all sessions of the home together may spend in a day and in a month of the person's."""

    daily: Budget
    monthly: Budget = NO_CAP
    warn_at: tuple[int, ...] = WARN_AT
    """Shares of either, in percent, at which it is said how much is spent."""
    channels: dict[str, PeriodCaps] = {}
    """What sessions that were begun in the chats of a channel together may spend, by its name; by ``CHANNEL/CHAT``,
    the platform's id, in one chat."""


class CapWarned(msgspec.Struct, frozen=True, tag="cap.warned"):
    """A share of a cap was reached, for the first time in a period.

    Args:
        period: of the person's, a day (``YYYY-MM-DD``) or a month (``YYYY-MM``).
        unit: of the figures.
        share: in percent; the highest one of ``CapSet.warn_at`` that was reached.
        spent: without requests under way.
        most: the cap.
    """

    period: str
    unit: Literal["tokens", "usd_micros"]
    share: int
    spent: int
    most: int


class HostAllowed(msgspec.Struct, frozen=True, tag="host.allowed"):
    """Machines that show this folder may reach a host from now on.

    ``host`` is a pattern, see ``domain.hosts``, or the word for all package registries. ``grants_last``: what was
    granted ahead in this folder also covers sessions that have read from registries.
    """

    host: str
    directory: str
    grants_last: bool = False


class RuleMade(msgspec.Struct, frozen=True, tag="rule.made"):
    """A sentence of the person's became a rule that the guardian keeps."""

    rule: Rule
    door: str


class RuleRemoved(msgspec.Struct, frozen=True, tag="rule.removed"):
    """The person took a rule back."""

    id: str
    door: str


class HostDisallowed(msgspec.Struct, frozen=True, tag="host.disallowed"):
    """They no longer may; open connections were cut."""

    host: str
    directory: str


class FolderReached(msgspec.Struct, frozen=True, tag="folder.reached"):
    """A machine that shows this folder was connected to a host for the first time; recorded before a byte came in.

    From then on what the folder holds may be that host's. ``host`` is a name, or the ``*.name`` that allowed it.
    """

    directory: str
    host: str


class SecretAdded(msgspec.Struct, frozen=True, tag="secret.added"):
    """A value went into the vault, in place of an older one when ``version`` is past 1. The value is in no event."""

    name: str
    version: int
    placeholder: str


class SecretBound(msgspec.Struct, frozen=True, tag="secret.bound"):
    """The value may go there from now on."""

    name: str
    binding: Binding


class SecretUnbound(msgspec.Struct, frozen=True, tag="secret.unbound"):
    """Every binding of the secret to this host, or to this tool, ended; the other of the two is ""."""

    name: str
    host: str
    tool: str


class SecretRemoved(msgspec.Struct, frozen=True, tag="secret.removed"):
    """The value was erased; its bindings ended with it."""

    name: str


class SecretUsed(msgspec.Struct, frozen=True, tag="secret.used"):
    """The value was let out to a bound destination: a host, or ``tool.argument``. At most one a minute is recorded."""

    name: str
    destination: str


SecretFact = SecretAdded | SecretBound | SecretUnbound | SecretRemoved | SecretUsed
BindingFact = (
    ProviderConfigured
    | ProviderRemoved
    | ModelConfigured
    | TierMeasured
    | RoleSet
    | SearchConfigured
    | ChainSet
    | HostAllowed
    | RuleMade
    | HostDisallowed
    | FolderReached
    | SecretFact
    | McpFact
    | AgentFact
    | ScheduleFact
    | TargetFact
    | ChannelFact
    | ProfileFact
    | DeviceFact
)
"""What permits, forbids or leads somewhere. Other words in one could permit more than the person meant, so forgetting
leaves them as they are."""
HomeBody = (
    DaemonStarted
    | DaemonStopped
    | BindingFact
    | SearchRemoved
    | McpRemoved
    | CapSet
    | CapWarned
    | RuleRemoved
    | DirectiveBody
)
"""In the order in which docs/generated lists them."""
