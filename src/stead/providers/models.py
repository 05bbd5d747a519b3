"""Every model behind the port ``Models``: which one serves, in what order, and what it costs.

Layer: providers. Importing this loads no HTTP library; the first request does, in a thread. A request goes down its
chain only while nothing can have been charged: past that point the loop decides, because it keeps the budget.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from stead.brain.estimate import estimate_request
from stead.domain.errors import ModelFault, NotFound
from stead.domain.events import ModelRef
from stead.domain.ids import RequestNo, SessionId
from stead.domain.messages import AssistantMessage, Repair, ReplyPart, Text, ToolCall, Usage, UserMessage
from stead.domain.policies import Confidentiality, Label
from stead.domain.ports import ModelInfo, ModelRequest, Reply, Secrets
from stead.domain.providers import ModelSettings, ProviderCheck, ProviderRow, Quota, Role
from stead.providers import discovery, pricing, rehearsal
from stead.providers.attachments import Load, attached, nothing_kept
from stead.providers.directory import Directory, Endpoint, ProviderConfig
from stead.providers.failures import Broken, Failure
from stead.providers.health import SPENT, Health
from stead.providers.presets import PRESETS, REHEARSAL, Deadlines, most_output
from stead.providers.repair import repaired

if TYPE_CHECKING:
    from stead.providers.connection import Connection

CHECK_S = 15.0
PREPARE_S = 3.0
_CHECK_TOKENS = 64


class ProviderModels:
    """The port ``Models`` over all providers: configured, found in the environment or on this machine, and rehearsal.

    Args:
        environ: environment variables, for keys given as ``env:NAME`` and for finding providers.
        secrets: where keys given as ``vault`` are; nothing when there is no vault.
        deadlines: time limits of one request.
        load: gives the bytes of attachments; without it none is shown.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        secrets: Secrets | None = None,
        *,
        deadlines: Deadlines | None = None,
        load: Load = nothing_kept,
    ) -> None:
        self._load = load
        limits = deadlines or Deadlines()
        self._directory = Directory(environ, secrets, limits)
        self._health = Health(self._probe, limits.probe_s)
        self._asked_windows: set[str] = set()
        self._connections: dict[str, Connection] = {}
        self._replaced: set[Connection] = set()
        self._connecting = asyncio.Lock()  # at most one connection is being made, so none is made twice

    def configure(
        self,
        configs: Sequence[ProviderConfig],
        chain: Sequence[ModelRef] = (),
        settings: Mapping[tuple[str, str], ModelSettings] = MappingProxyType({}),
        roles: Mapping[Role, tuple[ModelRef, ...]] = MappingProxyType({}),
    ) -> None:
        """Replace what is configured. Requests under way finish as they began.

        Args:
            configs: valid ones; see ``directory.require_valid``.
            chain: the default model and its fallbacks; empty for whatever is found.
            settings: what the person says of models, by provider and model.
            roles: the models of each role that has its own.
        """
        self._directory.configure(configs, chain, settings, roles)
        self._health.forget()
        self._asked_windows.clear()

    def rows(self) -> tuple[ProviderRow, ...]:
        """Configured providers first, then those found by themselves, the rehearsal model last."""
        return tuple(
            msgspec.structs.replace(
                row, health=self._health.of(row.name), quota=_quota(self._connections.get(row.name))
            )
            for row in self._directory.rows()
        )

    def role(self, role: Role) -> tuple[ModelRef, ...]:
        """See ``Models``."""
        return tuple(ref for ref in self._directory.roles.get(role, ()) if self._directory.find(ref.provider))

    def environment_keys(self) -> dict[str, str]:
        """The keys that providers are given by the environment, by the variable's name."""
        return self._directory.environment_keys()

    def default_chain(self) -> tuple[ModelRef, ...]:
        """See ``Models``; never more than one model unless a person chose the chain."""
        return self._directory.chain()

    def info(self, ref: ModelRef) -> ModelInfo:
        """See ``Models``. Prices are the highest that can apply, so that a reservation covers the request.

        The first call for a vendor's model loads the price list; ``warm`` does that in a thread.
        """
        config = self._find(ref.provider)
        preset = PRESETS[config.preset]
        if preset.name == REHEARSAL:
            return rehearsal.info(ref)
        name = ref.model or self._directory.model(config)
        settings = self._directory.settings(config, name)
        rates = pricing.rates(preset, self._directory.base_url(config), name, settings)
        reported = self._directory.reported_window(config, name)
        window_tokens = settings.window_tokens or reported or rates.window_tokens or preset.window_tokens
        return ModelInfo(
            ref=ref,
            window_tokens=window_tokens,
            max_output_tokens=min(settings.max_output_tokens or most_output(preset, name), window_tokens),
            input_usd_micros_per_mtok=rates.input_micros,
            output_usd_micros_per_mtok=rates.output_micros,
            price_known=rates.known,
            rehearsal=False,
            clearance=Confidentiality(config.clearance),
            cached_usd_micros_per_mtok=rates.cached_micros,
        )

    def place(self, provider: str) -> tuple[Endpoint, Confidentiality]:
        """Where a provider is, and the most confidential that it may be sent.

        Raises:
            NotFound: there is none of this name.
            ModelFault: it has no key.
        """
        config = self._find(provider)
        return self._directory.endpoint(config), Confidentiality(config.clearance)

    async def discover(self) -> None:
        """Look for model servers on this machine; half a second at most."""
        self._directory.learn(await discovery.discover())

    async def warm(self) -> None:
        """Load what the models of the default chain need, in a thread."""
        for ref in self.default_chain():
            config = self._directory.find(ref.provider)
            if config is not None and config.preset != REHEARSAL:
                try:
                    await self._connect(config)
                except Broken:
                    continue  # reported when a request needs it

    async def prepare(self, chain: Sequence[ModelRef]) -> None:
        """See ``Models``."""
        for ref in chain:
            config = self._directory.find(ref.provider)
            if config is None or config.preset == REHEARSAL or config.name in self._asked_windows:
                continue
            info = await asyncio.to_thread(self.info, ref)
            if info.window_tokens == PRESETS[config.preset].window_tokens:
                self._asked_windows.add(config.name)
                with contextlib.suppress(Broken, TimeoutError):  # a request will say what is wrong
                    async with asyncio.timeout(PREPARE_S):
                        await self._probe(config.name)

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Reply:
        """See ``Models``; ``attempts`` has one line for every try that failed, and every provider that was left out.

        The further accounts of a provider are asked for the same model before the chain's next one is, when that is
        out of quota.
        """
        attempts: list[str] = []
        failures: list[tuple[Failure, str]] = []
        for ref in _served(_expanded(self._directory, request.chain), self._health, attempts):
            lead = _lead(self._directory, ref.provider)
            if (
                failures
                and failures[-1][0].kind not in SPENT
                and _lead(self._directory, failures[-1][1]) == lead != ref.provider
            ):
                continue  # what failed was no matter of the account
            try:
                reply = await self._ask(ref, request, on_text, tuple(attempts))
            except Broken as broken:
                failure = broken.failure
            else:
                self._health.answered(ref.provider)
                return reply
            self._health.failed(ref.provider, failure)
            attempts.append(f"{ref.provider}/{ref.model}: {failure.said}")
            failures.append((failure, ref.provider))
            if failure.charged:
                raise _fault(failure, ref.provider, attempts, failure.retry_after_s)
        failure, provider = min(failures, key=lambda tried: tried[0].rank)
        waits = [tried.retry_after_s for tried, _ in failures if tried.retry_after_s]
        raise _fault(failure, provider, attempts, min(waits, default=0.0))

    async def check(self, name: str) -> ProviderCheck:
        """One tiny real request, and the list of models if the server gives one; 15 seconds at most.

        A refused key and an address that does not answer are reported within five.

        Raises:
            NotFound: no such provider.
        """
        config = self._find(name)
        ref = ModelRef(name, self._directory.model(config))
        loop = asyncio.get_running_loop()
        begun = loop.time()
        ok, listed, kind, fix = False, tuple[str, ...](), "", ""
        try:
            async with asyncio.timeout(CHECK_S):
                listed = tuple(await self._list(config))
                reply = await self._ask(ref, _tiny(ref), lambda _: None, ())
            said = "".join(part.text for part in reply.parts if isinstance(part, Text)).strip()
            self._health.answered(name)
            ok, text = True, f"{reply.model.model} answered {said[:80]!r}"
        except Broken as broken:
            kind, text, fix = broken.failure.kind, broken.failure.said, broken.failure.advice(name)
        except TimeoutError:
            kind, text = "timeout", f"no answer within {CHECK_S:g} s"
            fix = "check the address, and whether the server is up"
        return ProviderCheck(name, ok, text, round((loop.time() - begun) * 1000), listed, kind, fix)

    def woke(self) -> None:
        """The host has slept: requests under way get on soon or break, and later ones connect again."""
        for connection in self._connections.values():
            connection.channel.woke()
        self._replaced.update(self._connections.values())
        self._connections.clear()

    async def close(self) -> None:
        """End every probe, and close every connection."""
        await self._health.close()
        for connection in (*self._connections.values(), *self._replaced):
            await connection.close()
        self._connections.clear()
        self._replaced.clear()

    def _find(self, provider: str) -> ProviderConfig:
        config = self._directory.find(provider)
        if config is None:
            raise NotFound(f"no provider {provider!r}; `stead providers` lists what there is")
        return config

    async def _ask(
        self, ref: ModelRef, request: ModelRequest, on_text: Callable[[str], None], attempts: tuple[str, ...]
    ) -> Reply:
        config = self._directory.find(ref.provider)
        if config is None:
            raise Broken(Failure("unconfigured", "no such provider is configured", charged=False))
        if config.preset == REHEARSAL:
            return rehearsal.reply(request, ref, on_text, attempts)
        connection = await self._connect(config)
        from stead.providers.streams import Ask, Received, receive

        connection.users += 1
        try:
            name = ref.model or self._directory.model(config) or await _first_listed(connection)
            settings = self._directory.settings(config, name)
            own = self._directory.headers(config, name)
            maker = config.account_of or config.name
            refused = connection.refused.get(name, frozenset())
            if refused:  # the whole history is walked for those alone that have met a refusal
                refused &= attached(request.messages)

            async def ask() -> Received:
                body = await connection.prefixes.body(request, name, settings, refused)
                asked = Ask(name, body, request.number, maker, request.max_output_tokens, own)
                return await receive(connection, asked, on_text)

            try:
                received = await ask()
            except Broken as broken:
                if not _may_be_of_attachments(broken.failure):
                    raise
                shown = attached(request.messages) - refused
                if not shown:
                    raise
                # Once more with their names alone. Only if that is taken, they were what was refused.
                refused |= shown
                received = await ask()
                connection.refused[name] = connection.refused.get(name, frozenset()) | shown
                attempts += (f"{ref.provider}/{name}: {broken.failure.said}; asked again without attached files",)
        finally:
            connection.users -= 1
            await _sweep(self._replaced)
        endpoint, parts, stop, repairs = connection.endpoint, received.parts, received.stop, tuple[Repair, ...]()
        if stop in ("stop", "tool_call"):  # of a reply that was cut off nothing is made whole
            offered = [tool.name for tool in request.tools]
            in_text = endpoint.kind == "openai" and not endpoint.preset.prices
            parts, repairs = repaired(parts, request.number, offered, in_text=in_text)
            stop = "tool_call" if any(isinstance(part, ToolCall) for part in parts) else "stop"
        usage = _counted(received.usage, request, parts)
        return Reply(
            parts=parts,
            stop=stop,
            model=ModelRef(config.name, name),
            usage=usage,
            spend=pricing.spend(endpoint.preset, endpoint.base_url, name, usage, received.written_for_1h, settings),
            attempts=attempts,
            duration_ms=received.duration_ms,
            first_token_ms=received.first_token_ms,
            repaired=repairs,
        )

    async def _probe(self, name: str) -> None:
        """Ask a provider for its models, which costs nothing, and learn their windows.

        Raises:
            Broken: it does not answer.
        """
        config = self._directory.find(name)
        if config is None:
            raise Broken(Failure("unconfigured", "no such provider is configured", charged=False))
        await self._list(config)

    async def _list(self, config: ProviderConfig) -> Sequence[str]:
        """What the server lists, whose windows are learned; nothing when it does not.

        Raises:
            Broken: its key is missing or refused, or nothing answers there.
        """
        if config.preset == REHEARSAL:
            return (REHEARSAL,)
        if entries := self._directory.unread(config):
            await asyncio.to_thread(self._directory.values.open, entries)
        listed = await (await asyncio.to_thread(_listing))(self._directory.endpoint(config))
        self._directory.learn_windows(config.name, listed)
        return tuple(listed)

    async def _connect(self, config: ProviderConfig) -> Connection:
        """The open connection to where a provider is now; a changed key or address replaces it."""
        if entries := self._directory.unread(config):
            await asyncio.to_thread(self._directory.values.open, entries)
        endpoint = self._directory.endpoint(config)
        held = self._connections.get(config.name)
        if held is not None and held.endpoint == endpoint:
            return held
        async with self._connecting:
            held = self._connections.get(config.name)
            if held is None or held.endpoint != endpoint:
                maker = config.account_of or config.name
                opened = await asyncio.to_thread(_open, endpoint, maker, self._load)
                if held is not None:
                    self._replaced.add(held)
                held = self._connections[config.name] = opened
        await _sweep(self._replaced)
        return held


