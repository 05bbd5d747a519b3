"""Facts about the whole home: providers, the default chain, the daily cap, grants for a project, directives.

Layer: runtime. The stream ``home`` is folded like a session's; it is small, so it is kept whole in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, assert_never

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.bindings import ends
from stead.domain.channels import ChannelFact, Channels, fold_channels
from stead.domain.devices import DeviceCommand, DeviceFact, Devices, device_change, fold_devices
from stead.domain.directives import Directives
from stead.domain.errors import InvalidRequest, NotFound
from stead.domain.external_agents import (
    AgentConfigured,
    AgentRemoved,
    AgentRunEnded,
    AgentRunStarted,
    ConfigureAgent,
    RemoveAgent,
)
from stead.domain.hosts import parse_allowed
from stead.domain.ids import HOME, CommandId
from stead.domain.mcp import McpTool
from stead.domain.mcp import Standing as McpStanding
from stead.domain.mcp_commands import ApproveMcpTools, ConfigureMcp, RemoveMcp, SetMcpTool
from stead.domain.mcp_events import McpConfigured, McpRemoved, McpToolsApproved, McpToolSet, McpToolsSeen
from stead.domain.notifications import TargetFact, TargetState, fold_targets
from stead.domain.policies import Rule
from stead.domain.ports import Claimed, Clock, Journal, Secrets
from stead.domain.profiles import (
    NamedProfile,
    NamedProfileRemoved,
    NamedProfileSet,
    RemoveNamedProfile,
    SetNamedProfile,
)
from stead.domain.providers import ModelSettings, ProviderCheck, ProviderRow, Role, header_secret
from stead.domain.registries import REGISTRIES, spelled_out
from stead.domain.rows import SecretRow
from stead.domain.schedules import ScheduleFact, fold_schedules
from stead.domain.schedules import Standing as ScheduleStanding
from stead.domain.secrets import Secret
from stead.domain.sessions import Grant
from stead.domain.trust import Tier
from stead.runtime.bus import Bus
from stead.runtime.caps import NO_CAPS, capped
from stead.runtime.external_agents import Agents, agent_change, fold_agents, lost_runs
from stead.runtime.folder import folder
from stead.runtime.gate import Standing
from stead.runtime.mcp import McpRoom, fold_mcp, mcp_change, seen
from stead.runtime.model_settings import as_account, changed_settings, require_no_account
from stead.runtime.profiles import fold_profiles, profile_change
from stead.runtime.rules import confirmed, made
from stead.runtime.searching import SearchService, search_change
from stead.runtime.starting_points import SEEDS

log = logging.getLogger(__name__)
NOTES_S = 5.0
"""How long leaving waits for facts that nobody waited for."""
_KEY_CHARS = 10_000


@dataclass(frozen=True)
class HomeState:
    """What the home's stream adds up to. ``grants`` are pairs of folder and grant, ``hosts`` of folder and pattern.

    ``reached`` are pairs of folder and host: what machines that show the folder were ever connected to.
    """

    seq: int = 0
    providers: dict[str, ev.ProviderConfigured] = field(default_factory=dict)
    chain: tuple[ev.ModelRef, ...] = ()
    models: dict[tuple[str, str], ModelSettings] = field(default_factory=dict)
    """What the person says of models, by provider and model; with model "" of every one of the provider."""
    tiers: dict[tuple[str, str], Tier] = field(default_factory=dict)
    """What was last measured of models, where that was ever another tier than "normal"."""
    roles: dict[Role, tuple[ev.ModelRef, ...]] = field(default_factory=dict)
    caps: ev.CapSet = NO_CAPS
    warned: Mapping[tuple[int, str], ev.CapWarned] = field(default_factory=dict)
    """The last notice of each kind of period and unit; the kind is the length of the period's name."""
    search: ev.SearchConfigured | None = None
    grants: tuple[tuple[str, Grant], ...] = ()
    hosts: tuple[tuple[str, str], ...] = ()
    reached: tuple[tuple[str, str], ...] = ()
    lasting: frozenset[str] = frozenset()
    """Folders in which grants outlast reading from package registries."""
    rules: tuple[Rule, ...] = ()
    secrets: dict[str, Secret] = field(default_factory=dict)
    secrets_added_ms: dict[str, int] = field(default_factory=dict)
    secrets_used: dict[str, tuple[int, str]] = field(default_factory=dict)
    """When each secret's value was last let out, and where to."""
    directives: Directives = field(default_factory=Directives)
    mcp: Mapping[str, McpStanding] = field(default_factory=dict)
    """The MCP servers by name."""
    agents: Agents = field(default_factory=Agents)
    schedules: Mapping[str, ScheduleStanding] = field(default_factory=dict)
    """The schedules by name."""
    targets: Mapping[str, TargetState] = field(default_factory=dict)
    """Where the person is notified, by name."""
    channels: Channels = field(default_factory=Channels)
    """The channels, their chats, and which sessions talk there."""
    profiles: Mapping[str, NamedProfile] = field(default_factory=dict)
    """The named profiles."""
    devices: Devices = field(default_factory=dict)
    """Who may come in from outside."""

    def standing(self, directory: str) -> Standing:
        """What the person has said for a folder, apart from any session."""
        return Standing(
            rules=tuple(rule for rule in self.rules if rule.directory in ("", directory)),
            hosts=spelled_out(host for folder, host in self.hosts if folder == directory),
            reached=frozenset(host for folder, host in self.reached if _overlap(folder, directory)),
            grants_last=directory in self.lasting,
            at=self.seq,
        )

    def secret_rows(self) -> tuple[SecretRow, ...]:
        """What the vault has for the person, by name; never a value."""
        never = (0, "")
        return tuple(
            SecretRow(
                name=name,
                version=secret.version,
                placeholder=secret.placeholder,
                bindings=secret.bindings,
                added_ms=self.secrets_added_ms[name],
                used_ms=self.secrets_used.get(name, never)[0],
                used_at=self.secrets_used.get(name, never)[1],
            )
            for name, secret in sorted(self.secrets.items())
        )


