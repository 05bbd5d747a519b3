"""The book of secrets: what may go where, and what must be kept out of everything that leaves.

Layer: runtime. Facts about secrets come from the home's stream, values from the vault. A value is read from the vault
each time it is let out. For redaction all values are held in memory while the daemon runs: what is to be found in a
text has to be known, and a log line can come at any moment. Whoever can read the daemon's memory can read the vault's
key there as well, so this gives nothing away that was not there; a machine can do neither.

An old value put back into the vault's file is not let out: the journal, which is chained, says which version is newest.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from stead.domain import commands as cmd
from stead.domain import events as ev
from stead.domain.bindings import allows, ends, fills, matches_host, require_host_binding
from stead.domain.errors import Conflict, InvalidRequest, NotFound, StorageFault
from stead.domain.ids import SessionId
from stead.domain.ports import Clock
from stead.domain.secrets import (
    NAME,
    PLACEHOLDER,
    HostBinding,
    Known,
    RequestHead,
    Secret,
    ToolBinding,
    mark_of,
    placeholder_of,
)
from stead.domain.tools import ToolEffect, ToolSpec
from stead.domain.vault import Vault
from stead.runtime.known_values import OF_PERSON, RESERVED, known_values
from stead.screen import known_forms, redaction

VALUE_BYTES = 64 * 1024
REDACTABLE_CHARS = 32_000
"""Of all values together: each is looked for in every form at once, and past this the search becomes slow."""
BINDINGS = 100
USE_RECORDED_EVERY_MS = 60_000

_NO_TEXT = re.compile("[\0\ud800-\udfff]")
"""NUL and half a surrogate pair."""

log = logging.getLogger(__name__)


class SecretBook:
    """Implements ``domain.secrets.Release``; and ``domain.ports.Secrets`` for providers' keys, which it must know too.

    ``lock``: whoever changes secrets holds it until the fact is recorded and taken in.

    Args:
        vault: where values are.
        digest_key: the home's; placeholders are made with it.
        environment: the keys that providers are given by environment variables, by the variable's name.
        clock: for how often a use is recorded.
        tools: every tool that a secret could be bound to.
        on_use: takes the fact that a value was let out. Never blocks.
    """

    def __init__(
        self,
        vault: Vault,
        *,
        digest_key: bytes,
        environment: Callable[[], Mapping[str, str]],
        clock: Clock,
        tools: Sequence[ToolSpec],
        on_use: Callable[[ev.SecretUsed], None],
    ) -> None:
        self.lock = asyncio.Lock()
        self._vault = vault
        self._digest_key = digest_key
        self._environment = environment
        self._clock = clock
        self._tools = {spec.name: spec for spec in tools}
        self._on_use = on_use
        self._secrets: Mapping[str, Secret] = {}
        self._known: tuple[Known, ...] = ()
        self._redactors = _redactors(())
        self._used_ms: dict[tuple[str, str], int] = {}

    # -- what is known ----------------------------------------------------------------------------------------------

    async def reload(self, secrets: Mapping[str, Secret] | None = None) -> None:
        """Take in what the home's stream says of secrets (nothing: as before), and what the vault has now.

        Redactors are made in a thread, because each value is looked for in many forms; until they are there the older
        ones serve.

        Raises:
            StorageFault: the vault cannot be read.
        """
        if secrets is not None:
            self._secrets = dict(secrets)
        known = known_values(self._vault, self._digest_key, self._environment())
        if known != self._known:
            self._redactors = await asyncio.to_thread(_redactors, known)
            self._known = known

    def known(self) -> Sequence[Known]:
        """See ``Release``: the person's secrets, providers' keys, and keys that providers are given by environment."""
        return self._known

    def redactor(self, *, detect: bool = True) -> redaction.Redactor:
        """Takes every known value out of a text. From any thread.

        Args:
            detect: also what looks like a secret by its form.
        """
        return self._redactors[detect]

    def words(self) -> redaction.Redactor:
        """For what a person or a model says: known values alone, since neither is to be corrected by a guess."""
        return self.redactor(detect=False)

    def issued(self, placeholder: str, session: SessionId) -> bool:
        """Whether it is the mark of a value that is held, or a placeholder that the session was given."""
        return self.words().is_mark(placeholder) or self._find(session, placeholder) is not None

    # -- letting out ------------------------------------------------------------------------------------------------

    def for_request(self, session: SessionId, placeholder: str, head: RequestHead, place: str) -> str | None:
        """See ``Release``. What may go into TLS to a host never goes to it in the clear, and the other way round."""
        secret = self._find(session, placeholder)
        if secret is None or self.opens_tls(head.host) != (head.scheme == "https"):
            return None
        bindings = [binding for binding in secret.bindings if isinstance(binding, HostBinding)]
        if not any(fills(bound, place) and allows(bound, head.host, head.method, head.path) for bound in bindings):
            return None
        return self.let_out(secret, head.host.lower())

    def for_argument(self, session: SessionId, placeholder: str, tool: str, argument: str) -> str | None:
        """See ``Release``."""
        secret = self._find(session, placeholder)
        if secret is None or ToolBinding(tool, argument) not in secret.bindings:
            return None
        return self.let_out(secret, f"{tool}.{argument}")

    def of_trigger(self, name: str, host: str = "") -> str:
        """By what a trigger knows its sender, or a mailbox's password for its ``host``; "" for none."""
        secret = self._secrets.get(name)
        if secret is None:
            return ""
        return (self.let_out(secret, host) if host else _newest(self._vault, secret)) or ""

    def opens_tls(self, host: str) -> bool:
        """See ``Release``."""
        return any(
            isinstance(binding, HostBinding) and binding.tls and matches_host(binding.host, host)
            for secret in self._secrets.values()
            for binding in secret.bindings
        )

    def given(self, names: Sequence[str], session: SessionId) -> tuple[Secret, ...]:
        """The secrets of these names, in their order, each once, with the placeholders of the session that gets them.

        Raises:
            NotFound: there is none of a name.
        """
        return tuple(self._of_session(self._existing(name), session) for name in dict.fromkeys(names))

    # -- changing ---------------------------------------------------------------------------------------------------

    async def change(
        self, command: cmd.SecretCommand
    ) -> ev.SecretAdded | ev.SecretBound | ev.SecretUnbound | ev.SecretRemoved:
        """The fact that a command about secrets makes; a value goes into the vault, or out of it, on the way.

        The vault comes first: if the daemon dies before the fact is recorded, the caller was not answered, and the same
        command again puts things right.

        Raises:
            InvalidRequest: a name, value or binding that cannot be.
            NotFound: no such secret, tool or binding.
            Conflict: there is one of this name already.
            StorageFault: nothing was changed.
        """
        match command:
            case cmd.AddSecret(name=name, value=value, replace=replace):
                self._require_new(name, value, replace=replace)
                version = await self.put(OF_PERSON + name, value)
                return ev.SecretAdded(name, version, mark_of(self._digest_key, name, version))
            case cmd.BindSecret(name=name, binding=binding):
                secret = self._existing(name)
                if isinstance(binding, HostBinding):
                    require_host_binding(binding)
                else:
                    _require_tool_binding(self._tools, binding)
                if len(secret.bindings) >= BINDINGS:
                    raise InvalidRequest(
                        f"a secret has at most {BINDINGS} bindings; end one with `stead secret unbind`"
                    )
                return ev.SecretBound(name, binding)
            case cmd.UnbindSecret(name=name, host=host, tool=tool):
                secret = self._existing(name)
                if bool(host) == bool(tool):
                    raise InvalidRequest("say either which host or which tool is to be unbound")
                if not any(ends(binding, host, tool) for binding in secret.bindings):
                    raise NotFound(f"the secret {name!r} is not bound to {host or tool!r}; see `stead secret list`")
                return ev.SecretUnbound(name, host, tool)
            case cmd.RemoveSecret(name=name):
                self._existing(name)
                await self.remove(OF_PERSON + name)
                return ev.SecretRemoved(name)

    async def put(self, name: str, value: str) -> int:
        """See ``Secrets``. From then on the value is known to every redactor."""
        version = await self._vault.put(name, value)
        await self.reload()
        return version

    def get(self, name: str) -> str | None:
        """See ``Secrets``."""
        return self._vault.get(name)

    async def remove(self, name: str) -> bool:
        """See ``Secrets``."""
        removed = await self._vault.remove(name)
        await self.reload()
        return removed

    # -- privately --------------------------------------------------------------------------------------------------

    def _find(self, session: SessionId, placeholder: str) -> Secret | None:
        """The secret that a placeholder is of, if this home made it for this session and the newest value."""
        found = PLACEHOLDER.fullmatch(placeholder)
        secret = self._secrets.get(found[1]) if found else None
        own = self._of_session(secret, session).placeholder if secret else ""
        return secret if hmac.compare_digest(own, placeholder) else None

    def _of_session(self, secret: Secret, session: SessionId) -> Secret:
        own = placeholder_of(self._digest_key, secret.name, secret.version, session)
        return msgspec.structs.replace(secret, placeholder=own)

    def let_out(self, secret: Secret, destination: str) -> str | None:
        """The value, for a place that it is bound to or that the person named it for; that it was used is recorded."""
        value = _newest(self._vault, secret)
        if value is None:
            return None
        now_ms, key = self._clock.now_ms(), (secret.name, destination)
        if now_ms - self._used_ms.get(key, -USE_RECORDED_EVERY_MS) >= USE_RECORDED_EVERY_MS:
            self._used_ms[key] = now_ms
            self._on_use(ev.SecretUsed(secret.name, destination))
        return value

    def _existing(self, name: str) -> Secret:
        secret = self._secrets.get(name)
        if secret is None:
            raise NotFound(f"there is no secret {name[:80]!r}; see `stead secret list`")
        return secret

    def _require_new(self, name: str, value: str, *, replace: bool) -> None:
        if not NAME.fullmatch(name) or name.startswith(RESERVED):
            raise InvalidRequest(
                f"the name {name[:80]!r} cannot be; a small letter, then up to 63 of a-z, 0-9, - and _, and not "
                f"beginning with {' or '.join(RESERVED)}"
            )
        size_bytes = len(value.encode("utf-8", "surrogatepass"))
        if not value.strip() or size_bytes > VALUE_BYTES or _NO_TEXT.search(value):
            raise InvalidRequest(f"a secret is 1 byte to {VALUE_BYTES} bytes of UTF-8 text without NUL; give another")
        if len(value.strip()) < known_forms.SHORTEST:
            raise InvalidRequest(
                f"a secret has at least {known_forms.SHORTEST} characters; shorter ones stand in any text"
            )
        if len(value) + sum(len(known.value) for known in self._known) > REDACTABLE_CHARS:
            raise InvalidRequest(
                f"the vault's values would have more than {REDACTABLE_CHARS} characters together, too many to be kept"
                " out of every text; remove what is not used, or give a shorter key"
            )
        if name in self._secrets and not replace:
            raise Conflict(f"there is a secret {name!r} already; say that it is to be replaced, or choose another name")


