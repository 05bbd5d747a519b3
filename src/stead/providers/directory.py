"""Which providers there are, where each is reached, and with what key.

Layer: providers. Light: no network. Providers are configured by a person, or found by themselves:
in the environment, on this machine, and the rehearsal model always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from stead.domain.errors import InvalidRequest
from stead.domain.events import ModelRef
from stead.domain.policies import Clearance
from stead.domain.ports import Secrets
from stead.domain.providers import KEY_PLACE, ModelSettings, ModelSettingsRow, ProviderRow, Role, header_secret
from stead.providers.discovery import Found
from stead.providers.failures import Broken, Failure
from stead.providers.presets import PRESETS, REHEARSAL, Deadlines, Kind, Preset
from stead.providers.pricing import is_loopback
from stead.providers.values import KEYCHAIN, Values

_NAME = re.compile(r"[a-z0-9-]{1,32}")


class ProviderConfig(msgspec.Struct, frozen=True):
    """A provider as a person configured it; the fields are those of ``ConfigureProvider``."""

    name: str
    preset: str
    base_url: str = ""
    model: str = ""
    key: str = "none"
    clearance: Clearance = "private"
    account_of: str = ""


class Endpoint(msgspec.Struct, frozen=True):
    """Where requests of a provider go, everything resolved. Equal endpoints share a connection.

    ``key`` is the secret itself, "" for none. ``proxy`` is a URL or "".
    """

    preset: Preset
    kind: Kind
    base_url: str
    key: str
    deadlines: Deadlines
    proxy: str
    headers: tuple[tuple[str, str], ...] = ()
    """The person's own, of every model of the provider."""

    def __repr__(self) -> str:
        return f"Endpoint({self.preset.name!r} at {_shown(self.base_url)!r})"  # the key stays out of every trace


def secret_name(provider: str) -> str:
    """Under which name a provider's key lies in the vault."""
    return f"provider/{provider}/key"


def require_valid(config: ProviderConfig) -> None:
    """Refuse a configuration that cannot work.

    Raises:
        InvalidRequest: names the field and what it may be.
    """
    if not _NAME.fullmatch(config.name):
        raise InvalidRequest(f"provider name {config.name!r}: use 1 to 32 of a-z, 0-9 and -")
    preset = PRESETS.get(config.preset)
    if preset is None:
        raise InvalidRequest(f"preset {config.preset!r} is unknown; choose one of {', '.join(PRESETS)}")
    if REHEARSAL in (config.name, config.preset):
        raise InvalidRequest("the rehearsal model is built in and needs no configuration; choose another name")
    if not re.fullmatch(KEY_PLACE, config.key):
        raise InvalidRequest("a key is given as none, env:NAME, vault or keychain:SERVICE/NAME, never itself")
    if not config.base_url:
        if not preset.base_url:
            raise InvalidRequest(
                f"preset {config.preset!r} needs the server's address; give it: --url http://127.0.0.1:9000/v1"
            )
        return
    parts = urlsplit(config.base_url)
    if parts.username or parts.password:
        raise InvalidRequest("an address holds no name and no password; put the key into the vault")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidRequest(f"address {config.base_url!r}: give http:// or https:// and a host")