def fold(state: HomeState, event: ev.Event) -> HomeState:
    """The state after one more event of the home's stream."""
    state = replace(state, seq=event.session_seq)
    match event.body:
        case ev.ProviderConfigured() as configured:
            return replace(state, providers={**state.providers, configured.name: configured})
        case ev.ProviderRemoved(name=name):
            return _without_provider(state, name)
        case ev.ModelConfigured(provider=provider, model=model, settings=settings):
            return replace(state, models={**state.models, (provider, model): settings})
        case ev.TierMeasured(model=model, tier=tier):
            return replace(state, tiers={**state.tiers, (model.provider, model.model): tier})
        case ev.RoleSet(role=role, chain=chain):
            return replace(state, roles={**state.roles, role: chain})
        case ev.ChainSet(chain=chain):
            return replace(state, chain=chain)
        case ev.CapSet() as caps:
            return replace(state, caps=caps)
        case ev.CapWarned(period=period, unit=unit) as warned:
            return replace(state, warned={**state.warned, (len(period), unit): warned})
        case ev.SearchConfigured() | ev.SearchRemoved() as said:
            return replace(state, search=said if isinstance(said, ev.SearchConfigured) else None)
        case ev.HostAllowed(host=host, directory=directory, grants_last=lasts):
            state = replace(state, hosts=tuple(dict.fromkeys([*state.hosts, (directory, host)])))
            if host == REGISTRIES:
                lasting = state.lasting - {directory}
                return replace(state, lasting=lasting | {directory} if lasts else lasting)
            return state
        case ev.HostDisallowed(host=host, directory=directory):
            lasting = state.lasting - {directory} if host == REGISTRIES else state.lasting
            hosts = tuple(pair for pair in state.hosts if pair != (directory, host))
            return replace(state, hosts=hosts, lasting=lasting)
        case ev.FolderReached(directory=directory, host=host):
            return replace(state, reached=tuple(dict.fromkeys([*state.reached, (directory, host)])))
        case ev.RuleMade(rule=rule):
            return replace(state, rules=(*(other for other in state.rules if other.id != rule.id), rule))
        case ev.RuleRemoved(id=id):
            return replace(state, rules=tuple(rule for rule in state.rules if rule.id != id))
        case ev.GrantMade(directory=directory) as made:
            grant = Grant(made.tool, made.shape, made.expires_at_ms, made.sources, made.bound)
            return replace(state, grants=(*state.grants, (directory, grant)))
        case ev.GrantRevoked(tool=tool, directory=directory):
            kept = tuple(pair for pair in state.grants if pair[0] != directory or pair[1].tool != tool)
            return replace(state, grants=kept)
        case ev.SecretAdded() | ev.SecretBound() | ev.SecretUnbound() | ev.SecretRemoved() | ev.SecretUsed() as fact:
            return _fold_secret(state, fact, event.ts_ms)
        case McpRemoved() | McpConfigured() | McpToolsSeen() | McpToolsApproved() | McpToolSet() as change:
            return replace(state, mcp=fold_mcp(state.mcp, change))
        case AgentConfigured() | AgentRemoved() | AgentRunStarted() | AgentRunEnded() as fact:
            return replace(state, agents=fold_agents(state.agents, fact, event.ts_ms))
        case body if isinstance(body, ScheduleFact):
            return replace(state, schedules=fold_schedules(state.schedules, body, event.ts_ms))
        case body if isinstance(body, TargetFact):
            return replace(state, targets=fold_targets(state.targets, body, event.seq))
        case body if isinstance(body, ChannelFact):
            return replace(state, channels=fold_channels(state.channels, body))
        case body if isinstance(body, DeviceFact):
            return replace(state, devices=fold_devices(state.devices, body, event.ts_ms))
        case NamedProfileSet() | NamedProfileRemoved() as change:
            return replace(state, profiles=fold_profiles(state.profiles, change))
        case ev.DirectiveSet(directive=directive, door=door):
            return replace(state, directives=state.directives.with_one(directive, event.ts_ms, door))
        case ev.DirectiveRemoved(id=id):
            return replace(state, directives=state.directives.without(id))
        case ev.DirectivesOrdered(ids=ids):
            return replace(state, directives=state.directives.ordered(ids))
        case _:
            return state


