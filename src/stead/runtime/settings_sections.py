"""The sections of the document of settings: how each is read from the home's state, and which commands make it so.

Layer: runtime. Pure. ``SECTIONS`` is in the order in which a home can be set up: what is named stands before what names
it. Removals go the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import asdict, replace

from stead.domain import commands as cmd
from stead.domain import settings_file as doc
from stead.domain.channels import Channel, RemoveChannel, SetChannel, SwitchChannel
from stead.domain.directive_commands import RemoveDirective, SetDirective
from stead.domain.directives import DirectiveId
from stead.domain.errors import InvalidRequest
from stead.domain.external_agents import ConfigureAgent, RemoveAgent
from stead.domain.mcp_commands import ConfigureMcp, RemoveMcp
from stead.domain.notifications import ChatTarget, NotificationTarget, Push, RemoveTarget, SetTarget, SwitchTarget
from stead.domain.objectives import Budget, PeriodCaps
from stead.domain.policies import Profile, Rule
from stead.domain.profiles import RemoveNamedProfile, SetNamedProfile
from stead.domain.provider_commands import ConfigureModel, ConfigureProvider, RemoveProvider, SetChain, SetRole
from stead.domain.providers import ModelSettings
from stead.domain.registries import REGISTRIES
from stead.domain.schedules import OVER, Every, GoalReview, RemoveSchedule, Schedule, SetSchedule, SwitchSchedule
from stead.domain.schedules import Standing as Scheduled
from stead.domain.secrets import HostBinding
from stead.runtime.home import HomeState

Commands = Sequence[cmd.Command]
_NO_CAPS = doc.CapSettings()
_UNSET = ("window_tokens", "max_output_tokens", "effort", "trust")
"""What says nothing of a model where it is 0 or empty."""
_OTHER = "it runs, or reaches, something else"
_BY_ITSELF = (Push, ChatTarget)
"""Ways to be notified that no file can set up."""
_STRICTER = (Profile.WORK, Profile.ASK, Profile.READONLY)


class Section(NamedTuple):
    """One kind of setting.

    Args:
        name: the field of ``HomeSettings``.
        of: its items, in an order that does not change by itself.
        key: what an item is known by, within the section.
        set: the commands that add an item, or put it in place of the one of its key (None for none); raises
            ``InvalidRequest`` where the document cannot say enough.
        unset: the commands that take one away.
        weakens: how a change weakens protection; "" for not at all. None stands for what is not there.
    """

    name: str
    of: Callable[[HomeState], Sequence[Any]]
    key: Callable[[Any], str]
    set: Callable[[Any, Any, HomeState], Commands]
    unset: Callable[[Any, HomeState], Commands]
    weakens: Callable[[Any, Any], str]


def _models(state: HomeState) -> list[ConfigureModel]:
    named = {name: value for name, value in state.models.items() if value != ModelSettings()}
    return [_model(provider, model, settings) for (provider, model), settings in sorted(named.items())]


def _model(provider: str, model: str, said: ModelSettings) -> ConfigureModel:
    headers = {
        name: f"${{{where[4:]}}}" if where.startswith("env:") else where for name, where in sorted(said.headers.items())
    }
    names = (*_UNSET, "input_price", "output_price", "cached_price")
    figures: dict[str, Any] = {name: getattr(said, name) for name in names}
    figures |= {name: figures[name] or None for name in _UNSET}
    params = dict(sorted(said.params.items())) or None
    return ConfigureModel(provider, model, **figures, headers=headers or None, params=params)


def _set_model(item: ConfigureModel, _before: object, _state: HomeState) -> Commands:
    if "vault" in (item.headers or {}).values():
        raise InvalidRequest(
            "the value of a header is in the vault and in no file; set this model by hand, then apply again: "
            f"stead providers set {item.name}/{item.model} --header NAME=-"
        )
    return (replace(item, reset=True),)


def _providers(state: HomeState) -> list[ConfigureProvider]:
    """Further accounts come after what they are accounts of."""
    rows = sorted(state.providers.values(), key=lambda one: (one.account_of != "", one.name))
    return [ConfigureProvider(**asdict(one)) for one in rows]


def _bindings(state: HomeState) -> list[doc.BindingSettings]:
    return [doc.BindingSettings(name, one) for name, secret in sorted(state.secrets.items()) for one in secret.bindings]


def _unbind(item: doc.BindingSettings) -> cmd.Command:
    bound = item.binding
    if isinstance(bound, HostBinding):
        return cmd.UnbindSecret(item.name, host=bound.host)
    return cmd.UnbindSecret(item.name, tool=bound.tool)


def _roles(state: HomeState) -> list[SetRole]:
    return [SetRole(role, chain) for role, chain in sorted(state.roles.items()) if chain]


def _caps(state: HomeState) -> list[doc.CapSettings]:
    channels = {name: one for name, one in sorted(state.caps.channels.items()) if name in state.channels.channels}
    caps = doc.CapSettings(state.caps.daily, state.caps.monthly, state.caps.warn_at, channels)
    return [] if caps == _NO_CAPS else [caps]


def _set_caps(item: doc.CapSettings, before: doc.CapSettings | None, _state: HomeState) -> Commands:
    channels = {**dict.fromkeys((before or _NO_CAPS).channels, PeriodCaps()), **item.channels}
    of_channels = [cmd.SetCap(one.daily, one.monthly, channel=name) for name, one in channels.items()]
    return (cmd.SetCap(item.daily, item.monthly, item.warn_at), *of_channels)


def _hosts(state: HomeState) -> list[doc.HostSettings]:
    return [
        doc.HostSettings(directory, host, host == REGISTRIES and directory in state.lasting)
        for directory, host in sorted(state.hosts)
    ]


def _rule(rule: Rule) -> doc.RuleSettings:
    return doc.RuleSettings(**{name: getattr(rule, name) for name in doc.RuleSettings.__struct_fields__})


def _remove_rule(item: doc.RuleSettings, state: HomeState) -> Commands:
    return [cmd.RemoveRule(rule.id) for rule in state.rules if _rule(rule) == item]


def _directives(state: HomeState) -> list[doc.DirectiveSettings]:
    names = doc.DirectiveSettings.__struct_fields__
    kept = [one.directive for one in state.directives.in_order()]
    return [doc.DirectiveSettings(**{name: getattr(one, name) for name in names}) for one in kept]


def title_key(title: str) -> str:
    """What a directive is known by: there are no two of one title."""
    return " ".join(title.split()).casefold()


def directive_ids(state: HomeState) -> dict[str, DirectiveId]:
    """By what directives are known by, in their order."""
    return {title_key(one.directive.title): one.directive.id for one in state.directives.in_order()}


def _set_directive(item: doc.DirectiveSettings, _before: object, state: HomeState) -> Commands:
    return (SetDirective(**asdict(item), id=directive_ids(state).get(title_key(item.title), "")),)


def _remove_directive(item: doc.DirectiveSettings, state: HomeState) -> Commands:
    return (RemoveDirective(directive_ids(state)[title_key(item.title)]),)


def _set_mcp(item: doc.McpSettings) -> cmd.Command:
    if item.secrets:
        raise InvalidRequest(
            f"the values of {', '.join(item.secrets)} are in the vault and in no file; set this server by hand, then "
            f"apply again: stead mcp add {item.name}"
        )
    return ConfigureMcp(**{**asdict(item), "settings": dict(item.settings), "secrets": {}})


def _switched(
    item: Any, before: Any, make: Callable[[dict[str, Any]], cmd.Command], switch: Callable[[str, bool], cmd.Command]
) -> Commands:
    """For what can be on and off: set it where it is new or another, and switch it where it is not as it was."""
    known = asdict(item)
    on = known.pop("on")
    same = before is not None and replace(item, on=before.on) == before
    switched = on != (before.on if before else True)
    return [*([] if same else [make(known)]), *([switch(item.name, on)] if switched else [])]


def exported(one: Scheduled) -> str:
    """Why a schedule is not in the document; "" where it is."""
    if isinstance(one.schedule.job, GoalReview):
        return "it reviews an objective of this home"
    if one.proposed is not None:
        return "a model proposed it; in a file it would count as your own word"
    return OVER if one.why == OVER else ""


def _schedules(state: HomeState) -> list[doc.ScheduleSettings]:
    kept = [one for _, one in sorted(state.schedules.items()) if not exported(one)]
    return [doc.ScheduleSettings(**asdict(one.schedule), on=one.on) for one in kept]


def _set_schedule(item: doc.ScheduleSettings, before: doc.ScheduleSettings | None, state: HomeState) -> Commands:
    known = state.schedules.get(item.name)
    if known and exported(known):
        raise InvalidRequest(f"there is a schedule {item.name!r} that no file can change: {exported(known)}")
    if (
        before
        and isinstance(item.when, Every)
        and item.when in (before.when, Every(getattr(before.when, "seconds", 0)))
    ):
        item = replace(item, when=before.when)  # counted from when it was set, where the document does not say
    return _switched(item, before, lambda known: SetSchedule(Schedule(**known)), SwitchSchedule)


def _channels(state: HomeState) -> list[doc.ChannelSettings]:
    kept = [one for _, one in sorted(state.channels.channels.items())]
    return [doc.ChannelSettings(**asdict(one.channel), on=one.on) for one in kept]


def _set_channel(item: doc.ChannelSettings, before: doc.ChannelSettings | None, _state: HomeState) -> Commands:
    return _switched(item, before, lambda known: SetChannel(Channel(**known)), SwitchChannel)


def _targets(state: HomeState) -> list[doc.TargetSettings]:
    kept = [one for _, one in sorted(state.targets.items()) if not isinstance(one.target.via, _BY_ITSELF)]
    return [doc.TargetSettings(**asdict(one.target), on=one.on) for one in kept]


def _set_target(item: doc.TargetSettings, before: doc.TargetSettings | None, _state: HomeState) -> Commands:
    return _switched(item, before, lambda known: SetTarget(NotificationTarget(**known)), SwitchTarget)


# -- what weakens protection -------------------------------------------------------------------------------------------


def _never(_before: object, _after: object) -> str:
    return ""


def _wider(what: str, *fields: str) -> Callable[[Any, Any], str]:
    """Whether one of these fields is another than it was; of what is new, whether it says anything."""

    def weakens(before: Any, after: Any) -> str:
        if after is None or not any(getattr(after, name) for name in fields):
            return ""
        changed = before is None or any(getattr(before, name) != getattr(after, name) for name in fields)
        return what if changed else ""

    return weakens


def _rule_weakens(before: doc.RuleSettings | None, after: doc.RuleSettings | None) -> str:
    if after is not None:
        return "it allows without asking" if after.decision == "allow" else ""
    return "what it forbids or asks about is no longer so" if before and before.decision != "allow" else ""


def _caps_weaken(before: doc.CapSettings | None, after: doc.CapSettings | None) -> str:
    old, new = before or doc.CapSettings(), after or doc.CapSettings()
    pairs: list[tuple[Any, Any]] = [
        (old, new),
        *((one, new.channels.get(name, PeriodCaps())) for name, one in old.channels.items()),
    ]
    raised = any(_more(was.daily, now.daily) or _more(was.monthly, now.monthly) for was, now in pairs)
    return "more may be spent" if raised else ""


def _more(old: Budget, new: Budget) -> bool:
    pairs = ((old.tokens, new.tokens), (old.usd_micros, new.usd_micros))
    return any(was != "unlimited" and (now == "unlimited" or now > was) for was, now in pairs)


def _work_weakens(before: Any, after: Any) -> str:
    if after is None:
        return ""
    job, was = getattr(after, "job", after), getattr(before, "job", before)
    fields = ("allow", "hosts", "secrets")
    if any(set(getattr(job, name)) - set(getattr(was, name, ())) for name in fields):
        return "it may use, reach or allow more"
    looser = was is not None and _STRICTER.index(job.profile) < _STRICTER.index(was.profile)
    return "it is less strict" if looser else ""


def _simple(
    name: str,
    of: Callable[[HomeState], Sequence[Any]],
    make: Callable[[Any], cmd.Command],
    remove: Callable[[Any], cmd.Command],
    weakens: Callable[[Any, Any], str] = _never,
    key: Callable[[Any], str] = lambda item: str(item.name),
) -> Section:
    """A section whose items are made and removed by one command each, whatever the state."""
    return Section(name, of, key, lambda item, *_: (make(item),), lambda item, _: (remove(item),), weakens)


def _one(_item: object) -> str:
    """The key where there can be one item."""
    return ""


SECTIONS = (
    _simple(
        "providers",
        _providers,
        lambda item: item,
        lambda item: RemoveProvider(item.name),
        _wider("what sessions read is sent there", "preset", "base_url", "clearance", "account_of"),
    ),
    Section(
        "models",
        _models,
        lambda item: f"{item.name}/{item.model}",
        _set_model,
        lambda item, _: (ConfigureModel(item.name, item.model, reset=True),),
        _wider("it is led less strictly, or is sent other headers", "trust", "headers"),
    ),
    _simple("chain", lambda state: [state.chain] if state.chain else [], SetChain, lambda _: SetChain(()), key=_one),
    _simple("roles", _roles, lambda item: item, lambda item: SetRole(item.role, ()), key=lambda item: item.role),
    _simple(
        "search",
        lambda state: [doc.SearchSettings(state.search.engine, state.search.url)] if state.search else [],
        lambda item: cmd.SetSearch(item.engine, item.url),
        lambda _: cmd.RemoveSearch(),
        _wider("questions go to another engine", "engine", "url"),
        _one,
    ),
    _simple(
        "bindings",
        _bindings,
        lambda item: cmd.BindSecret(item.name, item.binding),
        _unbind,
        _wider("a secret's value may go there", "binding"),
        str,
    ),
    _simple(
        "hosts",
        _hosts,
        lambda item: cmd.AllowHost(item.host, item.directory, item.grants_last),
        lambda item: cmd.DisallowHost(item.host, item.directory),
        _wider("machines reach it without asking", "host", "grants_last"),
        lambda item: f"{item.directory} {item.host}",
    ),
    Section(
        "rules",
        lambda state: [_rule(rule) for rule in state.rules],
        str,
        lambda item, *_: (cmd.AddRule(rule=Rule(id="", **asdict(item)), directory=item.directory),),
        _remove_rule,
        _rule_weakens,
    ),
    Section("directives", _directives, lambda item: title_key(item.title), _set_directive, _remove_directive, _never),
    _simple(
        "mcp_servers",
        lambda state: [doc.McpSettings(**asdict(one.server)) for _, one in sorted(state.mcp.items())],
        _set_mcp,
        lambda item: RemoveMcp(item.name),
        _wider(_OTHER, "command", "url", "hosts", "folder", "private"),
    ),
    _simple(
        "external_agents",
        lambda state: [ConfigureAgent(**asdict(one)) for _, one in sorted(state.agents.configured.items())],
        lambda item: item,
        lambda item: RemoveAgent(item.name),
        _wider(_OTHER, "command", "hosts", "secrets"),
    ),
    _simple(
        "profiles",
        lambda state: [one for _, one in sorted(state.profiles.items())],
        SetNamedProfile,
        lambda item: RemoveNamedProfile(item.name),
        _work_weakens,
    ),
    Section(
        "schedules",
        _schedules,
        lambda item: item.name,
        _set_schedule,
        lambda item, _: (RemoveSchedule(item.name),),
        _work_weakens,
    ),
    Section(
        "channels",
        _channels,
        lambda item: item.name,
        _set_channel,
        lambda item, _: (RemoveChannel(item.name),),
        _wider("what is said in its chats is sent there", "kind", "settings", "secrets", "ca_file"),
    ),
    # After the channels, of which some are.
    Section("caps", _caps, _one, _set_caps, lambda item, state: _set_caps(_NO_CAPS, item, state), _caps_weaken),
    Section(
        "notifications",
        _targets,
        lambda item: item.name,
        _set_target,
        lambda item, _: (RemoveTarget(item.name),),
        _wider("titles of sessions are sent there", "via"),
    ),
)


def settings_of(state: HomeState) -> doc.ExportedSettings:
    """What a home has set."""
    found: dict[str, Any] = {section.name: tuple(section.of(state)) for section in SECTIONS}
    found |= {name: next(iter(found[name]), None) for name in ("caps", "search")}
    found["chain"] = state.chain
    left_out = [f"schedule {name}: {why}" for name, one in sorted(state.schedules.items()) if (why := exported(one))]
    left_out += [
        f"MCP server {name}: which of its tools you approved" for name, one in sorted(state.mcp.items()) if one.approved
    ]
    left_out += [
        f"notification target {name}: a browser, or a chat, which is added there"
        for name, one in sorted(state.targets.items())
        if isinstance(one.target.via, _BY_ITSELF)
    ]
    left_out += [
        f"chat {chat.name} of {chat.channel}: it is paired by a code"
        for _, chat in sorted(state.channels.chats.items())
    ]
    folders = len({directory for directory, _ in state.grants})
    left_out += [f"what you allowed in answers to questions, in {folders} folders"] if folders else []
    return doc.ExportedSettings(doc.HomeSettings(**found), tuple(sorted(state.secrets)), tuple(left_out))


def items_of(settings: doc.HomeSettings, section: Section) -> Sequence[Any]:
    """A section's items in a document; those that there can be one of as a list of one, or none."""
    found = getattr(settings, section.name)
    if section.name == "chain":
        return [found] if found else []
    # Caps that cap nothing are what a home without caps has.
    return found if isinstance(found, tuple) else [] if found in (None, _NO_CAPS) else [found]