async def _sweep(replaced: set[Connection]) -> None:
    """Close connections that were replaced and are no longer used."""
    for connection in [one for one in replaced if not one.users]:
        replaced.discard(connection)
        await connection.close()


def _lead(directory: Directory, provider: str) -> str:
    """The provider whose account one is; itself where it is no further account."""
    config = directory.find(provider)
    return config.account_of or provider if config else provider


def _expanded(directory: Directory, chain: Sequence[ModelRef]) -> list[ModelRef]:
    """The chain, with the further accounts of each provider after it."""
    refs: list[ModelRef] = []
    for ref in chain:
        config = directory.find(ref.provider)
        accounts = directory.accounts(config) if config else ()
        refs += [ModelRef(account.name, ref.model) for account in accounts] or [ref]
    return refs


def _served(refs: Sequence[ModelRef], health: Health, attempts: list[str]) -> Sequence[ModelRef]:
    """Those that are not known to fail, or all where no other is there; what is left out is noted."""
    left_out = {ref: why for ref in refs if (why := health.why_left_out(ref.provider))}
    if len(left_out) == len(refs):
        return refs
    attempts += [f"{ref.provider}/{ref.model}: {why}" for ref, why in left_out.items()]
    return [ref for ref in refs if ref not in left_out]


def _quota(connection: Connection | None) -> Quota:
    return (connection.quota if connection else None) or Quota()