def _without_provider(state: HomeState, name: str) -> HomeState:
    left = {key: value for key, value in state.providers.items() if key != name}
    chain = tuple(ref for ref in state.chain if ref.provider != name)
    roles = {role: tuple(ref for ref in refs if ref.provider != name) for role, refs in state.roles.items()}
    models = {key: settings for key, settings in state.models.items() if key[0] != name}
    return replace(state, providers=left, chain=chain, roles=roles, models=models)


def _overlap(one: str, other: str) -> bool:
    """Whether one of two folders is the other, or in it: then they have files in common."""
    return os.path.commonpath((one, other)) in (one, other)


def _fold_secret(state: HomeState, fact: ev.SecretFact, ts_ms: int) -> HomeState:
    name, left = fact.name, {key: value for key, value in state.secrets.items() if key != fact.name}
    old = state.secrets.get(name)
    match fact:
        case ev.SecretAdded(version=version, placeholder=placeholder):
            secret = Secret(name, version, placeholder, old.bindings if old else ())
            added_ms = {**state.secrets_added_ms, name: ts_ms}
            return replace(state, secrets={**left, name: secret}, secrets_added_ms=added_ms)
        case ev.SecretUsed(destination=destination):
            return replace(state, secrets_used={**state.secrets_used, name: (ts_ms, destination)})
        case ev.SecretRemoved():
            used = {key: value for key, value in state.secrets_used.items() if key != name}
            return replace(state, secrets=left, secrets_used=used)
        case ev.SecretBound(binding=binding) if old:
            bindings = tuple(dict.fromkeys([*old.bindings, binding]))
        case ev.SecretUnbound(host=host, tool=tool) if old:
            bindings = tuple(binding for binding in old.bindings if not ends(binding, host, tool))
        case _:
            return state
    return replace(state, secrets={**left, name: msgspec.structs.replace(old, bindings=bindings)})


