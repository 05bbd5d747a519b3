"""Which providers there are, where each is reached, and with what key.

Layer: providers. Light: no network. Providers are configured by a person, or found by themselves:
in the environment, on this machine, and the rehearsal model always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from stead.domain.errors import InvalidRequest
from stead.domain.events import ModelRef
from stead.domain.policies import Clearance
from stead.domain.ports import Secrets
from stead.domain.providers import ProviderRow
from stead.providers.discovery import Found
from stead.providers.failures import Broken, Failure
from stead.providers.presets import PRESETS, REHEARSAL, Deadlines, Kind, Preset
from stead.providers.pricing import is_loopback

_NAME = re.compile(r"[a-z0-9-]{1,32}")
_KEY = re.compile(r"none|vault|env:[A-Za-z_][A-Za-z0-9_]{0,127}")


class ProviderConfig(msgspec.Struct, frozen=True):
    """A provider as a person configured it; the fields are those of ``ConfigureProvider``."""

    name: str
    preset: str
    base_url: str = ""
    model: str = ""
    key: str = "none"
    clearance: Clearance = "private"


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
    if not _KEY.fullmatch(config.key):
        raise InvalidRequest("a key is given as none, env:NAME or vault, never itself")
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
        self._secrets = secrets
        self._deadlines = deadlines
        self._configured: dict[str, ProviderConfig] = {}
        self._chosen: tuple[ModelRef, ...] = ()
        self._local: dict[str, Found] = {}

    def configure(self, configs: Iterable[ProviderConfig], chain: Sequence[ModelRef]) -> None:
        """Replace what is configured and chosen."""
        self._configured = {config.name: config for config in configs}
        self._chosen = tuple(chain)

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
        usable = (config for config in (*self._configured.values(), *self._found()) if self._key(config) is not None)
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

    def window_tokens(self, config: ProviderConfig) -> int:
        """What its server said of its window, else what the preset assumes."""
        local = self._at(config)
        return (local.window_tokens if local else 0) or PRESETS[config.preset].window_tokens

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
        return Endpoint(preset, kind, base_url, key, self._deadlines, _proxy(base_url, self._environ))

    def environment_keys(self) -> dict[str, str]:
        """Every value of the environment that is a provider's key, or the password within an address, by its name."""
        named = {preset.key_env for preset in PRESETS.values()}
        named |= {config.key.removeprefix("env:") for config in self._configured.values() if config.key[:4] == "env:"}
        keys = {name: self._environ[name] for name in sorted(named) if self._environ.get(name)}
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
        if config.key == "none":
            return ""
        if config.key == "vault":
            return (self._secrets.get(secret_name(config.name)) if self._secrets else None) or None
        return self._environ.get(config.key.removeprefix("env:")) or None

    def _row(self, config: ProviderConfig, *, found: bool) -> ProviderRow:
        there = self._key(config) is not None
        match config.key:
            case "none":
                key = "none"
            case "vault":
                key = "vault" if there else "missing"
            case named:
                key = f"{named} ({'set' if there else 'not set'})"
        base_url, model = _shown(self.base_url(config)), self.model(config)
        return ProviderRow(config.name, config.preset, base_url, model, key, found, config.clearance)


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
