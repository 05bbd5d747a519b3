"""Every value that the daemon holds and that nothing may carry out: where each is found, and what stands in its place.

Layer: runtime. Knows the vault's names and the environment; knows no binding and no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from stead.domain.secrets import Known, mark_of
from stead.domain.vault import Vault

OF_PERSON = "secret/"
OF_PROVIDERS = "provider/"
RESERVED = ("provider-", "env-")
"""How the names of Stead's own keys begin, which no secret of the person's may."""


class KnownValues:
    """Finds them anew each time.

    Args:
        vault: where values are.
        digest_key: the home's; marks are made with it.
        environment: the keys that providers are given by environment variables, by the variable's name.
    """

    def __init__(self, vault: Vault, digest_key: bytes, environment: Callable[[], Mapping[str, str]]) -> None:
        self._vault = vault
        self._digest_key = digest_key
        self._environment = environment

    def found(self) -> tuple[Known, ...]:
        """The person's secrets, also those that the journal does not know (yet), providers' keys, the environment's.

        Raises:
            StorageFault: the vault cannot be read.
        """
        own = [*self._of_providers(), *self._of_environment()]
        return tuple(known for known in (*self._of_person(), *own) if known.value)

    def _of_person(self) -> Iterator[Known]:
        for full, version, value in self._kept(OF_PERSON):
            name = full.removeprefix(OF_PERSON)
            yield Known(name, mark_of(self._digest_key, name, version), value)

    def _of_providers(self) -> Iterator[Known]:
        for full, version, value in self._kept(OF_PROVIDERS):
            yield self._own(f"provider-{full.split('/')[1]}", version, value)

    def _of_environment(self) -> Iterator[Known]:
        for name, value in self._environment().items():
            yield self._own(f"env-{name.lower()}", 1, value)

    def _kept(self, prefix: str) -> Iterator[tuple[str, int, str]]:
        for full in self._vault.names(prefix):
            opened = self._vault.opened(full)
            if opened is not None:
                yield full, *opened

    def _own(self, name: str, version: int, value: str) -> Known:
        """A key of Stead's own. Its mark is filled in nowhere, as no mark is."""
        name = re.sub(r"[^a-z0-9_-]", "-", name)[:64]
        return Known(name, mark_of(self._digest_key, name, version), value)