class HomeStream:
    """The home's end of the journal. ``lock``: whoever holds it alone may append to the stream."""

    def __init__(self, *, journal: Journal, bus: Bus, clock: Clock) -> None:
        self._journal = journal
        self._bus = bus
        self._clock = clock
        self._lock = asyncio.Lock()
        self._notes: set[asyncio.Task[tuple[ev.Event, ...]]] = set()
        self.state = HomeState()

    def load(self) -> None:
        """Fold what the journal has."""
        for event in self._journal.events(session=HOME):
            if isinstance(event, ev.Event):
                self.state = fold(self.state, event)

    async def begin(self, started: ev.DaemonStarted) -> None:
        """Record that the daemon took the home. One that never had a directive is given those that Stead brings."""
        new = () if self.state.directives.versions else SEEDS
        lost = lost_runs(self.state.agents)
        await self.record(started, *lost, *(ev.DirectiveSet(seed, "stead", "") for seed in new), cause=CommandId(""))

    async def record(self, *bodies: ev.Body, cause: CommandId, claim: Claimed | None = None) -> tuple[ev.Event, ...]:
        """Append facts about the home.

        Raises:
            Fenced, Conflict, StorageFault: nothing was written.
        """
        async with self._lock:
            drafts = [
                ev.Draft(
                    HOME, self.state.seq + index, self._clock.now_ms(), "person" if cause else "stead", cause, body
                )
                for index, body in enumerate(bodies, start=1)
            ]
            events = await self._journal.append(drafts, claim=claim)
            for event in events:
                self.state = fold(self.state, event)
        self._bus.publish(events)
        return events

    @property
    def agents(self) -> Agents:
        """The external agents as they are now."""
        return self.state.agents

    async def reached(self, directory: str, host: str) -> None:
        """Record that a machine is connected to a host, unless that is known; durable when this returns.

        Raises:
            StorageFault: it is not.
        """
        if (directory, host) not in self.state.reached:
            await self.record(ev.FolderReached(directory, host), cause=CommandId(""))

    async def copied(self, directory: str, target: str) -> None:
        """Record that a folder's files were copied to another one, and with them whatever hosts had brought in.

        Raises:
            StorageFault: it is not recorded.
        """
        for host in sorted(self.state.standing(directory).reached):
            await self.reached(target, host)

    @contextlib.asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """See ``domain.forgetting.Holder``."""
        async with self._lock:
            try:
                yield
            finally:
                self.state = HomeState()
                self.load()

    async def seen_mcp(self, name: str, tools: tuple[McpTool, ...]) -> None:
        """Record how an MCP server describes its tools, unless that is known.

        Raises:
            StorageFault: it is not recorded.
        """
        if fact := seen(self.state.mcp, name, tools):
            await self.record(fact, cause=CommandId(""))

    def note(self, body: ev.SecretUsed | ev.EgressUsed | AgentRunEnded) -> None:
        """Record a fact that nobody waits for; ``settle`` does, before the journal is closed."""
        task = asyncio.create_task(self.record(body, cause=CommandId("")), name=f"note {type(body).__name__}")
        self._notes.add(task)
        task.add_done_callback(self._noted)

    async def settle(self) -> None:
        """Wait until all notes are recorded."""
        if self._notes:
            await asyncio.wait(self._notes, timeout=NOTES_S)

    def _noted(self, task: asyncio.Task[tuple[ev.Event, ...]]) -> None:
        self._notes.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("a fact about the home was not recorded: %s", error)


class ProviderSetup(Protocol):
    """Setting providers up."""

    def require_valid(self, configured: ev.ProviderConfigured) -> None:
        """Refuse a configuration that cannot work.

        Raises:
            InvalidRequest: names the field and what it may be.
        """

    def secret_name(self, provider: str) -> str:
        """Under which name the vault holds a provider's key."""

    def configure(self, state: HomeState) -> None:
        """Use these providers, this chain and these allow-lists of hosts from now on."""


class ProviderService(ProviderSetup, Protocol):
    """Setting up, listing and testing providers; ``daemon.py`` implements it."""

    def rows(self) -> tuple[ProviderRow, ...]:
        """All providers, as shown to people."""

    async def check(self, name: str) -> ProviderCheck:
        """A live test, within 15 s."""

    async def discover(self) -> None:
        """Look for model servers on this computer; half a second."""

    @property
    def search(self) -> SearchService:
        """The same for the search engine."""

    @property
    def mcp(self) -> McpRoom:
        """The same for MCP servers."""