class Directory:
    """The providers of a home.

    Args:
        environ: environment variables, for keys given as ``env:NAME`` and for finding providers.
        secrets: where keys given as ``vault`` are; nothing when there is no vault.
        deadlines: time limits of one request.
    """

    def __init__(self, environ: Mapping[str, str], secrets: Secrets | None, deadlines: Deadlines) -> None:
        self._environ = environ
        self.values = Values(environ, secrets)
        self._deadlines = deadlines
        self._configured: dict[str, ProviderConfig] = {}
        self._chosen: tuple[ModelRef, ...] = ()
        self.roles: Mapping[Role, tuple[ModelRef, ...]] = {}
        """What the person chose for each role, providers that are gone included."""
        self._settings: Mapping[tuple[str, str], ModelSettings] = {}
        self._local: dict[str, Found] = {}
        self._windows: dict[tuple[str, str], int] = {}

    def configure(
        self,
        configs: Iterable[ProviderConfig],
        chain: Sequence[ModelRef],
        settings: Mapping[tuple[str, str], ModelSettings] = MappingProxyType({}),
        roles: Mapping[Role, tuple[ModelRef, ...]] = MappingProxyType({}),
    ) -> None:
        """Replace what is configured and chosen; a further account takes all but its key from its provider."""
        given = {config.name: config for config in configs}
        for name, config in given.items():
            if lead := given.get(config.account_of):
                given[name] = replace(lead, name=name, key=config.key, account_of=lead.name)
        self._configured, self._settings, self.roles = given, settings, roles
        self._chosen = tuple(chain)
        self.values.forget()

    def accounts(self, config: ProviderConfig) -> tuple[ProviderConfig, ...]:
        """A provider, and its further accounts in the order in which they were added."""
        return (config, *(other for other in self._configured.values() if other.account_of == config.name))

    def settings(self, config: ProviderConfig, model: str) -> ModelSettings:
        """What the person says of a model, and of every model of its provider."""
        name = config.account_of or config.name
        general = self._settings.get((name, ""), ModelSettings())
        return self._settings.get((name, model), ModelSettings()).over(general) if model else general

    def headers(self, config: ProviderConfig, model: str) -> dict[str, str]:
        """The person's own headers of a model's requests.

        Raises:
            Broken: the value of one is missing.
        """
        name, found = config.account_of or config.name, dict[str, str]()
        for header, place in self.settings(config, model).headers.items():
            own = header in self._settings.get((name, model), ModelSettings()).headers
            value = self.values.get(place, header_secret(name, model if own else "", header))
            if not value:
                raise Broken(Failure("unconfigured", f"the value of its header {header} is not set", charged=False))
            found[header] = value
        return found

    def learn_windows(self, provider: str, windows: Mapping[str, int]) -> None:
        """Take in what a server says of its models' windows, in tokens."""
        self._windows |= {(provider, model): tokens for model, tokens in windows.items()}

    def unread(self, config: ProviderConfig) -> set[str]:
        """The entries of the system's keychain that a provider needs and that were not read yet."""
        own = (said for (name, _), said in self._settings.items() if name == (config.account_of or config.name))
        places = {config.key, *(place for said in own for place in said.headers.values())}
        return self.values.unread(places)

    def learn(self, found: Iterable[Found]) -> None:
        """Replace what is known of servers on this machine."""
        self._local = {server.preset.name: server for server in found}

    def find(self, name: str) -> ProviderConfig | None:
        """A provider by name, configured ones first."""
        return self._configured.get(name) or next((config for config in self._found() if config.name == name), None)

    def chain(self) -> tuple[ModelRef, ...]:
        """The chosen chain; else the first provider that has the key it needs; else the rehearsal model.

        Without a choice there is no fallback: to send a person's data to a second company is theirs to decide.
        """
        if chosen := tuple(ref for ref in self._chosen if self.find(ref.provider)):
            return chosen
        leads = (config for config in self._configured.values() if not config.account_of)
        usable = (
            config
            for config in (*leads, *self._found())
            if config.key.startswith(KEYCHAIN) or self._key(config) is not None
        )
        config = next(usable)  # the rehearsal model is always found
        return (ModelRef(config.name, self.model(config)),)

    def rows(self) -> tuple[ProviderRow, ...]:
        """Configured providers first, then those found, the rehearsal model last."""
        configured = [self._row(config, found=False) for config in self._configured.values()]
        return (*configured, *(self._row(config, found=True) for config in self._found()))

    def model(self, config: ProviderConfig) -> str:
        """The provider's default model; "" when only its server knows."""
        local = self._at(config)
        return config.model or PRESETS[config.preset].model or (local.models[0] if local else "")

    def reported_window(self, config: ProviderConfig, model: str) -> int:
        """What its server said of a model's window, 0 when it did not."""
        local = self._at(config)
        return self._windows.get((config.name, model)) or (local.window_tokens if local else 0)

    def base_url(self, config: ProviderConfig) -> str:
        """Where it is reached: as configured, as the environment says, else as the preset says."""
        preset = PRESETS[config.preset]
        return config.base_url or self._environ.get(preset.url_env, "") or preset.base_url

    def endpoint(self, config: ProviderConfig) -> Endpoint:
        """Everything that a connection needs.

        Raises:
            Broken: the key is missing.
        """
        key = self._key(config)
        if key is None:
            raise Broken(Failure("unconfigured", f"its key ({config.key}) is not set", charged=False))
        preset = PRESETS[config.preset]
        base_url = self.base_url(config)
        kind = preset.kind
        if kind == "google" and urlsplit(base_url).path.rstrip("/").endswith("/openai"):
            kind = "openai"  # Google's own compatible form, where a person gave that address
        headers = tuple(self.headers(config, "").items())
        return Endpoint(preset, kind, base_url, key, self._deadlines, _proxy(base_url, self._environ), headers)

    def environment_keys(self) -> dict[str, str]:
        """Every value of the environment that is a provider's key, or the password within an address, by its name."""
        named = {preset.key_env for preset in PRESETS.values()}
        places = [config.key for config in self._configured.values()]
        places += [place for settings in self._settings.values() for place in settings.headers.values()]
        named |= {place.removeprefix("env:") for place in places if place.startswith("env:")}
        keys = {name: self._environ[name] for name in sorted(named) if self._environ.get(name)}
        keys |= self.values.read
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", *(preset.url_env for preset in PRESETS.values())):
            if password := _password(_setting(name.lower(), self._environ)):
                keys[f"{name}-password"] = password
        return keys

    def _at(self, config: ProviderConfig) -> Found | None:
        """The server on this machine that the provider means, if one was found."""
        found = self._local.get(config.preset)
        return found if found is not None and config.base_url in ("", found.preset.base_url) else None

    def _found(self) -> Iterator[ProviderConfig]:
        """Providers found without being configured: keys in the environment, servers on this machine, rehearsal."""
        for preset in PRESETS.values():
            if preset.name in self._configured:
                continue
            keyed = bool(preset.key_env and self._environ.get(preset.key_env))
            placed = bool(preset.url_env and self._environ.get(preset.url_env))
            if keyed or placed or preset.name in self._local or preset.name == REHEARSAL:
                yield ProviderConfig(preset.name, preset.name, key=f"env:{preset.key_env}" if keyed else "none")

    def _key(self, config: ProviderConfig) -> str | None:
        """The key, "" for a provider that needs none, nothing when it is missing."""
        return "" if config.key == "none" else self.values.get(config.key, secret_name(config.name)) or None

    def _row(self, config: ProviderConfig, *, found: bool) -> ProviderRow:
        there = self._key(config) is not None
        match config.key:
            case "none":
                key = "none"
            case "vault":
                key = "vault" if there else "missing"
            case entry_of if entry_of.startswith(KEYCHAIN):
                key = f"{entry_of} ({'read' if there else 'not read yet'})"
            case named:
                key = f"{named} ({'set' if there else 'not set'})"
        base_url, model = _shown(self.base_url(config)), self.model(config)
        return ProviderRow(
            name=config.name,
            preset=config.preset,
            base_url=base_url,
            model=model,
            key=key,
            found=found,
            clearance=config.clearance,
            account_of=config.account_of,
            settings=tuple(
                ModelSettingsRow(model, said) for (at, model), said in self._settings.items() if at == config.name
            ),
        )


def _password(url: str) -> str:
    """The password that stands in an address, as it stands there; "" for none."""
    user_info, at, _ = url.rpartition("://")[2].partition("/")[0].rpartition("@")
    return user_info.partition(":")[2] if at else ""


def _shown(url: str) -> str:
    """An address without the name and password that an environment variable may carry in it."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def _proxy(url: str, environ: Mapping[str, str]) -> str:
    """The proxy that the environment names for a URL, "" for none. Nothing on this machine goes through one."""
    parts = urlsplit(url)
    host = f".{(parts.hostname or '').lower()}"
    spared = [name.strip().lstrip(".") for name in _setting("no_proxy", environ).lower().split(",")]
    if is_loopback(url) or any(name and (name == "*" or host.endswith(f".{name}")) for name in spared):
        return ""
    return _setting(f"{parts.scheme}_proxy", environ) or _setting("all_proxy", environ)


def _setting(name: str, environ: Mapping[str, str]) -> str:
    return environ.get(name) or environ.get(name.upper(), "")
