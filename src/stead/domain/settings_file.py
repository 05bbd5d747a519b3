"""What a person has set, as one document that can be written out, read in again and compared.

Layer: domain. It holds no value of a secret, and nothing that only this home's history can say: grants, approvals of
tools, what folders were connected to.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from stead.domain.bounds import AnyFolder, Folder, Name, Share, bounds
from stead.domain.channels import Channel
from stead.domain.directive_commands import DirectiveText, DirectiveTitle
from stead.domain.directives import DirectiveKind
from stead.domain.external_agents import ConfigureAgent
from stead.domain.home_events import WARN_AT
from stead.domain.mcp import McpServer
from stead.domain.notifications import NotificationTarget
from stead.domain.objectives import NO_CAP, Budget, ModelRef, PeriodCaps
from stead.domain.policies import Action, Condition, Decision
from stead.domain.profiles import NamedProfile
from stead.domain.provider_commands import ConfigureModel, ConfigureProvider, SetRole
from stead.domain.schedules import Schedule
from stead.domain.search import Engine
from stead.domain.secrets import Binding

MOST_ITEMS = 2_000
"""Of a document."""


class CapSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all sessions together may spend, and those of each channel; chats, and so their caps, are in no file."""

    daily: Budget = NO_CAP
    monthly: Budget = NO_CAP
    warn_at: Annotated[tuple[Share, ...], bounds(maxLength=5)] = WARN_AT
    channels: dict[Name, PeriodCaps] = {}


class SearchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The engine that searches the web. ``url``: "" for the engine's own."""

    engine: Engine
    url: str = ""


class BindingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the value of a secret may go. The value itself is in the vault."""

    name: str
    binding: Binding


class HostSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A host that the machines of a folder may reach; see ``AllowHost``."""

    directory: Folder
    host: str
    grants_last: bool = False


class RuleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A standing rule; see ``Rule``."""

    decision: Decision
    what: tuple[Action, ...] = ()
    tools: tuple[str, ...] = ()
    where: tuple[Condition, ...] = ()
    directory: AnyFolder = ""
    expires_at_ms: Annotated[int, bounds(minimum=0)] = 0
    text: str = ""


class DirectiveSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A directive, known by its title."""

    title: DirectiveTitle
    kind: DirectiveKind
    text: DirectiveText
    directory: AnyFolder = ""
    enabled: bool = True


class McpSettings(McpServer, frozen=True, forbid_unknown_fields=True):
    """An MCP server; see ``McpServer``."""


class ScheduleSettings(Schedule, frozen=True, forbid_unknown_fields=True):
    """A schedule, and whether it runs by itself."""

    on: bool = True


class TargetSettings(NotificationTarget, frozen=True, forbid_unknown_fields=True):
    """Where the person is notified, and whether things are sent there."""

    on: bool = True


class ChannelSettings(Channel, frozen=True, forbid_unknown_fields=True):
    """A channel, and whether it listens and sends."""

    on: bool = True


class HomeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it. None and an empty list say nothing."""

    providers: tuple[ConfigureProvider, ...] = ()
    models: tuple[ConfigureModel, ...] = ()
    chain: tuple[ModelRef, ...] = ()
    roles: tuple[SetRole, ...] = ()
    caps: CapSettings | None = None
    search: SearchSettings | None = None
    bindings: tuple[BindingSettings, ...] = ()
    hosts: tuple[HostSettings, ...] = ()
    rules: tuple[RuleSettings, ...] = ()
    directives: tuple[DirectiveSettings, ...] = ()
    mcp_servers: tuple[McpSettings, ...] = ()
    external_agents: tuple[ConfigureAgent, ...] = ()
    profiles: tuple[NamedProfile, ...] = ()
    schedules: tuple[ScheduleSettings, ...] = ()
    channels: tuple[ChannelSettings, ...] = ()
    notifications: tuple[TargetSettings, ...] = ()


def plain(item: Any) -> Any:
    """An item as a document has it: plain data, without what is as it is by default."""
    if isinstance(item, tuple | list):
        return [plain(one) for one in item]
    if not isinstance(item, msgspec.Struct):
        return msgspec.to_builtins(item)
    written = {
        one.name: plain(value)
        for one in msgspec.structs.fields(item)
        if (value := getattr(item, one.name)) != one.default and value != {}
    }
    config = item.__struct_config__
    in_union = config.tag_field and type(item) not in _ALONE
    return {str(config.tag_field): config.tag, **written} if in_union else written


_ALONE = (ConfigureProvider, ConfigureModel, SetRole, ConfigureAgent)
"""Commands that are items as they are: nothing else can stand in their place."""


class ExportedSettings(msgspec.Struct, frozen=True):
    """What a home has set.

    Args:
        settings: the document.
        secrets: names in the vault; their values are exported by nothing.
        left_out: what was set and is not in the document, and why.
    """

    settings: HomeSettings
    secrets: tuple[str, ...]
    left_out: tuple[str, ...]


class SettingChange(msgspec.Struct, frozen=True):
    """What applying a document would change.

    Args:
        section: field of ``HomeSettings``.
        name: which of it.
        change: what becomes of it.
        before, after: the fields that differ; all of them where there is nothing on the other side.
        weakens: how it weakens protection; "" where it does not.
    """

    section: str
    name: str
    change: Literal["added", "changed", "removed"]
    before: dict[str, Any]
    after: dict[str, Any]
    weakens: str


class SettingProblem(msgspec.Struct, frozen=True):
    """Why an item cannot be applied. ``index``: its place in its section."""

    section: str
    index: int
    text: str


class SettingsPlan(msgspec.Struct, frozen=True):
    """What applying a document would come to; with a problem, to nothing at all."""

    changes: tuple[SettingChange, ...]
    problems: tuple[SettingProblem, ...]


class ApplySettings(msgspec.Struct, frozen=True, tag="settings.apply", forbid_unknown_fields=True):
    """Have the home be as a document says: all of it, or with a problem nothing.

    It is carried out as the single commands that a person would give. Interrupted, it is completed by the same again.

    Args:
        settings: the document.
        prune: remove what the document does not have. A secret's value stays; what it is bound to ends.
    """

    settings: HomeSettings
    prune: bool = False