def _redactors(known: Sequence[Known]) -> dict[bool, redaction.Redactor]:
    """By whether they also detect."""
    return {detect: redaction.Redactor(known, detect=detect) for detect in (False, True)}


def _unfit(spec: ToolSpec, argument: str) -> str:
    """Why a value must not go into an argument; "" when it may."""
    declared = spec.declaration
    if declared.effect is ToolEffect.EXECUTE:
        return "what a program is given, it can send or print; bind the secret to the host that needs it (--host)"
    if declared.effect is ToolEffect.THINK:
        return "such calls are recorded as the session's own notes"
    if argument in declared.path_args:
        return "it names a file, and names are shown and recorded"
    if argument in declared.authority_args:
        return "it decides where the call goes, and that must be readable by whoever judges it; use --host instead"
    if declared.url_args:
        return "the call itself says where it goes; bind the secret to the host that needs it (--host)"
    return ""


def _require_tool_binding(tools: Mapping[str, ToolSpec], binding: ToolBinding) -> None:
    spec = tools.get(binding.tool)
    if spec is None:
        raise NotFound(f"there is no tool {binding.tool[:80]!r}; the tools are {', '.join(tools)}")
    properties = spec.parameters["properties"]
    assert isinstance(properties, Mapping)
    if binding.argument not in properties:
        raise NotFound(
            f"the tool {spec.name!r} has no argument {binding.argument[:80]!r}; it has {', '.join(properties)}"
        )
    if why := _unfit(spec, binding.argument):
        raise InvalidRequest(f"no secret can be bound to {binding.argument!r} of {spec.name!r}: {why}")


def _newest(vault: Vault, secret: Secret) -> str | None:
    """The value that the journal knows as newest; None where the vault has another."""
    try:
        opened = vault.opened(OF_PERSON + secret.name)
    except StorageFault as fault:
        log.error("the secret %r was not let out: %s", secret.name, fault)
        return None
    if opened is None or opened[0] != secret.version:
        # Absent or older: somebody changed the vault's file. Newer: a change whose recording failed.
        log.error("the secret %r is not the one that the journal knows; add it again", secret.name)
        return None
    return opened[1]