async def change(
    command: cmd.HomeCommand, state: HomeState, secrets: Secrets, setup: ProviderSetup, door: str, tools: Sequence[str]
) -> ev.Body:
    """The fact that a command about the home makes; a key goes into the vault on the way.

    Raises:
        InvalidRequest: a name, preset, place of a key or figure that cannot be.
        NotFound: no such provider.
    """
    if isinstance(command, DeviceCommand):
        return device_change(command, state.devices, door)
    match command:
        case cmd.ConfigureProvider():
            fact = ev.ProviderConfigured(**msgspec.structs.asdict(command))
            fact = as_account(fact, state.providers)
            setup.require_valid(fact)
            return fact
        case cmd.ConfigureModel(name=name, model=model):
            before = ModelSettings() if command.reset else state.models.get((name, model), ModelSettings())
            return ev.ModelConfigured(name, model, await changed_settings(command, before, secrets))
        case cmd.SetProviderKey(name=name, key=key):
            if not key.strip() or len(key) > _KEY_CHARS or "\n" in key.strip():
                raise InvalidRequest("a key is one line of text, not empty")
            provider = _known(state, name)
            await secrets.put(setup.secret_name(name), key.strip())
            return msgspec.structs.replace(provider, key="vault")
        case cmd.RemoveProvider(name=name):
            _known(state, name)
            require_no_account(name, state.providers)
            await secrets.remove(setup.secret_name(name))
            for (at, model), settings in state.models.items():
                for header in settings.headers if at == name else {}:
                    await secrets.remove(header_secret(name, model, header))
            return ev.ProviderRemoved(name=name)
        case cmd.SetRole(role=role, chain=chain):
            return ev.RoleSet(role=role, chain=chain)
        case cmd.SetChain(chain=chain):
            return ev.ChainSet(chain=chain)
        case cmd.SetCap():
            return capped(command, state.caps, state.channels)
        case cmd.SetSearch() | cmd.RemoveSearch():
            return await search_change(command, state.search, secrets)
        case ConfigureAgent() | RemoveAgent():
            return agent_change(command, state.agents, state.secrets)
        case SetNamedProfile() | RemoveNamedProfile():
            return profile_change(command, state.profiles)
        case ConfigureMcp() | RemoveMcp() | ApproveMcpTools() | SetMcpTool():
            return await mcp_change(command, state.mcp, secrets, door)
        case cmd.AddRule(directory=directory) as wanted:
            where = await asyncio.to_thread(folder, directory) if directory else ""
            return ev.RuleMade(rule=made(wanted, state.rules, tools, where), door=door)
        case cmd.ConfirmRule(id=id):
            return ev.RuleMade(rule=confirmed(id, state.rules), door=door)
        case cmd.RemoveRule(id=id):
            if all(rule.id != id for rule in state.rules):
                raise NotFound(f"there is no rule {id!r}; see `stead rules`")
            return ev.RuleRemoved(id=id, door=door)
        case cmd.AllowHost(host=host, directory=directory, grants_last=lasts):
            return ev.HostAllowed(_allowed(host, lasts=lasts), await asyncio.to_thread(folder, directory), lasts)
        case cmd.DisallowHost(host=host, directory=directory):
            taken = ev.HostDisallowed(host=host, directory=directory)
            if (directory, host) not in state.hosts:
                taken = ev.HostDisallowed(host=_allowed(host), directory=directory)
            if (directory, taken.host) not in state.hosts:
                raise NotFound(f"{taken.host!r} is not allowed in {directory!r}; see `stead egress list`")
            return taken
        case _:
            assert_never(command)


def _allowed(host: str, *, lasts: bool = False) -> str:
    """What a person may allow for a folder, in its one spelling; ``lasts`` as ``grants_last`` of ``AllowHost``."""
    if lasts and host != REGISTRIES:
        raise InvalidRequest(f"grants last after reading from {REGISTRIES!r}, and from no other host")
    return host if host == REGISTRIES else str(parse_allowed(host))


def _known(state: HomeState, name: str) -> ev.ProviderConfigured:
    provider = state.providers.get(name)
    if provider is None:
        raise NotFound(f"no provider {name!r} is configured; add it with `stead providers add {name} --preset …`")
    return provider