def _may_be_of_attachments(failure: Failure) -> bool:
    """Whether a refusal can be one of what is attached: of the request's form or size, and nothing was charged."""
    return failure.kind in ("refused", "context", "server") and not failure.charged


def _open(endpoint: Endpoint, provider: str, load: Load) -> Connection:
    """Load the HTTP library and the price list, and connect. For a thread."""
    from stead.providers.connection import Connection
    from stead.providers.streams import receive

    assert receive is not None  # loaded ahead of the first request
    pricing.preload()
    return Connection(endpoint, provider, load)


def _listing() -> Callable[[Endpoint], Awaitable[dict[str, int]]]:
    """What asks for a list of models; its HTTP library takes a moment to load. For a thread."""
    from stead.providers.listing import try_endpoint

    return try_endpoint


async def _first_listed(connection: Connection) -> str:
    """The model to use where none is named.

    Raises:
        Broken: the server lists none.
    """
    listed = tuple(await connection.list_models())
    if not listed:
        raise Broken(Failure("unconfigured", "no model is named and the server lists none", charged=False))
    return listed[0]


def _counted(usage: Usage, request: ModelRequest, parts: tuple[ReplyPart, ...]) -> Usage:
    """Usage with upper bounds in place of what the provider did not count: a budget must never come out too low."""
    if usage.input and (usage.output or not parts):
        return usage
    taken = usage.input or estimate_request(request.instructions, request.tools, request.messages)
    given = usage.output or estimate_request("", (), (AssistantMessage(parts),))
    return msgspec.structs.replace(usage, input=taken, output=given)


def _fault(failure: Failure, provider: str, attempts: Sequence[str], retry_after_s: float) -> ModelFault:
    return ModelFault(
        f"{'; '.join(attempts)}. Next: {failure.advice(provider)}.",
        kind=failure.kind,
        retry_after_s=retry_after_s,
        attempts=tuple(attempts),
        charged=failure.charged,
    )


def _tiny(ref: ModelRef) -> ModelRequest:
    return ModelRequest(
        session=SessionId("check"),
        number=RequestNo(1),
        chain=(ref,),
        instructions="",
        tools=(),
        messages=(UserMessage("Reply with the word: ready", Label()),),
        max_output_tokens=_CHECK_TOKENS,
    )
