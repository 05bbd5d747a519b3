"""Every value that the daemon holds and that nothing may carry out: where each is found, and what stands in its place.

Layer: runtime. Knows the vault's names and the environment; knows no binding and no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from stead.domain.secrets import Known, mark_of
from stead.domain.vault import Vault

OF_PERSON = "secret/"
OF_PROVIDERS = "provider/"
OF_MCP = "mcp/"
_NO_SECRETS = ("/granted", "/registration", "/wanted")
"""What is kept of a server's sign-in that is none."""
RESERVED = ("provider-", "env-", "mcp-")
"""How the names of Stead's own keys begin, which no secret of the person's may."""


def known_values(vault: Vault, digest_key: bytes, environment: Mapping[str, str]) -> tuple[Known, ...]:
    """The person's secrets, also those that the journal does not know (yet), providers' keys, the environment's.

    Args:
        vault: where values are.
        digest_key: the home's; marks are made with it. The mark of a key of Stead's own is filled in nowhere, as no
            mark is.
        environment: the keys that providers are given by environment variables, by the variable's name.

    Raises:
        StorageFault: the vault cannot be read.
    """
    found = [(full.removeprefix(OF_PERSON), *opened) for full, opened in _kept(vault, OF_PERSON)]
    found += [(_own(f"provider-{full.split('/')[1]}"), *opened) for full, opened in _kept(vault, OF_PROVIDERS)]
    kept = [one for one in _kept(vault, OF_MCP) if not one[0].endswith(_NO_SECRETS)]
    found += [(_own(f"mcp-{full.removeprefix(OF_MCP)}"), *opened) for full, opened in kept]
    found += [(_own(f"env-{name.lower()}"), 1, value) for name, value in environment.items()]
    return tuple(Known(name, mark_of(digest_key, name, version), value) for name, version, value in found if value)


def _kept(vault: Vault, prefix: str) -> Iterator[tuple[str, tuple[int, str]]]:
    for full in vault.names(prefix):
        opened = vault.opened(full)
        if opened is not None:
            yield full, opened


def _own(name: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "-", name)[:64]
